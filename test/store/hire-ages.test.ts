import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { freeze, thaw } from '../../src/store/freezes.ts';
import { oldestOwnTimes, ownTimeOf } from '../../src/store/hire-states.ts';
import { insertHires, updateHire } from '../../src/store/hires.ts';
import { answerHold, openHold } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';
import { pauseTenant, readTenantState, resumeTenant } from '../../src/store/tenant-states.ts';
import { kinds, storesOfFile } from './stores.ts';

const storeOf = storesOfFile();
const MINUTE = 60_000;
const refOf = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, period: 1 });

/** The oldest of the tenant's, to the minute. */
async function oldest(store: Store): Promise<number | undefined> {
  const [own] = await oldestOwnTimes(store);
  return own && Math.round(own.ms / MINUTE);
}

/** Opened so many minutes ago. */
async function hireOf(store: Store, jobCandidateId: string, minutes: number): Promise<void> {
  await insertHires(store, [{ ...refOf(jobCandidateId), state: 'open' }]);
  await store.kysely
    .updateTable('hires')
    .set({ opened_at: sql<number>`${store.now} - ${sql.lit(minutes * MINUTE)}` })
    .where('job_candidate_id', '=', jobCandidateId)
    .execute();
}

describe.each(kinds)('how long hires have waited for nobody, on %s', (kind) => {
  test('the oldest counts from its opening; one that waits for a candidate or a person does not count', async () => {
    const { store } = await storeOf(kind);
    await readTenantState(store, 'acme');
    expect(await oldest(store)).toBeUndefined();
    await hireOf(store, '1', 90);
    await hireOf(store, '2', 30);
    await hireOf(store, '3', 10);
    expect(await oldest(store)).toBe(90);
    await updateHire(store, refOf('1'), { step: 'onboard' });
    expect(await oldest(store)).toBe(30);
    const { holdId } = await openHold(store, { ...refOf('2'), code: 'TEST', message: 'A test.', answers: ['retry'] });
    expect(await oldest(store)).toBe(10);
    // From the answer on nobody is waited for, and what was before counts no more.
    await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
    expect(await oldest(store)).toBe(10);
    expect(Math.round((await ownTimeOf(store, refOf('2'))) / MINUTE)).toBe(0);
    expect(Math.round((await ownTimeOf(store, refOf('3'))) / MINUTE)).toBe(10);
    // So does an onboarding that came to its end.
    await updateHire(store, refOf('1'), { step: 'employ', onboarding_status: 'COMPLETED' });
    expect(Math.round((await ownTimeOf(store, refOf('1'))) / MINUTE)).toBe(0);
  });

  test('what the HR system takes to finish a create counts for nobody', async () => {
    const { store } = await storeOf(kind);
    await readTenantState(store, 'acme');
    await hireOf(store, '1', 90);
    await updateHire(store, refOf('1'), { step: 'employ' });
    // The person may have to reach the stage of policies.createAt first.
    expect(await oldest(store)).toBeUndefined();
    const ago = (minutes: number) => sql<number>`${store.now} - ${sql.lit(minutes * MINUTE)}`;
    const sent = { verb: 'create-employee', attempt: 1, pinned: '{}', sent_at: ago(85), give_up_at: ago(84) };
    const key = { tenant_id: 'acme', job_candidate_id: '1', period: 1 };
    await store.kysely
      .insertInto('intents')
      .values({ ...key, ...sent, outcome: 'open' })
      .execute();
    expect(await oldest(store)).toBe(90);
    await store.kysely
      .updateTable('intents')
      .set({ outcome: 'done', decided_at: ago(84) })
      .execute();
    expect(await oldest(store)).toBeUndefined();
    const is = { person_id: 'p', scope: 'hr', kind: 'employee', value: '7', at: ago(4) } as const;
    await store.kysely
      .insertInto('person_keys')
      .values({ ...key, ...is })
      .execute();
    expect(Math.round((await ownTimeOf(store, refOf('1'))) / MINUTE)).toBe(10);
  });

  test('nobody expects a paused or frozen tenant to go on', async () => {
    const { store } = await storeOf(kind);
    await readTenantState(store, 'acme');
    await hireOf(store, '1', 90);
    await pauseTenant(store, 'acme', 'TEST', 'A test.');
    expect(await oldest(store)).toBeUndefined();
    await resumeTenant(store, 'acme');
    expect(await oldest(store)).toBe(90);
    for (const whose of ['acme', undefined]) {
      await freeze(store, 'ann', whose);
      expect(await oldest(store)).toBeUndefined();
      await thaw(store, 'ann', whose);
    }
    expect(await oldest(store)).toBe(90);
  });
});
