import { setTimeout } from 'node:timers/promises';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { cancelHire, lookForReturn, startNextEnrolment } from '../../../activities/hire/cancel-hire.ts';
import { enrol } from '../../../activities/hire/enrol.ts';
import { employ, readOnboarding } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { listAlarms } from '../../../src/store/alarms.ts';
import { recordEnrolment } from '../../../src/store/enrolments.ts';
import { insertHires, latestHire } from '../../../src/store/hires.ts';
import { answerHold, closeHold, listHolds, readHold } from '../../../src/store/holds.ts';
import { saveJobs } from '../../../src/store/jobs.ts';
import { readTenantState, recordVerifiedKey } from '../../../src/store/tenant-states.ts';
import { freshStore, kinds } from '../../store/stores.ts';

const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };

/** An enrolled hire, and a partner whose onboarding answers as told. */
async function enrolled(
  partner: {
    status: string;
    refusesToEnd?: boolean;
    /** What happens once while an enrolment, or the person, is read. */
    meanwhile?: { enrolmentIsRead?: () => Promise<unknown>; personIsRead?: () => Promise<unknown> };
  },
  database: (typeof kinds)[number] = 'sqlite',
) {
  const { store } = await freshStore(database);
  await readTenantState(store, 'acme');
  await recordVerifiedKey(store, 'acme', 'one');
  await insertHires(store, [{ ...ref, state: 'open' }]);
  await recordEnrolment(store, ref, 1, { id: 'oc', status: 'in_progress' });
  const ends: string[] = [];
  const told: unknown[] = [];
  const person = { id: '5012', jobId: '9', candidateId: '88', stage: 'OFFER' };
  await saveJobs(store, 'acme', [{ jobId: '9', record: {} }]);
  const happen = async (when: keyof NonNullable<typeof partner.meanwhile>): Promise<void> => {
    const happening = partner.meanwhile?.[when];
    if (happening !== undefined) partner.meanwhile = {};
    await happening?.();
  };
  const readAll = async () => {
    const items = [{ ...person }];
    await happen('personIsRead');
    return { items, unreadable: [] };
  };
  const onboarding = {
    getCandidate: async () => {
      await happen('enrolmentIsRead');
      return { data: { onboardingCandidateId: 'oc', overallStatus: partner.status } };
    },
    terminate: async () => {
      ends.push('oc');
      if (!partner.refusesToEnd) return;
      throw new ConnectorError({ code: 'FLOW_LOCKED', action: 'reject', message: 'FLOW_LOCKED (request r1).' });
    },
  };
  const policies = { onboarding: { flow: '7', readyAt: ['completed'] }, enrolAt: ['HIRED'], createAt: ['HIRED'] };
  const connection = {
    tenant: { tenant: 'acme', policies, writeBack: {} },
    mapping: { hash: 'm', fields: [] },
    partner: { onboarding, readAll },
    overrides: { jobCandidateStageField: 'stage' },
    keyFingerprint: 'one',
    log: { warn: (facts: unknown) => told.push(facts) },
  };
  const deps = {
    store,
    log: pino({ level: 'silent' }),
    connections: { of: async () => connection, reopenIfRotated: async () => false },
    limits: { giveUpMs: 5_000, partnerLagMs: 0, pausedMs: 0 },
  } as unknown as ActivityDeps;
  return { deps, store, ends, told, person, partner, row: () => latestHire(store, 'acme', '5012') };
}

type Enrolled = Awaited<ReturnType<typeof enrolled>>;

/** Answers a hold as a person does, and lets the workflow take it. */
async function answer(
  { deps, store }: Enrolled,
  word: string,
  hold = holdOf('PERSON_BEING_HIRED', { ...ref, other: ref }),
) {
  const { holdId } = await openHold(deps, { ...ref, hold });
  await answerHold(store, holdId, { answer: word, arguments: [], by: 'ann' });
  return takeAnswer(deps, { ...ref, holdId });
}

test('a status that nobody knows is waited out, without a hold and with one alarm for each new value', async () => {
  const world = await enrolled({ status: 'awaiting_signature' });
  const { deps, store, partner, told } = world;
  expect(await readOnboarding(deps, ref)).toEqual({ verdict: 'waiting' });
  expect(await readOnboarding(deps, ref)).toEqual({ verdict: 'waiting' });
  partner.status = 'ada@acme.example';
  expect(await readOnboarding(deps, ref)).toEqual({ verdict: 'waiting' });
  expect(await listHolds(store)).toEqual([]);
  const alarms = await listAlarms(store);
  expect(alarms.map(({ subject, times }) => [subject, times])).toEqual([
    ['overallStatus awaiting_signature', 2],
    ['overallStatus (not a word)', 1],
  ]);
  expect(told).toMatchObject([{ value: 'awaiting_signature' }, { value: '(not a word)' }]);
  partner.status = 'completed';
  expect(await readOnboarding(deps, ref)).toEqual({ verdict: 'ready' });
});

