import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { addHints, hintOfRecord, readHints } from '../../../src/store/hints.ts';
import { pullNames, pullStreams } from '../../../src/streams/streams.ts';
import { dispatch } from '../../../src/worker/dispatch.ts';
import type { World } from '../../harness/world.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

async function makeAssessment({ control }: World): Promise<string> {
  const made = await control.act('createAssessment', { title: 'Interview', maxResumeCount: 1 });
  return String((made as { assessmentId: unknown }).assessmentId);
}

/** Somebody is invited by name, and takes the interview; it is scored where the score is given. */
async function take({ partner, control }: World, assessmentId: string, name: string, score?: number): Promise<string> {
  const emailAddress = `${name}@example.com`;
  const body = { firstName: name, lastName: 'Example', emailAddress };
  await partner.assessments.invite({ params: { assessmentId }, body });
  const taken = await control.act('takeInterview', { assessmentId, emailAddress, scored: false });
  const { submissionId } = taken as { submissionId: string };
  if (score !== undefined) await control.act('scoreInterview', { submissionId, score });
  return submissionId;
}

/** Calls that something made, by operation. */
async function callsOf({ world }: PullWorld, act: () => Promise<unknown>): Promise<Record<string, number>> {
  const now = async () => (await world.control.counts({ kind: 'request' })).request ?? {};
  const before = await now();
  await act();
  const made = Object.entries(await now()).map(([name, n]) => [name, n - (before[name] ?? 0)] as const);
  return Object.fromEntries(made.filter(([, n]) => n > 0));
}

