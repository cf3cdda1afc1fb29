// One run of `run.ts`: plays hires in one checkout and prints what they cost, as JSON. Arguments: checkout, hires.
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type * as devServerModule from '../../src/temporal/dev-server/dev-server.ts';
import type * as resolveCliModule from '../../src/temporal/dev-server/resolve-cli.ts';
import type * as hiringModule from '../harness/hiring.ts';
import type * as worldModule from '../harness/world.ts';
import { cpuSecondsOf } from './process-cpu.ts';

type Harness = typeof worldModule & typeof hiringModule;
type DevServer = typeof devServerModule & typeof resolveCliModule;

const [, , tree = '.', count = '100'] = process.argv;
const harness = (await load('test/harness/world.ts', 'test/harness/hiring.ts')) as Harness;
const server = (await load(
  'src/temporal/dev-server/dev-server.ts',
  'src/temporal/dev-server/resolve-cli.ts',
)) as DevServer;

const cli = await server.resolveTemporalCli({ onProgress: () => undefined });
const temporal = await server.startDevServer({ cliPath: cli.path });
try {
  process.stdout.write(`${JSON.stringify(await play(Number(count)))}\n`);
} finally {
  await temporal.stop();
}

async function load(...files: string[]): Promise<object> {
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(`${tree}/${file}`).href)));
  return Object.assign({}, ...(modules as object[])) as object;
}

async function play(hires: number) {
  const world = await harness.startWorld({
    temporalAddress: temporal.address,
    jobs: 1,
    candidates: hires + 1,
    // The words that both sides know.
    policies: 'onboarding: { flow: "{flow}" }\n  cancel: { grace: 2s }',
  });
  try {
    await Promise.all([world.startReceiver(), world.startWorker()]);
    await harness.untilBaseline(world);
    const people = await harness.takeApplicants(world, hires);
    await pause(1_000);
    const before = times();
    const calls = (await world.control.ledger({ kind: 'request', limit: 100_000 })).length;
    const startedAt = performance.now();
    await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
    await untilWrittenBack(world, hires);
    const seconds = (performance.now() - startedAt) / 1000;
    await untilDone(world, hires);
    await pause(1_000);
    const after = times();
    const employees = (await world.employees()).length;
    const made = (await world.control.ledger({ kind: 'request', limit: 100_000 })).length - calls;
    return {
      hires,
      employees,
      seconds,
      worker: after.worker - before.worker,
      temporal: after.temporal - before.temporal,
      requests: made,
    };
  } finally {
    await world.close();
  }
}

function times(): { worker: number; temporal: number } {
  return { worker: cpuSecondsOf(/main\.ts worker /), temporal: cpuSecondsOf(/temporal.* server start-dev/) };
}

/** By the sandbox's ledger: the status command, a process of its own, would take half of the machine meanwhile. */
async function untilWrittenBack(world: worldModule.World, hires: number): Promise<void> {
  await harness.until(
    `${hires} Employee IDs at the partner`,
    async () => {
      await world.finishOnboardings();
      return new Set((await world.effects('external-status')).map(({ subject }) => subject)).size >= hires;
    },
    { timeoutMs: 300_000, everyMs: 500 },
  );
}

async function untilDone(world: worldModule.World, hires: number): Promise<void> {
  await harness.until(
    `${hires} hires done`,
    async () => ((await harness.readStatus(world)).hires['done'] ?? 0) >= hires,
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
}
