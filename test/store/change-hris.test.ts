import { describe, expect, test } from 'vitest';
import { changeHris, countPeopleOf, type HrisWay, readBoundToHris } from '../../src/store/change-hris.ts';
import { endHire, recordEmployee } from '../../src/store/hire-states.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import { claimOfPerson, linkEmployee, linksOfPerson, takeClaim } from '../../src/store/identity.ts';
import { decideIntent, openIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { freshStore, kinds } from './stores.ts';

const ref = { tenantId: 'acme', jobCandidateId: '1', period: 1 };
const person = (connection: string) => ({ connection, partnerCompany: '17', candidateId: '88' });

/** A person whom the tenant hired into the HR system `old`, and what streams noted of them. */
async function hiredInto(store: Store): Promise<void> {
  await insertHires(store, [{ ...ref, state: 'open', candidateId: '88' }]);
  await takeClaim(store, person('old'), ref);
  await linkEmployee(store, person('old'), ref, { id: '7', number: 'N7' });
  await recordEmployee(store, ref, { connection: 'old', id: '7', number: 'N7' });
  await endHire(store, ref, 'done');
  await store.kysely
    .insertInto('employments')
    .values({ tenant_id: 'acme', employee_id: '7', written_id: 'N7', status: 'Active', written_at: 1 })
    .execute();
}

function change(store: Store, way: HrisWay, to = 'new'): Promise<void> {
  return store.kysely
    .transaction()
    .execute((kysely) => changeHris({ ...store, kysely }, { tenantId: 'acme', from: 'old', to, way }));
}

describe.each(kinds)('another HR connection, in %s', (kind) => {
  test('that is the same HR system keeps everybody known, under the new name', async () => {
    const { store } = await freshStore(kind);
    await hiredInto(store);
    await change(store, 'keep');
    expect(await linksOfPerson(store, person('new'))).toMatchObject([{ employee_id: '7' }]);
    expect(await linksOfPerson(store, person('old'))).toEqual([]);
    expect(await claimOfPerson(store, person('new'))).toMatchObject({ job_candidate_id: '1', recorded: null });
    expect(await latestHire(store, 'acme', '1')).toMatchObject({ connection: 'new', employee_id: '7' });
    expect(await store.kysely.selectFrom('employments').selectAll().execute()).toHaveLength(1);
  });

  test('that is another HR system leaves history, and makes everybody somebody to be asked about', async () => {
    const { store } = await freshStore(kind);
    await hiredInto(store);
    expect(await countPeopleOf(store, 'acme', 'old')).toBe(2);
    expect(await readBoundToHris(store, 'acme')).toEqual({ unsettled: 0, requisitions: 0 });
    await change(store, 'new');
    expect(await linksOfPerson(store, person('old'))).toHaveLength(1);
    expect(await linksOfPerson(store, person('new'))).toEqual([]);
    expect(await claimOfPerson(store, person('new'))).toMatchObject({ how: 'other-hris' });
    expect(await latestHire(store, 'acme', '1')).toMatchObject({ connection: 'old', employee_id: '7' });
    expect(await store.kysely.selectFrom('employments').selectAll().execute()).toEqual([]);
  });

  test('is not new while a request for an employee is under way, nor kept under a name in use', async () => {
    const { store } = await freshStore(kind);
    await hiredInto(store);
    const second = { ...ref, jobCandidateId: '2' };
    await insertHires(store, [{ ...second, state: 'open', candidateId: '89' }]);
    const intent = await openIntent(store, {
      ...second,
      verb: 'create-employee',
      attempt: 1,
      pinned: { reference: '17:89' },
      budgetMs: 5_000,
    });
    await expect(change(store, 'new')).rejects.toMatchObject({ code: 'HRIS_NOT_CHANGED' });
    expect(await claimOfPerson(store, person('new'))).toBeUndefined();
    if (intent !== undefined) await decideIntent(store, intent, 'absent', null);
    await linkEmployee(store, { ...person('taken'), candidateId: '90' }, second, { id: '9', number: null });
    await expect(change(store, 'keep', 'taken')).rejects.toMatchObject({ code: 'HRIS_NOT_CHANGED' });
    await change(store, 'new');
  });
});
