// Traces of hires as a real collector receives them, and what they cost:
// npm run test:traces -- [--hires 3] [--cost-hires 60] [--rounds 3]
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { takeApplicants, untilBaseline, untilHired } from '../harness/hiring.ts';
import { type Applicant, startWorld, until, type World } from '../harness/world.ts';
import { metricsIn, type ReceivedSpan, spansIn, startCollector } from './collector.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    hires: { type: 'string', default: '3' },
    'cost-hires': { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
  },
});
/** Whether tracing may cost that much more CPU a hire. */
const MOST_MORE = 0.1;
const faults: string[] = [];

const dir = await mkdtemp(join(tmpdir(), 'hirebridge-traces-'));
const collector = await startCollector(dir);
/** What any OpenTelemetry setup would be told. */
const otel = {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '1000',
  OTEL_METRIC_EXPORT_INTERVAL: '2000',
};
async function followHires(count: number): Promise<void> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: () => undefined });
  const temporal = await startDevServer({ cliPath });
  const points = join(dir, 'points.txt');
  const world = await startWorld({
    temporalAddress: temporal.address,
    jobs: 1,
    candidates: count + 2,
    env: { ...otel, LOG_LEVEL: 'debug', HIREBRIDGE_FAILPOINT_LIST: points },
  });
  try {
    const parts = await Promise.all([world.startReceiver(), world.startWorker()]);
    await untilBaseline(world);
    const people = await takeApplicants(world, count);
    await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
    await untilHired(world, count);
    const calls = await world.control.ledger({ kind: 'request', limit: 100_000 });
    const traceIds = await Promise.all(people.map(({ jobCandidateId }) => shownTrace(world, jobCandidateId)));
    await until('figures were sent', async () => metricsIn(await collector.text()).size > 20, { timeoutMs: 60_000 });
    await Promise.all(parts.map((part) => part.stop()));
    const received = await collector.text();
    const spans = spansIn(received);
    for (const traceId of traceIds) judgeTrace(spans.filter((span) => span.traceId === traceId));
    judgeCalls(spans, calls, await readFile(points, 'utf8'), traceIds);
    await judgePrivacy(world, received, people);
    judgeLogs(await world.logs(), traceIds);
    judgeMetrics(metricsIn(received));
  } finally {
    await world.close();
    await temporal.stop();
  }
}

async function shownTrace(world: World, jobCandidateId: string | number): Promise<string> {
  const { stdout } = await world.cli(['hire', 'show', world.tenant, `${jobCandidateId}`, '--json']);
  return (JSON.parse(stdout) as { traceId: string }).traceId;
}

/** What every hire's trace must hold, by the beginnings of the names of its spans. */
const PARTS = [
  'hire',
  'receive candidate.hired',
  'relay candidate.hired',
  'SignalWithStartWorkflow:hire',
  'RunWorkflow:hire',
  'StartActivity:openHire',
  'RunActivity:openHire',
  'partner.onboarding.enrol',
  'partner.onboarding.setExternalStatus',
  'hris.find',
  'hris.create',
  'store.insert',
];

function judgeTrace(spans: readonly ReceivedSpan[]): void {
  const [first] = spans;
  if (first === undefined) return void faults.push('a hire has no trace');
  const known = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === '');
  const orphans = spans.filter(({ parentSpanId }) => parentSpanId !== '' && !known.has(parentSpanId));
  if (roots.length !== 1) faults.push(`trace ${first.traceId} has ${roots.length} roots`);
  if (known.size !== spans.length) faults.push(`trace ${first.traceId} has ${spans.length - known.size} spans twice`);
  for (const { name } of orphans) faults.push(`trace ${first.traceId} has an orphan, ${name}`);
  for (const part of PARTS)
    if (!spans.some(({ name }) => name === part || name.startsWith(`${part}.`)))
      faults.push(`trace ${first.traceId} lacks ${part}`);
  const services = [...new Set(spans.map(({ service }) => service))].toSorted();
  process.stdout.write(
    `trace ${first.traceId}: ${spans.length} spans of ${services.join(' and ')}, ` +
      `${roots.length} root, ${orphans.length} orphans\n`,
  );
}

/**
 * The list of points passed says which calls there were, and each must be a span; the sandbox's ledger says that those
 * reached it. What a chore asks on a timer (`loop`) is of no hire and makes none.
 */
