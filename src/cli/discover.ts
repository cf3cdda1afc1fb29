import { styleText } from 'node:util';
import type { Command } from 'commander';
import { type ConnectorError, rejected } from '../errors.ts';
import { type CheckLine, checkTenant } from '../operator/check-tenant.ts';
import { applyMissingDefinitions, type Discovered, discover } from '../operator/discover.ts';
import { openPartner } from '../operator/open-tenant.ts';
import { assertPulledStream } from '../operator/streams.ts';
import { type WrittenIds, writeIds } from '../operator/write-ids.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import { acknowledgeFields } from '../store/fields.ts';
import type { Store } from '../store/open-store.ts';
import { setupStatements } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { AS, byOf, EXIT, example, type Flags, placesOf, printJson, renderTable, say } from './command.ts';
import { withOwnTenant, withStore } from './open.ts';

export function defineDiscover(command: Command): void {
  command
    .description(
      'Show names and ids of both sides for the files of a tenant: custom fields with their options, stages, ' +
        'onboarding flows, users, fields of the HR system.',
    )
    .argument('<tenant>', 'tenant to look at')
    .option('--apply', 'create at the hiring platform what the mappings name and it lacks: custom fields and options')
    .option('--acknowledge', 'accept the custom fields as they are now; ends alarms about changes of them')
    .addOption(
      command
        .createOption('--write', 'replace labels in the tenant file with ids, and keep the labels as comments')
        .conflicts(['apply', 'acknowledge']),
    )
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge discover acme', 'hirebridge discover acme --write'))
    .action(runDiscover);
}

interface Options extends Flags {
  apply?: boolean;
  acknowledge?: boolean;
  write?: boolean;
}

async function runDiscover(tenantId: string, options: Options, command: Command): Promise<void> {
  if (options.write === true) return runWriteIds((await placesOf(command)).tenantsDir, tenantId, options);
  if (options.acknowledge === true)
    await withStore(command, (store) => acknowledgeFields(store, { tenantId, by: byOf(options) }));

  await withOwnTenant(command, tenantId, async (tenant, store) => {
    const partner = openPartner(tenant);
    try {
      if (options.apply === true) await applyMissing(tenant, partner, store);
      const found = await discover(tenant, partner, store);
      say(options, found, renderDiscovered(found));
    } finally {
      await partner.close();
    }
  });
}

/** Reports created definitions on standard error, so that `--json` output stays JSON. */
async function applyMissing(tenant: Tenant, partner: PartnerClient, store: Store | undefined): Promise<void> {
  for (const one of await applyMissingDefinitions(tenant, partner, store))
    process.stderr.write(
      one.what === 'field'
        ? `Created ${one.body.entityType} custom field "${one.body.fieldLabel}" (${one.body.fieldType}).\n`
        : `Options of "${one.label}" are now: ${one.options.join(', ')}.\n`,
    );
}

