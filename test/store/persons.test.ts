import { describe, expect, test } from 'vitest';
import { employeeIn, type HireRef } from '../../src/hire/hire.ts';
import type { Person } from '../../src/person/person.ts';
import { applyDefinitions, listAppliedTenants, recordEnd, removeTenant } from '../../src/store/applied-tenants.ts';
import { savePair } from '../../src/store/exchange-pairs.ts';
import { listConflicts, settleConflicts } from '../../src/store/field-conflicts.ts';
import { endHire, endLost, moveResting } from '../../src/store/hire-states.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import { openIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { importLinks, lapseCreating, releasePeople, settleCreating } from '../../src/store/people.ts';
import { changePerson, findPerson, recordPeople, save } from '../../src/store/persons.ts';
import { employedAs, holdPerson, linkPerson, type Who, who } from './known-people.ts';
import { kinds, storesOfFile } from './stores.ts';

const ref = (jobCandidateId: string, tenantId = 'acme'): HireRef => ({ tenantId, jobCandidateId, period: 1 });
const [first, second, third] = [ref('5012'), ref('5013'), ref('5014')];
const ada = who('88');
const bob = who('99');
const NONE = { partner: null, hris: null };

const emptyStore = storesOfFile();

async function withHires(kind: (typeof kinds)[number], hires: readonly HireRef[] = [first, second, third]) {
  const stores = await emptyStore(kind);
  await insertHires(
    stores.store,
    hires.map((hire) => ({ ...hire, state: 'open' as const })),
  );
  return stores;
}

