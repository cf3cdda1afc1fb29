import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectExactlyHired, readStatus, untilBaseline, untilHired } from '../harness/exactly-hired.ts';
import { choose, hirePoints, killEnv, killRow, peopleToHire, recordPoints } from '../harness/kills.ts';
import { seeded } from '../harness/seeded.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, type World } from '../harness/world.ts';

let world: World;

beforeAll(async () => {
  const { address } = await temporalForTests();
  world = await startWorld({ temporalAddress: address, jobs: 2, candidates: 120, env: killEnv });
  await world.startReceiver();
});

afterAll(() => world?.close());

test('a worker killed before or after any foreign call or commit of a hire leaves exactly one of each', async () => {
  const first = await world.startWorker();
  await untilBaseline(world);
  await first.stop();
  const [pilot, ...people] = await peopleToHire(world, 90);
  if (pilot === undefined) throw new Error('nobody to hire');

  const before = new Map(Object.entries((await world.control.counts({ kind: 'request' }))['request'] ?? {}));
  const passed = await recordPoints(world, pilot);
  const after = (await world.control.counts({ kind: 'request' }))['request'] ?? {};
  const instrumented = (operation: string): number =>
    passed.filter((point) => point.endsWith(`/partner.${operation}/before`)).length;
  // The partner's own count of calls against the points passed: a foreign call without its points is found here.
  const made = Object.fromEntries(
    Object.entries(after).map(([operation, count]) => [operation, count - (before.get(operation) ?? 0)]),
  );
  const called = Object.entries(made).filter(([, count]) => count > 0);
  expect(called.length).toBeGreaterThan(5);
  expect(called.filter(([operation, count]) => instrumented(operation) !== count)).toEqual([]);
  expect(passed.filter((point) => point.endsWith('/hris.create/after'))).toHaveLength(1);

  const points = hirePoints(passed);
  const activities = [...new Set(points.map((point) => point.split('/')[0] ?? ''))];
  expect(activities).toEqual(
    expect.arrayContaining([
      'openHire',
      'enrol',
      'readOnboarding',
      'planEmployee',
      'applyPlan',
      'writeBack',
      'verify',
      'endHire',
    ]),
  );
  const random = seeded('kills');
  // One point of each step at least, and the ones around the two writes that must not happen twice.
  const chosen = new Set([
    ...activities.flatMap((activity) =>
      choose(
        points.filter((point) => point.startsWith(`${activity}/`)),
        1,
        random,
      ),
    ),
    ...points.filter((point) => /\/(partner\.onboarding\.enrol|hris\.create)\//.test(point)),
  ]);
  const { kills, hired } = await killRow(world, [...chosen], people, 2);
  expect(kills.filter((kill) => !kill.died)).toEqual([]);
  await untilHired(world, hired.length + 1, { timeoutMs: 90_000 });
  expect((await readStatus(world)).hires).toEqual({ done: hired.length + 1 });
  await expectExactlyHired(world, [pilot, ...hired]);
}, 170_000);
