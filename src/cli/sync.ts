import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type Progresses from 'cli-progress';
import { type Command, Option } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { isConnectorError, rejected } from '../errors.ts';
import { askWorker, installationMark } from '../operator/ask-worker.ts';
import { reconcileNow, type StreamLook, type StreamRequest, type StreamResult } from '../operator/follow-stream.ts';
import type { OperatorParts } from '../operator/open-tenant.ts';
import { DATA_DIR, type Places, storeIn, TENANTS_DIR } from '../places.ts';
import type { StreamRow } from '../store/schema.ts';
import type { StreamName } from '../streams/streams.ts';
import type { SyncRun } from '../temporal/schedules.ts';
import {
  AS,
  byOf,
  EXIT,
  type ExitCode,
  example,
  exitCodeOf,
  type Flags,
  placesOf,
  print,
  printError,
  printJson,
  renderTable,
  say,
} from './command.ts';
import { withClient } from './open.ts';

export const commands = { sync: defineSync, reconcile: defineReconcile };

function defineSync(command: Command): void {
  command
    .description(
      'Run one stream, or every stream of the tenant file: read what webhooks named as changed, and the whole ' +
        'list if that is due. Unchanged records are not written.',
    )
    .argument('<tenant>', 'tenant of the stream')
    .argument('[stream]', 'what to run, by its name in the tenant file: jobs, candidates, ...')
    .option('--full', 'read the whole list and write what differs')
    .addOption(new Option('--one <id>', 'read a single record').conflicts(['full', 'rewrite']))
    .option('--rewrite', 'read the whole list and write every row again, whatever its hash says')
    .addOption(new Option('--dry-run', 'show what would be written, and write nothing').conflicts(['rewrite', 'one']))
    .option('--json', 'print the counts as JSON')
    .option(...AS)
    .addHelpText(
      'after',
      '\nA worker must run (hirebridge up, or hirebridge worker), except for --dry-run.\n' +
        'Exit code 3: records were left out, each with its reason.\n' +
        example('hirebridge sync acme', 'hirebridge sync acme candidates --full', 'hirebridge sync acme jobs --one 17'),
    )
    .action(runSync);
}

interface SyncFlags extends Flags {
  full?: boolean;
  one?: string;
  rewrite?: boolean;
  dryRun?: boolean;
}

async function runSync(
  tenantId: string,
  stream: string | undefined,
  flags: SyncFlags,
  command: Command,
): Promise<void> {
  if (flags.one !== undefined && stream === undefined) command.error('error: --one needs the name of its stream');
  if (flags.dryRun === true) {
    const { showSync } = await import('./plan.ts');
    return showSync(await placesOf(command), { tenantId, stream, json: flags.json === true });
  }

  // Does not read all settings: their schema is loaded only if this process does the work itself.
  const places = placesIn(command.optsWithGlobals(), process.env);
  const options = { ...places, tenantId, stream, ...readingOf(flags), by: byOf(flags), json: flags.json === true };
  process.exitCode = (await askHere(options)) ?? (await followSync({ ...options, ...(await placesOf(command)) }));
}

/** The places as typed, or from the environment. Not validated: see src/config.ts. */
function placesIn(typed: { tenants?: string; data?: string }, env: NodeJS.ProcessEnv): Places {
  return {
    tenantsDir: resolve(typed.tenants ?? env['HIREBRIDGE_TENANTS'] ?? TENANTS_DIR),
    dataDir: resolve(typed.data ?? env['HIREBRIDGE_DATA'] ?? DATA_DIR),
  };
}

function readingOf({
  full = false,
  one,
  rewrite = false,
}: SyncFlags): Pick<SyncOptions, 'mode' | 'rewrite' | 'recordId'> {
  if (one !== undefined) return { mode: 'one', rewrite: false, recordId: one };
  return { mode: full || rewrite ? 'full' : 'incremental', rewrite };
}

interface SyncOptions extends Places, Omit<StreamRequest, 'stream'> {
  /** The stream as typed; if absent, every scheduled stream. */
  stream: string | undefined;
  json: boolean;
}

const MOST_LISTED = 20;

/** Starts a run of one or every stream, shows its progress, and prints its counts. */
async function followSync(options: SyncOptions): Promise<ExitCode> {
  const { stream, tenantId } = options;
  // Temporal's client and the store take most of a second to load; with a worker of this machine they are not needed.
  const [{ withClient }, { assertKnownStream }, { assertNotPaused }] = await Promise.all([
    import('./open.ts'),
    import('../operator/streams.ts'),
    import('../operator/follow-stream.ts'),
  ]);
  const check: (name: string) => void = assertKnownStream;
  if (stream !== undefined) check(stream);
  const follow = async (parts: OperatorParts): Promise<ExitCode> => {
    if (stream !== undefined) return followOne(parts, options, stream as StreamName);
    const codes: ExitCode[] = [];
    for (const name of await ownStreams(parts, options)) codes.push(await followNext(parts, options, name));
    return [EXIT.error, EXIT.refused, EXIT.partial].find((code) => codes.includes(code)) ?? EXIT.done;
  };
  return withClient(options, follow, tenantId, (store) => assertNotPaused(store, tenantId));
}

