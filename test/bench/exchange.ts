import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  API_KEY,
  type BambooDouble,
  REFERENCE_FIELD,
  startBambooDouble,
} from '../../src/counterparts/bamboohr-double.ts';
import { markChanged } from '../../src/counterparts/bamboohr-records.ts';
import { signWebhook, webhookPayloads } from '../../src/counterparts/bamboohr-webhooks.ts';
import { untilBaseline } from '../harness/hiring.ts';
import { startWorld, until, type World } from '../harness/world.ts';
import { withTemporal } from './bench-world.ts';
import { type Bench, openLedger } from './measured.ts';

const HRIS_KEY = 'bamboo-webhook-0123456789';
const EMPLOYEE = '40500';
const TIMES = 5;
const GOAL = { goal: { most: 2 } };
/** A pair that was just written is left alone for two seconds. */
const APART_MS = 4_000;

/** From an edit in one system until the other one holds it, each told by a webhook. */
export const exchange: Bench = {
  name: 'exchange',
  leavesOut: 'how late a platform or an HR system sends its webhook: both are doubles here, and tell at once.',
  measure: ({ rounds, say }) =>
    withTemporal(async (temporalAddress) => {
      const ledger = openLedger('exchange');
      const bamboo = await startBambooDouble();
      const world = await startWorld({ temporalAddress, hris: {}, otherHris: customerOf(bamboo) });
      try {
        const person = await link(world, bamboo);
        for (let time = 0; time < rounds * TIMES; time += 1) {
          await pause(APART_MS);
          const toHris = await untilShown(person.editPartner, `Graz ${time}`, person.atHris);
          ledger.add('from the hiring platform to the HR system', 's', toHris, GOAL);
          await pause(APART_MS);
          const toPartner = await untilShown(person.editHris, `Linz ${time}`, person.atPartner);
          ledger.add('from the HR system to the hiring platform', 's', toPartner, GOAL);
          say(`${toHris.toFixed(2)} s to the HR system, ${toPartner.toFixed(2)} s to the hiring platform`);
        }
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

/** One employee, linked to one candidate, whose city both sides may edit. */
async function link(world: World, { company }: BambooDouble) {
  const { tenantsDir, dir, partner, tenant } = world;
  const { candidateId = 0 } = (await world.applicants())[0] ?? {};
  const params = { candidateId: String(candidateId) };
  const { firstName, lastName } = (await partner.candidates.get({ params })).data;
  const name = { firstName: String(firstName), lastName: String(lastName) };
  company.employees.set(EMPLOYEE, { ...name, hireDate: '2026-01-01', city: 'Wien' });
  await writeFile(
    join(tenantsDir, 'employees.yaml'),
    'fields:\n  city: { from: candidate.city, direction: both, owner: either, conflict: hris }\n',
  );
  await appendFile(
    join(tenantsDir, `${tenant}.yaml`),
    'streams:\n  employees: { every: 5m, mapping: employees.yaml }\n',
  );
  await Promise.all([world.startWorker(), world.startReceiver()]);
  await untilBaseline(world);
  const people = join(dir, 'people.csv');
  await writeFile(people, `candidateId,employeeId\n${candidateId},${EMPLOYEE}\n`);
  const linked = await world.cli(['link', 'import', tenant, people, '--yes']);
  if (linked.code !== 0) throw new Error(linked.stderr);
  const one = {
    atHris: async () => company.employees.get(EMPLOYEE)?.['city'],
    atPartner: async () => (await partner.candidates.get({ params })).data.city,
    editPartner: async (city: string) => void (await partner.candidates.update({ params, body: { city } })),
    async editHris(city: string) {
      company.employees.set(EMPLOYEE, { ...company.employees.get(EMPLOYEE), city });
      markChanged(company, EMPLOYEE, 'Updated');
      await tellOf(world);
    },
  };
  await world.cli(['sync', tenant, 'employees', '--full']);
  await until('both sides hold one city', async () => (await one.atHris()) === (await one.atPartner()));
  return one;
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