test('interviews land an assessment at a time, by pass, by webhook and by hand, for a call a page', async () => {
  const stream = 'interviews';
  const played = await openPullWorld('{ interviews: { every: 1h } }', { candidates: 2, jobs: 1 });
  const { world, store, pull, rows, calls } = played;
  await pull('full', { stream });
  const [seeded, lists] = [rows(stream).size, await calls('assessments.listCandidates')];

  const [one, other] = [await makeAssessment(world), await makeAssessment(world)];
  await makeAssessment(world);
  const ada = await take(world, one, 'ada', 80);
  const bob = await take(world, other, 'bob');
  for (let n = 0; n < 100; n += 1) await take(world, one, `one${n}`);
  const first = await callsOf(played, async () => {
    expect(await pull('full', { stream })).toMatchObject({
      state: 'done',
      counts: { created: 102, unchanged: seeded },
    });
  });
  // Two pages of the one assessment, one of the other, none of that which nobody took.
  expect(first).toEqual({ 'assessments.list': 1, 'assessments.listCandidates': lists + 3 });
  expect(rows(stream).get(ada)).toMatchObject({
    assessment_id: one,
    email: 'ada@example.com',
    status: 'COMPLETED',
    score: 80,
    verdict: 'pass',
    ended_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(rows(stream).get(bob)).toMatchObject({ assessment_id: other, score: null, scored_at: null });

  await world.control.act('scoreInterview', { submissionId: bob, score: 10 });
  const eve = await take(world, other, 'eve');
  await addHints(store, 'acme', stream, [other]);
  const hinted = await callsOf(played, async () => {
    const step = await pull('incremental', { stream });
    expect(step).toMatchObject({ state: 'done', counts: { read: 2, created: 1, updated: 1 } });
  });
  expect(hinted).toEqual({ 'assessments.listCandidates': 1 });
  expect(rows(stream).get(bob)).toMatchObject({ score: 10, verdict: 'fail' });
  expect(await readHints(store, 'acme', stream)).toEqual([]);

  await world.control.act('scoreInterview', { submissionId: eve, score: 50 });
  expect(await pull('one', { stream, recordId: eve })).toMatchObject({ counts: { read: 1, updated: 1 } });
  const still = { state: 'done', counts: { created: 0, updated: 0, unchanged: seeded + 103 } };
  expect(await pull('full', { stream })).toMatchObject(still);
});

test('an event without an assessment has the one of its submission read, known by the row or sought', async () => {
  const stream = 'interviews';
  const played = await openPullWorld('{ interviews: { every: 1h } }', { candidates: 2, jobs: 1 });
  const { world, store, pull, rows } = played;
  const assessments: string[] = [];
  for (let n = 0; n < 4; n += 1) assessments.push(await makeAssessment(world));
  const [first = '', second = '', ...others] = assessments;
  for (const [n, id] of others.entries()) await take(world, id, `other${n}`, 70);
  const ada = await take(world, first, 'ada');
  await pull('full', { stream });

  await world.control.act('scoreInterview', { submissionId: ada, score: 80 });
  await addHints(store, 'acme', stream, [hintOfRecord(ada)]);
  const byRow = await callsOf(played, () => pull('incremental', { stream }));
  expect(byRow).toEqual({ 'assessments.listCandidates': 1 });
  expect(rows(stream).get(ada)).toMatchObject({ score: 80 });

  // One that never landed, in the assessment that a rule of ours names: no other list is read.
  await played.edit((text) => `${text}invitations: { rules: [{ on: { stage: SCREEN }, assessment: "${second}" }] }\n`);
  const bob = await take(world, second, 'bob', 60);
  await addHints(store, 'acme', stream, [hintOfRecord(bob)]);
  const sought = await callsOf(played, () => pull('incremental', { stream }));
  expect(sought).toEqual({ 'assessments.list': 1, 'assessments.listCandidates': 1 });
  expect(rows(stream).get(bob)).toMatchObject({ assessment_id: second, score: 60 });

  await addHints(store, 'acme', stream, [hintOfRecord('nobody')]);
  expect(await pull('incremental', { stream })).toMatchObject({ state: 'done' });
  expect(await readHints(store, 'acme', stream)).toEqual([]);
});

test('results that this partner calls otherwise land by their override, once it is there', async () => {
  const stream = 'interviews';
  const played = await openPullWorld('{ interviews: { every: 1h } }', { candidates: 2, jobs: 1 });
  const { world, pull, rows } = played;
  const ada = await take(world, await makeAssessment(world), 'ada', 80);
  await pull('full', { stream });
  expect(rows(stream).get(ada)).toMatchObject({ verdict: 'pass', language_level: null });
  const names = "{ 'assessments.listCandidates': { cefrLevel: bucketStatus, bucketStatus: none.shown } }";
  await played.edit((text) => text.replace('partner:\n', `partner:\n  overrides: { fieldNames: ${names} }\n`));
  await pull('full', { stream });
  expect(rows(stream).get(ada)).toMatchObject({ language_level: 'pass', verdict: null, score: 80 });
});

async function makeCampaign({ partner, control }: World): Promise<number> {
  const site = (await control.act('createSite', { name: 'London' })) as { id: number };
  await control.act('verifyNumber', { phoneNumber: '+442079460000' });
  const { campaign } = await partner.campaigns.create({
    body: {
      title: 'Reminder',
      timezone: 'Europe/London',
      companySiteId: site.id,
      phoneNumber: '+442079460000',
      openingMessage: 'Hello',
      closingMessage: 'Bye',
      purposeType: 'ASSESSMENT_REMINDER',
    },
  });
  return Number(campaign.id);
}

test('what no event tells of is read again by a scheduled run: leads, people on flows', async () => {
  const { world, pull } = await openPullWorld('{ leads: {}, screenings: {} }', { candidates: 2, jobs: 1 });
  const { partner } = world;
  const campaignId = await makeCampaign(world);
  const steps = [{ assessmentId: await makeAssessment(world), passThreshold: 50 }];
  const flow = await partner.assessmentFlows.create({ body: { flowName: 'Screening', steps } });
  for (const stream of ['leads', 'screenings'] as const) await pull('full', { stream });
  const leads = [{ firstName: 'Ada', phone: '+44 20 7946 0000' }];
  await partner.campaigns.addLeads({ params: { campaignId }, body: { leads } });
  await partner.assessmentFlows.assign({ params: { id: Number(flow.data.id) }, body: { email: 'ada@example.com' } });
  for (const stream of ['leads', 'screenings'] as const)
    expect(await pull('incremental', { stream })).toMatchObject({ state: 'done', counts: { created: 1 } });
});

test('a list of parts counts as told of by webhooks where an event names its parts', () => {
  const told = new Set(Object.values(dispatch).flatMap(({ streams = {} }) => Object.keys(streams)));
  const ofParts = pullNames.filter((name) => pullStreams[name].parent !== undefined);
  expect(ofParts.filter((name) => pullStreams[name].parent?.isTold)).toEqual(ofParts.filter((name) => told.has(name)));
});

test('leads, bookings and people on flows land and follow: moved, not come, cancelled, failed, gone', async () => {
  const streams = '{ leads: { every: 1h, deletion: mark }, bookings: { every: 1h, deletion: mark }, screenings: {} }';
  const { world, pull, rows } = await openPullWorld(streams, { candidates: 2, jobs: 1 });
  const { partner, control } = world;
  const pass = async (stream: 'leads' | 'bookings' | 'screenings') => {
    expect(await pull('full', { stream })).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
    return rows(stream);
  };

  const [stays, goes] = [await makeCampaign(world), await makeCampaign(world)];
  const body = { leads: [{ firstName: 'Ada', phone: '+44 20 7946 0000' }] };
  for (const campaignId of [stays, goes]) await partner.campaigns.addLeads({ params: { campaignId }, body });
  expect((await pass('leads')).size).toBe(2);
  await control.act('deleteCampaign', { campaignId: goes });
  await pass('leads');
  const isGone = [...(await pass('leads')).values()].map((row) => [
    Number(row['campaign_id']),
    row['gone_at'] !== null,
  ]);
  expect(isGone.toSorted()).toEqual([
    [stays, false],
    [goes, true],
  ]);

  const made = await control.act('createBookingSchedule', { timezone: 'Asia/Kolkata' });
  const bookingScheduleId = String(made.id);
  const day = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10);
  const query = { from: day(1), to: day(15) };
  const { items } = await partner.readAll(contract.bookingSchedules.listSlots, {
    params: { bookingScheduleId },
    query,
  });
  const [one = '', other = ''] = items.map(({ startAt }) => String(startAt));
  const booked = await control.act('book', { bookingScheduleId, entityId: '7', scheduledStartAt: one });
  const bookingId = String((booked as { id: unknown }).id);
  const booking = async () => (await pass('bookings')).get(bookingId);
  expect(await booking()).toMatchObject({ starts_at: new Date(one).toISOString(), schedule_id: bookingScheduleId });
  await control.act('rescheduleBooking', { bookingId, scheduledStartAt: other });
  expect(await booking()).toMatchObject({ starts_at: new Date(other).toISOString() });
  await control.act('markNoShow', { bookingId });
  expect(await booking()).toMatchObject({ attendance: 'NO_SHOW', gone_at: null });
  await control.act('cancelBooking', { bookingId });
  await booking();
  expect((await booking())?.['gone_at']).not.toBeNull();

  const assessmentId = await makeAssessment(world);
  const steps = [{ assessmentId, passThreshold: 50 }];
  const flow = await partner.assessmentFlows.create({ body: { flowName: 'Screening', steps } });
  const id = Number(flow.data.id);
  const email = 'ada@example.com';
  const { data } = await partner.assessmentFlows.assign({ params: { id }, body: { email } });
  const screening = async () => (await pass('screenings')).get(data.flowCandidateId);
  expect(await screening()).toMatchObject({ flow_id: String(id), email, status: 'NOT_STARTED', current_step: 1 });
  await control.act('finishFlowStep', { flowCandidateId: Number(data.flowCandidateId), score: 20 });
  await expect.poll(async () => (await screening())?.['status']).toBe('FAILED');
});