test('a refused end of an enrolment is asked about and not sent again; keep ends the hire without it', async () => {
  const world = await enrolled({ status: 'in_progress', refusesToEnd: true });
  const { deps, ends, row } = world;
  await answer(world, 'cancel');
  const refused = await cancelHire(deps, ref);
  if (refused.verdict !== 'hold') throw new Error('not held');
  expect(refused.hold).toMatchObject({ code: 'TERMINATE_REFUSED', answers: ['retry', 'keep'] });
  expect(refused.hold.message).toContain('FLOW_LOCKED');
  expect(ends).toHaveLength(1);
  expect(await answer(world, 'keep', refused.hold)).toMatchObject({ next: 'ended', ends: 'kept' });
  expect(await row()).toMatchObject({ state: 'kept' });
});

test('a person’s cancel stands while its refusal is tried again', async () => {
  const world = await enrolled({ status: 'in_progress', refusesToEnd: true });
  const { deps, partner, row } = world;
  await answer(world, 'cancel');
  const refused = await cancelHire(deps, ref);
  if (refused.verdict !== 'hold') throw new Error('not held');
  await answer(world, 'retry', refused.hold);
  partner.refusesToEnd = false;
  expect(await cancelHire(deps, ref)).toEqual({ verdict: 'cancelled', state: 'cancelled' });
  expect(await row()).toMatchObject({ state: 'cancelled' });
});

test('a refused end before another enrolment is asked about, and the first one stays', async () => {
  const world = await enrolled({ status: 'rejected', refusesToEnd: true });
  world.partner.status = 'in_progress';
  expect(await startNextEnrolment(world.deps, ref)).toMatchObject({ hold: { code: 'TERMINATE_REFUSED' } });
  expect(await world.row()).toMatchObject({ enrolment: 1, onboarding_candidate_id: 'oc' });
});

test('whoever comes back while the end of their hire is asked about goes on, and nothing is sent again', async () => {
  const world = await enrolled({ status: 'in_progress', refusesToEnd: true });
  const { deps, store, ends, person } = world;
  const refused = await cancelHire(deps, ref);
  if (refused.verdict !== 'hold') throw new Error('not held');
  await openHold(deps, { ...ref, hold: refused.hold });
  expect(await lookForReturn(deps, ref)).toEqual({ verdict: 'away' });
  expect(await listHolds(store)).toHaveLength(1);
  person.stage = 'HIRED';
  expect(await lookForReturn(deps, ref)).toEqual({ verdict: 'back' });
  expect(await listHolds(store)).toEqual([]);
  expect(ends).toHaveLength(1);
});

test.each(['keep', 'cancel'])('a person’s %s is heard before somebody who comes back', async (word) => {
  const world = await enrolled({ status: 'in_progress', refusesToEnd: true });
  const { deps, store, person } = world;
  const { holdId } = await openHold(deps, { ...ref, hold: holdOf('PERSON_BEING_HIRED', { ...ref, other: ref }) });
  await answerHold(store, holdId, { answer: word, arguments: [], by: 'ann' });
  person.stage = 'HIRED';
  expect(await lookForReturn(deps, ref)).toEqual({ verdict: 'away' });
  expect(await listHolds(store)).toHaveLength(1);
});

test.each(kinds)(
  'somebody back goes on although the worker that saw them was killed before it said so, in %s',
  async (database) => {
    const world = await enrolled({ status: 'in_progress', refusesToEnd: true }, database);
    const { deps, person } = world;
    const refused = await cancelHire(deps, ref);
    if (refused.verdict !== 'hold') throw new Error('not held');
    const { holdId } = await openHold(deps, { ...ref, hold: refused.hold });
    person.stage = 'HIRED';
    expect(await lookForReturn(deps, ref)).toEqual({ verdict: 'back' });
    expect(await lookForReturn(deps, ref)).toEqual({ verdict: 'away' });
    expect(await takeAnswer(deps, { ...ref, holdId })).toEqual({ verdict: 'answered', next: 'same' });
    expect(await cancelHire(deps, ref)).toEqual({ verdict: 'back' });
  },
);

test.each(kinds)(
  'an onboarding ready after the deadline ends the question, unless somebody answered it, in %s',
  async (database) => {
    const world = await enrolled({ status: 'in_progress' }, database);
    const { deps, store, partner } = world;
    const hold = holdOf('ONBOARDING_DEADLINE', { jobCandidateId: '5012' });
    const { holdId } = await openHold(deps, { ...ref, hold });
    expect(await readOnboarding(deps, { ...ref, asked: true })).toEqual({ verdict: 'waiting' });
    expect(await listHolds(store)).toHaveLength(1);
    partner.status = 'completed';
    expect(await readOnboarding(deps, { ...ref, asked: true })).toEqual({ verdict: 'ready' });
    expect(await listHolds(store)).toEqual([]);
    const again = await openHold(deps, { ...ref, hold });
    expect(again.holdId).not.toBe(holdId);
    await answerHold(store, again.holdId, { answer: 'cancel', arguments: [], by: 'ann' });
    expect(await readOnboarding(deps, { ...ref, asked: true })).toEqual({ verdict: 'waiting' });
    expect(await takeAnswer(deps, { ...ref, holdId: again.holdId })).toMatchObject({ next: 'cancel' });
  },
);

