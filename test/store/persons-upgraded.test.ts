import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { examine } from '../../src/cli/doctor.ts';
import { latestHire } from '../../src/store/hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { listUnjoined } from '../../src/store/people.ts';
import { findPerson } from '../../src/store/persons.ts';
import { createDatabase } from '../harness/postgres.ts';
import { holdPerson, who } from './known-people.ts';
import { storeBefore } from './store-before.ts';
import { kinds } from './stores.ts';

const FILE = 'tenant: acme\npartner: { company: "17" }\nhris: { kind: sql, connection: hr }\n';
const ref = (job_candidate_id: string) => ({ tenant_id: 'acme', job_candidate_id, period: 1 });
const hire = (id: string, candidate_id: string | null, more: object = {}) => ({
  ...ref(id),
  candidate_id,
  state: 'open',
  step: 'employ',
  enrolment: 1,
  opened_at: 1,
  updated_at: 1,
  ...more,
});
const claim = (id: string, candidate_id: string, more: object = {}) => ({
  connection: 'hr',
  partner_company: '17',
  candidate_id,
  ...ref(id),
  claimed_at: 1,
  ...more,
});
const link = (id: string, candidate_id: string, employee_id: string, more: object = {}) => ({
  connection: 'hr',
  employee_id,
  employee_number: `N${employee_id}`,
  partner_company: '17',
  candidate_id,
  ...ref(id),
  linked_at: 5,
  ...more,
});
const recorded = (how: string, id: string) => JSON.stringify({ how, tenantId: 'acme', jobCandidateId: id, period: 1 });

/** What version 0.1 left of a tenant: hires under way and done, a baseline, an import, an unsettled create. */
async function upgraded(kind: (typeof kinds)[number], dir: string) {
  const url = kind === 'postgres' ? (await createDatabase()).url : `sqlite:${join(dir, 'store.db')}`;
  await storeBefore(url, '0080', async (db) => {
    await db.insertInto('tenants').values({ tenant_id: 'acme', state: 'active', file: FILE }).execute();
    await db
      .insertInto('hires')
      .values([
        hire('1', '81', { state: 'done', employee_id: '7', employee_number: 'N7', connection: 'hr' }),
        hire('2', '82'),
        hire('3', '83', { state: 'before-go-live' }),
        hire('4', '84'),
        hire('5', null, { state: 'before-go-live' }),
        hire('8', '88', { state: 'cancelled' }),
        hire('6', '86', { state: 'done', employee_id: '9', employee_number: null, connection: null }),
      ])
      .execute();
    const intent = { ...ref('1'), verb: 'create-employee', attempt: 1, pinned: '{}', sent_at: 1, give_up_at: 1 };
    await db
      .insertInto('intents')
      .values({ ...intent, outcome: 'done' })
      .execute();
    await db
      .insertInto('claims')
      .values([
        claim('1', '81', { recorded: recorded('observed', '1') }),
        claim('1', '81', { connection: '* production https://partner.example' }),
        claim('2', '82'),
        claim('8', '88'),
        claim('9', '89'),
        claim('3', '83', { how: 'baseline', recorded: recorded('baseline', '3') }),
        claim('4', '84', { how: 'removed', recorded: recorded('removed', '4') }),
        claim('3', '83', { connection: '* sandbox https://partner.example' }),
      ])
      .execute();
    await db
      .insertInto('links')
      .values([link('1', '81', '7'), link('', '85', '8', { period: 0 })])
      .execute();
    await db
      .insertInto('identity_leases')
      .values({ connection: 'hr', key: 'mail', ...ref('2'), leased_until: 9_999, holder: 'h' })
      .execute();
  });
  return { store: await openStore(url), url };
}

describe.each(kinds)('what an installation knew before people were one record, in %s', (kind) => {
  let store: Store;
  let url: string;
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hirebridge-upgraded-'));
    ({ store, url } = await upgraded(kind, dir));
  });
  afterAll(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  const owner = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, period: 1 });

  test('is known of the same people', async () => {
    expect(await findPerson(store, who('81'))).toMatchObject({
      owner: owner('1'),
      recorded: { how: 'observed' },
      companies: [{ scope: '* production https://partner.example', candidate: who('81').candidate }],
      employees: [{ employee: { connection: 'hr', id: '7' }, number: 'N7', hire: owner('1'), how: 'made', since: 5 }],
    });
    expect(await findPerson(store, who('82'))).toMatchObject({
      owner: owner('2'),
      creating: [{ key: 'mail', hire: owner('2'), holder: 'h', until: 9_999 }],
    });
    expect(await findPerson(store, who('83'))).toMatchObject({
      owner: undefined,
      recorded: { how: 'baseline', jobCandidateId: '3' },
      companies: [],
    });
    expect(await findPerson(store, who('84'))).toMatchObject({ owner: owner('4'), isAbandoned: true });
    expect(await findPerson(store, who('85'))).toMatchObject({
      owner: undefined,
      employees: [{ employee: { id: '8' }, how: 'imported' }],
    });
  });

  test('is asked as before: who was recorded, and who is an employee by an import', async () => {
    expect(await holdPerson(store, who('83'), owner('2'))).toMatchObject({ refusal: { reason: 'recorded' } });
    expect(await holdPerson(store, who('85'), owner('2'))).toMatchObject({ refusal: { reason: 'hired-before' } });
  });

  test('lists what it could not join, and nothing else', async () => {
    expect(await listUnjoined(store)).toEqual([
      { tenantId: 'acme', jobCandidateId: '6', why: 'employee-unknown' },
      { tenantId: 'acme', jobCandidateId: '5', why: 'candidate-unknown' },
      { tenantId: 'acme', jobCandidateId: '8', why: 'owner-over' },
      { tenantId: 'acme', jobCandidateId: '9', why: 'owner-missing' },
    ]);
  });

  test('is listed by doctor where it could not be joined, with what to do', async () => {
    vi.stubEnv('HIREBRIDGE_STORE_URL', url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const places = { dataDir: '/nowhere', tenantsDir: '/nowhere' };
    const people = (await examine(places)).findings.find(({ check }) => check === 'people');
    expect(people?.state).toBe('wrong');
    expect(people?.message).toContain('4 hires are not linked to a person');
    expect(people?.message).toContain(
      'job candidate 6 of acme (its employee is not linked to a person; link them with',
    );
  });

  test('names the HR system of each hire that has an employee', async () => {
    expect(await latestHire(store, 'acme', '6')).toMatchObject({ employee_id: '9', connection: 'hr' });
  });
});
