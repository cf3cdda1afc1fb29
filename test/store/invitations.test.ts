import { expect, test } from 'vitest';
import { sendInvitations } from '../../src/store/invitations.ts';
import { sqliteStore } from './stores.ts';

test('of two workers that decided to invite the same person, one sends', async () => {
  const store = await sqliteStore();
  const invitee = { assessmentId: 'as-1', candidateId: '7', jobCandidateId: '70' };
  const send = (before: Parameters<typeof sendInvitations>[2][number]['before']) =>
    sendInvitations(store, 'acme', [{ invitee, before }], { writeId: 'w', budgetMs: 1_000 });
  const [first] = await send(undefined);
  expect(first).toMatchObject({ state: 'sent', attempt: 1 });
  expect(await send(undefined)).toEqual([]);
  expect(await send(first)).toMatchObject([{ attempt: 2, in_doubt: 1 }]);
  expect(await send(first)).toEqual([]);
});
