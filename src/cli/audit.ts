import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { duration } from '../hris/option-types.ts';
import { nameOfField, readWrites, type WriteView } from '../operator/writes.ts';
import type { Places } from '../places.ts';
import { type ChainVerdict, exportAudit, HEADS_FILE, noteLook, verifyAudit } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';
import { AS, byOf, EXIT, example, type Flags, limitOf, renderChange, renderListed, say } from './command.ts';
import { withStore } from './open.ts';

export const commands = { audit: defineAudit };

function defineAudit(command: Command): void {
  command
    .description(
      'List every write at the partner and in the HR system with old and new value, latest first. Fields that the ' +
        'mapping calls sensitive are masked.',
    )
    .argument('<tenant>', 'tenant whose writes to list')
    .option('--mapping <version>', 'only those of one mapping version')
    .option('--record <id>', 'only those of one record: a job candidate, job or candidate')
    .option('--run <run>', 'only those of one run of a stream, or of one applied plan')
    .option('--reveal', 'show sensitive values too; the audit trail records who did')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge audit acme --record 5012', 'hirebridge audit acme --mapping 9c1d2e3f'))
    .action(runAudit);
  command
    .command('verify')
    .description(
      'Verify the audit trail (what people did and looked at): no row was changed, removed, doubled or moved, ' +
        'and no end was cut off. Exit code 2: names the first row that fails.',
    )
    .argument('[tenant]', 'one tenant; by default every tenant, and what was done to all of them')
    .option('--heads <file...>', 'heads that were noted elsewhere: copies of audit.heads.jsonl, or logs as JSON')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge audit verify', 'hirebridge audit verify acme --heads worker.log'))
    .action(runVerify);
  command
    .command('export')
    .description(
      'Write the audit trail as JSON lines with their hashes, so that somebody else can verify them; the last line ' +
        'of each chain is its signed head.',
    )
    .argument('[tenant]', 'one tenant; by default every tenant, and what was done to all of them')
    .option('--since <when>', 'from a day on (2026-11-01), or of the last 30d, 2h, ...', momentOf)
    .option('--until <when>', 'before a day, or until 2h, 3d, ... ago', momentOf)
    .addHelpText('after', example('hirebridge audit export acme --since 2026-11-01 > acme.audit.jsonl'))
    .action(runExport);
}

interface AuditOptions extends Flags {
  mapping?: string;
  record?: string;
  run?: string;
  reveal?: boolean;
}

async function runAudit(tenantId: string, options: AuditOptions, command: Command): Promise<void> {
  const { mapping, record: recordId, run: runId, reveal = false } = options;
  const filter = { tenantId, mapping, recordId, runId, limit: limitOf(options) };
  const look = async (store: Store): Promise<WriteView[]> => {
    const of = recordId === undefined ? undefined : { kind: 'record', id: recordId };
    await noteLook(store, { by: byOf(options), tenantId, what: 'what was written', of, isRevealed: reveal });
    return readWrites(store, filter, reveal);
  };
  const writes = await withStore(command, look, tenantId);
  say(options, writes, writes.length === 0 ? 'No writes.\n' : render(writes));
}

function render(writes: readonly WriteView[]): string {
  const rows = writes.map(({ at, by, run, record, target, kind, outcome, verifiedAt, mapping, ...write }) => [
    at.slice(0, 19).replace('T', ' '),
    record,
    `${kind} ${target}`,
    renderFields(write),
    outcome === 'done' && verifiedAt !== null ? 'read back' : outcome,
    mapping ?? '',
    `${by} (${run.slice(0, 12)})`,
  ]);
  return renderListed(['when', 'record', 'write', 'fields', 'outcome', 'mapping', 'by (run)'], rows);
}

type Written = Pick<WriteView, 'fields' | 'labels' | 'changes' | 'purgedAt'>;

function renderFields({ fields, changes, purgedAt, ...named }: Written): string {
  const names = fields.map((field) => nameOfField(named, field));
  if (purgedAt !== null) return `${names.join(', ')} (values purged ${purgedAt.slice(0, 10)})`;
  return Object.entries(changes)
    .map(([field, change]) => `${nameOfField(named, field)}: ${renderChange(change)}`)
    .join('\n');
}

async function runVerify(
  tenantId: string | undefined,
  { heads = [] }: { heads?: string[] },
  command: Command,
): Promise<void> {
  const verify = async (store: Store, { dataDir }: Places): Promise<ChainVerdict[]> => {
    const own = join(dataDir, HEADS_FILE);
    return verifyAudit(store, { tenantId, files: [...(existsSync(own) ? [own] : []), ...heads] });
  };
  const verdicts = await withStore(command, verify, tenantId);
  if (verdicts.some(({ trouble }) => trouble !== undefined)) process.exitCode = EXIT.refused;
  const text = verdicts.length === 0 ? 'Nobody has done anything yet.\n' : verdicts.map(renderVerdict).join('');
  const keys = [...new Set(verdicts.flatMap(({ signedBy }) => signedBy))].join(' and the key ');
  say(command.optsWithGlobals<Flags>(), verdicts, `${text}${keys && `Heads are signed by the key ${keys}.\n`}`);
}

function renderVerdict({ chain, rows, notedUntil, trouble, ...more }: ChainVerdict): string {
  const name = (chain === '' ? 'all tenants' : chain).padEnd(20);
  if (trouble !== undefined)
    return (
      `fail  ${name}  ${trouble.message}\n      Somebody with write access to the database may have done it. Keep a ` +
      'copy of the store, and compare it with a backup or an export from before that row: docs/security.md, ' +
      '"Audit trail".\n'
    );
  const said = [
    `${rows} rows as they were written`,
    notedUntil === undefined ? 'none noted outside the store' : `noted outside the store up to row ${notedUntil}`,
    ...(more.sealedLater === 0 ? [] : [`${more.sealedLater} of an earlier version, sealed as they were found`]),
    ...(more.unsealed === 0 ? [] : [`${more.unsealed} of an earlier version, which a worker seals within a minute`]),
    ...(more.redacted === 0 ? [] : [`${more.redacted} with ids that an erasure removed`]),
  ];
  return `ok    ${name}  ${said.join('; ')}\n`;
}

async function runExport(
  tenantId: string | undefined,
  { since, until }: { since?: number; until?: number },
  command: Command,
): Promise<void> {
  const write = async (store: Store, { dataDir }: Places): Promise<void> => {
    const wanted = { tenantId, dataDir, from: since, to: until };
    for await (const line of exportAudit(store, wanted)) process.stdout.write(`${JSON.stringify(line)}\n`);
  };
  await withStore(command, write, tenantId);
}

/** Milliseconds: the beginning of a UTC day, or the moment this long ago. */
function momentOf(text: string): number {
  const day = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(day)) return day;
  const ago = duration.safeParse(text);
  if (ago.success) return Date.now() - ago.data;
  throw new InvalidArgumentError('Expected a day (2026-11-01), or how long ago (30d, 2h).');
}
