import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectExactlyHired, readStatus, takeApplicants } from '../harness/exactly-hired.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { type Kill, killWorkerAt } from '../harness/kill-worker.ts';
import { distinct, recordPoints } from '../harness/recorded-failpoints.ts';
import { seeded, shuffled } from '../harness/seeded.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World } from '../harness/world.ts';

let world: World;

beforeAll(async () => {
  const { address } = await temporalForTests();
  world = await startWorld({ temporalAddress: address, jobs: 3, candidates: 330, env: shortWaits });
  await world.startReceiver();
});

afterAll(() => world?.close());

/** The steps of a hire; a point of the reconcile or of the relay is of no hire. */
const steps = ['openHire', 'enrol', 'readOnboarding', 'planEmployee', 'applyPlan', 'writeBack', 'verify'];
/** A second one of these would be paid for. */
const UNREPEATABLE = /\/(partner\.onboarding\.enrol|hris\.create)\//;

test('workers killed at a point of every step of a hire, with eight under way, leave exactly one of each', async () => {
  const random = seeded('kills');
  const [first, pilots, others] = await takeThree(1, 8, 280);
  // What a tenant learns with its first hire, such as the HRIS's fields, is not written again: no kill comes there.
  await recordPoints(world, first);
  const points = distinct((await recordPoints(world, pilots)).hires);
  // The full run, every point five times: npm run test:kills.
  const chosen = new Set([
    ...steps.flatMap((step) =>
      shuffled(
        random,
        points.filter((point) => point.startsWith(`${step}/`)),
      ).slice(0, 1),
    ),
    ...points.filter((point) => UNREPEATABLE.test(point)),
  ]);
  expect(chosen.size).toBeGreaterThanOrEqual(steps.length + 2);
  const traffic = startTraffic(world, others);
  const kills: Kill[] = [];
  for (const point of shuffled(random, [...chosen]))
    kills.push(await killWorkerAt(world, traffic, point, { inFlight: 8 }));
  expect(kills.filter((kill) => !kill.died).map((kill) => kill.point)).toEqual([]);
  expect(Math.min(...kills.map((kill) => kill.inFlight.length))).toBeGreaterThanOrEqual(8);
  await traffic.keep(0);
  await world.startWorker();
  await until('every Employee ID', async () => (await traffic.inFlight()).length === 0, { timeoutMs: 90_000 });
  const hired = [...first, ...pilots, ...traffic.hired];
  await until('every hire is done', async () => (await readStatus(world)).hires['done'] === hired.length, {
    everyMs: 500,
  });
  await traffic.close();
  await expectExactlyHired(world, hired);
});

async function takeThree(first: number, second: number, third: number) {
  const people = await takeApplicants(world, first + second + third);
  return [people.slice(0, first), people.slice(first, first + second), people.slice(first + second)] as const;
}
