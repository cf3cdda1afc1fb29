import { join } from 'node:path';
import { expect, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const REASON = {
  entityType: 'candidate',
  fieldLabel: 'Reason for leaving',
  fieldType: 'text',
  parentSection: 'Experience',
} as const;

/** Somebody is hired whose jobs before have each a reason for leaving. */
async function hiredWith(rule: string) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
  const fleet = await fleetAtSandbox({ skip: true, hris, candidates: 20 });
  const { partner } = fleet.sandbox;
  const customFieldId = String((await partner.customFields.create({ body: REASON })).data.id);
  await fleet.write('acme-mapping.yaml', `fields:\n  department: { from: "${rule}" }\n`);
  await fleet.apply('acme', 'writeBack: { customField: "1" }\nmapping: acme-mapping.yaml\n');
  await fleet.reconcile('acme');
  const people = (await partner.readAll(contract.candidates.list)).items;
  const several = people.filter(({ workExperiences }) => (workExperiences?.length ?? 0) > 1);
  const values = several.flatMap(({ id, workExperiences }) =>
    (workExperiences ?? []).map((one, at) => ({
      customFieldId,
      entityType: 'candidate' as const,
      entityId: String(id),
      parentEntityType: 'work_experience',
      parentEntityId: String(one.id),
      value: `reason ${at + 1} of ${workExperiences?.length}`,
    })),
  );
  await partner.inChunks(contract.customFieldValues.upsertBulk, { body: values });
  const wanted = new Set(several.map(({ id }) => String(id)));
  for (;;) {
    const jobCandidateId = await fleet.hire();
    const { items } = await partner.readAll(contract.jobCandidates.bulkFetch, {
      body: { jobCandidateIds: [jobCandidateId] },
    });
    if (!wanted.has(String(items[0]?.candidateId))) continue;
    await fleet.open('acme', jobCandidateId);
    const outcome = await employ(fleet.deps, { tenantId: 'acme', jobCandidateId, period: 1, seenAtOpening: true });
    return { outcome, departments: () => departmentsIn(url) };
  }
}

async function departmentsIn(url: string): Promise<(string | null)[]> {
  const { kysely, close } = openDatabase<{ employees: { department: string | null } }>(url);
  try {
    return (await kysely.selectFrom('employees').select('department').execute()).map((row) => row.department);
  } finally {
    await close();
  }
}

test.each([
  ['first', 'reason 1 of 2'],
  ['last', 'reason 2 of 2'],
])('a custom field of the %s work experience is read by a mapping', async (pick, expected) => {
  const rule = `candidate.workExperiences[${pick}].customFields[Reason for leaving]`;
  const { outcome, departments } = await hiredWith(rule);
  expect(outcome).toMatchObject({ verdict: 'employee' });
  expect(await departments()).toEqual([expected]);
});

test('which work experience is the current one is asked where none of them says so', async () => {
  const { outcome } = await hiredWith('candidate.workExperiences[current].customFields[Reason for leaving]');
  expect(outcome).toMatchObject({ verdict: 'hold', hold: { code: 'MAPPING_INCOMPLETE' } });
  expect(JSON.stringify(outcome)).toContain('no entry of workExperiences says that it is the current one');
});

test.each([
  [
    'candidate.workExperiences[newest].customFields[X]',
    '"newest" does not say which entry of workExperiences is meant',
  ],
  ['candidate.projects[first].customFields[X]', '"projects" is no list of candidate whose entries have custom fields'],
  ['job.steps[first].customFields[X]', 'only the mapping of employees can read'],
])('a path that cannot be read says so: %s', async (rule, says) => {
  await expect(hiredWith(rule)).rejects.toThrow(says);
});
