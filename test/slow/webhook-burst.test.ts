import pLimit from 'p-limit';
import { afterEach, expect, test } from 'vitest';
import {
  deliverEvents,
  expectExactlyHired,
  hireSilently,
  readStatus,
  takeApplicants,
  untilBaseline,
  untilHired,
} from '../harness/exactly-hired.ts';
import { type ExpectedDelivery, hiredBody, rightDeliveries, spoil } from '../harness/hired-deliveries.ts';
import { seeded, shuffled } from '../harness/seeded.ts';
import { sendDelivery } from '../harness/send-delivery.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { type Applicant, startWorld, until, type World } from '../harness/world.ts';

let world: World;

afterEach(() => world?.close());

async function startAll(policies?: string): Promise<void> {
  const { address } = await temporalForTests();
  world = await startWorld({
    temporalAddress: address,
    candidates: 40,
    hired: 2,
    ...(policies === undefined ? {} : { policies }),
  });
  await Promise.all([world.startReceiver(), world.startWorker()]);
  await untilBaseline(world);
}

/** Answers that ask for the delivery again, which a receiver without time to spare may give. */
const AGAIN = [undefined, 408, 503];

/** As the partner does, but for as long as the receiver asks for it: a busy machine needs more than three tries. */
function sendUntilTaken(delivery: ExpectedDelivery): Promise<{ status: number | undefined }> {
  return until('an answer that is not "send it again"', async () => {
    const status = await sendDelivery(world.webhookUrl, delivery);
    return (status === delivery.expected || !AGAIN.includes(status)) && { status };
  });
}

test('200 deliveries of 20 hires, repeated, shuffled, some of them broken, make 20 hires', async () => {
  const random = seeded('webhook burst');
  await startAll();
  const people = await takeApplicants(world, 23);
  // Hired as well, but told of in refused deliveries only: whoever acts upon one of those makes an employee too many.
  const [announced, unannounced] = [people.slice(0, 20), people.slice(20)];
  await hireSilently(world, people);
  const refused = [...unannounced, ...shuffled(random, people)];
  const kinds = [
    ...Array.from({ length: 20 }, () => 'wrong-key' as const),
    ...Array.from({ length: 4 }, () => ['truncated', 'cut', 'oversized', 'oversized, undeclared'] as const).flat(),
  ];
  const burst = shuffled(random, [
    ...rightDeliveries(world, random, announced, 200 - kinds.length),
    ...shuffled(random, kinds).map((kind, n) => spoil(kind, world, refused[n % refused.length] as Applicant)),
  ]);
  expect(burst).toHaveLength(200);
  const limit = pLimit(32);
  const answers = await Promise.all(
    burst.map((delivery) => limit(async () => ({ ...delivery, ...(await sendUntilTaken(delivery)) }))),
  );
  const wrong = answers.filter(({ status, expected }) => status !== expected);
  expect(wrong.map(({ kind, status, expected }) => ({ kind, status, expected }))).toEqual([]);
  await until('20 enrolments', async () => (await world.effects('enrolment')).length >= 20);
  await until('the inbox is empty', async () => ((await readStatus(world)).inbox['waiting'] ?? 0) === 0);
  await deliverEvents(world);
  await untilHired(world, 20);
  await expectExactlyHired(world, announced);
});

test('with every webhook lost the reconcile makes the same 20 hires', async () => {
  await startAll('onboarding: { flow: "{flow}" }\n  reconcile: { every: 2s }');
  const people = await takeApplicants(world, 20);
  await world.control.act('addFault', { kind: 'webhook-lost' });
  await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
  await untilHired(world, 20);
  await expectExactlyHired(world, people);
  expect(await world.control.deliveries()).toEqual([]);
});

test('one candidate.hired with five ids in its arrays makes five hires', async () => {
  await startAll();
  const people = (await takeApplicants(world, 40)).filter((one, _, all) => one.jobId === all[0]?.jobId).slice(0, 5);
  expect(people).toHaveLength(5);
  await hireSilently(world, people);
  const body = hiredBody(people, { company: world.company });
  expect(await sendDelivery(world.webhookUrl, { body, key: world.webhookKey })).toBe(200);
  await until('five enrolments', async () => (await world.effects('enrolment')).length >= 5);
  await deliverEvents(world);
  await untilHired(world, 5);
  await expectExactlyHired(world, people);
});