test.each(kinds)('an answer to a run that was lost is heard before anything else, in %s', async (database) => {
  const { deps, store, partner, row } = await enrolled({ status: 'in_progress' }, database);
  const { holdId } = await openHold(deps, { ...ref, hold: holdOf('ONBOARDING_DEADLINE', { jobCandidateId: '5012' }) });
  // Another run waits for the onboarding.
  expect(await readOnboarding(deps, ref)).toEqual({ verdict: 'waiting' });
  await answerHold(store, holdId, { answer: 'cancel', arguments: [], by: 'ann' });
  partner.status = 'completed';
  for (const step of [readOnboarding, enrol, employ]) {
    const heard = await step(deps, ref);
    if (heard.verdict !== 'hold') throw new Error('not held');
    expect(heard.hold.code).toBe('ONBOARDING_DEADLINE');
    expect(await openHold(deps, { ...ref, hold: heard.hold })).toEqual({ holdId });
  }
  const heard = await readOnboarding(deps, ref);
  expect(await takeAnswer(deps, { ...ref, holdId })).toEqual({ verdict: 'answered', next: 'cancel' });
  // An attempt whose answer was lost runs again.
  if (heard.verdict === 'hold') expect(await openHold(deps, { ...ref, hold: heard.hold })).toEqual({ holdId });
  expect(await listHolds(store)).toEqual([]);
  expect(await cancelHire(deps, ref)).toEqual({ verdict: 'cancelled', state: 'cancelled' });
  expect(await row()).toMatchObject({ employee_id: null });
});

describe.each(kinds)('a worker that stood still, in %s', (database) => {
  test.each(['in_progress', 'rejected'])(
    'ends no hire whose person came back meanwhile, with an enrolment that is %s',
    async (status) => {
      const world = await enrolled({ status }, database);
      const { deps, ends, person, partner, row } = world;
      partner.meanwhile = {
        async enrolmentIsRead() {
          // The clock of two changes must differ.
          await setTimeout(5);
          person.stage = 'HIRED';
          expect(await cancelHire(deps, ref)).toEqual({ verdict: 'back' });
        },
      };
      await expect(cancelHire(deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      expect(ends).toEqual([]);
      expect(await row()).toMatchObject({ state: 'open' });
    },
  );

  test.each([
    ['cancelled', cancelHire, 'back'],
    ['held', lookForReturn, 'away'],
  ] as const)('leaves a question that was asked since, while the hire is %s', async (_state, look, verdict) => {
    const world = await enrolled({ status: 'in_progress' }, database);
    const { deps, store, person, partner } = world;
    person.stage = 'HIRED';
    const hold = holdOf('PERSON_BEING_HIRED', { ...ref, other: ref });
    partner.meanwhile = {
      async personIsRead() {
        await setTimeout(5);
        await openHold(deps, { ...ref, hold });
      },
    };
    expect(await look(deps, ref)).toEqual({ verdict });
    expect(await listHolds(store)).toMatchObject([{ code: 'PERSON_BEING_HIRED' }]);
  });

  test('leaves the second answer to a question that was asked again', async () => {
    const { deps, store } = await enrolled({ status: 'in_progress' }, database);
    const hold = holdOf('PERSON_BEING_HIRED', { ...ref, other: ref });
    const { holdId } = await openHold(deps, { ...ref, hold });
    await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
    const first = await readHold(store, holdId);
    await takeAnswer(deps, { ...ref, holdId });
    expect(await openHold(deps, { ...ref, hold })).toEqual({ holdId });
    await setTimeout(5);
    await answerHold(store, holdId, { answer: 'cancel', arguments: [], by: 'ann' });
    expect(await closeHold(store, holdId, Number(first?.answered_at))).toBe(false);
    expect(await takeAnswer(deps, { ...ref, holdId })).toEqual({ verdict: 'answered', next: 'cancel' });
    expect(await listHolds(store)).toEqual([]);
  });

  test('asks nothing', async () => {
    const { deps, store } = await enrolled({ status: 'in_progress' }, database);
    const late = { ...deps, limits: { ...deps.limits, giveUpMs: -1 } };
    const hold = holdOf('PERSON_BEING_HIRED', { ...ref, other: ref });
    await expect(openHold(late, { ...ref, hold })).rejects.toMatchObject({ code: 'READ_TOO_LONG_AGO' });
    expect(await listHolds(store, { all: true })).toEqual([]);
  });
});
