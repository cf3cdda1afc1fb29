// What the workers' autoscaler goes by rises under load and falls after it: npm run test:autoscale -- [--hires 150]
// Scrapes one worker as Prometheus would and gives the scrapes to the chart's rule, by promtool where it is installed.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { takeApplicants, untilBaseline } from '../harness/hiring.ts';
import { startWorld, until, type World } from '../harness/world.ts';

const CHART = join(import.meta.dirname, '../../packaging/helm');
const SIGNAL = 'hirebridge:schedule_to_start_seconds:p95';
const EVERY_S = 5;
/** A little more than the two minutes over which the rule looks back. */
const AFTER_S = 150;
const { values } = parseArgs({ options: { hires: { type: 'string', default: '150' } } });

interface Scrape {
  /** By name and labels, as a worker prints them. */
  buckets: ReadonlyMap<string, number>;
  hiring: boolean;
}

async function scrapes(hires: number): Promise<Scrape[]> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: () => undefined });
  const temporal = await startDevServer({ cliPath });
  const world = await startWorld({ temporalAddress: temporal.address, jobs: 1, candidates: hires + 2 });
  const found: Scrape[] = [];
  let state: 'before' | 'hiring' | 'after' | 'over' = 'before';
  try {
    const [worker] = await Promise.all([world.startWorker(), world.startReceiver()]);
    await untilBaseline(world);
    const people = await takeApplicants(world, hires);
    const look = async () => {
      while (state !== 'over') {
        const text = await (await fetch(`${worker.facts['health']}/metrics`)).text();
        found.push({ buckets: bucketsIn(text), hiring: state === 'hiring' });
        await pause(EVERY_S * 1_000);
      }
    };
    const looking = look();
    await until('two minutes of rest', async () => found.length * EVERY_S > AFTER_S, { timeoutMs: 600_000 });
    state = 'hiring';
    await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
    await untilWrittenBack(world, hires);
    state = 'after';
    const ended = found.length;
    await until('rest', async () => (found.length - ended) * EVERY_S > AFTER_S, { timeoutMs: 600_000 });
    state = 'over';
    await looking;
    return found;
  } finally {
    state = 'over';
    await world.close();
    await temporal.stop();
  }
}

/** By the sandbox's ledger: a command beside it would take CPU from the worker. */
async function untilWrittenBack(world: World, hires: number): Promise<void> {
  const all = async (): Promise<boolean> => {
    await world.finishOnboardings();
    return new Set((await world.effects('external-status')).map(({ subject }) => subject)).size >= hires;
  };
  await until(`${hires} Employee IDs at the partner`, all, { timeoutMs: 900_000, everyMs: 500 });
}

function bucketsIn(text: string): Map<string, number> {
  const lines = text.matchAll(/^(hirebridge_activity_schedule_to_start_seconds_bucket\{[^}]*\}) (\d+)$/gm);
  return new Map([...lines].map(([, series = '', value]) => [series, Number(value)]));
}

/** A test for promtool: the scrapes as series, and what the rule must have made of them before, during and after. */
function asRuleTest(found: readonly Scrape[], rules: string): string {
  const names = new Set(found.flatMap(({ buckets }) => [...buckets.keys()]));
  const input_series = [...names].map((series) => ({
    series,
    values: found.map(({ buckets }) => buckets.get(series) ?? '_').join(' '),
  }));
  const begun = found.findIndex(({ hiring }) => hiring);
  const ended = found.findLastIndex(({ hiring }) => hiring);
  const lasted = (ended - begun) * EVERY_S + AFTER_S / 2;
  const expected = [
    { expr: `${SIGNAL} < bool ${TARGET_S}`, at: begun - 1 },
    { expr: `max_over_time(${SIGNAL}[${lasted}s]) > bool ${TARGET_S}`, at: begun + Math.ceil(lasted / EVERY_S) },
    { expr: `${SIGNAL} < bool ${TARGET_S}`, at: found.length - 1 },
  ];
  return stringify({
    rule_files: [rules],
    evaluation_interval: `${EVERY_S}s`,
    tests: [
      {
        interval: `${EVERY_S}s`,
        input_series,
        promql_expr_test: expected.map(({ expr, at }) => ({
          expr,
          eval_time: `${at * EVERY_S}s`,
          exp_samples: [{ labels: '{}', value: 1 }],
        })),
      },
    ],
  });
}

const chart = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as {
  worker: { autoscaling: { target: string } };
};
const TARGET_S = Number(chart.worker.autoscaling.target);
const dir = await mkdtemp(join(tmpdir(), 'hirebridge-autoscale-'));
try {
  const file = join(dir, 'scrapes.test.yaml');
  const found = await scrapes(Number(values.hires));
  await writeFile(file, asRuleTest(found, join(CHART, 'files/rules.yaml')));
  const { error, status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  const hiring = found.filter((one) => one.hiring).length * EVERY_S;
  process.stdout.write(`${values.hires} hires at once, ${hiring} s, ${found.length} scrapes\n`);
  process.stdout.write(error === undefined ? `${stdout}${stderr}` : 'promtool is not installed\n');
  process.stdout.write(
    status === 0
      ? `The signal is below the target of ${TARGET_S} s, rises above it under load, and falls below it after it.\n`
      : 'FAULT the signal does not rise and fall\n',
  );
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  if (process.env['KEEP_WORLD'] === undefined) await rm(dir, { recursive: true, force: true });
}