/** Lets an already connected worker of this machine run one stream; undefined if none accepts. */
async function askHere(options: SyncOptions): Promise<ExitCode | undefined> {
  const { dataDir, tenantsDir, tenantId, mode, rewrite, recordId, by } = options;
  if (options.stream === undefined) return undefined;
  // The worker that accepts checks the name.
  const stream = options.stream as StreamName;
  const asked = { tenantId, stream, mode, rewrite, by };
  const request: StreamRequest = { ...asked, ...(recordId === undefined ? {} : { recordId }) };
  const mark = installationMark(storeIn(dataDir, process.env['HIREBRIDGE_STORE_URL']), tenantsDir);
  const progress = createProgress(`${tenantId} ${stream}`);
  const question = { version: packageFile.version, mark, request };
  const watch = createWatcher(progress);
  const result = await askWorker(dataDir, question, watch)
    .catch((error: unknown) => {
      const run = runOf(error);
      if (run === undefined) throw error;
      return followElsewhere(options, { ...request, run }, watch);
    })
    .finally(progress.stop);
  return result === undefined ? undefined : show(options, stream, result);
}

/** The run that continues although the worker that followed it ended or fell silent. */
function runOf(error: unknown): SyncRun | undefined {
  const isLeft = isConnectorError(error, 'WORKER_ENDED') || isConnectorError(error, 'WORKER_SILENT');
  return isLeft ? (error.details?.['run'] as SyncRun | undefined) : undefined;
}

async function followElsewhere(
  options: SyncOptions,
  request: StreamRequest & { run: SyncRun },
  watch: (look: StreamLook) => void,
): Promise<StreamResult> {
  const [{ withClient }, { followRun }] = await Promise.all([
    import('./open.ts'),
    import('../operator/follow-stream.ts'),
  ]);
  return withClient(options, (parts) => followRun(parts, request, watch), options.tenantId);
}

/** If one stream is refused, the others still run. */
async function followNext(parts: OperatorParts, options: SyncOptions, stream: StreamName): Promise<ExitCode> {
  try {
    return await followOne(parts, options, stream);
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (options.json) printJson({ stream, state: 'refused', code: error.code, message: error.message });
    else printError(error);
    return exitCodeOf(error);
  }
}

async function followOne(parts: OperatorParts, options: SyncOptions, stream: StreamName): Promise<ExitCode> {
  const { followStream } = await import('../operator/follow-stream.ts');
  const progress = createProgress(`${options.tenantId} ${stream}`);
  const result = await followStream(parts, { ...options, stream }, createWatcher(progress)).finally(progress.stop);
  return show(options, stream, result);
}

function show(options: SyncOptions, stream: string, result: StreamResult): ExitCode {
  const named = options.stream === undefined ? { stream } : {};
  if (options.json) printJson({ ...named, state: result.state, ...result.counts, leftOut: result.leftOut });
  else print(`${options.stream === undefined ? `${stream} ` : ''}${describe(result)}`);
  return result.state === 'partial' ? EXIT.partial : EXIT.done;
}

async function ownStreams({ store }: OperatorParts, { tenantId, tenantsDir }: SyncOptions): Promise<StreamName[]> {
  // Reading a tenant loads mappings and HR systems, which is not needed for a named stream.
  const [{ findTenant }, { streamNames }] = await Promise.all([
    import('../operator/open-tenant.ts'),
    import('../streams/streams.ts'),
  ]);
  const { streams } = await findTenant(store, tenantsDir, tenantId);
  const own = streamNames.filter((name) => streams[name].every !== undefined);
  if (own.length > 0) return own;
  throw rejected(
    'NO_STREAMS',
    `No stream of ${tenantId} runs by itself. Name one of ${streamNames.join(', ')}, ` +
      'or say in the tenant file how often it should run: streams: { jobs: { every: 1h } }',
  );
}

/** Shows each state, and prints once why nothing happens. */
function createWatcher(progress: ReturnType<typeof createProgress>): (look: StreamLook) => void {
  let warned = false;
  return ({ row, callsPerSecond, waiting }) => {
    if (row !== undefined) progress.show(row, callsPerSecond);
    if (waiting === undefined || warned) return;
    process.stderr.write(`${waiting}\n`);
    warned = true;
  };
}

