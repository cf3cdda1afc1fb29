import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Explained } from '../../../src/operator/explain.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { systemUser } from '../../../src/places.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { saveJobs } from '../../../src/store/jobs.ts';
import { listAudit } from '../../../src/store/listings.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { insertPlan } from '../../../src/store/plans.ts';
import { type Applicant, startWorld, type World } from '../../harness/world.ts';

const MAPPING = `fields:
  department: { constant: People, when: [{ path: job.title, present: true }] }
  birthDate: { from: candidate.dateOfBirth, transform: [date], sensitive: true }
  email: { from: candidate.email, transform: [trim, lower], required: true, sensitive: true }
`;

/** One hire with its job in the store and a saved plan; no worker runs. */
async function prepare(world: World, { jobCandidateId, jobId }: Applicant): Promise<void> {
  await appendFile(join(world.tenantsDir, 'acme.yaml'), 'mapping: acme-mapping.yaml\n');
  await writeFile(join(world.tenantsDir, 'acme-mapping.yaml'), MAPPING);
  const store = await openStore(world.storeUrl);
  const { items } = await world.partner.readAll(contract.jobs.list);
  await saveJobs(
    store,
    'acme',
    items.map((job) => ({
      jobId: String(job.id),
      record: { ...job, title: 'As it was reconciled' } as Record<string, unknown>,
    })),
  );
  const hire = { tenantId: 'acme', jobCandidateId: String(jobCandidateId), period: 1 };
  await insertHires(store, [{ ...hire, state: 'open', jobId: String(jobId) }]);
  const change = { kind: 'create', fields: { title: 'Planned title', email: 'planned@example.com' } };
  await insertPlan(store, hire, { mappingHash: '0123456789abcdef', change });
  await store.close();
}

test('explain tells each field’s rule, steps, value and plan; sensitive values only on demand', async () => {
  const world = await startWorld({ temporalAddress: '127.0.0.1:1' });
  try {
    const [applicant] = await world.applicants();
    if (applicant === undefined) throw new Error('the sandbox has nobody to hire');
    await prepare(world, applicant);
    const id = String(applicant.jobCandidateId);
    const explain = async (...more: string[]): Promise<Explained> => {
      const { stdout, stderr, code } = await world.cli(['explain', 'acme', id, '--json', ...more]);
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout) as Explained;
    };
    const began = Date.now();
    const masked = await explain();
    expect(masked.plan).toMatchObject({ mapping: '0123456789ab', appliedAt: null });
    const field = (of: Explained, name: string) => of.fields.find((one) => one.field === name);
    expect(field(masked, 'title')).toMatchObject({
      rule: '{ from: job.title, required: true }',
      file: expect.stringMatching(/mappings\/base\/employee\.yaml$/),
      steps: [{ step: 'read', value: field(masked, 'title')?.value }],
      value: expect.not.stringContaining('As it was reconciled'),
      planned: 'Planned title',
    });
    expect(Date.parse(String(field(masked, 'title')?.readAt))).toBeGreaterThanOrEqual(began);
    expect(field(masked, 'department')).toMatchObject({ steps: [{ step: 'when', value: true }, { step: 'constant' }] });
    expect(field(masked, 'email')).toMatchObject({ value: '•••', planned: '•••' });
    expect(JSON.stringify(masked)).not.toContain('@example.com');

    const revealed = await explain('--reveal', '--as', 'ann');
    expect(field(revealed, 'email')?.planned).toBe('planned@example.com');
    const store = await openStore(world.storeUrl);
    expect(await listAudit(store, { tenantIds: ['acme'], limit: 1 })).toMatchObject([
      { by: `${systemUser()} for ann`, act: 'revealed', details: 'why each value of a hire' },
    ]);
    await store.close();

    const { stdout } = await world.cli(['explain', 'acme', id]);
    const lines = [/title/, / {2}rule .*employee\.yaml:\d+/, / {2}read at .*/, / {2}read .*/, / {2}gives .*/];
    const title = [...lines, / {2}planned .*"Planned title"/].map(({ source }) => source).join('\\n');
    expect(stdout).toMatch(new RegExp(`^${title}$`, 'm'));
    const unknown = await world.cli(['explain', 'acme', '999999999']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('the partner shows none')]);
  } finally {
    await world.close();
  }
});