describe.each(kinds)('a person, in %s', (kind) => {
  test('is owned by one of two hires that ask at once, until that one lets them go', async () => {
    const { store, other } = await withHires(kind);
    const asked = await Promise.all([holdPerson(store, ada, first), holdPerson(other, ada, second)]);
    expect(asked.filter(({ refusal }) => refusal === undefined)).toHaveLength(1);
    await releasePeople(store, first);
    await releasePeople(store, second);
    expect(await findPerson(store, ada)).toMatchObject({ version: 0, owner: undefined });
    expect(await holdPerson(other, ada, second)).toMatchObject({ person: { owner: second } });
  });

  test('stays known if their hire was given up while its create may have made an employee', async () => {
    const { store } = await withHires(kind);
    await holdPerson(store, ada, first);
    await releasePeople(store, first, true);
    expect(await holdPerson(store, ada, second)).toMatchObject({ refusal: { reason: 'recorded', other: first } });
  });

  test('is not changed by who saw them as they were before', async () => {
    const { store, other } = await withHires(kind);
    await holdPerson(store, ada, first);
    await linkPerson(store, ada, first, { id: '7' });
    const { version } = await findPerson(other, ada);
    const hold = { kind: 'hold', hire: second, decided: { person: 'transfer' }, isUnderWay: false } as const;
    const event = { ...hold, company: undefined };
    await linkPerson(store, ada, first, { id: '7', number: 'N7' });
    await expect(changePerson(other, ada, event, version)).rejects.toMatchObject({ code: 'PERSON_CHANGED' });
    expect(await changePerson(other, ada, event)).toMatchObject({ person: { owner: second } });
  });

  test('is not written by who read them before another change', async () => {
    const { store, other } = await withHires(kind);
    await holdPerson(store, ada, first);
    const seen = await findPerson(store, ada);
    await linkPerson(other, ada, first, { id: '7' });
    const now = await findPerson(store, ada);
    expect(await save(store, [seen], [{ ...seen, owner: second }])).toBe(false);
    expect(await findPerson(store, ada)).toEqual(now);
  });

  test('is written together with another one, or neither is', async () => {
    const { store, other } = await withHires(kind);
    for (const [whose, hire] of [
      [ada, first],
      [bob, second],
    ] as const)
      await holdPerson(store, whose, hire);
    const seen = [await findPerson(store, ada), await findPerson(store, bob)].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    );
    const [one, last] = seen as [Person, Person];
    await changePerson(other, { id: last.id }, { kind: 'record', as: { how: 'baseline', ...third } });
    const now = await findPerson(store, { id: one.id });
    expect(
      await save(
        store,
        seen,
        [one, last].map((person) => ({ ...person, owner: third })),
      ),
    ).toBe(false);
    expect(await findPerson(store, { id: one.id })).toEqual(now);
  });

  test('is changed by each of many who change them at once', async () => {
    const { store, other } = await withHires(kind);
    await holdPerson(store, ada, first);
    const ids = Array.from({ length: 8 }, (_, nth) => `e${nth}`);
    await Promise.all(ids.map((id, nth) => linkPerson(nth % 2 === 0 ? store : other, ada, second, { id })));
    expect((await findPerson(store, ada)).employees.map((one) => one.employee.id).toSorted()).toEqual(ids);
  });

  test('is found anew by a name whose person is in no table, as repairs by hand leave it', async () => {
    const { store, other } = await withHires(kind);
    await holdPerson(store, ada, first);
    await store.kysely.deleteFrom('persons').execute();
    expect(await holdPerson(other, ada, second)).toMatchObject({ person: { owner: second } });
    expect(await findPerson(store, ada)).toMatchObject({ owner: second });
  });

  test('has an employee whom no other person gets, whoever is first', async () => {
    const { store, other } = await withHires(kind);
    const linked = await Promise.all([
      linkPerson(store, ada, first, { id: '7' }),
      linkPerson(other, bob, second, { id: '7', number: 'N7' }),
    ]);
    const [lost, ...others] = linked.flatMap(({ refusal }) => refusal ?? []);
    expect(others).toEqual([]);
    expect(lost).toMatchObject({ reason: 'of-another' });
    const [known] = (await findPerson(store, { employee: employeeIn('hr', '7') })).employees;
    expect([first, second]).toContainEqual(known?.hire);
  });

  test('has an employee in each of two HR systems that give the same id', async () => {
    const { store } = await withHires(kind);
    await linkPerson(store, ada, first, { id: '7' });
    expect(await linkPerson(store, who('99', 'other-hr'), second, { id: '7' })).not.toHaveProperty('refusal');
    expect(await employedAs(store, 'other-hr', '7')).toMatchObject({ hire: second });
  });

  test('of an open hire has its first employee, and none of one that is over', async () => {
    const { store, other } = await withHires(kind);
    await linkPerson(store, ada, first, { id: '7' });
    await linkPerson(other, ada, first, { id: '7', number: 'E7' });
    await linkPerson(other, ada, first, { id: '8', number: 'E8' });
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({ employee_id: '7', employee_number: 'E7' });
    await endHire(store, second, 'left');
    await linkPerson(other, bob, second, { id: '9' });
    expect(await latestHire(store, 'acme', '5013')).toMatchObject({ state: 'left', employee_id: null });
    expect(await employedAs(store, 'hr', '9')).toMatchObject({ hire: second });
  });

  test('once said to be one human with another candidate is known by both', async () => {
    const { store } = await withHires(kind);
    await holdPerson(store, ada, first);
    await linkPerson(store, ada, first, { id: '7' });
    await holdPerson(store, bob, second);
    const event = { kind: 'link', hire: second, how: 'linked', shownAfterMs: 0, samePerson: true } as const;
    const is = { employee: employeeIn('hr', '7'), number: null };
    await changePerson(store, bob, { ...event, candidate: bob.candidate, is });
    const known = await findPerson(store, ada);
    expect(await findPerson(store, bob)).toEqual(known);
    expect(known).toMatchObject({ owner: second, employees: [{ hire: second, candidate: bob.candidate }] });
    expect(await store.kysely.selectFrom('persons').select('person_id').execute()).toHaveLength(1);
  });
});

