import { join } from 'node:path';
import { expect, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const DEPARTMENT = { entityType: 'job', fieldLabel: 'Department', fieldType: 'text', parentSection: 'Job Overview' };

const REQUIRED = 'fields:\n  department: { from: "job.customFields[Department]", required: true }\n';

/** A tenant without onboarding whose reconcile has just read every job; its employees are rows of a table. */
async function reconciled(options: { jobs?: number; department?: string; required?: boolean } = {}) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
  const fleet = await fleetAtSandbox({ skip: true, hris, jobs: options.jobs ?? 1 });
  const { partner, control } = fleet.sandbox;
  const field = (await partner.customFields.create({ body: DEPARTMENT as never })).data;
  const setDepartment = async (jobId: number, value: string): Promise<void> => {
    const body = [{ customFieldId: String(field.id), entityType: 'job' as const, entityId: String(jobId), value }];
    await partner.inChunks(contract.customFieldValues.upsertBulk, { body });
  };
  const jobs = (await partner.readAll(contract.jobs.list)).items;
  for (const { id } of jobs) if (options.department) await setDepartment(Number(id), options.department);
  const settings = 'writeBack: { customField: "1" }\n';
  if (options.required) await fleet.write('acme-mapping.yaml', REQUIRED);
  await fleet.apply('acme', options.required ? `${settings}mapping: acme-mapping.yaml\n` : settings);
  await fleet.reconcile('acme');
  return {
    ...fleet,
    control,
    setDepartment,
    begin: async () => {
      const jobCandidateId = await fleet.hire();
      await fleet.open('acme', jobCandidateId);
      return { tenantId: 'acme', jobCandidateId, period: 1, seenAtOpening: true };
    },
    jobOf: async (jobCandidateId: string) => {
      const { items } = await partner.readAll(contract.jobCandidates.bulkFetch, {
        body: { jobCandidateIds: [jobCandidateId] },
      });
      return Number(items[0]?.jobId);
    },
    listings: async (after: number) =>
      (await control.ledger({ kind: 'request', name: 'jobs.list', afterSeq: after })).length,
    seq: async () => (await control.ledger({ last: 1 }))[0]?.seq ?? 0,
    employees: () => readTable(url),
  };
}

test('an employee is made of the job as it is when the hire asks, not as it was reconciled', async () => {
  const { begin, jobOf, setDepartment, control, deps, employees } = await reconciled({ department: 'Sales' });
  const asked = await begin();
  const jobId = await jobOf(asked.jobCandidateId);
  await setDepartment(jobId, 'Research');
  await control.act('editJob', { jobId, fields: { title: 'Head of research' } });
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ title: 'Head of research', department: 'Research' }]);
});

test('hires that ask together share one reading of the jobs', async () => {
  const { begin, deps, listings, seq } = await reconciled();
  const asked = [await begin(), await begin(), await begin()];
  const before = await seq();
  for (const made of await Promise.all(asked.map((one) => employ(deps, one))))
    expect(made).toMatchObject({ verdict: 'employee' });
  expect(await listings(before)).toBeLessThanOrEqual(2);
});

test('in a company of 250 jobs one call finds the job by its title, and a renamed one in the whole list', async () => {
  const { begin, jobOf, control, deps, listings, seq, employees } = await reconciled({ jobs: 250 });
  const first = await begin();
  const before = await seq();
  await employ(deps, first);
  expect(await listings(before)).toBe(1);
  const second = await begin();
  await control.act('editJob', {
    jobId: await jobOf(second.jobCandidateId),
    fields: { title: 'Quite another job' },
  });
  expect(await employ(deps, second)).toMatchObject({ verdict: 'employee' });
  expect((await employees())[1]).toMatchObject({ title: 'Quite another job' });
});

test('what a hold asks to fill in is read by the retry that follows', async () => {
  const { begin, jobOf, setDepartment, store, deps, employees } = await reconciled({ required: true });
  const asked = await begin();
  const held = await employ(deps, asked);
  expect(held).toMatchObject({ verdict: 'hold', hold: { code: 'MAPPING_INCOMPLETE' } });
  if (held.verdict !== 'hold') return;
  const { holdId } = await openHold(deps, { ...asked, hold: held.hold });
  await setDepartment(await jobOf(asked.jobCandidateId), 'Research');
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
  expect(await takeAnswer(deps, { ...asked, holdId })).toMatchObject({ verdict: 'answered', next: 'same' });
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ department: 'Research' }]);
});

test('a job that is no longer listed is asked about, and taken as it was listed last if a person says so', async () => {
  const { begin, jobOf, control, store, deps, employees } = await reconciled();
  const asked = await begin();
  await control.act('setJobStatus', { jobId: await jobOf(asked.jobCandidateId), status: 'DELETED' });
  const held = await employ(deps, asked);
  expect(held).toMatchObject({ verdict: 'hold', hold: { code: 'JOB_NOT_SHOWN' } });
  if (held.verdict !== 'hold') return;
  const { holdId } = await openHold(deps, { ...asked, hold: held.hold });
  await answerHold(store, holdId, { answer: 'job-as-known', arguments: [], by: 'ada' });
  await takeAnswer(deps, { ...asked, holdId });
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
});

async function readTable(url: string) {
  const { kysely, close } = openDatabase<{ employees: { id: number; title: string; department: string } }>(url);
  try {
    return await kysely.selectFrom('employees').selectAll().orderBy('id').execute();
  } finally {
    await close();
  }
}
