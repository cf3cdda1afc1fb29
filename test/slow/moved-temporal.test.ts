import { expect, onTestFinished, test } from 'vitest';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { expectExactlyHired, readStatus, takeApplicants, untilBaseline, untilHired } from '../harness/exactly-hired.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until } from '../harness/world.ts';

// The steps of docs/operations.md, "When Temporal is away, emptied, or moved".
test('a fleet moves to another cluster, and every hire under way ends there, once', async () => {
  const { address, cliPath } = await temporalForTests();
  const policies = 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 5s }';
  const world = await startWorld({ temporalAddress: address, candidates: 20, policies });
  onTestFinished(() => world.close());
  const [, worker] = await Promise.all([world.startReceiver(), world.startWorker()]);
  await untilBaseline(world);
  const people = await takeApplicants(world, 6);
  const move = (some: typeof people) =>
    world.control.act('move', { jobCandidateIds: some.map((one) => one.jobCandidateId), stageType: 'HIRED' });
  const enrolled = async () => (await world.effects('enrolment')).length;
  await move(people.slice(0, 3));
  await until('three wait for their onboarding', async () => (await enrolled()) === 3);

  await worker.stop();
  await move(people.slice(3));
  await until('their webhooks wait', async () => ((await readStatus(world)).inbox['waiting'] ?? 0) > 0);
  const next = await startDevServer({ cliPath, headless: true, namespace: 'moved' });
  onTestFinished(() => next.stop());
  const there = { TEMPORAL_ADDRESS: next.address, TEMPORAL_NAMESPACE: 'moved' };
  await world.startWorker(there);
  await until('the others are enrolled', async () => (await enrolled()) === 6);
  const { stdout } = await world.cli(['status', '--verbose'], there);
  expect(stdout).toContain('6 open');
  await untilHired(world, 6);
  await expectExactlyHired(world, people);
});
