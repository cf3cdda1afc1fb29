import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explainRecord } from '../../../src/operator/explain.ts';
import { hireWrites, readHire } from '../../../src/operator/plan-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { kinds } from '../../store/stores.ts';
import { partnerSide, stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const LABELS = ['Department', 'Cost center', 'Car', 'Grade', 'Works council'] as const;
type Values = Partial<Record<(typeof LABELS)[number], string>>;

const FIELDS = ['costCenter', 'car', 'grade', 'council', 'badge'];
const MAPPING = `fields:
  costCenter: { from: "job.customFields[Cost center]" }
  car: { from: "job.customFields[Car]" }
  grade: { from: "job.customFields[Grade]", default: G1 }
  council: { constant: "yes", when: [{ path: "job.customFields[Works council]", present: true }] }
  badge: { from: candidate.city }
`;

type Row = Record<string, string | number | null>;

/** Somebody who has an employee from the first job, and is hired for the second. */
async function transferred({
  first,
  second,
  mapping = MAPPING,
  database = 'sqlite',
}: {
  first: Values;
  second: Values;
  mapping?: string;
  database?: (typeof kinds)[number];
}) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const fields = FIELDS.map((name) => `${name}: { column: ${name.toLowerCase()} }`).join(', ');
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true, endColumn: last_day`;
  const fleet = await fleetAtSandbox({ jobs: 3, hris: `${hris}, fields: { ${fields} }`, database });
  const setJob = await defineJobFields(fleet);
  await fleet.write('acme-mapping.yaml', mapping);
  await fleet.apply('acme', 'mapping: acme-mapping.yaml\n');
  await fleet.reconcile('acme');
  const { begin, employOnce, answerAs, refOf, row } = stepsIn(fleet);
  const application = await fleet.hire();
  const side = partnerSide(fleet, application);
  await fleet.open('acme', application);
  await setJob(String((await row(application))?.job_id), first);
  await begin(Number(application));
  expect(await employOnce(application)).toMatchObject({ verdict: 'employee' });
  const next = await begin(await side.applyFor(0));
  await setJob(String((await row(next))?.job_id), second);
  return {
    fleet,
    next,
    employOnce,
    employee: () => readEmployee(url),
    /** Somebody in HR does this. */
    change: (values: Row) => changeEmployee(url, values),
    async transfer() {
      await answerAs(await refOf(next), await employOnce(next), 'transfer');
      const { writes } = await hireWrites(await readHire(await openTenant(fleet), next));
      const outcome = await employOnce(next);
      return { ...outcome, planned: writes.find(({ target }) => target === 'employee')?.changes };
    },
  };
}

type Fleet = Awaited<ReturnType<typeof fleetAtSandbox>>;

/** As a person's command has it. */
async function openTenant({ store, deps }: Fleet) {
  const connection = await deps.connections.of('acme');
  return { store, deps, connection, tenant: connection.tenant };
}

/** Custom fields of jobs; gives how they are filled. */
async function defineJobFields({ sandbox: { partner } }: Fleet) {
  const ids = new Map<string, string>();
  for (const fieldLabel of LABELS) {
    const body = { entityType: 'job', fieldLabel, fieldType: 'text', parentSection: 'Job Overview' } as const;
    ids.set(fieldLabel, String((await partner.customFields.create({ body: body as never })).data.id));
  }
  return async (entityId: string, values: Values): Promise<void> => {
    const body = Object.entries(values).map(([label, value]) => ({
      customFieldId: ids.get(label) ?? '',
      entityType: 'job' as const,
      entityId,
      value,
    }));
    await partner.inChunks(contract.customFieldValues.upsertBulk, { body });
  };
}

async function readEmployee(url: string): Promise<Row> {
  const { kysely, close } = openDatabase<{ employees: Row }>(url);
  try {
    return (await kysely.selectFrom('employees').selectAll().executeTakeFirstOrThrow()) as Row;
  } finally {
    await close();
  }
}

async function changeEmployee(url: string, values: Row): Promise<void> {
  const { kysely, close } = openDatabase<{ employees: Row }>(url);
  try {
    await kysely.updateTable('employees').set(values).execute();
  } finally {
    await close();
  }
}

const FIRST: Values = {
  Department: 'Sales',
  'Cost center': '4711',
  Car: 'Golf',
  Grade: 'G7',
  'Works council': 'Berlin',
};

test.each(kinds)(
  'a transfer writes every field that the mapping takes from the job, whatever its name, in %s',
  async (database) => {
    const { transfer, employee } = await transferred({
      database,
      first: FIRST,
      second: { Department: 'Research', 'Cost center': '4712', Car: 'Polo', Grade: 'G8', 'Works council': 'Bonn' },
    });
    expect(await employee()).toMatchObject({ department: 'Sales', costcenter: '4711', car: 'Golf', grade: 'G7' });
    expect(await transfer()).toMatchObject({ verdict: 'employee' });
    expect(await employee()).toMatchObject({
      department: 'Research',
      costcenter: '4712',
      car: 'Polo',
      grade: 'G8',
      council: 'yes',
    });
  },
);

test('a transfer empties what the new job does not have, and takes a default where the rule has one', async () => {
  const { transfer, employee, fleet, next } = await transferred({ first: FIRST, second: { 'Cost center': '4712' } });
  expect(await employee()).toMatchObject({ council: 'yes' });
  const { planned, ...outcome } = await transfer();
  expect(outcome).toMatchObject({ verdict: 'employee' });
  const none = { new: null };
  expect(planned).toMatchObject({ department: none, costCenter: { new: '4712' }, car: none, council: none });
  expect(planned).not.toHaveProperty('email');
  expect(await employee()).toMatchObject({
    department: null,
    costcenter: '4712',
    car: null,
    grade: 'G1',
    council: null,
  });
  const { fields } = await explainRecord(await openTenant(fleet), next, false);
  expect(fields.find(({ field }) => field === 'car')).toMatchObject({ planned: null, held: null });
  const writes = fleet.store.kysely.selectFrom('foreign_writes').select('changes').where('record_id', '=', next);
  const noted = (await writes.where('target', '=', 'employee').execute()).map(({ changes }) => JSON.parse(changes));
  expect(noted).toMatchObject([{ car: { old: 'Golf', new: null }, costCenter: { old: '4711', new: '4712' } }]);
});

test('a transfer writes the start date, and nothing that the mapping takes from the person', async () => {
  const { transfer, employee, change } = await transferred({ first: FIRST, second: FIRST });
  const byHr = { given_name: 'Ada', email: 'ada@hr.example', phone: '+4930123', badge: 'B-1' };
  await change({ ...byHr, start_date: '2026-01-01' });
  expect(await transfer()).toMatchObject({ verdict: 'employee' });
  expect(await employee()).toMatchObject({ ...byHr, start_date: '2099-01-11' });
});

test('a former employee who is hired again does not keep what the new job does not have', async () => {
  const { employOnce, next, employee, change } = await transferred({ first: FIRST, second: { 'Cost center': '4712' } });
  await change({ last_day: '2020-01-31' });
  expect(await employOnce(next)).toMatchObject({ verdict: 'employee' });
  expect(await employee()).toMatchObject({ last_day: null, department: null, costcenter: '4712', car: null });
});

test('what must not be empty is asked for instead of being emptied', async () => {
  const mapping = 'fields:\n  department: { from: "job.customFields[Department]", required: true }\n';
  const { employee, employOnce, next, transfer } = await transferred({ first: FIRST, second: {}, mapping });
  expect(await employOnce(next)).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
  expect(await transfer()).toMatchObject({ hold: { code: 'MAPPING_INCOMPLETE' } });
  expect(await employee()).toMatchObject({ department: 'Sales' });
});

test.each(kinds)('a transfer writes nothing into a record that became somebody else, on %s', async (database) => {
  const { change, transfer, employee } = await transferred({ first: FIRST, second: {}, database });
  await change({ external_ref: '99:5001' });
  const before = await employee();
  expect(await transfer()).toMatchObject({
    hold: { code: 'LINK_NOT_FOUND', message: expect.stringContaining('of our reference') },
  });
  expect(await employee()).toEqual(before);
});
