import { expect, test } from 'vitest';
import { createAnswerRound } from '../../../activities/hear-answer.ts';
import { askAbout } from '../../../activities/reconcile/baseline.ts';
import { answeredManyText } from '../../../src/cli/hold.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { holdOf, hrisHold } from '../../../src/hire/holds.ts';
import { createRootLogger } from '../../../src/log.ts';
import { answerHold, answerHolds, checkAnswer, readHold } from '../../../src/operator/holds.ts';
import { closeCreditGate, passCreditGate } from '../../../src/store/enrolments.ts';
import { listConflicts, settleConflicts } from '../../../src/store/field-conflicts.ts';
import { insertHires } from '../../../src/store/hires.ts';
import {
  closeHold,
  listHolds,
  openHold,
  answerHold as recordAnswer,
  unheardAnswers,
} from '../../../src/store/holds.ts';
import { has } from '../../../src/store/open-store.ts';
import type { HoldRow } from '../../../src/store/schema.ts';
import { readTenantState } from '../../../src/store/tenant-states.ts';
import type { HireClient } from '../../../src/temporal/hire-client.ts';
import { freshStore } from '../../store/stores.ts';

/** A real store, and a client that notes whose workflows hear of an answer. `isAway`: Temporal takes no signal. */
async function operator(database: 'sqlite' | 'postgres' = 'sqlite', { isAway = false } = {}) {
  const { store } = await freshStore(database);
  const signalled: string[] = [];
  const workflow = {
    signalWithStart: async (_type: string, { workflowId }: { workflowId: string }) => {
      if (isAway) throw new Error('14 UNAVAILABLE');
      signalled.push(workflowId);
    },
  };
  const client = { workflow } as unknown as HireClient['client'];
  const hires = { client, installationId: 'hb', timing: { heartbeatMs: 1, attemptMs: 1, retryMs: 1 } };
  return { parts: { store, hires }, store, signalled };
}

const HOLD = { period: 1, code: 'MAPPING_INCOMPLETE', message: 'Fill it in.', answers: ['retry', 'link'] };
const given = { answer: 'retry', by: 'ann' };

test('one answer for all reaches every open hold of that reason and tenant, and no other', async () => {
  const { parts, store, signalled } = await operator();
  for (const jobCandidateId of ['1', '2']) await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId });
  await openHold(store, { ...HOLD, tenantId: 'zeta', jobCandidateId: '3' });
  await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '4', code: 'CREATE_UNKNOWN' });
  const many = await answerHolds(parts, { code: HOLD.code, tenantId: 'acme' }, given);
  expect(many).toEqual({ answered: expect.any(Array) as string[], left: [], since: 0 });
  expect(many.answered).toHaveLength(2);
  expect(signalled).toEqual(['hb/hire/acme/1', 'hb/hire/acme/2']);
  const answered = (await listHolds(store)).filter((row) => row.answered_at !== null);
  expect(answered.map((row) => row.job_candidate_id).sort()).toEqual(['1', '2']);
});

test.each([
  ['an id for an answer that takes none', 'retry', ['31'], 'retry takes no id'],
  ['a second id for an answer that takes one', 'link', ['31', '32'], 'link takes one id'],
])('%s is not dropped: the answer is refused', async (_what, answer, ids, said) => {
  const { parts, store, signalled } = await operator();
  const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
  await expect(answerHold(parts, { holdId, answer, arguments: ids, by: 'ann' })).rejects.toMatchObject({
    code: 'ANSWER_ID_UNKNOWN',
    message: expect.stringContaining(said) as string,
  });
  expect([await listHolds(store), signalled]).toMatchObject([[{ answered_at: null }], []]);
});

test.each([[[]], [['']], [[' ']]])('an answer without its id is refused: %j', async (ids) => {
  const { parts, store, signalled } = await operator();
  const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
  await expect(answerHold(parts, { holdId, answer: 'link', arguments: ids, by: 'ann' })).rejects.toMatchObject({
    code: 'ANSWER_INCOMPLETE',
  });
  expect([await listHolds(store), signalled]).toMatchObject([[{ answered_at: null }], []]);
});

