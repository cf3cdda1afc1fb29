import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { planEmployee } from '../../../activities/hire/plan-employee.ts';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import { isConnectorError } from '../../../src/errors.ts';
import { explainRecord } from '../../../src/operator/explain.ts';
import type { OpenTenant } from '../../../src/operator/open-tenant.ts';
import { planHire, readHire } from '../../../src/operator/plan-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { writeFailpoints } from '../../../src/store/open-store.ts';
import { purgePlans } from '../../../src/store/retention.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import type { kinds } from '../../store/stores.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const RULES = `fields:
  userName: { template: "{candidate.firstName}.{candidate.lastName}", transform: [login], unique: true }
  workEmail: { template: "{candidate.firstName}.{candidate.lastName}@acme.example", transform: [login], unique: true }
  startDate: { constant: "2099-01-01" }
`;
const OWN = 'fields: { userName: { column: user_name }, workEmail: { column: work_email } }';

interface Named {
  id: number;
  user_name: string | null;
  work_email: string | null;
}

class Killed extends Error {}

/** People who are hired into a table, by rules that name them. */
async function namingInto(kind: (typeof kinds)[number] = 'sqlite', rules = RULES, hris?: string) {
  const url = kind === 'postgres' ? (await createDatabase()).url : `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  let left = 0;
  let passed = 0;
  const clock = { ahead: 0 };
  const pass = (name: string): void => {
    if (!/unique_names|plans|intents/.test(name)) return;
    passed += 1;
    left -= 1;
    if (left === 0) throw new Killed(name);
  };
  const fleet = await fleetAtSandbox({
    skip: true,
    policies: 'identity: { sameName: create }',
    startDates: false,
    database: kind,
    hris: hris ?? `kind: sql, connection: hr, url: "${url}", createTable: true, ${OWN}`,
    store: { now: () => Date.now() + clock.ahead, plugins: [writeFailpoints(pass)] },
  });
  await fleet.write('acme-mapping.yaml', rules);
  await fleet.apply('acme', 'writeBack: { customField: "1" }\nmapping: acme-mapping.yaml\n');
  await fleet.reconcile('acme');
  const { control, partner } = fleet.sandbox;
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  const connection = await fleet.deps.connections.of('acme');
  let people = 0;
  const hr = hris === undefined ? openDatabase<{ employees: Named }>(url) : undefined;
  onTestFinished(() => hr?.close());
  return {
    ...fleet,
    hr: hr?.kysely,
    /** In the hiring stage, with their hire open; their e-mail is their own. */
    async hired(firstName: string, lastName: string): Promise<string> {
      people += 1;
      const candidate = { email: `person${people}@example.org`, firstName, lastName };
      const added = await control.act('addCandidate', { jobId: Number(job?.id), candidate });
      const { jobCandidateId } = added as { jobCandidateId: number };
      await fleet.hire(jobCandidateId);
      await fleet.open('acme', String(jobCandidateId));
      return String(jobCandidateId);
    },
    /** As a worker does it: again after what passes, when its time has come. */
    async employ(id: string) {
      for (;;)
        try {
          return await employ(fleet.deps, { tenantId: 'acme', jobCandidateId: id, period: 1 });
        } catch (error) {
          if (!isConnectorError(error) || error.retryAfterMs === undefined) throw error;
          clock.ahead += error.retryAfterMs;
        }
    },
    /** The process dies at the nth of its writes from now; returns how many there were since the last time. */
    arm(nth: number): number {
      const before = passed;
      [passed, left] = [0, nth];
      return before;
    },
    named: async (): Promise<[string | null, string | null][]> => {
      const rows = await hr?.kysely.selectFrom('employees').select(['user_name', 'work_email']).orderBy('id').execute();
      return (rows ?? []).map((row) => [row.user_name, row.work_email]);
    },
    given: async () => (await fleet.store.kysely.selectFrom('unique_names').selectAll().execute()).length,
    opened: { store: fleet.store, tenant: connection.tenant, connection, deps: fleet.deps } as unknown as OpenTenant,
  };
}

/** Of somebody who came without us. */
async function comes(hr: NonNullable<Awaited<ReturnType<typeof namingInto>>['hr']>, userName: string, mail: string) {
  await sql`insert into employees (given_name, family_name, email, start_date, user_name, work_email)
    values ('An', 'Other', ${`${userName}@home.example`}, '2020-01-01', ${userName}, ${mail})`.execute(hr);
}

test.each(['sqlite', 'postgres'] as const)(
  '%s: names are counted on past the HR system, whatever its capitals, and past each other',
  async (kind) => {
    const { hr, hired, employ: make, named } = await namingInto(kind);
    await make(await hired('Zo', 'First'));
    if (hr === undefined) throw new Error('no table');
    await comes(hr, 'ANA.SILVA', 'somebody@acme.example');
    await comes(hr, 'other', 'Ana.Silva2@acme.example');
    for (const [first, last] of [
      ['Ana', 'Silva'],
      ['Ána', 'Sílva'],
      ['Юлия', 'Ким'],
      ['Mary Ann', "O'Neill"],
    ] as const)
      expect(await make(await hired(first, last))).toMatchObject({ verdict: 'employee' });
    const own = (await named()).filter(([user]) => user !== 'ANA.SILVA' && user !== 'other');
    expect(own).toEqual([
      ['zo.first', 'zo.first@acme.example'],
      ['ana.silva3', 'ana.silva3@acme.example'],
      ['ana.silva4', 'ana.silva4@acme.example'],
      [expect.stringMatching(/^[a-z]+\.kim$/), expect.stringMatching(/^[a-z]+\.kim@acme\.example$/)],
      ['maryann.oneill', 'maryann.oneill@acme.example'],
    ]);
  },
);

test.each(['sqlite', 'postgres'] as const)('%s: hires at the same moment never get the same name', async (kind) => {
  const { hired, employ: make, named, opened } = await namingInto(kind);
  const ids = [];
  for (let nth = 0; nth < 4; nth += 1) ids.push(await hired('Ana', 'Silva'));
  const [first = ''] = ids;
  // Workers of one hire: all that come to a plan write the same names.
  const plans = [1, 2, 3].map(async () => planEmployee(await readHire(opened, first)));
  const planned = (await Promise.allSettled(plans)).map((one) => {
    if (one.status === 'rejected') return (one.reason as { code?: string }).code;
    return 'change' in one.value && 'names' in one.value.change ? one.value.change.names : one.value;
  });
  const names = { userName: 'ana.silva', workEmail: 'ana.silva@acme.example' };
  expect(planned).toContainEqual(names);
  expect(planned.filter((one) => one !== 'NAME_TAKEN' && one !== 'PERSON_CHANGED')).toEqual(
    planned.filter((one) => typeof one === 'object').map(() => names),
  );
  const verdicts = await Promise.all(ids.map(make));
  expect(verdicts).toEqual(Array(4).fill(expect.objectContaining({ verdict: 'employee' })));
  const wanted = ['', '2', '3', '4'].map((number) => [`ana.silva${number}`, `ana.silva${number}@acme.example`]);
  expect((await named()).toSorted()).toEqual(wanted);
});

test('a hire keeps its names and is made once, wherever its process is killed', async () => {
  const { hired, employ: make, named, arm, store } = await namingInto();
  arm(0);
  await make(await hired('Bo', 'Recorded'));
  const all = arm(0);
  expect(all).toBeGreaterThan(8);
  for (let nth = 1; nth <= all; nth += 1) {
    const id = await hired('Bo', `At${nth}`);
    arm(nth);
    await make(id).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
    arm(0);
    expect(await make(id), `killed at ${nth}`).toMatchObject({ verdict: 'employee' });
    const names = (await named()).filter(([user]) => user?.startsWith(`bo.at${nth}`) === true);
    expect(names, `killed at ${nth}`).toEqual([[`bo.at${nth}`, `bo.at${nth}@acme.example`]]);
    const rows = await store.kysely.selectFrom('unique_names').where('job_candidate_id', '=', id).selectAll().execute();
    expect(rows.map(({ name }) => name).toSorted(), `killed at ${nth}`).toEqual(names.flat().toSorted());
  }
});

test('a name that somebody takes over there before the employee is made is given up', async () => {
  const { hr, hired, employ: make, named, arm, given } = await namingInto();
  await make(await hired('Zo', 'First'));
  const id = await hired('Ana', 'Silva');
  // The first two of its writes to the names are the two names.
  arm(0);
  await make(await hired('Ca', 'Counted'));
  const all = arm(0);
  let nth = 1;
  for (; nth <= all && (await given()) < 6; nth += 1) {
    arm(nth);
    await make(id).catch(() => undefined);
  }
  arm(0);
  const before = await named();
  expect(before.filter(([user]) => user?.startsWith('ana') === true)).toEqual([]);
  if (hr === undefined) throw new Error('no table');
  await comes(hr, 'ana.silva', 'ana.silva@acme.example');
  expect(await make(id)).toMatchObject({ verdict: 'employee' });
  expect((await named()).at(-1)).toEqual(['ana.silva2', 'ana.silva2@acme.example']);
  expect(await given()).toBe(6);
});

test('beyond 99 of one name a person is asked, and nobody is made', async () => {
  const { hr, hired, employ: make, named, opened } = await namingInto();
  await make(await hired('Zo', 'First'));
  if (hr === undefined) throw new Error('no table');
  for (let number = 1; number <= 99; number += 1)
    await comes(hr, `ana.silva${number === 1 ? '' : number}`, 'x@y.example');
  const id = await hired('Ana', 'Silva');
  const held = await make(id);
  expect(held).toMatchObject({ verdict: 'hold', hold: { code: 'NAMES_USED_UP' } });
  expect(JSON.stringify(held)).not.toMatch(/silva/i);
  expect((await planHire(opened, id, 'ada')).notes).toMatchObject([{ what: 'hold NAMES_USED_UP' }]);
  expect((await named()).length).toBe(100);
});

test('plan and explain show the name that would be given, and keep nothing', async () => {
  const { hired, employ: make, opened, given } = await namingInto();
  await make(await hired('Ana', 'Silva'));
  const id = await hired('Ana', 'Silva');
  const before = await given();
  const plan = await planHire(opened, id, 'ada');
  expect(plan.records.at(-1)?.changes).toMatchObject({ userName: { new: 'ana.silva2' } });
  const field = async () => (await explainRecord(opened, id, true)).fields.find((one) => one.field === 'workEmail');
  const shown = { step: 'unique', value: 'ana.silva2@acme.example' };
  expect(await field()).toMatchObject({ value: shown.value, steps: expect.arrayContaining([shown]) });
  expect(await given()).toBe(before);
  await make(id);
  expect(await field()).toMatchObject({ value: shown.value, written: { value: shown.value }, held: shown.value });
});

test('names of a hire that ended without an employee are free, and gone with its retention', async () => {
  const { hired, employ: make, named, store, arm, given } = await namingInto();
  await make(await hired('Zo', 'First'));
  const id = await hired('Ana', 'Silva');
  for (let nth = 1; (await given()) < 4; nth += 1) {
    arm(nth);
    await make(id).catch(() => undefined);
  }
  arm(0);
  await store.kysely
    .updateTable('hires')
    .set({ state: 'cancelled', ended_at: store.now })
    .where('job_candidate_id', '=', id)
    .execute();
  await make(await hired('Ana', 'Silva'));
  expect((await named()).at(-1)).toEqual(['ana.silva', 'ana.silva@acme.example']);
  await store.kysely.updateTable('hires').set({ ended_at: store.now }).execute();
  await purgePlans(store, 'acme', 0);
  expect(await given()).toBe(0);
});

test('nobody is taken for an employee who has the made-up address, in BambooHR', async () => {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  vi.stubEnv('TEST_BAMBOO_KEY', API_KEY);
  const hris = `kind: bamboohr, connection: hr, url: "${double.url}", apiKey: env:TEST_BAMBOO_KEY,
    referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true`;
  const rules = RULES.split('\n')
    .filter((line) => !line.includes('userName'))
    .join('\n');
  const { hired, employ: make, deps } = await namingInto('sqlite', rules, hris);
  const { employees } = (await deps.connections.of('acme')).hris;
  const other = {
    givenName: 'Ana',
    familyName: 'Silvestre',
    workEmail: 'Ana.Silva@acme.example',
    startDate: '2020-01-01',
  };
  const call = { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined };
  await employees.create(other, '17:other', call);
  expect(await make(await hired('Ana', 'Silva'))).toMatchObject({ verdict: 'employee' });
  const mails = [...double.company.employees.values()].map(({ workEmail }) => workEmail);
  expect(mails).toEqual(['Ana.Silva@acme.example', 'ana.silva2@acme.example']);
});