function renderDiscovered(found: Discovered): string {
  const { changes, stages, flows, users } = found;
  const parts = [
    renderCustomFields(found.customFields),
    section(
      'Changes seen',
      ['when', 'custom field', 'before', 'after'],
      changes.map(({ at, fieldId, before, after }) => [
        new Date(at).toISOString(),
        fieldId,
        shown(before),
        shown(after),
      ]),
    ),
    section(
      'Stages',
      ['pipeline', 'stage', 'type', 'stage id'],
      stages.map(({ pipeline, stage, type, stageId }) => [pipeline, stage, type, stageId]),
    ),
    section(
      'Onboarding flows',
      ['name', 'status', 'flow id'],
      flows.map(({ name, status, flowId }) => [name, status, flowId]),
    ),
    section(
      'Users',
      ['e-mail', 'status', 'role', 'user id'],
      users.map(({ email, status, role, userId }) => [email, status, role, userId]),
    ),
    renderHrisFields(found.hrisFields),
    found.troubles.map(({ message, reason }) => `${message} [${reason}]\n`).join(''),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function renderCustomFields(fields: Discovered['customFields']): string {
  const rows = fields.map(({ entity, label, type, section: at, options, id }) => [
    entity,
    label,
    type,
    at ?? '',
    (options ?? []).join(', '),
    id,
  ]);
  return section('Custom fields', ['entity', 'label', 'type', 'section', 'options', 'id'], rows);
}

function renderHrisFields(fields: Discovered['hrisFields']): string {
  const rows = fields.map(({ id, label, type, maxLength, required, options }) => [
    id,
    label,
    type,
    maxLength ?? '',
    required === true ? 'yes' : '',
    (options ?? []).join(', '),
  ]);
  return section('Fields of the HR system', ['field', 'name there', 'type', 'length', 'required', 'values'], rows);
}

function shown(field: Discovered['customFields'][number] | undefined): string {
  if (field === undefined) return '-';
  const { label, type, options } = field;
  return `${label} (${type}${options?.length ? `: ${options.join(', ')}` : ''})`;
}

function section(title: string, head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  return rows.length === 0 ? '' : `${title}\n${renderTable(head, rows)}\n`;
}

/** `discover --write`: reports the changes in the tenant's file, line by line. */
async function runWriteIds(tenantsDir: string, tenantId: string, options: Flags): Promise<void> {
  const written = await writeIds(tenantsDir, tenantId);
  say(options, written, renderWritten(written));
}

function renderWritten({ file, changes }: WrittenIds): string {
  if (changes.length === 0) return `${file}: ids and labels are all in place. Nothing is written.\n`;
  const lines = changes.flatMap(({ line, before, after }) => [`${line} - ${before}`, `${line} + ${after}`]);
  return `${file}\n${lines.join('\n')}\nWritten. What was applied stays until: hirebridge tenant apply\n`;
}

export function defineCheck(command: Command): void {
  command
    .description(
      'Ask both sides of a tenant whether they work and fit its files: key, company, onboarding flow, custom fields, ' +
        'clock, HR system and its fields, rate limit, webhooks. ' +
        'Reads only; exit code 2 when something fails, 3 when no worker or receiver runs that should.',
    )
    .argument('<tenant>', 'tenant to check')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge check acme'))
    .action(runCheck);
}

async function runCheck(tenantId: string, options: Flags, command: Command): Promise<void> {
  const found = await withOwnTenant(command, tenantId, checkTenant);
  say(options, found, found.map(renderCheck).join(''));
  if (found.some(({ state }) => state === 'fail')) process.exitCode = EXIT.refused;
  else if (found.some(({ check, state }) => check === 'processes' && state !== 'ok')) process.exitCode = EXIT.partial;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export function renderCheck({ check, state, message }: CheckLine): string {
  return `${styleText(COLOURS[state], state.padEnd(4))}  ${check.padEnd(13)}  ${message}\n`;
}

export function defineDdl(command: Command): void {
  command
    .description(
      "Print the statements that a tenant's HR database still needs for its files: tables, columns, triggers, rights " +
        'and landing tables. Reads only; run them yourself.',
    )
    .argument('<tenant>', 'tenant of the folder')
    .option('--stream <name>', 'only of the landing table of this stream, scheduled or not')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge ddl acme', 'hirebridge ddl acme --stream candidates'))
    .action(runDdl);
}

async function runDdl(tenantId: string, options: Flags & { stream?: string }, command: Command): Promise<void> {
  const { stream } = options;
  if (stream !== undefined) assertPulledStream(stream);
  const all = await withOwnTenant(command, tenantId, async (tenant) => {
    const found = await setupStatements(tenant, stream === undefined ? [] : [stream]);
    if (found === undefined) throw noStatements(tenant.hris.kind);
    return found;
  });
  const statements = stream === undefined ? all : all.filter(({ subject }) => subject === stream);
  if (options.json === true) return printJson(statements);
  const nothing = '-- Nothing is missing.\n';
  process.stdout.write(statements.length === 0 ? nothing : `${statements.map(({ text }) => text).join('\n\n')}\n`);
}

function noStatements(kind: string): ConnectorError {
  return rejected(
    'NO_STATEMENTS',
    `An HR system of kind ${kind} is no database. What it needs: src/hris/${kind}/README.md.`,
  );
}
