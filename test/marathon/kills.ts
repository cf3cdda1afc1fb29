import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { isExactlyOnce } from '../harness/judge-hires.ts';
import { startHrisSource } from '../harness/start-hris-source.ts';
import { type KillRow, loadMarathon, type Marathon, saveMarathon } from './kill-rows.ts';
import { killAtGoLive, killInOneWorld, listPoints, type Settings } from './kill-worlds.ts';

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '8' },
    parallel: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    file: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    /** The kind whose counterpart is the HR system; an SQL table without it. */
    hris: { type: 'string', default: 'sql' },
  },
});

const POINTS_A_WORLD = 8;
/** Each kill comes further into the baseline: one that is over passes no point again. */
const POINTS_A_BASELINE = 2;
/** A run on another kind is another run. */
const FILE = values.file ?? `.hirebridge/test-kills${values.hris === 'sql' ? '' : `-${values.hris}`}.json`;

/**
 * Kills a worker at every point of a hire, `--times` each, with at least `--in-flight` hires under way, and prints what
 * the partner's
 * ledger and the HRIS's table say about these hires. Taken up where it was left, unless `--fresh`.
 */
async function main(): Promise<void> {
  const startedAt = performance.now();
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const hris = await startHrisSource(values.hris);
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const settings = {
    temporalAddress: temporal.address,
    times: Number(values.times),
    inFlight: Number(values['in-flight']),
    hris,
  };
  const known = values.fresh ? undefined : await loadMarathon(FILE);
  const marathon = known === undefined || isComplete(known) ? await begin(settings) : known;
  const before = marathon.seconds;
  const save = (): Promise<void> => {
    marathon.seconds = before + (performance.now() - startedAt) / 1000;
    return saveMarathon(FILE, marathon);
  };
  await save();
  try {
    await runAll(marathon, settings, save);
  } finally {
    await temporal.stop();
    await hris?.stop();
  }
  report(marathon);
}

async function begin(settings: Settings): Promise<Marathon> {
  const points = await listPoints(settings);
  return { points: points.filter((point) => point.includes(values.only)), rows: [], seconds: 0 };
}

function isComplete({ points, rows }: Marathon): boolean {
  return rows.length >= points.length;
}

/** Some worlds at a time; each takes points until its people are used up. */
async function runAll(marathon: Marathon, settings: Settings, save: () => Promise<void>): Promise<void> {
  const done = new Set(marathon.rows.map((row) => row.point));
  const queue = marathon.points.filter((point) => !done.has(point));
  const goLive = queue.filter((point) => point.startsWith('go-live '));
  const left = queue.filter((point) => !point.startsWith('go-live '));
  const add = async (rows: KillRow[]): Promise<void> => {
    marathon.rows.push(...rows);
    await save();
    process.stderr.write(progress(marathon));
  };
  const playNext = async (): Promise<void> => {
    while (left.length > 0) {
      const chosen = left.splice(0, POINTS_A_WORLD);
      const { rows, rest } = await killInOneWorld(settings, chosen);
      left.push(...rest);
      await add(rows);
    }
    while (goLive.length > 0) await add(await killAtGoLive(settings, goLive.splice(0, POINTS_A_BASELINE)));
  };
  await Promise.all(Array.from({ length: Number(values.parallel) }, playNext));
}

function progress({ points, rows, seconds }: Marathon): string {
  const minutes = (seconds / 60).toFixed(1);
  const wrong = rows.filter((row) => !isExactlyOnce(row)).length;
  return `${rows.length} of ${points.length} points, ${minutes} min, ${wrong} not exactly once\n`;
}

function report({ points, rows, seconds }: Marathon): void {
  const ordered = rows.toSorted((a, b) => points.indexOf(a.point) - points.indexOf(b.point));
  const cells = ordered.map((row) =>
    [row.point, row.killed, row.inFlight, row.hires, row.employees, row.credits, row.verified].map(String),
  );
  const heads = ['point', 'killed', 'in flight', 'hires', 'employees', 'credits', 'verified'];
  process.stdout.write(`${renderTable(heads, cells)}\n`);
  const short = rows.filter((row) => row.killed < Number(values.times));
  const wrong = rows.filter((row) => !isExactlyOnce(row));
  const kills = rows.reduce((sum, row) => sum + row.killed, 0);
  process.stdout.write(
    `${kills} kills at ${rows.length} points in ${(seconds / 60).toFixed(1)} minutes; ${wrong.length} points not ` +
      `exactly once, ${short.length} not killed ${values.times} times\n`,
  );
  process.exitCode = wrong.length + short.length === 0 ? 0 : 1;
}

await main();
