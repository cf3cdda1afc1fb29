import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Places } from '../../src/config.ts';
import type { HireRef } from '../../src/hire/hire.ts';
import { holdOf } from '../../src/hire/holds.ts';
import { findPerson } from '../../src/operator/person.ts';
import { audit } from '../../src/store/audit.ts';
import { STORE_PLACES } from '../../src/store/data-map.ts';
import { eraseRestored } from '../../src/store/erase-restored.ts';
import { askErasure, forgetBytes } from '../../src/store/erasures.ts';
import { addHints, hintOfRecord } from '../../src/store/hints.ts';
import { insertHires } from '../../src/store/hires.ts';
import { insertBaseline } from '../../src/store/observed-hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows, findPersonRows, STREAM_IDS } from '../../src/store/person-data.ts';
import { EVERYBODY, erasedAmong, idsOf, markPerson, readMarks, unmarkPerson } from '../../src/store/person-marks.ts';
import { findPerson as findKnown, recordPeople, save } from '../../src/store/persons.ts';
import type { Tables } from '../../src/store/schema.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { streamNames } from '../../src/streams/streams.ts';
import { erasedRecords } from '../../src/streams/without-erased.ts';
import { withoutRandom } from '../harness/without-random.ts';
import { HR_SYSTEM, OTHER, type SeededPerson, seedEverywhere, seedShared } from './seeded-person.ts';
import { freshStore, freshStoreUrl, kinds } from './stores.ts';

const EVA: SeededPerson = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const BEN: SeededPerson = { tenant: 'acme', candidate: '502', application: '9502', enrolment: '7502', employee: '32' };
/** The same ids in another tenant are another person. */
const TWIN: SeededPerson = { ...EVA, tenant: 'umbrella' };

const NOBODY = { candidates: [], jobCandidates: [], enrolments: [], employees: [] };

function subjectOf(store: Store, { tenant, candidate }: SeededPerson) {
  return completeIds(store, tenant, { ...NOBODY, candidates: [candidate] });
}

/** Every row of every table as text, without the marks that an erasure makes. */
async function dump(store: Store): Promise<string[]> {
  const rows: string[] = [];
  for (const table of Object.keys(STORE_PLACES)) {
    if (/^(kysely|person_mark|erasures|installation|hire_counts|leases|audit)/.test(table)) continue;
    const all = await sql<object>`select * from ${sql.table(table)}`.execute(store.kysely);
    rows.push(...all.rows.map((row) => `${table} ${JSON.stringify(row)}`));
  }
  return rows.toSorted();
}

/** Tables of people who were hired; a record of a plan is of its plan. */
const OF_HIRED = new Set(['hires', 'person_keys', 'persons', 'saved_plan_records']);
const PAGE_OF_BEN = { tenant_id: 'acme', stream: 'candidates', page: 0, ids: JSON.stringify([BEN.candidate]) };

/** Tables whose rows end by themselves within the hour, or are about operators or the partner's own users. */
const NOT_OF_ONE = new Set(
  (
    'erasures person_marks person_mark_keys freezes installation stream_states tenants jobs lookup_rows ' +
    'exchange_tallies reconciles streams stream_pages audit calendar_feeds data_keys'
  ).split(' '),
);

