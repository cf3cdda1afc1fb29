import { expect, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { bindActivities, toFailure } from '../../../activities/create-activities.ts';
import { hasEmployee } from '../../../activities/hire/departure.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { createLogger } from '../../../src/log.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { insertHires, latestHire } from '../../../src/store/hires.ts';
import { answerHold, earlierAnswers, lastAnsweredAt, listHolds } from '../../../src/store/holds.ts';
import { openIntent } from '../../../src/store/intents.ts';
import { findPerson } from '../../../src/store/persons.ts';
import { readTenantState, recordReconcile } from '../../../src/store/tenant-states.ts';
import { holdPerson, who } from '../../store/known-people.ts';
import { freshStore, kinds, sqliteStore } from '../../store/stores.ts';

const ENDING = { jobCandidateId: '5012', onboardingCandidateIds: ['oc'], refusal: 'FLOW_LOCKED', said: '' };
const REF = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };

test('a worker that stood still opens no hold of a hire that is over: nobody would take the answer', async () => {
  const store = await sqliteStore();
  const deps = { store, log: createLogger('test'), limits: { giveUpMs: 60_000 } } as ActivityDeps;
  const hold = holdOf('ONBOARDING_TERMINATED', { jobCandidateId: '5012', status: 'terminated' });
  await insertHires(store, [{ ...REF, state: 'open' }]);
  const { holdId } = await openHold(deps, { ...REF, hold });
  expect(await listHolds(store, {})).toMatchObject([{ hold_id: holdId }]);
  await store.kysely.deleteFrom('holds').execute();
  await endHire(store, REF, 'left');
  await openHold(deps, { ...REF, hold });
  expect(await listHolds(store, {})).toEqual([]);
});

test('a hire asks one thing at a time, and nothing once a person’s answer has ended it', async () => {
  const store = await sqliteStore();
  const deps = { store, log: createLogger('test'), limits: { giveUpMs: 60_000 } } as ActivityDeps;
  const asked = { jobCandidateId: '5012', employeeId: '7' };
  await insertHires(store, [{ ...REF, state: 'open' }]);
  await endHire(store, REF, 'done');
  const before = await openHold(deps, { ...REF, hold: holdOf('LEFT_AFTER_EMPLOYEE', asked) });
  const { holdId } = await openHold(deps, { ...REF, hold: holdOf('EMPLOYEE_GONE', asked) });
  expect(await listHolds(store, {})).toMatchObject([{ hold_id: holdId }]);
  // As a backup shows it: both of them are open.
  await store.kysely.updateTable('holds').set({ closed_at: null }).where('hold_id', '=', before.holdId).execute();
  await answerHold(store, holdId, { answer: 'left', arguments: [], by: 'ada' });
  expect(await takeAnswer(deps, { ...REF, holdId })).toMatchObject({ ends: 'left' });
  expect(await listHolds(store, {})).toEqual([]);
});

test('an answer that nobody took yet is heard before a hire asks anything else', async () => {
  const store = await sqliteStore();
  const deps = { store, log: createLogger('test'), limits: { giveUpMs: 60_000 } } as ActivityDeps;
  const asked = { jobCandidateId: '5012', employeeId: '7' };
  await insertHires(store, [{ ...REF, state: 'open' }]);
  await endHire(store, REF, 'done');
  const { holdId } = await openHold(deps, { ...REF, hold: holdOf('LEFT_AFTER_EMPLOYEE', asked) });
  await answerHold(store, holdId, { answer: 'left', arguments: [], by: 'ada' });
  expect(await openHold(deps, { ...REF, hold: holdOf('EMPLOYEE_GONE', asked) })).toEqual({ holdId });
  expect(await takeAnswer(deps, { ...REF, holdId })).toMatchObject({ ends: 'left' });
  expect(await latestHire(store, 'acme', '5012')).toMatchObject({ state: 'left' });
});

