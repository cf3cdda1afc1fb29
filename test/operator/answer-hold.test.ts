import { expect, onTestFinished, test } from 'vitest';
import { answerHold, answerHolds } from '../../src/operator/answer-hold.ts';
import { listHolds, openHold } from '../../src/store/holds.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';

/** A real store, and a client that notes whose workflows hear of an answer. */
async function operator() {
  const store = await openStore('sqlite::memory:');
  onTestFinished(() => store.close());
  const signalled: string[] = [];
  const workflow = {
    signalWithStart: async (_type: string, { workflowId }: { workflowId: string }) => void signalled.push(workflowId),
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
  expect(await answerHolds(parts, { code: HOLD.code, tenantId: 'acme' }, given)).toBe(2);
  expect(signalled).toEqual(['hb/hire/acme/1', 'hb/hire/acme/2']);
  const answered = (await listHolds(store)).filter((row) => row.answered_at !== null);
  expect(answered.map((row) => row.job_candidate_id).sort()).toEqual(['1', '2']);
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

test('a reason that no open hold has is named, with the way to list them', async () => {
  const { parts } = await operator();
  await expect(answerHolds(parts, { code: 'NONSENSE' }, given)).rejects.toMatchObject({ code: 'HOLD_UNKNOWN' });
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