describe.each(kinds)('a person in the store, on %s', (kind) => {
  test('stands in each table of the map, and once erased in none; nobody else is touched', async () => {
    const { store } = await freshStore(kind);
    for (const person of [BEN, TWIN]) await seedEverywhere(store, person);
    const before = await dump(store);
    await seedEverywhere(store, EVA);
    const eva = await subjectOf(store, EVA);
    expect(eva).toMatchObject({
      jobCandidates: ['9501'],
      enrolments: ['7501'],
      employees: [{ connection: HR_SYSTEM, id: '31' }],
    });
    const mapped = Object.entries(STORE_PLACES).flatMap(([name, place]) => ('people' in place ? [name] : []));
    const found = (await findPersonRows(store, eva)).map(({ place }) => place);
    expect(found.toSorted()).toEqual(mapped.filter((name) => !NOT_OF_ONE.has(name)).toSorted());
    for (let times = 0; times < 2; times += 1) {
      await erasePersonRows(store, eva);
      expect(await findPersonRows(store, eva)).toEqual([]);
      expect(await dump(store)).toEqual(before);
    }
  });

  test('tells which employees hirebridge made', async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    const { kysely } = store;
    for (const [how, made] of [
      ['linked', false],
      ['made', true],
    ] as const) {
      await kysely.updateTable('person_keys').set({ how }).where('kind', '=', 'employee').execute();
      expect((await subjectOf(store, EVA)).employees.map((one) => one.made)).toEqual([made]);
    }
  });

  test('leaves of a row that others share what is theirs', async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    await seedShared(store, EVA);
    await erasePersonRows(store, await subjectOf(store, EVA));
    const { kysely } = store;
    expect(await kysely.selectFrom('inbox').select(['ids', 'body']).execute()).toEqual([
      { ids: JSON.stringify({ candidateId: [OTHER] }), body: '' },
    ]);
    const records = [['other', OTHER, 'h', 0]];
    const known = JSON.stringify({ version: 'v', shapes: [[]], records });
    expect(await kysely.selectFrom('stream_pages').select(['ids', 'known']).execute()).toEqual([
      { ids: JSON.stringify([OTHER]), known },
    ]);
    expect(await kysely.selectFrom('holds').select(['details', 'message']).execute()).toEqual([
      {
        details: JSON.stringify({ jobCandidateIds: [OTHER] }),
        message: `It does not know job candidates erased, ${OTHER}, and the rest.`,
      },
    ]);
    const acts = kysely.selectFrom('audit').select('details').where('act', '=', 'went-live');
    expect(await acts.execute()).toEqual([{ details: `started: erased ${OTHER}` }]);
  });

  test("leaves of another hire's question all but the person", async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    const ask = (hold_id: string, other: HireRef, period: number) => {
      const about = { jobCandidateId: OTHER, employeeIds: ['900'] as [string], other };
      const { code, message, details } = holdOf('EMPLOYEE_OF_ANOTHER', about);
      const row = { hold_id, tenant_id: 'acme', job_candidate_id: OTHER, period, code, message, answers: '[]' };
      return store.kysely
        .insertInto('holds')
        .values({ ...row, details: JSON.stringify(details), opened_at: 1 })
        .execute();
    };
    const others = {
      own: { tenantId: 'acme', jobCandidateId: EVA.application, period: 2 },
      // Her candidate's number, and another tenant's hire.
      alike: { tenantId: 'acme', jobCandidateId: EVA.candidate, period: 1 },
      theirs: { tenantId: 'umbrella', jobCandidateId: EVA.application, period: 1 },
    };
    for (const [nth, [name, other]] of Object.entries(others).entries()) await ask(name, other, nth);
    await erasePersonRows(store, await subjectOf(store, EVA));
    const left = await store.kysely.selectFrom('holds').select(['hold_id', 'details', 'message']).execute();
    const found = Object.fromEntries(
      left.map((row) => [row.hold_id, (JSON.parse(row.details) as { other: HireRef }).other]),
    );
    expect(found).toEqual({ ...others, own: { ...others.own, jobCandidateId: 'erased' } });
    const said = Object.fromEntries(left.map((row) => [row.hold_id, /linked to (.*), another/.exec(row.message)?.[1]]));
    expect(said).toEqual({
      own: 'job candidate erased of tenant acme',
      alike: 'job candidate 501 of tenant acme',
      theirs: 'job candidate 9501 of tenant umbrella',
    });
  });

  test("leaves of another tenant's question what answers it, and not the hire it names", async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    const theirs: HireRef = { tenantId: 'acme', jobCandidateId: EVA.application, period: 1 };
    const others = {
      theirs,
      bens: { ...theirs, jobCandidateId: BEN.application },
      ours: { ...theirs, tenantId: 'umbrella' },
    };
    for (const [hold_id, other] of Object.entries(others)) {
      // The asking hire has the same number, and the employee is in the HR system that both tenants share.
      const about = { jobCandidateId: EVA.application, employeeIds: [EVA.employee] as [string], other };
      const { code, message, details } = holdOf('EMPLOYEE_OF_ANOTHER', about);
      const row = { hold_id, tenant_id: 'umbrella', job_candidate_id: EVA.application, period: 1, code, message };
      const given = { answers: '["link"]', answer: 'link', answer_arguments: JSON.stringify([EVA.application]) };
      const values = { ...row, ...given, period: Object.keys(others).indexOf(hold_id), opened_at: 1 };
      await store.kysely
        .insertInto('holds')
        .values({ ...values, details: JSON.stringify(details) })
        .execute();
    }
    const read = () => store.kysely.selectFrom('holds').selectAll().where('tenant_id', '=', 'umbrella').execute();
    const before = await read();
    const eva = await subjectOf(store, EVA);
    expect((await findPersonRows(store, eva)).find(({ place }) => place === 'holds')?.count).toBe(2);
    await erasePersonRows(store, eva);
    expect(await findPersonRows(store, eva)).toEqual([]);
    const left = before.map((row) =>
      row.hold_id === 'theirs'
        ? {
            ...row,
            details: row.details.replace(
              '"tenantId":"acme","jobCandidateId":"9501"',
              '"tenantId":"acme","jobCandidateId":"erased"',
            ),
            message: row.message.replace('job candidate 9501 of tenant acme', 'an erased hire of tenant acme'),
          }
        : row,
    );
    expect(await read()).toEqual(left);
    expect(left.find(({ hold_id: id }) => id === 'theirs')?.message).toMatch(
      /^Employee 31 matches job candidate 9501 but is linked to an erased hire of tenant acme/,
    );
  });

  test('is in hints by each name that webhooks give them', async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    await addHints(store, 'acme', 'documents', [EVA.application, EVA.enrolment, BEN.enrolment]);
    for (const stream of ['interviews', 'results'])
      await addHints(store, 'acme', stream, ['i-88', hintOfRecord('i-88'), hintOfRecord('i-89')]);
    await erasePersonRows(store, { ...(await subjectOf(store, EVA)), records: { interviews: ['i-88'] } });
    const left = await store.kysely.selectFrom('hints').select(['stream', 'record_id']).orderBy('stream').execute();
    expect(left.map((row) => [row.stream, row.record_id])).toEqual([
      ['documents', BEN.enrolment],
      ['interviews', hintOfRecord('i-89')],
      ['results', hintOfRecord('i-89')],
    ]);
  });

  test('takes the person out of acts that named them, and nothing else', async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    const acts = [
      ['events-replayed', JSON.stringify({ count: 9501, jobCandidateId: '9501' })],
      ['events-replayed', JSON.stringify({ count: 1, jobCandidateId: '501' })],
      ['records-retried', '9501/directory'],
      ['records-retried', 'i-88'],
      ['records-retried', 'interviews'],
    ] as const;
    for (const [act, details] of acts) await audit(store, { by: 'ann', tenantId: 'acme', act, details });
    await erasePersonRows(store, { ...(await subjectOf(store, EVA)), records: { interviews: ['i-88'] } });
    const rows = store.kysely
      .selectFrom('audit')
      .select(['act', 'details'])
      .where('act', 'in', ['events-replayed', 'records-retried'])
      .orderBy('seq');
    expect((await rows.execute()).map(({ act, details }) => [act, details])).toEqual([
      ['events-replayed', JSON.stringify({ count: 9501, jobCandidateId: 'erased' })],
      acts[1],
      ['records-retried', 'erased/directory'],
      ['records-retried', 'erased'],
      acts[4],
    ]);
  });

  test("does not name a sister tenant's employee in the same HR system, whoever is asked about", async () => {
    const { store } = await freshStore(kind);
    for (const tenant of ['acme', 'sister']) {
      await readTenantState(store, tenant);
      await store.kysely
        .updateTable('tenants')
        .set({ receives: '{"webhooks":"off","webhookKeys":[],"company":"17"}' })
        .where('tenant_id', '=', tenant)
        .execute();
    }
    await seedEverywhere(store, EVA);
    await store.kysely.updateTable('person_keys').set({ company: '17' }).execute();
    // One human, an application and an employment each: tenants of one company share candidates, not scopes.
    const hire = { tenant_id: 'sister', job_candidate_id: '88', period: 1 };
    const key = { scope: HR_SYSTEM, kind: 'employee', person_id: 'p-acme-501', company: '17' } as const;
    const rows = [
      { ...key, ...hire, value: '77', candidate_id: '501' },
      { ...key, ...hire, person_id: 'p-stranger', value: '78', candidate_id: '999' },
    ];
    await store.kysely.insertInto('person_keys').values(rows).execute();
    const parts = { store, places: {} as Places, tenantId: 'acme', by: 'ann' };
    const own = { candidates: ['501'], jobCandidates: ['9501'], employees: [`${HR_SYSTEM}/31`] };
    for (const who of ['candidate:501', 'application:9501', 'employee:31'])
      expect(await findPerson(parts, who), who).toMatchObject(own);
    await expect(findPerson(parts, 'employee:78')).rejects.toMatchObject({ code: 'PERSON_UNKNOWN' });
    // As where the HR system is open, and the id is taken for one of its own.
    const employees = ['77', '78'].map((id) => ({ connection: HR_SYSTEM, id }));
    expect(await completeIds(store, 'acme', { ...NOBODY, employees })).toMatchObject(NOBODY);
    const subject = await subjectOf(store, EVA);
    await erasePersonRows(store, subject);
    const left = store.kysely.selectFrom('person_keys').select('value').where('kind', '=', 'employee');
    expect((await left.execute()).map(({ value }) => value).toSorted()).toEqual(['77', '78']);
  });

  test("whom another tenant has stays that tenant's person", async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    const sister = { tenant_id: 'sister', job_candidate_id: '88', period: 1 };
    await store.kysely.updateTable('persons').set(sister).execute();
    const { person_id: id } = await store.kysely.selectFrom('persons').select('person_id').executeTakeFirstOrThrow();
    const seen = await findKnown(store, { id });
    await erasePersonRows(store, await subjectOf(store, EVA));
    // Nor does a worker of that tenant that read them before bring back what was erased.
    expect(await save(store, [seen], [{ ...seen, isAbandoned: true }])).toBe(false);
    expect(await store.kysely.selectFrom('persons').select('tenant_id').execute()).toEqual([{ tenant_id: 'sister' }]);
    expect(await store.kysely.selectFrom('person_keys').select('kind').execute()).toEqual([{ kind: 'candidate' }]);
  });

  test('whom a sister tenant had before go-live as well stays recorded, as that one’s', async () => {
    const { store } = await freshStore(kind);
    for (const tenant of ['acme', 'sister']) {
      await readTenantState(store, tenant);
      const receives = '{"webhooks":"off","webhookKeys":[],"company":"17"}';
      await store.kysely.updateTable('tenants').set({ receives, version: 1 }).where('tenant_id', '=', tenant).execute();
    }
    const as = { tenantId: 'acme', jobCandidateId: EVA.application, period: 1, how: 'baseline' as const };
    const person = { connection: HR_SYSTEM, candidate: { company: '17', candidateId: EVA.candidate } };
    await recordPeople(store, [{ ...person, as }]);
    for (const tenantId of ['acme', 'sister'])
      await insertHires(store, [{ ...as, tenantId, state: 'before-go-live', candidateId: EVA.candidate }]);
    await erasePersonRows(store, await subjectOf(store, EVA));
    expect(await findKnown(store, person)).toMatchObject({ recorded: { ...as, tenantId: 'sister' } });
    await erasePersonRows(store, await subjectOf(store, { ...EVA, tenant: 'sister' }));
    expect(await findKnown(store, person)).toMatchObject({ version: 0 });
  });

  test('who was asked to be erased is known by keyed hashes, and is not taken down as hired again', async () => {
    const { store } = await freshStore(kind);
    await readTenantState(store, 'acme');
    await seedEverywhere(store, EVA);
    const subject = await subjectOf(store, EVA);
    await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
    await erasePersonRows(store, subject);
    const erased = await erasedAmong(store, 'acme', [...idsOf(subject), { kind: 'candidate', id: '502' }]);
    expect([...erased].toSorted()).toEqual(
      idsOf(subject)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(await erasedAmong(store, 'umbrella', idsOf(subject))).toEqual(new Set());
    const marks = JSON.stringify((await readMarks(store)).marks.map((mark) => ({ ...mark, at: 0 })));
    expect(withoutRandom(marks)).not.toContain('9501');
    // The application of the last has the number that the erased candidate has.
    const hires = [
      ['501', '9501'],
      ['502', '9502'],
      ['503', '501'],
    ].map(([id = '', jobCandidateId = '']) => ({
      tenantId: 'acme',
      jobCandidateId,
      period: 1,
      state: 'before-go-live' as const,
      candidateId: id,
    }));
    const people = hires.map(({ candidateId, ...ref }) => ({
      connection: HR_SYSTEM,
      candidate: { company: 'acme', candidateId },
      as: { how: 'baseline' as const, ...ref },
    }));
    expect(await insertBaseline(store, 'acme', hires, people)).toBe(true);
    const taken = store.kysely.selectFrom('hires').select('job_candidate_id').orderBy('candidate_id').execute();
    expect(await taken).toEqual([{ job_candidate_id: '9502' }, { job_candidate_id: '501' }]);
    const applications = ['9501', '501'].map((own) => ({ id: own, candidateId: own === '501' ? '503' : '501' }));
    const left = await erasedRecords(store, { tenantId: 'acme', stream: 'applications' }, applications);
    expect([...left]).toEqual(['9501']);
    expect(await findPersonRows(store, subject)).toEqual([]);
  });

  test('a legal hold on a person, or on everybody, lets nothing be erased until it is taken away', async () => {
    const { store } = await freshStore(kind);
    await seedEverywhere(store, EVA);
    const subject = await subjectOf(store, EVA);
    const ask = () => askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
    for (const whom of [idsOf(subject), EVERYBODY] as const) {
      await markPerson(store, { tenantId: 'acme', mark: 'legal-hold', by: 'law', about: 'case 12' }, whom);
      await expect(ask()).rejects.toMatchObject({ code: 'LEGAL_HOLD', message: expect.stringContaining('case 12') });
      expect(await unmarkPerson(store, 'acme', whom)).toBeGreaterThan(0);
    }
    expect(await ask()).toMatchObject({ tenant_id: 'acme', done_at: null });
  });

  test('a store that is put back forgets whom its successor erased', async () => {
    const { store } = await freshStore(kind);
    const { store: restored } = await freshStore(kind);
    for (const one of [store, restored]) for (const person of [EVA, BEN]) await seedEverywhere(one, person);
    const subject = await subjectOf(store, EVA);
    await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
    const { keys, marks } = await readMarks(store);
    const person = marks.map(({ digest }) => digest);
    expect(await eraseRestored(restored, [{ tenant: 'acme', erasure: 'e', by: 'ann', keys, person }])).toBeGreaterThan(
      0,
    );
    expect(await findPersonRows(restored, subject)).toEqual([]);
    expect((await findPersonRows(restored, await subjectOf(restored, BEN))).length).toBeGreaterThan(10);
    expect((await erasedAmong(restored, 'acme', idsOf(subject))).size).toBe(idsOf(subject).length);
  });

  test('a store that is put back forgets whoever was never hired, in whichever place alone they stand', async () => {
    const { store } = await freshStore(kind);
    const { store: restored } = await freshStore(kind);
    for (const one of [store, restored]) for (const person of [BEN, TWIN]) await seedEverywhere(one, person);
    await restored.kysely.insertInto('stream_pages').values(PAGE_OF_BEN).execute();
    const before = await dump(restored);
    await seedEverywhere(store, EVA);
    const subject = { ...(await subjectOf(store, EVA)), records: { interviews: ['i-88'] } };
    await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
    const { keys, marks } = await readMarks(store);
    const since = { tenant: 'acme', erasure: 'e', by: 'ann', keys, person: marks.map(({ digest }) => digest) };

    const forgets = async (place: string): Promise<void> => {
      expect(await eraseRestored(restored, [since]), place).toBe(1);
      expect(await dump(restored), place).toEqual(before);
    };
    await seedEverywhere(restored, EVA);
    const places = (await findPersonRows(restored, subject)).filter(({ place }) => !OF_HIRED.has(place));
    await erasePersonRows(restored, subject);
    for (const { place, rows } of places) {
      const own = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'event_no')));
      const insert = restored.kysely.insertInto(place as keyof Tables).values(own as never);
      await insert.execute();
      await forgets(place);
    }
    const missing = { tenant_id: 'acme', stream: 'interviews', record_id: 'i-88', run_id: 'r', since: 1 };
    await restored.kysely.insertInto('stream_missing').values(missing).execute();
    await forgets('stream_missing');
    const page = { ids: JSON.stringify([EVA.candidate, BEN.candidate]) };
    await restored.kysely.updateTable('stream_pages').set(page).execute();
    await forgets('stream_pages');
    expect(await eraseRestored(restored, [since])).toBe(0);
    expect(places.length).toBeGreaterThan(25);
  });

  test('whoever applied and was never hired is known by all of their applications', async () => {
    const { store } = await freshStore(kind);
    const row = { tenant_id: 'acme', candidate_id: '501' };
    const consent = { ...row, job_candidate_id: '9501', state: 'given' as const, shown: '{}' };
    await store.kysely.insertInto('consents').values(consent).execute();
    const moved = { ...row, job_candidate_id: '9601', flow: 'flow:7', stage_id: '1', state: 'done', attempt: 1 };
    await store.kysely
      .insertInto('stage_moves')
      .values(moved as never)
      .execute();
    const eva = await subjectOf(store, EVA);
    expect({ ...eva, jobCandidates: eva.jobCandidates.toSorted() }).toMatchObject({
      candidates: ['501'],
      jobCandidates: ['9501', '9601'],
    });
    expect(await subjectOf(store, TWIN)).toMatchObject({ jobCandidates: [] });
  });

  test('a store of many rows that is put back is read to its end', async () => {
    const { store } = await freshStore(kind);
    const seen = { tenant_id: 'acme', job_id: '1', seen: 'hired', trace: null };
    for (let n = 0; n < 12_000; n += 500) {
      const rows = Array.from({ length: 500 }, (_, i) => ({
        ...seen,
        job_candidate_id: `${n + i}`,
        candidate_id: null,
      }));
      await store.kysely
        .insertInto('seen_people')
        .values(rows as never)
        .execute();
    }
    const { store: later } = await freshStore(kind);
    const gone = ['0', '499', '500', '501', '2750', '9343', '11999'];
    const subject = { tenantId: 'acme', companies: ['acme'], ...NOBODY, jobCandidates: gone };
    await askErasure(later, { subject, by: 'ann', reason: 'request', employee: 'keep' });
    const { keys, marks } = await readMarks(later);
    const person = marks.map(({ digest }) => digest);
    await eraseRestored(store, [{ tenant: 'acme', erasure: 'e', by: 'ann', keys, person }]);
    const left = await store.kysely.selectFrom('seen_people').select('job_candidate_id').execute();
    expect(left).toHaveLength(12_000 - gone.length);
    expect(left.filter((row) => gone.includes(row.job_candidate_id))).toEqual([]);
  });
});