test('a retry that finds the same cause goes on with its hold; another question has an id of its own', async () => {
  const store = await sqliteStore();
  const deps = { store, log: createLogger('test'), limits: { giveUpMs: 60_000 } } as ActivityDeps;
  await insertHires(store, [{ ...REF, state: 'open' }]);
  const incomplete = (problems: string) =>
    holdOf('MAPPING_INCOMPLETE', { jobCandidateId: '5012', problems, fields: { title: 'MISSING' } });
  const { holdId } = await openHold(deps, { ...REF, hold: incomplete('title is empty.') });
  const retry = { answer: 'retry', arguments: [], by: 'ada' };
  for (let times = 0; times < 2; times += 1) {
    await answerHold(store, holdId, retry);
    await takeAnswer(deps, { ...REF, holdId });
    expect(await openHold(deps, { ...REF, hold: incomplete('title is empty.') })).toEqual({ holdId });
    // The activity's answer was lost, and it runs again.
    expect(await openHold(deps, { ...REF, hold: incomplete('title is empty.') })).toEqual({ holdId });
  }
  const [hold, ...others] = await listHolds(store, { all: true });
  expect(others).toEqual([]);
  expect(hold).toMatchObject({ hold_id: holdId, answer: null, closed_at: null });
  expect(earlierAnswers(hold ?? { history: '[]' })).toMatchObject([
    { answer: 'retry', by: 'ada' },
    { answer: 'retry', by: 'ada' },
  ]);
  expect(await lastAnsweredAt(store, REF, 'MAPPING_INCOMPLETE')).toBeGreaterThan(0);
  await answerHold(store, holdId, retry);
  await takeAnswer(deps, { ...REF, holdId });
  const anew = await openHold(deps, { ...REF, hold: incomplete('title is too long.') });
  expect(await listHolds(store)).toMatchObject([{ hold_id: anew.holdId, answer: null, history: '[]' }]);
  expect(anew.holdId).not.toBe(holdId);
  const other = await openHold(deps, { ...REF, hold: holdOf('JOB_NOT_SHOWN', { jobCandidateId: '5012', jobId: '1' }) });
  expect(other.holdId).not.toBe(holdId);
});

test('a question that only says for how many more days it waits is the same one', async () => {
  const store = await sqliteStore();
  const deps = { store, log: createLogger('test'), limits: { giveUpMs: 60_000 } } as ActivityDeps;
  await insertHires(store, [{ ...REF, state: 'open' }]);
  const left = (daysSince: number) =>
    holdOf('LEFT_BEFORE_START', { jobCandidateId: '5012', employeeId: 'E1', daysSince });
  const { holdId } = await openHold(deps, { ...REF, hold: left(1) });
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
  await takeAnswer(deps, { ...REF, holdId });
  expect(await openHold(deps, { ...REF, hold: left(2) })).toEqual({ holdId });
  expect((await listHolds(store))[0]?.message).toContain('2 days after');
});

test.each(kinds)(
  'a hold or hire that a restored store does not know ends the run, so that the hire begins anew, in %s',
  async (database) => {
    const { store } = await freshStore(database);
    const deps = { store, log: createLogger('test'), limits: { giveUpMs: 60_000 } } as ActivityDeps;
    const hold = holdOf('ONBOARDING_TERMINATED', { jobCandidateId: '5012', status: 'terminated' });
    const behind = { code: 'HIRE_BEHIND' };
    await expect(openHold(deps, { ...REF, hold })).rejects.toMatchObject(behind);
    await expect(hasEmployee(deps, REF)).rejects.toMatchObject(behind);
    await insertHires(store, [{ ...REF, state: 'open' }]);
    await expect(takeAnswer(deps, { ...REF, holdId: 'e8a1' })).rejects.toMatchObject(behind);
    const error = await takeAnswer(deps, { ...REF, holdId: 'e8a1' }).catch((thrown: unknown) => thrown);
    expect(toFailure(error)).toMatchObject({ type: 'HIRE_BEHIND', nonRetryable: true });
    await readTenantState(store, 'acme');
    await recordReconcile(store, 'acme', true);
    await expect(bindActivities(deps).takeAnswer({ ...REF, holdId: 'e8a1' })).rejects.toMatchObject(behind);
    expect(await readTenantState(store, 'acme')).toMatchObject({ fully_reconciled_at: null });
  },
);

test.each([
  ['whose create has no known outcome', holdOf('TERMINATE_REFUSED', ENDING), true, { how: 'cancelled' }],
  [
    'whose employee the partner names',
    holdOf('EMPLOYEE_TOLD', { jobCandidateId: '5012', told: '7' }),
    false,
    { how: 'cancelled' },
  ],
  ['that sent no create', holdOf('TERMINATE_REFUSED', ENDING), false, undefined],
])('keep ends a hire %s, and the next hire of the person knows', async (_what, hold, isSent, recorded) => {
  const { store } = await freshStore('sqlite');
  const deps = { store, log: createLogger('test'), limits: { giveUpMs: 60_000 } } as ActivityDeps;
  await readTenantState(store, 'acme');
  await insertHires(store, [{ ...REF, state: 'open', candidateId: '88' }]);
  expect((await holdPerson(store, who('88'), REF)).refusal).toBeUndefined();
  if (isSent) await openIntent(store, { ...REF, verb: 'create-employee', attempt: 1, pinned: {}, budgetMs: 1 });
  const { holdId } = await openHold(deps, { ...REF, hold });
  await answerHold(store, holdId, { answer: 'keep', arguments: [], by: 'ada' });
  expect(await takeAnswer(deps, { ...REF, holdId })).toMatchObject({ ends: 'kept' });
  const person = await findPerson(store, who('88'));
  expect([person.owner, person.recorded]).toEqual([undefined, recorded && expect.objectContaining(recorded)]);
});