describe.each(kinds)('somebody who was hired without us, in %s', (kind) => {
  const baseline = { how: 'baseline', ...ref('1') } as const;

  test('is known by their first record, however often and together with whom they are recorded', async () => {
    const { store } = await withHires(kind);
    const later = { ...baseline, jobCandidateId: '3' };
    const people = [
      { ...ada, as: baseline },
      { ...ada, as: later },
      { ...bob, as: later },
    ];
    await recordPeople(store, people);
    await recordPeople(store, [{ ...ada, as: { ...baseline, how: 'observed' } }]);
    expect(await findPerson(store, ada)).toMatchObject({ owner: undefined, recorded: baseline, version: 1 });
    expect(await findPerson(store, bob)).toMatchObject({ recorded: later });
  });

  test('is asked about, is taken once that is answered, and known again as they were', async () => {
    const { store } = await withHires(kind);
    await recordPeople(store, [{ ...ada, as: baseline }]);
    expect(await holdPerson(store, ada, first)).toMatchObject({ refusal: { reason: 'recorded', other: baseline } });
    await holdPerson(store, ada, first, { link: '7' });
    expect(await findPerson(store, ada)).toMatchObject({ owner: first, recorded: baseline });
    await releasePeople(store, first);
    expect(await findPerson(store, ada)).toMatchObject({ owner: undefined, recorded: baseline });
  });

  test('and whom a hire owns already stays that hire’s', async () => {
    const { store } = await withHires(kind);
    await holdPerson(store, ada, first);
    await recordPeople(store, [{ ...ada, as: baseline }]);
    expect(await findPerson(store, ada)).toMatchObject({ owner: first, recorded: baseline });
  });

  test('a thousand of them are recorded at once', async () => {
    const { store } = await withHires(kind);
    const people = Array.from({ length: 1_000 }, (_, nth) => ({ ...who(`c${nth}`), as: baseline }));
    await recordPeople(store, people);
    await recordPeople(store, people);
    const { count } = await store.kysely
      .selectFrom('person_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(1_000);
  });

  test('is linked by an import, or none of its lines is', async () => {
    const { store } = await withHires(kind);
    const act = { tenantId: 'acme', by: 'ada', details: '' };
    const line = (whose: Who, id: string) => ({ ...whose, is: { employee: employeeIn('hr', id), number: null } });
    await holdPerson(store, bob, second);
    expect(await importLinks(store, act, [line(ada, '7'), line(bob, '8')])).toBe(false);
    expect(await employedAs(store, 'hr', '7')).toBeUndefined();
    expect(await importLinks(store, act, [line(ada, '7')])).toBe(true);
    expect(await employedAs(store, 'hr', '7')).toMatchObject({ how: 'imported', hire: { period: 0 } });
    expect(await holdPerson(store, ada, first)).toMatchObject({ refusal: { reason: 'hired-before' } });
  });
});

describe.each(kinds)('in all HR systems of a company, in %s', (kind) => {
  const tenants = { acme: 'production', beta: 'production', trial: 'sandbox' } as const;
  const hires = { acme: ref('1', 'acme'), beta: ref('2', 'beta'), trial: ref('3', 'trial') };
  const company = '* production https://partner.example';
  const [here, there] = [who('88', 'acme-hr'), who('88', 'beta-hr')];

  async function fleet() {
    const stores = await withHires(kind, Object.values(hires));
    for (const [tenantId, environment] of Object.entries(tenants)) {
      const receives = { environment, origin: 'https://partner.example', company: '17', webhooks: 'off' as const };
      const definition = { tenantId, file: 'f', files: {}, over: null, changes: [] };
      await applyDefinitions(stores.store, [{ ...definition, receives: { ...receives, webhookKeys: [] } }], 'ada');
    }
    return stores;
  }

  test('the first tenant hires a person; another one hears whose they are, until they are let go', async () => {
    const { store } = await fleet();
    await holdPerson(store, here, hires.acme, { company });
    const refused = { refusal: { reason: 'elsewhere', other: hires.acme } };
    expect(await holdPerson(store, there, hires.beta, { company })).toMatchObject(refused);
    expect(await holdPerson(store, there, hires.beta, { company, hereToo: true })).not.toHaveProperty('refusal');
    await releasePeople(store, hires.beta);
    await releasePeople(store, hires.acme);
    expect(await holdPerson(store, there, hires.beta, { company })).not.toHaveProperty('refusal');
  });

  test('who may be an employee by a create that another tenant gave up is asked about', async () => {
    const { store } = await fleet();
    await holdPerson(store, here, hires.acme, { company });
    await releasePeople(store, hires.acme, true);
    const refused = { refusal: { reason: 'elsewhere', other: hires.acme } };
    expect(await holdPerson(store, there, hires.beta, { company })).toMatchObject(refused);
    expect(await holdPerson(store, there, hires.beta, { company, hereToo: true })).not.toHaveProperty('refusal');
  });

  test('one of two tenants hires the person when both ask at once', async () => {
    const { store, other } = await fleet();
    const asked = await Promise.all([
      holdPerson(store, here, hires.acme, { company }),
      holdPerson(other, there, hires.beta, { company }),
    ]);
    expect(asked.filter(({ refusal }) => refusal === undefined)).toHaveLength(1);
  });

  test('one human by two candidates, one of whom another tenant hires, is one person here all the same', async () => {
    const { store } = await fleet();
    await holdPerson(store, there, hires.beta, { company });
    const added = who('99', 'acme-hr');
    await holdPerson(store, added, hires.acme, { company });
    await linkPerson(store, added, hires.acme, { id: '7' });
    const again = ref('4', 'acme');
    await insertHires(store, [{ ...again, state: 'open' }]);
    await holdPerson(store, here, again, { company, hereToo: true });
    const event = { kind: 'link', hire: again, how: 'linked', shownAfterMs: 0, samePerson: true } as const;
    const is = { employee: employeeIn('acme-hr', '7'), number: null };
    await changePerson(store, here, { ...event, candidate: here.candidate, is });
    expect(await findPerson(store, here)).toMatchObject({ owner: again, companies: [{ candidate: added.candidate }] });
  });

  test('an import of another tenant counts, and one of another environment does not', async () => {
    const { store } = await fleet();
    const is = { employee: employeeIn('acme-hr', '7'), number: null };
    await importLinks(store, { tenantId: 'acme', by: 'ada', details: '' }, [{ ...here, is }]);
    const other = { tenantId: 'acme', jobCandidateId: '', period: 0 };
    expect(await holdPerson(store, there, hires.beta, { company })).toMatchObject({ refusal: { other } });
    const trial = { company: '* sandbox https://partner.example' };
    expect(await holdPerson(store, who('88', 'trial-hr'), hires.trial, trial)).not.toHaveProperty('refusal');
  });
});

describe.each(kinds)('while somebody is made, in %s', (kind) => {
  const LONG_MS = 600_000;
  const make = (store: Store, whose: Who, hire: HireRef, forMs: number, holder = 'one', keys = ['mail', 'name']) =>
    changePerson(store, whose, { kind: 'create', hire, keys, holder, forMs });
  const sent = { ...first, verb: 'create-employee', attempt: 1, pinned: {}, budgetMs: 0 };
  const TAKEN = { refusal: { reason: 'creating', other: first } };

  test('nobody else of the same keys is, and one of two who ask at once', async () => {
    const { store, other } = await withHires(kind);
    const asked = await Promise.all([make(store, ada, first, LONG_MS), make(other, bob, second, LONG_MS)]);
    expect(asked.filter(({ refusal }) => refusal === undefined)).toHaveLength(1);
  });

  test('nobody else is by a hire that lost the person as the partner merged two candidates', async () => {
    const { store } = await withHires(kind);
    await holdPerson(store, ada, first);
    await holdPerson(store, bob, second);
    await changePerson(store, ada, { kind: 'merge', from: ada.candidate, candidate: bob.candidate });
    const { owner } = await findPerson(store, ada);
    const [owning, other] = owner?.jobCandidateId === first.jobCandidateId ? [first, second] : [second, first];
    const refused = { refusal: { reason: 'being-hired', other: owning } };
    expect(await make(store, ada, other, LONG_MS, 'one', ['mail'])).toMatchObject(refused);
    expect((await make(store, ada, owning, LONG_MS, 'two', ['name'])).refusal).toBeUndefined();
  });

  test('who waits is told for which hire, and goes on once that is settled', async () => {
    const { store, other } = await withHires(kind);
    await make(store, ada, first, LONG_MS);
    expect(await make(other, bob, second, LONG_MS)).toMatchObject(TAKEN);
    await make(store, ada, first, LONG_MS, 'later');
    await settleCreating(store, first, 'one');
    expect(await make(other, bob, second, LONG_MS)).toMatchObject(TAKEN);
    await settleCreating(store, first);
    expect(await make(other, bob, second, LONG_MS)).not.toHaveProperty('refusal');
    expect((await findPerson(store, ada)).version).toBe(0);
  });

  test('a pending create keeps its keys, whatever the time, until its hire is over', async () => {
    const { store, other } = await withHires(kind);
    await make(store, ada, first, 0);
    await openIntent(store, sent);
    await lapseCreating(store, 'acme');
    expect(await make(other, bob, second, LONG_MS)).toMatchObject({ refusal: { isPending: true } });
    await endHire(store, first, 'cancelled');
    expect(await make(other, bob, second, LONG_MS)).not.toHaveProperty('refusal');
  });

  test('a create that a removed tenant left behind keeps nobody waiting, until the tenant is back', async () => {
    const { store, other } = await withHires(kind, [first, ref('5013', 'beta')]);
    const beta = ref('5013', 'beta');
    const receives = { environment: 'production' as const, webhooks: 'off' as const, webhookKeys: [] };
    const definition = { tenantId: 'acme', file: 'f', files: {}, receives, changes: [] };
    await applyDefinitions(store, [{ ...definition, over: null }], 'ada');
    await holdPerson(store, ada, first);
    await make(store, ada, first, 0);
    await openIntent(store, sent);
    await removeTenant(store, { tenantId: 'acme', by: 'ada' });
    expect(await make(other, bob, beta, 0)).toMatchObject({ refusal: { isPending: true } });
    await recordEnd(store, 'acme');
    expect(await findPerson(store, ada)).toMatchObject({ owner: first, isAbandoned: true });
    expect(await make(other, bob, beta, 0)).not.toHaveProperty('refusal');
    const [removed] = await listAppliedTenants(store);
    await applyDefinitions(store, [{ ...definition, over: removed?.version ?? null }], 'ada');
    expect(await findPerson(store, ada)).toMatchObject({ owner: first, isAbandoned: false });
    expect(await make(store, ada, first, 0)).not.toHaveProperty('refusal');
    expect(await make(other, bob, beta, 0)).toMatchObject({ refusal: { isPending: true } });
  });

  test('keys that keep nobody waiting leave no rows', async () => {
    const { store } = await withHires(kind);
    await make(store, ada, first, 0, 'one', ['over']);
    await make(store, bob, second, LONG_MS, 'one', ['lasts']);
    await lapseCreating(store, 'acme');
    const rows = await store.kysely.selectFrom('person_keys').select(['kind', 'value']).execute();
    expect(rows.map(({ kind: of, value }) => `${of} ${value}`).toSorted()).toEqual([
      'candidate 17:99',
      'creating lasts',
    ]);
  });
});

describe.each(kinds)('whose employee it is, in %s', (kind) => {
  /** Three hires of one person and one employee; the second took the employee over from the first. */
  async function takenOver() {
    const stores = await withHires(kind);
    const { store } = stores;
    await store.kysely.updateTable('hires').set({ candidate_id: '88' }).execute();
    for (const hire of [first, third, second]) await linkPerson(store, ada, hire, { id: '7' });
    // The third is the oldest: what is handed back goes to the newest.
    const times = [second, first, third].map(({ jobCandidateId }, at) => [jobCandidateId, 100 - at] as const);
    for (const [id, opened_at] of times)
      await store.kysely.updateTable('hires').set({ opened_at }).where('job_candidate_id', '=', id).execute();
    return stores;
  }

  test('a hire ends and hands its employee back, or neither', async () => {
    const { store, other } = await takenOver();
    await store.kysely.schema.alterTable('employments').renameTo('employments_away').execute();
    await expect(endHire(store, second, 'left')).rejects.toThrow('employments');
    expect(await latestHire(other, 'acme', '5013')).toMatchObject({ state: 'open' });
    await store.kysely.schema.alterTable('employments_away').renameTo('employments').execute();
    await endHire(store, second, 'left');
    expect(await employedAs(other, 'hr', '7')).toMatchObject({ hire: first });
  });

  test('a hire that rests and is seen to have left hands its employee back', async () => {
    const { store } = await takenOver();
    await endHire(store, second, 'kept');
    expect(await employedAs(store, 'hr', '7')).toMatchObject({ hire: second });
    const seen = await latestHire(store, 'acme', '5013');
    if (seen !== undefined) await moveResting(store, seen, 'left');
    expect(await employedAs(store, 'hr', '7')).toMatchObject({ hire: first });
  });

  test('an employee who was handed back is linked no later than before', async () => {
    const { store } = await takenOver();
    await store.kysely.updateTable('person_keys').set({ at: 5 }).where('kind', '=', 'employee').execute();
    await endHire(store, second, 'left');
    expect(await employedAs(store, 'hr', '7')).toMatchObject({ hire: first, since: 5 });
  });

  test('what streams told by the hire before is forgotten with it', async () => {
    const { store } = await takenOver();
    const told = { tenant_id: 'acme', employee_id: '7', written_id: 'N7', status: 'Active', written_at: 1 };
    await store.kysely.insertInto('employments').values(told).execute();
    await linkPerson(store, ada, second, { id: '7', number: 'N8' });
    expect(await store.kysely.selectFrom('employments').selectAll().execute()).toHaveLength(1);
    await linkPerson(store, ada, third, { id: '7' });
    expect(await store.kysely.selectFrom('employments').selectAll().execute()).toEqual([]);
  });

  test('whose employee was deleted in the HR system leaves no pair of it, and no open conflict', async () => {
    const { store } = await withHires(kind);
    await holdPerson(store, ada, first);
    await linkPerson(store, ada, first, { id: '7' });
    await endHire(store, first, 'done');
    const conflict = { field: 'city', kind: 'held', forms: NONE, values: NONE, isSensitive: false } as const;
    for (const stream of ['employees', 'amendments']) {
      const pair = { tenantId: 'acme', stream, pairId: '7' };
      await savePair(store, pair, { ...pair, version: 0, bases: { city: 'a' }, sent: {} });
      await settleConflicts(store, pair, { open: [] }, [conflict]);
    }
    expect(await endLost(store, { employee: employeeIn('hr', '7'), hire: first })).toBe(true);
    expect(await store.kysely.selectFrom('exchange_pairs').selectAll().execute()).toEqual([]);
    expect(await listConflicts(store, { tenantId: 'acme', all: false })).toEqual([]);
    expect(await listConflicts(store, { tenantId: 'acme', all: true })).toHaveLength(2);
  });

  test('what both sides agreed on counts until another candidate has the employee', async () => {
    const { store } = await takenOver();
    const conflict = { field: 'city', kind: 'held', forms: NONE, values: NONE, isSensitive: false } as const;
    for (const stream of ['employees', 'amendments']) {
      const pair = { tenantId: 'acme', stream, pairId: '7' };
      const agreed = {
        bases: { city: 'a' },
        sent: { city: { to: 'hris', form: 'a' } },
        identities: { city: 'i' },
      } as const;
      await savePair(store, pair, { ...pair, ...agreed, version: 0, isGone: true, settlesInMs: 9_000 });
      await settleConflicts(store, pair, { open: [] }, [conflict]);
    }
    const rows = () => store.kysely.selectFrom('exchange_pairs').selectAll().orderBy('stream').execute();
    const open = async () => (await listConflicts(store, { tenantId: 'acme', all: false })).map((row) => row.stream);
    await linkPerson(store, ada, second, { id: '7', number: 'N8' });
    const [, before] = await rows();
    expect([await rows(), await open()]).toMatchObject([{ length: 2 }, { length: 2 }]);
    await linkPerson(store, ada, third, { id: '7' });
    expect([await rows(), await open()]).toEqual([[before], ['employees']]);
    await changePerson(store, ada, { kind: 'merge', from: ada.candidate, candidate: bob.candidate });
    const fresh = { bases: '{}', sent: '{}', gone_at: null, identities: before?.identities, version: 2 };
    expect([await rows(), await open()]).toMatchObject([[{ ...fresh, settles_at: before?.settles_at }], []]);
    await changePerson(store, bob, { kind: 'name-company', candidate: bob.candidate, company: '18' });
    expect(await rows()).toMatchObject([{ version: 2 }]);
  });
});
