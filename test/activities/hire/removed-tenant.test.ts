import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { steerTenant } from '../../../src/operator/tenants.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { recordEnd } from '../../../src/store/applied-tenants.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { kinds } from '../../store/stores.ts';
import { partnerSide, readTable, stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

type Employ = (hris: OwnHris) => OwnHris;

/**
 * Two tenants of one company, each with jobs of its own; acme's hire came as far as `employ` let it. The person applies
 * for a job of beta's as well.
 */
async function hiredByAcme(
  employ: Employ,
  { shared, database = 'sqlite' }: { shared: boolean; database?: (typeof kinds)[number] },
) {
  const folder = await scratchFolder();
  const urlOf = (name: string) => `sqlite:${join(folder, `${shared ? 'hr' : name}.sqlite`)}`;
  const hrisOf = (name: string) =>
    `kind: sql, connection: ${shared ? 'hr' : name}, url: "${urlOf(name)}", createTable: true, endColumn: last_day`;
  const fleet = await fleetAtSandbox({ jobs: 3, database });
  const application = await fleet.hire();
  const { jobId } = await readApplication(fleet, application);
  const jobs = (await fleet.sandbox.partner.readAll(contract.jobs.list)).items.map(({ id }) => String(id));
  const scope = (own: string[]) => `scope: { jobs: ${JSON.stringify(own)} }\n`;
  await fleet.sandbox.control.act('move', { jobCandidateIds: [Number(application)], stageType: 'SCREEN' });
  const ofBeta = shared ? jobs.filter((id) => id !== jobId) : jobs;
  const apply = (hris = hrisOf('acme')) => fleet.apply('acme', scope([jobId]), { hris });
  await apply();
  await fleet.apply('beta', scope(ofBeta), { hris: hrisOf('beta') });
  await fleet.reconcile('acme');
  await fleet.reconcile('beta');
  const steps = stepsIn(fleet);
  const id = await steps.begin(Number(application));
  const outcome = await steps.employOnce(id, employ).catch((error: unknown) => error);
  const employByBeta = (of: string) => steps.employOnce(of, undefined, 'beta');
  return {
    ...steps,
    fleet,
    id,
    outcome,
    apply,
    employees: () => readTable(urlOf('acme')),
    employeesOfBeta: () => readTable(urlOf('beta')),
    employByBeta,
    /** As a worker does it: the workflows have ended by then, and the time of what they sent is over. */
    async remove() {
      await steps.letPass(600_000);
      await steerTenant(fleet.store, 'remove', { tenantId: 'acme', by: 'ada' });
      await recordEnd(fleet.store, 'acme');
    },
    /** Beta, which employs somebody too, calls its HR system by another name. */
    async rename(name: string) {
      const applicants = await listApplicants(fleet.sandbox.partner);
      const ofJob = applicants.find((one) => ofBeta.includes(String(one.jobId)));
      expect(await employByBeta(await steps.begin(ofJob?.jobCandidateId, 'beta'))).toMatchObject({
        verdict: 'employee',
      });
      const hris = hrisOf('beta').replace(/connection: \w+/, `connection: ${name}`);
      await fleet.drop('acme');
      await steerTenant(fleet.store, 'pause', { tenantId: 'beta', by: 'ada' });
      await fleet.apply('beta', scope(ofBeta), { hris, way: 'keep' });
      await steerTenant(fleet.store, 'resume', { tenantId: 'beta', by: 'ada' });
      return hris;
    },
    /** The person, hired for a job of beta's. */
    async hireByBeta() {
      const second = await steps.begin(await partnerSide(fleet, id).applyFor(0), 'beta');
      return { second, secondRef: await steps.refOf(second, 'beta') };
    },
  };
}

async function readApplication({ sandbox }: Awaited<ReturnType<typeof fleetAtSandbox>>, id: string) {
  const { items } = await sandbox.partner.readAll(contract.jobCandidates.bulkFetch, {
    body: { jobCandidateIds: [id] },
  });
  return { jobId: String(items[0]?.jobId) };
}

const made: Employ = (hris) => hris;

function creating(create: (hris: OwnHris) => OwnHris['employees']['create']): Employ {
  return (hris) => ({ ...hris, employees: { ...hris.employees, create: create(hris) } });
}

/** The HR system takes nobody. */
const refused = creating(() => async () => {
  throw new ConnectorError({ code: 'CLOSED', action: 'reject', message: 'The period is closed.' });
});

/** The employee is made, and nobody hears of it. */
const answerLost = creating((hris) => async (...args) => {
  await hris.employees.create(...args);
  throw new ConnectorError({ code: 'HRIS_NO_ANSWER', action: 'unknown', message: 'No answer came.' });
});

test.each(kinds)(
  'a person whom a removed tenant was about to hire is hired by the tenant that shares its HR system, in %s',
  async (database) => {
    const { outcome, remove, hireByBeta, employByBeta, employees } = await hiredByAcme(refused, {
      shared: true,
      database,
    });
    expect(outcome).toMatchObject({ verdict: 'hold' });
    await remove();
    const { second } = await hireByBeta();
    expect(await employByBeta(second)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toHaveLength(1);
  },
);

test('and by a tenant of the company with another HR system', async () => {
  const { remove, hireByBeta, employByBeta, employeesOfBeta } = await hiredByAcme(refused, { shared: false });
  await remove();
  const { second } = await hireByBeta();
  expect(await employByBeta(second)).toMatchObject({ verdict: 'employee' });
  expect(await employeesOfBeta()).toHaveLength(1);
});

test('the application itself is taken by another tenant that has its job in its scope', async () => {
  const { id, fleet, begin, remove, row, employByBeta } = await hiredByAcme(refused, { shared: false });
  await remove();
  await begin(Number(id), 'beta');
  expect(await row(id)).toMatchObject({ state: 'open' });
  expect(await fleet.open('beta', id)).toMatchObject({ verdict: 'open' });
  expect(await employByBeta(id)).toMatchObject({ verdict: 'employee' });
});

test('the tenant that is added anew goes on with its hire', async () => {
  const { id, apply, remove, answerAs, refOf, employOnce, outcome, employees } = await hiredByAcme(refused, {
    shared: true,
  });
  await remove();
  await apply();
  await answerAs(await refOf(id), outcome as { verdict: string }, 'retry');
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
});

test('an employee of a removed tenant stays known: the next tenant asks, and makes nobody', async () => {
  const { outcome, remove, hireByBeta, employByBeta, answerAs, employees } = await hiredByAcme(made, { shared: true });
  expect(outcome).toMatchObject({ verdict: 'employee' });
  await remove();
  const { second, secondRef } = await hireByBeta();
  const asked = await employByBeta(second);
  expect(asked).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
  await answerAs(secondRef, asked, 'transfer');
  expect(await employByBeta(second)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
});

test('whom a removed tenant may have made is asked about, and linked', async () => {
  const { outcome, remove, hireByBeta, employByBeta, answerAs, employees } = await hiredByAcme(answerLost, {
    shared: true,
  });
  expect(outcome).toMatchObject({ action: 'unknown' });
  await remove();
  const { second, secondRef } = await hireByBeta();
  const asked = await employByBeta(second);
  expect(asked).toMatchObject({ hold: { code: 'PERSON_RECORDED' } });
  await answerAs(secondRef, asked, 'link', '1');
  expect(await employByBeta(second)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
});

test('whom a removed tenant may have made is asked about on the same application, too', async () => {
  const { id, fleet, remove } = await hiredByAcme(answerLost, { shared: false });
  await remove();
  expect(await fleet.open('beta', id)).toMatchObject({
    enrolled: { verdict: 'hold', hold: { code: 'PERSON_HIRED_ELSEWHERE' } },
  });
});

test('the tenant that is added anew finds the employee whom it made unheard', async () => {
  const { id, apply, remove, employOnce, employees, fleet } = await hiredByAcme(answerLost, { shared: true });
  await remove();
  await apply();
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
  const people = await fleet.store.kysely
    .selectFrom('persons')
    .select(['tenant_id', 'is_abandoned', 'recorded'])
    .execute();
  expect(people).toEqual([{ tenant_id: 'acme', is_abandoned: 0, recorded: null }]);
});

test.each(kinds)(
  'a removed tenant comes back under the name that its HR system has by then, or not at all, in %s',
  async (database) => {
    const { apply, remove, rename, row, id } = await hiredByAcme(made, { shared: true, database });
    await remove();
    const hris = await rename('main');
    await expect(apply()).rejects.toThrow('are known in the HR system "main"');
    await apply(hris);
    expect(await row(id)).toMatchObject({ connection: 'main' });
  },
);