test('an answer for all that a list showed reaches no hold that was opened since', async () => {
  const { parts, store } = await operator();
  const seen = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
  const unseen = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '2' });
  await store.kysely
    .updateTable('holds')
    .set((eb) => ({ opened_at: eb('opened_at', '+', 1) }))
    .where('hold_id', '=', unseen.holdId)
    .execute();
  const which = { code: HOLD.code, tenantId: 'acme', until: seen.holdId };
  expect(await answerHolds(parts, which, given)).toEqual({ answered: [seen.holdId], left: [], since: 1 });
  expect(await readHold(store, unseen.holdId)).toMatchObject({ state: 'open' });
  await expect(answerHolds(parts, { ...which, until: 'nonsense' }, given)).rejects.toMatchObject({
    code: 'HOLD_UNKNOWN',
  });
});

test('an answer for all that decides something needs the last hold that its giver saw', async () => {
  const { parts, store, signalled } = await operator();
  const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1', answers: ['cancel'] });
  const cancel = { answer: 'cancel', by: 'ann' };
  await expect(answerHolds(parts, { code: HOLD.code }, cancel)).rejects.toMatchObject({
    code: 'ANSWER_INCOMPLETE',
    message: expect.stringContaining('--until') as string,
  });
  expect([await listHolds(store), signalled]).toMatchObject([[{ answered_at: null }], []]);
  expect(await answerHolds(parts, { code: HOLD.code, until: holdId }, cancel)).toMatchObject({ answered: [holdId] });
});

test('an answer for all says of each hold that it did not reach why', async () => {
  const { parts, store } = await operator();
  const hold = { tenantId: 'acme', ...holdOf('FIELD_CONFLICTS', { stream: 'employees', count: 1 }) };
  const { holdId } = await openHold(store, hold);
  const many = await answerHolds(parts, { code: hold.code, until: holdId }, { answer: 'keep-hris', by: 'ann' });
  expect(many).toEqual({
    answered: [],
    left: [{ holdId, why: expect.stringContaining('conflicts that are settled by now') as string }],
    since: 0,
  });
  expect(answeredManyText(many, hold.code, 'keep-hris')).toMatch(
    new RegExp(`^Answered 0 holds of FIELD_CONFLICTS with keep-hris.*\nHold ${holdId} stays as it is: Hold`),
  );
});

test('an answer for all is given to each of them, although nobody can be told of it yet', async () => {
  const { parts, store } = await operator(undefined, { isAway: true });
  for (const jobCandidateId of ['1', '2']) await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId });
  expect((await answerHolds(parts, { code: HOLD.code }, given)).answered).toHaveLength(2);
  expect((await listHolds(store)).map(({ answer }) => answer)).toEqual(['retry', 'retry']);
});

test('an answer that needs an id is not given to all, and nothing is written', async () => {
  const { parts, store } = await operator();
  await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
  const all = answerHolds(parts, { code: HOLD.code }, { answer: 'link', by: 'ann' });
  await expect(all).rejects.toMatchObject({
    code: 'ANSWER_INCOMPLETE',
    message: expect.stringContaining('link <employeeId>') as string,
  });
  expect((await listHolds(store))[0]?.answered_at).toBeNull();
});

test('an answer to a hold that closed with its hire says so, and not that somebody answered', async () => {
  const { parts, store, signalled } = await operator();
  const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
  await closeHold(store, holdId);
  await expect(answerHold(parts, { ...given, holdId, arguments: [] })).rejects.toMatchObject({
    code: 'HOLD_ANSWERED',
    message: expect.stringMatching(/closed without an answer.*hirebridge hire show acme 1$/) as string,
  });
  expect(signalled).toEqual([]);
});

