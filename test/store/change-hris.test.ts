import { describe, expect, test } from 'vitest';
import { employeeIn } from '../../src/hire/hire.ts';
import { changeHris, countPeopleOf, type HrisWay, readBoundToHris } from '../../src/store/change-hris.ts';
import { noteOptionLabels, readOptionLabels } from '../../src/store/fields.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import { decideIntent, openIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { changePerson, findPerson, recordPeople, save } from '../../src/store/persons.ts';
import { giveNames, isGiven } from '../../src/store/unique-names.ts';
import { holdPerson, linkPerson, who } from './known-people.ts';
import { freshStore, kinds } from './stores.ts';

const ref = { tenantId: 'acme', jobCandidateId: '1', period: 1 };
const person = (connection: string) => who('88', connection);

/** A person whom the tenant hired into the HR system `old`, and what streams noted of them. */
async function hiredInto(store: Store): Promise<void> {
  await insertHires(store, [{ ...ref, state: 'open', candidateId: '88' }]);
  await holdPerson(store, person('old'), ref);
  await linkPerson(store, person('old'), ref, { id: '7', number: 'N7' });
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
    const known = { owner: ref, recorded: undefined, employees: [{ employee: { connection: 'new', id: '7' } }] };
    expect(await findPerson(store, person('new'))).toMatchObject(known);
    expect(await findPerson(store, person('old'))).toMatchObject({ version: 0 });
    expect(await latestHire(store, 'acme', '1')).toMatchObject({ connection: 'new', employee_id: '7' });
    expect(await store.kysely.selectFrom('employments').selectAll().execute()).toHaveLength(1);
  });

  test('that is the same HR system lets nobody write whom they read under the old name', async () => {
    const { store, other } = await freshStore(kind);
    await hiredInto(store);
    const seen = await findPerson(other, person('old'));
    await change(store, 'keep');
    expect(await save(other, [seen], [{ ...seen, owner: undefined }])).toBe(false);
    expect(await findPerson(store, person('new'))).toMatchObject({ owner: ref });
  });

  test('that is the same HR system keeps whom others know under the new name', async () => {
    const { store } = await freshStore(kind);
    await hiredInto(store);
    const asBy = (tenantId: string) => ({ tenantId, jobCandidateId: '3', period: 1, how: 'baseline' as const });
    await recordPeople(store, [
      { ...person('new'), as: asBy('sister') },
      { ...who('89', 'new'), as: asBy('stranger') },
    ]);
    await change(store, 'keep');
    const known = { owner: ref, recorded: asBy('sister'), employees: [{ employee: { connection: 'new', id: '7' } }] };
    expect(await findPerson(store, person('new'))).toMatchObject(known);
    expect(await findPerson(store, who('89', 'new'))).toMatchObject({ recorded: asBy('stranger') });
    expect(await findPerson(store, person('old'))).toMatchObject({ version: 0 });
  });

  test('is not kept while another tenant hires one of its people under the new name', async () => {
    const { store } = await freshStore(kind);
    await hiredInto(store);
    const sister = { ...ref, tenantId: 'sister' };
    await insertHires(store, [{ ...sister, state: 'open', candidateId: '88' }]);
    await holdPerson(store, person('new'), sister);
    await expect(change(store, 'keep')).rejects.toMatchObject({ code: 'HRIS_NOT_CHANGED' });
    expect(await findPerson(store, person('old'))).toMatchObject({ owner: ref });
  });

  test('is not kept while both names hold one key of an employee being made, until that hire has ended', async () => {
    const { store } = await freshStore(kind);
    const sister = { tenantId: 'sister', jobCandidateId: '2', period: 1 };
    for (const [hire, whose] of [
      [ref, person('old')],
      [sister, who('89', 'new')],
    ] as const) {
      await insertHires(store, [{ ...hire, state: 'open', candidateId: whose.candidate.candidateId }]);
      await holdPerson(store, whose, hire);
      const keys = ['email ana@example.com', 'name ana reyes'];
      await changePerson(store, whose, { kind: 'create', hire, keys, holder: 'w', forMs: 60_000 });
    }
    const refused = { code: 'HRIS_NOT_CHANGED', message: expect.stringContaining('hires of sister and acme') };
    await expect(change(store, 'keep')).rejects.toMatchObject(refused);
    await store.kysely.updateTable('person_keys').set({ at: 1 }).where('scope', '=', 'new').execute();
    await change(store, 'keep');
    const keys = await store.kysely.selectFrom('person_keys').selectAll().where('kind', '=', 'creating').execute();
    expect(keys).toHaveLength(2);
    expect(keys).toMatchObject([
      { scope: 'new', tenant_id: 'acme' },
      { scope: 'new', tenant_id: 'acme' },
    ]);
  });

  test('that is the same HR system goes on where its list of changes was read to', async () => {
    const { store } = await freshStore(kind);
    for (const [connection, cursor] of [
      ['new', 'long ago'],
      ['old', 'now'],
    ] as const)
      await store.kysely
        .insertInto('change_cursors')
        .values({ tenant_id: 'acme', connection, cursor, began_at: 1 })
        .execute();
    await change(store, 'keep');
    const cursors = await store.kysely.selectFrom('change_cursors').selectAll().execute();
    expect(cursors).toMatchObject([{ connection: 'new', cursor: 'now' }]);
  });

  test('that is the same HR system keeps the names that hires were given there', async () => {
    const { store } = await freshStore(kind);
    const [other, third] = [
      { ...ref, jobCandidateId: '2' },
      { ...ref, jobCandidateId: '3' },
    ];
    for (const hire of [ref, other, third]) await insertHires(store, [{ ...hire, state: 'open', candidateId: '88' }]);
    const named = (name: string) => [{ field: 'login', place: 'user_name', name }];
    const give = (connection: string, hire: typeof ref, name: string) =>
      giveNames(store, connection, hire, { names: named(name), before: new Map() });
    await give('old', ref, 'ada');
    await give('old', other, 'bo');
    await give('new', third, 'Bo');
    await change(store, 'keep');
    expect(await isGiven(store, 'new', third, named('ada'))).toBe(true);
    expect(await isGiven(store, 'new', ref, named('bo'))).toBe(true);
  });

  test('that is the same HR system knows the entries of its lists again', async () => {
    const { store } = await freshStore(kind);
    const key = { tenantId: 'acme', fieldId: '7' };
    const idOf = (connection: string, id: string) => JSON.stringify([connection, 'skills', id]);
    const entries = [
      { id: idOf('old', '1'), label: 'Bar' },
      { id: idOf('older', '2'), label: 'Cellar' },
    ];
    await noteOptionLabels(store, key, 'one', { entries, missed: ['Kitchen'], leaving: [] });
    await change(store, 'keep');
    const known = [...(await readOptionLabels(store, key)).values()].map((row) => [row.label, row.entry_id]);
    expect(Object.fromEntries(known)).toEqual({ Bar: idOf('new', '1'), Cellar: idOf('older', '2'), Kitchen: null });
  });

  test('that is another HR system leaves history, and makes everybody somebody to be asked about', async () => {
    const { store } = await freshStore(kind);
    await hiredInto(store);
    expect(await countPeopleOf(store, 'acme', 'old')).toBe(1);
    expect(await readBoundToHris(store, 'acme')).toEqual({ unsettled: 0, requisitions: 0, resumes: 0 });
    await change(store, 'new');
    expect(await findPerson(store, person('old'))).toMatchObject({ employees: [{ hire: ref }] });
    expect(await findPerson(store, person('new'))).toMatchObject({ recorded: { how: 'other-hris' }, employees: [] });
    expect(await latestHire(store, 'acme', '1')).toMatchObject({ connection: 'old', employee_id: '7' });
    expect(await store.kysely.selectFrom('employments').selectAll().execute()).toEqual([]);
  });

  test('that is another one has either of two candidates asked about who are one human', async () => {
    const { store } = await freshStore(kind);
    await hiredInto(store);
    const second = { ...ref, jobCandidateId: '2' };
    await insertHires(store, [{ ...second, state: 'open', candidateId: '89' }]);
    const is = { employee: employeeIn('old', '7'), number: 'N7' };
    const link = { kind: 'link', hire: second, candidate: who('89', 'old').candidate, is, how: 'linked' } as const;
    await changePerson(store, who('89', 'old'), { ...link, shownAfterMs: 0, samePerson: true });
    await endHire(store, second, 'done');
    await change(store, 'new');
    for (const id of ['88', '89'])
      expect(await findPerson(store, who(id, 'new'))).toMatchObject({ recorded: { how: 'other-hris' } });
  });

  test('that is another one leaves nobody unasked who was hired before go-live', async () => {
    const { store } = await freshStore(kind);
    const baseline = { ...ref, jobCandidateId: '3', how: 'baseline' as const };
    await recordPeople(store, [{ ...person('old'), as: baseline }]);
    await change(store, 'new');
    expect(await findPerson(store, person('new'))).toMatchObject({ owner: undefined, recorded: baseline });
  });

  test('that is another one knows whom a sister tenant recorded first, where the tenant had them too', async () => {
    const { store } = await freshStore(kind);
    const receives = JSON.stringify({ company: 17 });
    for (const tenant_id of ['acme', 'sister'])
      await store.kysely.insertInto('tenants').values({ tenant_id, state: 'active', version: 1, receives }).execute();
    await store.kysely.insertInto('tenants').values({ tenant_id: 'stranger', state: 'active', version: 1 }).execute();
    const asBy = (tenantId: string) => ({ tenantId, jobCandidateId: '3', period: 1, how: 'baseline' as const });
    await recordPeople(store, [
      { ...person('old'), as: asBy('sister') },
      { ...who('89', 'old'), as: asBy('sister') },
      { ...who('90', 'old'), as: asBy('stranger') },
    ]);
    for (const candidateId of ['88', '90'])
      await insertHires(store, [{ ...ref, jobCandidateId: candidateId, state: 'before-go-live', candidateId }]);
    expect(await countPeopleOf(store, 'acme', 'old'), 'somebody has to say what the change means').toBe(1);
    await change(store, 'new');
    expect(await findPerson(store, person('new'))).toMatchObject({ owner: undefined, recorded: asBy('sister') });
    expect(await findPerson(store, who('89', 'new'))).toMatchObject({ version: 0 });
    expect(await findPerson(store, who('90', 'new'))).toMatchObject({ version: 0 });
  });

  test('that is another one lets go of whom the tenant was about to hire into the old one', async () => {
    const { store } = await freshStore(kind);
    await insertHires(store, [{ ...ref, state: 'open', candidateId: '88' }]);
    await holdPerson(store, person('old'), ref);
    await change(store, 'new');
    const sister = { ...ref, tenantId: 'beta' };
    await insertHires(store, [{ ...sister, state: 'open', candidateId: '88' }]);
    expect(await holdPerson(store, person('old'), sister)).toMatchObject({ person: { owner: sister } });
  });

  test.each(['create-employee', 'rehire-employee'])(
    'is not new while a request for an employee is under way, nor kept under a name in use: %s',
    async (verb) => {
      const { store } = await freshStore(kind);
      await hiredInto(store);
      const second = { ...ref, jobCandidateId: '2' };
      await insertHires(store, [{ ...second, state: 'open', candidateId: '89' }]);
      const intent = await openIntent(store, {
        ...second,
        verb,
        attempt: 1,
        pinned: { reference: '17:89' },
        budgetMs: 5_000,
      });
      await expect(change(store, 'new')).rejects.toMatchObject({ code: 'HRIS_NOT_CHANGED' });
      expect(await findPerson(store, person('new'))).toMatchObject({ version: 0 });
      if (intent !== undefined) await decideIntent(store, intent, 'absent', null);
      await linkPerson(store, who('90', 'taken'), second, { id: '9' });
      await expect(change(store, 'keep', 'taken')).rejects.toMatchObject({ code: 'HRIS_NOT_CHANGED' });
      await change(store, 'new');
    },
  );
});
