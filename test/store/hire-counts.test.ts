import { type Kysely, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { endHire, moveResting } from '../../src/store/hire-states.ts';
import { countHires, insertHires, latestHire } from '../../src/store/hires.ts';
import { up as beginCounts } from '../../src/store/migrations/0019-hire-counts.ts';
import { recordHire } from '../../src/store/observed-hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { freshStore, freshStoreUrl, kinds } from './stores.ts';

const ref = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, period: 1 });
const open = (...ids: string[]) => ids.map((id) => ({ ...ref(id), state: 'open' as const }));

async function counts(store: Store): Promise<Record<string, number>> {
  return Object.fromEntries(
    (await countHires(store)).map(({ tenantId, state, count }) => [`${tenantId} ${state}`, count]),
  );
}

describe.each(kinds)('counts of hires on %s', (kind) => {
  test('follow each hire from state to state, and a repeat counts nothing', async () => {
    const { store } = await freshStore(kind);
    await insertHires(store, open('1', '2', '3'));
    await insertHires(store, [...open('3', '4'), { ...ref('1'), tenantId: 'globex', state: 'before-go-live' }]);
    expect(await counts(store)).toEqual({ 'acme open': 4, 'globex before-go-live': 1 });
    await endHire(store, ref('1'), 'done');
    await endHire(store, ref('1'), 'done');
    await endHire(store, ref('2'), 'cancelled');
    const observed = { ref: ref('5'), candidateId: '5', jobId: '4', person: undefined, about: { passedOver: 'scope' } };
    for (const _ of [1, 2]) await recordHire(store, observed);
    const cancelled = await latestHire(store, 'acme', '2');
    if (cancelled !== undefined) await moveResting(store, cancelled, 'left');
    expect(await counts(store)).toEqual({
      'acme open': 2,
      'acme done': 1,
      'acme left': 1,
      'acme before-go-live': 1,
      'globex before-go-live': 1,
    });
  });

  test('hold whatever becomes of hires in one statement or in one that is taken back', async () => {
    const { store } = await freshStore(kind);
    await insertHires(store, open('1', '2', '3'));
    await store.kysely.updateTable('hires').set({ state: 'done' }).where('job_candidate_id', '<', '3').execute();
    await store.kysely.deleteFrom('hires').where('job_candidate_id', '=', '1').execute();
    const takenBack = store.kysely.transaction().execute(async (kysely) => {
      await insertHires({ ...store, kysely }, open('4'));
      throw new Error('taken back');
    });
    await expect(takenBack).rejects.toThrow('taken back');
    expect(await counts(store)).toEqual({ 'acme open': 1, 'acme done': 1 });
  });

  test('begin with the hires that a store of an earlier version has', async () => {
    const url = await freshStoreUrl(kind);
    const store = await openStore(url);
    const triggers = ['insert', 'update', 'delete'].map((on) => `hire_counts_${on}`);
    for (const name of triggers)
      await sql.raw(`drop trigger ${name}${kind === 'sqlite' ? '' : ' on hires'}`).execute(store.kysely);
    if (kind === 'postgres') for (const name of triggers) await sql.raw(`drop function ${name}`).execute(store.kysely);
    await sql`drop table hire_counts`.execute(store.kysely);
    await insertHires(store, open('1', '2'));
    await beginCounts(store.kysely as unknown as Kysely<unknown>);
    await insertHires(store, open('3'));
    expect(await counts(store)).toEqual({ 'acme open': 3 });
    await store.close();
  });
});