function judgeCalls(
  spans: readonly ReceivedSpan[],
  calls: readonly { name: string; requestId?: string | undefined }[],
  points: string,
  traceIds: readonly string[],
): void {
  const own = new Set(traceIds);
  const passed = points
    .split('\n')
    .map((line) => line.split('/'))
    .filter(([activity = '', , at]) => at === 'before' && activity !== 'loop');
  for (const side of ['partner.', 'hris.']) {
    const ofSide = (names: readonly string[]) => count(names.filter((name) => name.startsWith(side)));
    const made = ofSide(passed.map(([, name = '']) => name));
    const shown = ofSide(spans.map(({ name }) => name));
    if (JSON.stringify(made) !== JSON.stringify(shown))
      faults.push(`calls ${JSON.stringify(made)} and spans ${JSON.stringify(shown)} differ`);
    // A read that hires share stands in the trace of the first to ask, which may be a reconcile.
    const ofHires = passed.filter(([activity = '']) => !['reconcile', 'sharedRead'].includes(activity));
    const inHires = ofSide(spans.filter(({ traceId }) => own.has(traceId)).map(({ name }) => name));
    for (const [name, times] of Object.entries(ofSide(ofHires.map(([, call = '']) => call))))
      if ((inHires[name] ?? 0) < times) faults.push(`${times} calls ${name} of hires, ${inHires[name] ?? 0} in traces`);
    process.stdout.write(`${side} calls ${JSON.stringify(made)}, in traces of hires ${JSON.stringify(inHires)}\n`);
  }
  const ids = new Set(spans.map(({ attributes }) => attributes['hirebridge.request_id']));
  const reached = calls.filter(({ requestId }) => requestId !== undefined && ids.has(requestId));
  process.stdout.write(`${reached.length} of ${calls.length} requests in the sandbox's ledger are spans\n`);
  if (reached.length === 0) faults.push('no request of the ledger is a span');
}

function count(list: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(list, (name) => name)].map(([name, all]) => [name, all.length]).toSorted());
}

/** Names, addresses and keys that must stand nowhere in what was sent. */
async function judgePrivacy(world: World, received: string, people: readonly Applicant[]): Promise<void> {
  const records = await Promise.all(
    people.map(({ candidateId }) => world.partner.candidates.get({ params: { candidateId } })),
  );
  const known = [records, await world.employees()].flatMap((one) => personalIn(one));
  const canaries = new Set([...known, world.apiKey, world.webhookKey]);
  const found = [...canaries].filter((canary) => received.includes(canary));
  process.stdout.write(`${canaries.size} canaries, ${found.length} of them in what was sent\n`);
  if (known.length < 4 * people.length)
    faults.push(`only ${known.length} values of ${people.length} people to look for`);
  for (const canary of found) faults.push(`what was sent holds ${canary}`);
}

/** Every text below a key that speaks of a name, an address or a telephone, long enough to be told from other words. */
function personalIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string')
    return /name|mail|phone|address|linkedin/i.test(key) && value.length >= 5 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([below, one]) => personalIn(one, Array.isArray(value) ? key : below));
}

function judgeLogs(logs: string, traceIds: readonly string[]): void {
  for (const traceId of traceIds) {
    const lines = logs.split('\n').filter((line) => line.includes(`"trace_id":"${traceId}"`));
    if (lines.length === 0) faults.push(`no line of the log names trace ${traceId}`);
    process.stdout.write(`trace ${traceId}: ${lines.length} lines of the log name it\n`);
  }
}

function judgeMetrics(names: ReadonlySet<string>): void {
  for (const name of [
    'hirebridge-worker hirebridge_partner_call_seconds',
    'hirebridge-serve hirebridge_webhook_seconds',
  ])
    if (!names.has(name)) faults.push(`the figure ${name} was not sent`);
  process.stdout.write(`${names.size} figures came by OTLP\n`);
}

interface Cost {
  hires: number;
  worker: number;
  temporal: number;
}

/** In turns, so that whatever else the machine does hits both. */
async function measure(hires: number, rounds: number): Promise<void> {
  if (rounds === 0) return;
  const player = join(ROOT, 'test/cost/play-hires.ts');
  const costs: Record<'without' | 'with', number[]> = { without: [], with: [] };
  for (let round = 1; round <= rounds; round += 1)
    for (const kind of round % 2 === 1 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      const env = { ...process.env, ...(kind === 'with' ? { ...otel, OTEL_METRIC_EXPORT_INTERVAL: '60000' } : {}) };
      const options = { cwd: ROOT, env, timeout: 900_000 };
      const { stdout } = await promisify(execFile)(process.execPath, [player, ROOT, `${hires}`], options);
      const cost = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Cost;
      process.stderr.write(`round ${round}, ${kind}: ${JSON.stringify(cost)}\n`);
      costs[kind].push((cost.worker + cost.temporal) / cost.hires);
    }
  const ratios = costs.with.map((cost, round) => cost / (costs.without[round] ?? Number.NaN));
  const more = median(ratios) - 1;
  const rows = Object.entries(costs).map(([kind, all]) => [
    kind,
    median(all).toFixed(3),
    all.map((one) => one.toFixed(3)).join(' '),
  ]);
  process.stdout.write(`${renderTable(['traces', 'CPU s a hire, worker and Temporal', 'of each round'], rows)}\n`);
  process.stdout.write(`with traces ${(more * 100).toFixed(1)} % more (at most ${MOST_MORE * 100} %)\n`);
  if (more > MOST_MORE) faults.push(`traces cost ${(more * 100).toFixed(1)} % more CPU a hire`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

try {
  await followHires(Number(values.hires));
  await measure(Number(values['cost-hires']), Number(values.rounds));
} finally {
  await collector.stop();
  if (process.env['KEEP_WORLD'] === undefined) await rm(dir, { recursive: true, force: true });
}
for (const fault of faults) process.stdout.write(`FAULT ${fault}\n`);
process.stdout.write(faults.length === 0 ? 'No fault.\n' : `${faults.length} faults.\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