test('an answer never reaches a question that nobody saw: it is refused, and the new question is named', async () => {
  const { parts, store, signalled } = await operator();
  await insertHires(store, [{ tenantId: 'acme', jobCandidateId: '1', period: 1, state: 'open' }]);
  const ask = async (employeeIds: string[]) => {
    const hold = holdOf('IDENTITY_AMBIGUOUS', { jobCandidateId: '1', reason: 'several', keys: ['email'], employeeIds });
    return (await openHold(store, { tenantId: 'acme', jobCandidateId: '1', period: 1, ...hold })).holdId;
  };
  const seen = await ask(['31']);
  // Somebody else answers meanwhile, and the hire now asks about another employee.
  await answerHold(parts, { holdId: seen, answer: 'retry', arguments: [], by: 'ben' });
  await closeHold(store, seen);
  const anew = await ask(['32']);
  for (const [answer, ids] of [
    ['create', []],
    ['link', ['31']],
  ] as const) {
    const late = { holdId: seen, answer, arguments: ids, by: 'ann' };
    await expect(answerHold(parts, late)).rejects.toMatchObject({
      code: 'HOLD_ANSWERED',
      message: expect.stringMatching(
        `Nothing was changed.*IDENTITY_AMBIGUOUS.*hirebridge hold show ${anew}$`,
      ) as string,
    });
    await expect(checkAnswer(store, late)).rejects.toMatchObject({ code: 'HOLD_ANSWERED' });
  }
  expect(await listHolds(store)).toMatchObject([{ hold_id: anew, answered_at: null }]);
  expect(signalled).toHaveLength(1);
  expect(await readHold(store, seen)).toMatchObject({ state: 'closed', askedNow: anew });
  expect(await readHold(store, anew)).not.toHaveProperty('askedNow');
});

test('a question of a tenant that takes in more people has a new id, and is not answered by its old one', async () => {
  const { parts, store } = await operator();
  const deps = { store, signalHire: async () => true };
  await askAbout(deps, 'acme', 'HIRES_NOT_RESTORED', ['1']);
  const [seen] = await listHolds(store);
  await askAbout(deps, 'acme', 'HIRES_NOT_RESTORED', ['1', '2']);
  const [anew, ...more] = await listHolds(store);
  expect([JSON.parse(anew?.details ?? ''), more]).toEqual([{ jobCandidateIds: ['1', '2'] }, []]);
  const late = answerHold(parts, { holdId: seen?.hold_id ?? '', answer: 'dismiss', arguments: [], by: 'ann' });
  await expect(late).rejects.toMatchObject({ message: expect.stringContaining(`hold show ${anew?.hold_id}`) });
  await answerHold(parts, { holdId: anew?.hold_id ?? '', answer: 'dismiss', arguments: [], by: 'ann' });
  await askAbout(deps, 'acme', 'HIRES_NOT_RESTORED', ['1', '2']);
  expect(await listHolds(store)).toEqual([]);
});

test('an answer for all differing fields decides those that were asked about, and none found since', async () => {
  const { parts, store } = await operator();
  const key = { tenantId: 'acme', stream: 'employees' } as const;
  const differ = async (pairId: string) => {
    const sides = { partner: 'a', hris: 'b' };
    const found = { field: 'city', kind: 'held', forms: sides, values: sides, isSensitive: false } as const;
    await settleConflicts(store, { ...key, pairId }, { open: [] }, [found]);
  };
  await differ('1');
  const asked = () => openHold(store, { tenantId: 'acme', ...holdOf('FIELD_CONFLICTS', { ...key, count: 1 }) });
  const { holdId } = await asked();
  await differ('2');
  await store.kysely
    .updateTable('field_conflicts')
    .set((eb) => ({ since: eb('since', '+', 1) }))
    .where('pair_id', '=', '2')
    .execute();
  await answerHold(parts, { holdId, answer: 'keep-hris', arguments: [], by: 'ann' });
  const kept = await listConflicts(store, { tenantId: 'acme', all: true });
  expect(Object.fromEntries(kept.map((row) => [row.pair_id, row.kept]))).toEqual({ 1: 'hris', 2: null });
  await store.kysely.updateTable('field_conflicts').set({ since: 1 }).execute();
  const { holdId: next } = await asked();
  const waiting = (await listConflicts(store, { tenantId: 'acme', all: true })).find((row) => row.kept === null);
  const some = [waiting?.conflict_id ?? '', 'nonsense'];
  await expect(
    answerHold(parts, { holdId: next, answer: 'keep-partner', arguments: some, by: 'ann' }),
  ).rejects.toMatchObject({
    code: 'CONFLICT_UNKNOWN',
    message: expect.stringMatching(/waits.*: nonsense\./) as string,
  });
  await answerHold(parts, { holdId: next, answer: 'keep-partner', arguments: [], by: 'ann' });
  const then = await listConflicts(store, { tenantId: 'acme', all: true });
  expect(Object.fromEntries(then.map((row) => [row.pair_id, row.kept]))).toEqual({ 1: 'hris', 2: 'partner' });
});