function describe({ state, counts, seconds, leftOut }: StreamResult): string {
  const numbers = Object.entries(counts ?? {}).map(([name, count]) => `${count} ${name}`);
  const time = seconds === undefined ? '' : ` in ${seconds.toFixed(1)} s`;
  const list = leftOut.length === 0 ? '' : `\n${renderLeftOut(leftOut)}\n`;
  return `${state}: ${numbers.join(', ')}${time}\n${list}`;
}

function renderLeftOut(leftOut: StreamResult['leftOut']): string {
  const shown = leftOut.slice(0, MOST_LISTED).map(({ record, since, reason }) => [record, since, reason]);
  const more = leftOut.length > MOST_LISTED ? `\n... and ${leftOut.length - MOST_LISTED} more` : '';
  return `${renderTable(['left out', 'since', 'reason'], shown)}${more}`;
}

type Row = Pick<StreamRow, 'seen' | 'total' | 'created' | 'updated' | 'quarantined'>;

/** Shows a run's progress: a bar on a terminal, otherwise a line every ten seconds. */
interface Progress {
  show(row: Row, perSecond?: number): void;
  /** Leaves the last state on the screen. */
  stop(): void;
}

const LINE_EVERY_MS = 10_000;
/** The rate covers this many milliseconds. */
const RATE_OVER_MS = 10_000;

function createProgress(name: string): Progress {
  const rate = createRate();
  return process.stderr.isTTY ? createBar(name, rate) : createLines(name, rate);
}

function createBar(name: string, rate: Rate): Progress {
  const format = `${name} {bar} {value}/{total}  {rate} records/s, {left} left, {rateLimit}`;
  const { Presets, SingleBar } = createRequire(import.meta.url)('cli-progress') as typeof Progresses;
  const bar = new SingleBar(
    { format, barsize: 24, hideCursor: true, clearOnComplete: false, stream: process.stderr },
    Presets.shades_classic,
  );
  let started = false;
  return {
    show(row, rateLimit) {
      const facts = factsOf(row, rate(row.seen), rateLimit);
      if (!started) bar.start(row.total ?? row.seen, row.seen, facts);
      started = true;
      bar.setTotal(row.total ?? row.seen);
      bar.update(row.seen, facts);
    },
    stop: () => bar.stop(),
  };
}

function createLines(name: string, rate: Rate): Progress {
  let next = 0;
  return {
    show(row, rateLimit) {
      const perSecond = rate(row.seen);
      if (performance.now() < next) return;
      next = performance.now() + LINE_EVERY_MS;
      const facts = factsOf(row, perSecond, rateLimit);
      process.stderr.write(
        `${name} ${row.seen}/${row.total ?? '?'} records, ${facts.rate}/s, ${facts.left} left, ${facts.rateLimit}\n`,
      );
    },
    stop: () => undefined,
  };
}

function factsOf({ seen, total }: Row, perSecond: number, rateLimit: number | undefined) {
  const left = total === null || perSecond <= 0 ? '?' : `${Math.ceil((total - seen) / perSecond)} s`;
  return {
    rate: perSecond.toFixed(0),
    left,
    rateLimit: rateLimit === undefined ? 'no rate limit yet' : `rate limit ${rateLimit.toFixed(1)} calls/s`,
  };
}

type Rate = (seen: number) => number;

function createRate(): Rate {
  let points: { at: number; seen: number }[] = [];
  return (seen) => {
    const at = performance.now();
    points = [...points.filter((point) => point.at > at - RATE_OVER_MS), { at, seen }];
    const [first] = points;
    return first === undefined || at - first.at < 100 ? 0 : ((seen - first.seen) * 1000) / (at - first.at);
  };
}

function defineReconcile(command: Command): void {
  command
    .description(
      'Compare both sides of a tenant now, as its schedule does: what seems changed, or everything. If one is ' +
        'running already, another one follows it.',
    )
    .argument('<tenant>', 'tenant to compare')
    .option('--full', 'compare everything, as happens once a day, even what seems unchanged')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText(
      'after',
      '\nA worker must run (hirebridge up, or hirebridge worker).\n' +
        example('hirebridge reconcile acme', 'hirebridge reconcile acme --full'),
    )
    .action(runReconcile);
}

async function runReconcile(
  tenantId: string,
  { full = false, ...options }: Flags & { full?: boolean },
  command: Command,
): Promise<void> {
  const places = await placesOf(command);
  await withClient(places, (parts) => reconcileNow(parts, { tenantId, full, by: byOf(options) }), tenantId);
  const what = full ? 'Everything' : 'What seems changed';
  say(options, { reconciling: tenantId, full }, `${what} is compared now. Follow with: hirebridge status\n`);
}
