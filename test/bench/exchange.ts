import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import {
  API_KEY,
  type BambooDouble,
  markChanged,
  REFERENCE_FIELD,
  startBambooDouble,
} from '../../src/counterparts/bamboohr-double.ts';
import { untilBaseline } from '../harness/hiring.ts';
import { startWorld, until, type World } from '../harness/world.ts';
import { signWebhook, webhookPayloads } from '../hris/bamboohr-people.ts';
import { withPostgresWorld, withTemporal } from './bench-world.ts';
import { type Bench, openLedger } from './measured.ts';

const HRIS_KEY = 'bamboo-webhook-0123456789';
const EMPLOYEE = '40500';
const TIMES = 5;
const GOAL = { goal: { most: 2 } };
/** A pair that was just written is left alone for two seconds. */
const APART_MS = 4_000;

/** An HR system with one employee. */
interface Staff {
  employeeId: string;
  city(): Promise<unknown>;
  /** Somebody edits the employee there; whatever tells of edits tells of this one. */
  edit(city: string): Promise<void>;
}

/** From an edit in one system until the other one holds it, told by a webhook or found in a table. */
export const exchange: Bench = {
  name: 'exchange',
  leavesOut: 'how late a platform or an HR system sends its webhook: both are doubles here, and tell at once.',
  measure: ({ rounds, say }) =>
    withTemporal(async (temporalAddress) => {
      const ledger = openLedger('exchange');
      const measure = async (world: World, add: (world: World, name: Name) => Promise<Staff>, from: string) => {
        const { editPartner, atPartner, staff } = await link(world, add);
        for (let time = 0; time < rounds * TIMES; time += 1) {
          await pause(APART_MS);
          const toHris = await untilShown(editPartner, `Graz ${time}`, staff.city);
          ledger.add(`from the hiring platform to ${from}`, 's', toHris, GOAL);
          await pause(APART_MS);
          const toPartner = await untilShown(staff.edit, `Linz ${time}`, atPartner);
          ledger.add(`from ${from} to the hiring platform`, 's', toPartner, GOAL);
          say(`${toHris.toFixed(2)} s to ${from}, ${toPartner.toFixed(2)} s to the hiring platform`);
        }
      };
      const changes = { column: 'changed_at' };
      await withPostgresWorld({ temporalAddress, hris: { changes } }, ({ world, hris }) =>
        measure(world, (_world, name) => inTable(hris, name), 'a table in Postgres'),
      );
      const bamboo = await startBambooDouble();
      const world = await startWorld({ temporalAddress, hris: {}, otherHris: customerOf(bamboo) });
      try {
        await measure(world, (from, name) => inBamboo(from, bamboo, name), 'the HR system');
      } finally {
        await world.close();
        await bamboo.close();
      }
      return { measured: ledger.measured() };
    }),
};

function customerOf({ url, close }: BambooDouble) {
  const keys = { apiKey: 'env:BENCH_BAMBOOHR_KEY', webhookKey: 'env:BENCH_BAMBOOHR_WEBHOOK_KEY' };
  return {
    settings: {
      kind: 'bamboohr',
      url,
      ...keys,
      allowPrivateAddress: true,
      referenceField: REFERENCE_FIELD,
      readLag: '0ms',
    },
    env: { BENCH_BAMBOOHR_KEY: API_KEY, BENCH_BAMBOOHR_WEBHOOK_KEY: HRIS_KEY },
    employees: async () => [],
    close,
  };
}

interface Name {
  firstName: string;
  lastName: string;
}

async function inTable(hris: Client, { firstName, lastName }: Name): Promise<Staff> {
  const { rows } = await hris.query<{ id: string }>(
    `insert into employees (given_name, family_name, email, start_date, city)
      values ($1, $2, 'one@example.org', '2026-01-01', 'Wien') returning id::text`,
    [firstName, lastName],
  );
  const { id: employeeId = '' } = rows[0] ?? {};
  const cityOf = 'select city from employees where id::text = $1';
  return {
    employeeId,
    city: async () => (await hris.query<{ city: string }>(cityOf, [employeeId])).rows[0]?.city,
    edit: async (city) =>
      void (await hris.query('update employees set city = $2 where id::text = $1', [employeeId, city])),
  };
}

async function inBamboo(world: World, { company }: BambooDouble, name: Name): Promise<Staff> {
  company.employees.set(EMPLOYEE, { ...name, hireDate: '2026-01-01', city: 'Wien' });
  return {
    employeeId: EMPLOYEE,
    city: async () => company.employees.get(EMPLOYEE)?.['city'],
    async edit(city) {
      company.employees.set(EMPLOYEE, { ...company.employees.get(EMPLOYEE), city });
      markChanged(company, EMPLOYEE, 'Updated');
      await tellOf(world);
    },
  };
}

/** One employee, linked to one candidate, whose city both sides may edit. */
async function link(world: World, add: (world: World, name: Name) => Promise<Staff>) {
  const { tenantsDir, dir, partner, tenant } = world;
  const { candidateId = 0 } = (await world.applicants())[0] ?? {};
  const params = { candidateId: String(candidateId) };
  const { firstName, lastName } = (await partner.candidates.get({ params })).data;
  const staff = await add(world, { firstName: String(firstName), lastName: String(lastName) });
  await writeFile(
    join(tenantsDir, 'employees.yaml'),
    'fields:\n  city: { from: candidate.city, direction: both, owner: either, conflict: hris }\n',
  );
  await appendFile(
    join(tenantsDir, `${tenant}.yaml`),
    'streams:\n  employees: { every: 1h, mapping: employees.yaml }\n',
  );
  await Promise.all([world.startWorker(), world.startReceiver()]);
  await untilBaseline(world);
  const people = join(dir, 'people.csv');
  await writeFile(people, `candidateId,employeeId\n${candidateId},${staff.employeeId}\n`);
  const linked = await world.cli(['link', 'import', tenant, people, '--yes']);
  if (linked.code !== 0) throw new Error(linked.stderr);
  const atPartner = async () => (await partner.candidates.get({ params })).data.city;
  await world.cli(['sync', tenant, 'employees', '--full']);
  await until('both sides hold one city', async () => (await staff.city()) === (await atPartner()));
  const editPartner = async (city: string) => void (await partner.candidates.update({ params, body: { city } }));
  return { staff, atPartner, editPartner };
}

async function tellOf({ webhookUrl }: World): Promise<void> {
  const [body = Buffer.alloc(0)] = webhookPayloads([EMPLOYEE]);
  const headers = { 'content-type': 'application/json', ...signWebhook(body, HRIS_KEY, Date.now()) };
  const answer = await fetch(`${webhookUrl}/hris`, { method: 'POST', headers, body });
  if (answer.status !== 200) throw new Error(`The webhook was answered ${answer.status}: ${await answer.text()}`);
}

/** Seconds from when the edit stands in its own system. */
async function untilShown(
  edit: (value: string) => Promise<void>,
  value: string,
  shown: () => Promise<unknown>,
): Promise<number> {
  await edit(value);
  const edited = performance.now();
  await until(value, async () => (await shown()) === value, { everyMs: 10 });
  return (performance.now() - edited) / 1000;
}