test('a hold of a removed tenant takes no answer: nothing of the tenant would act on it', async () => {
  const { parts, store, signalled } = await operator();
  const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
  await readTenantState(store, 'acme');
  await store.kysely.updateTable('tenants').set({ state: 'removed', removed_at: 1, version: 1 }).execute();
  for (const answer of [
    () => answerHold(parts, { ...given, holdId, arguments: [] }),
    () => answerHolds(parts, { code: HOLD.code, tenantId: 'acme' }, given),
  ])
    await expect(answer()).rejects.toMatchObject({
      code: 'TENANT_REMOVED',
      message: expect.stringContaining('apply its file again') as string,
    });
  expect(await listHolds(store, { all: true })).toMatchObject([{ answered_at: null }]);
  expect(signalled).toEqual([]);
});

test('a reason that no open hold has is named, with the way to list them', async () => {
  const { parts } = await operator();
  await expect(answerHolds(parts, { code: 'NONSENSE' }, given)).rejects.toMatchObject({ code: 'HOLD_UNKNOWN' });
});

test('a reason whose only hold was answered a moment ago is not proposed in its own place', async () => {
  const { parts, store } = await operator();
  await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
  await answerHolds(parts, { code: HOLD.code }, given);
  await expect(answerHolds(parts, { code: HOLD.code }, given)).rejects.toMatchObject({
    message: `No open hold has the reason ${HOLD.code}. List them with: hirebridge hold list`,
  });
});

test.each([
  ['of one hire, of an enrolment', { jobCandidateId: '1', period: 1 }, 'adopt <onboardingCandidateId>'],
  ['of the whole tenant, of hires', {}, 'adopt <jobCandidateId...>'],
])('adopt without an id is asked again with the id it needs: %s', async (_what, of, text) => {
  const { parts, store } = await operator();
  const { period: _period, ...hold } = { ...HOLD, answers: ['adopt'] };
  const { holdId } = await openHold(store, { ...hold, tenantId: 'acme', ...of });
  const answer = answerHold(parts, { holdId, answer: 'adopt', arguments: [], by: 'ann' });
  await expect(answer).rejects.toMatchObject({
    code: 'ANSWER_INCOMPLETE',
    message: expect.stringContaining(text) as string,
  });
});

test('a rebuilt baseline is looked at again: only those still recorded as before go-live are asked about', async () => {
  const { parts, store, signalled } = await operator();
  const recorded = (jobCandidateId: string, state: 'open' | 'before-go-live') => ({
    tenantId: 'acme',
    jobCandidateId,
    period: 1,
    state,
  });
  await insertHires(store, [recorded('1', 'before-go-live'), recorded('2', 'open')]);
  const answer = async (): Promise<HoldRow[]> => {
    const [hold] = await listHolds(store);
    await answerHold(parts, { holdId: hold?.hold_id ?? '', answer: 'retry', arguments: [], by: 'ann' });
    return listHolds(store);
  };
  await openHold(store, { tenantId: 'acme', ...holdOf('REBUILT_BASELINE', { jobCandidateIds: ['1', '2'] }) });
  const asked = await answer();
  expect(asked.map((hold) => JSON.parse(hold.details) as unknown)).toEqual([{ jobCandidateIds: ['1'] }]);
  await store.kysely.updateTable('hires').set({ state: 'open' }).execute();
  expect(await answer()).toEqual([]);
  expect(signalled).toEqual([]);
});

test('trouble with an HR system may be looked at again, which spends no credit', async () => {
  const { parts, store } = await operator();
  const hire = { tenantId: 'acme', jobCandidateId: '1', period: 1 };
  const trouble = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  const { holdId } = await openHold(store, { tenantId: 'acme', ...hrisHold(trouble) });
  await readTenantState(store, 'acme');
  await closeCreditGate(store, 'acme', { at: 1, canary: 'none' }, { required: 1, available: 0 });
  await passCreditGate(store, hire, 'enrol:1', 60_000);
  await answerHold(parts, { holdId, answer: 'retry', arguments: [], by: 'ann' });
  expect(await listHolds(store)).toEqual([]);
  expect(await passCreditGate(store, hire, 'enrol:1', 60_000)).toHaveProperty('waitMs');
});