test('no byte of an erased person is left in the files of the store', async () => {
  const url = await freshStoreUrl('sqlite');
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const crowd = Array.from(
    { length: 40 },
    (_, n): SeededPerson => ({
      tenant: 'acme',
      candidate: `${600 + n}`,
      application: `${9600 + n}`,
      enrolment: `${7600 + n}`,
      employee: `${200 + n}`,
    }),
  );
  for (const person of [EVA, ...crowd]) await seedEverywhere(store, person);
  const dir = dirname(url.slice('sqlite:'.length));
  const holding = async (text: string): Promise<string[]> => {
    const files = await readdir(dir);
    const whole = await Promise.all(files.map(async (name) => [name, await readFile(join(dir, name))] as const));
    return whole.filter(([, bytes]) => bytes.includes(text)).map(([name]) => name);
  };
  expect(await holding('acme-501-x')).not.toEqual([]);
  await erasePersonRows(store, await subjectOf(store, EVA));
  expect(await forgetBytes(store)).toBe(true);
  expect(await holding('acme-501-x')).toEqual([]);
  expect(await holding('acme-600-x')).not.toEqual([]);
});

test('each stream says by which ids of a person its records go, or is about no person', () => {
  const OF_NO_PERSON = ['jobs', 'stages', 'flows', 'pipelines', 'teams', 'users', 'positions', 'requisitions'];
  OF_NO_PERSON.push('assessments', 'options', 'rescoring', 'schedules');
  const unsaid = streamNames.filter((name) => STREAM_IDS[name] === undefined && !OF_NO_PERSON.includes(name));
  expect(unsaid, 'Say in STREAM_IDS (src/store/person-data.ts) by which ids of a person it goes.').toEqual([]);
});