test.each([undefined, 'postgres'] as const)(
  'an answer that no hire heard is told again, ever more rarely, until it is acted upon, in %s',
  async (database) => {
    const { parts, store, signalled } = await operator(database);
    const { client } = parts.hires;
    const away = { workflow: { signalWithStart: () => Promise.reject(new Error('Temporal is away')) } };
    const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '1' });
    const answer = { holdId, answer: 'retry', arguments: [], by: 'ann' };
    await answerHold({ store, hires: { ...parts.hires, client: away as unknown as typeof client } }, answer);
    expect(await listHolds(store)).toMatchObject([{ hold_id: holdId, answer: 'retry' }]);
    const signalHire = async ({ jobCandidateId }: { jobCandidateId: string }) => signalled.push(jobCandidateId) > 0;
    const log = createRootLogger(undefined, 'silent');
    const round = createAnswerRound({ store, signalHire, log });
    const letPass = (ms: number) =>
      store.kysely
        .updateTable('holds')
        .set((eb) => ({ answered_at: eb('answered_at', '-', ms) }))
        .execute();
    await round();
    expect(signalled, 'the command itself may still be at it').toEqual([]);
    await letPass(11_000);
    await round();
    await round();
    expect(signalled).toEqual(['1']);
    await closeHold(store, holdId);
    await createAnswerRound({ store, signalHire, log })();
    expect(signalled).toEqual(['1']);
  },
);

test.each([undefined, 'postgres'] as const)(
  'hundreds of unheard answers of one tenant hold up no other, in %s',
  async (database) => {
    const { store } = await operator(database);
    const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId: '0' });
    await recordAnswer(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
    const row = await store.kysely
      .selectFrom('holds')
      .selectAll()
      .where(has({ hold_id: holdId }))
      .executeTakeFirstOrThrow();
    const others = Array.from({ length: 205 }, (_one, index) => ({
      ...row,
      hold_id: `other-${index}`,
      tenant_id: 'beta',
      job_candidate_id: String(index + 1),
      answered_at: index,
    }));
    await store.kysely.insertInto('holds').values(others).execute();
    const unheard = await unheardAnswers(store, 0);
    expect(unheard).toHaveLength(200);
    expect(unheard.slice(0, 2).map((hold) => hold.tenant_id)).toEqual(['beta', 'acme']);
  },
);

test('while Temporal is away, a round tries one answer, and the next round another', async () => {
  const { store } = await operator();
  for (const jobCandidateId of ['1', '2', '3']) {
    const { holdId } = await openHold(store, { ...HOLD, tenantId: 'acme', jobCandidateId });
    await recordAnswer(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
    await store.kysely
      .updateTable('holds')
      .set({ answered_at: Number(jobCandidateId) })
      .where(has({ hold_id: holdId }))
      .execute();
  }
  const tried: string[] = [];
  let isAway = true;
  const signalHire = async ({ jobCandidateId }: { jobCandidateId: string }) => {
    tried.push(jobCandidateId);
    if (isAway) throw new Error('14 UNAVAILABLE');
    return true;
  };
  const round = createAnswerRound({ store, signalHire, log: createRootLogger(undefined, 'silent') });
  await round();
  expect(tried).toEqual(['1']);
  await round();
  expect(tried).toEqual(['1', '2']);
  isAway = false;
  await round();
  expect(tried).toEqual(['1', '2', '3']);
});

test.each([
  [
    'someone whom the hold does not ask about',
    holdOf('REBUILT_BASELINE', { jobCandidateIds: ['1'] }),
    'adopt',
    'ANSWER_ID_UNKNOWN',
  ],
  [
    'a conflict that is not open',
    holdOf('FIELD_CONFLICTS', { stream: 'fields', count: 1 }),
    'keep-hris',
    'CONFLICT_UNKNOWN',
  ],
])('an answer with the id of %s is refused, and the hold can be answered', async (_who, hold, answer, code) => {
  const { parts, store } = await operator();
  const { holdId } = await openHold(store, { tenantId: 'acme', ...hold });
  await expect(answerHold(parts, { holdId, answer, arguments: ['9'], by: 'ann' })).rejects.toMatchObject({ code });
  expect(await listHolds(store)).toMatchObject([{ hold_id: holdId, answered_at: null }]);
});
