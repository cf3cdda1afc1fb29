import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bindActivities } from '../../../activities/create-activities.ts';
import type { Applied } from '../../../src/operator/apply-plan.ts';
import type { Explained } from '../../../src/operator/explain.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import type { PlanView, WriteView } from '../../../src/operator/writes.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { systemUser } from '../../../src/places.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { takeApplicants } from '../../harness/hiring.ts';
import { startWorld, type World } from '../../harness/world.ts';

/** A hire that is done, taken through every activity that its workflow would run; no Temporal is needed for that. */
async function hireOne(): Promise<{ world: World; id: string }> {
  const world = await startWorld({ temporalAddress: '127.0.0.1:1', jobs: 1, candidates: 6 });
  onTestFinished(() => world.close());
  const store = await openStore(world.storeUrl);
  onTestFinished(() => store.close());
  const [applicant] = await takeApplicants(world, 1);
  const id = String(applicant?.jobCandidateId);
  const hire = { tenantId: 'acme', jobCandidateId: id, period: 1 };
  await world.control.act('move', { jobCandidateIds: [applicant?.jobCandidateId ?? 0], stageType: 'HIRED' });
  await insertHires(store, [{ ...hire, state: 'open' }]);
  const places = { tenantsDir: world.tenantsDir, dataDir: world.dataDir };
  await withTenant({ store, places, tenantId: 'acme' }, async ({ deps }) => {
    const run = bindActivities(deps);
    expect(await run.enrol(hire)).toMatchObject({ verdict: 'enrolled' });
    await world.finishOnboardings();
    expect(await run.readOnboarding(hire)).toEqual({ verdict: 'ready' });
    expect(await run.employ(hire)).toMatchObject({ verdict: 'employee' });
    expect(await run.finishHire(hire)).toEqual({ verdict: 'verified' });
  });
  return { world, id };
}

test('a correction by a custom field is planned and applied with the value that a hire maps', async () => {
  const { world, id } = await hireOne();
  const { items } = await world.partner.readAll(contract.jobCandidates.bulkFetch, { body: { jobCandidateIds: [id] } });
  const body = { entityType: 'candidate', fieldLabel: 'Shifts', fieldType: 'multi-select' } as const;
  const { data } = await world.partner.customFields.create({ body: { ...body, options: ['Early', 'Late'] } });
  const customFieldId = data.id;
  const of = { customFieldId, entityType: 'candidate', entityId: String(items[0]?.candidateId) } as const;
  await world.partner.customFieldValues.upsert({ body: { ...of, value: ['Early', 'Late'] } });
  await appendFile(join(world.tenantsDir, 'acme.yaml'), 'mapping: acme-mapping.yaml\n');
  const rule = '{ from: "candidate.customFields[Shifts]", transform: [{ join: { separator: ", " } }] }';
  await writeFile(join(world.tenantsDir, 'acme-mapping.yaml'), `fields:\n  title: ${rule}\n`);
  const plan = await json<PlanView[]>(world, ['plan', 'acme', 'hire', id]);
  expect(plan.out[0]?.records).toMatchObject([{ changes: { title: { new: 'Early, Late' } } }]);
  const explained = await json<Explained>(world, ['explain', 'acme', id]);
  expect(explained.out.fields.find(({ field }) => field === 'title')?.value).toBe('Early, Late');
  await world.partner.customFields.update({ params: { customFieldId }, body: { fieldLabel: 'Hours' } });
  const refused = await world.cli(['apply', plan.out[0]?.hash ?? '']);
  expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining('calls it "Hours" now')]);
  await world.partner.customFields.update({ params: { customFieldId }, body: { fieldLabel: 'Shifts' } });
  // It logs that the field's alarm is over.
  const { code, stdout } = await world.cli(['apply', plan.out[0]?.hash ?? '', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { written: 1 }]);
});

async function json<T>(world: World, args: readonly string[]): Promise<{ code: number | null; out: T }> {
  const { code, stdout, stderr } = await world.cli([...args, '--json']);
  expect(stderr).toBe('');
  return { code, out: JSON.parse(stdout) as T };
}

test('explain tells a hire’s whole story without a secret; a later mapping corrects it by a plan', async () => {
  const { world, id } = await hireOne();
  const { out } = await json<Explained>(world, ['explain', 'acme', id]);
  expect(out.plan).toMatchObject({ decision: 'create', mapping: out.mapping, purged: false });
  const story = out.writes.toReversed().map(({ target, kind, outcome }) => [target, kind, outcome]);
  expect(story).toEqual([
    ['enrolment', 'create', 'done'],
    ['employee', 'create', 'done'],
    ['external-status', 'update', 'done'],
  ]);
  expect(out.writes[0]?.verifiedAt).not.toBeNull();
  const title = out.fields.find(({ field }) => field === 'title');
  expect(title?.written).toMatchObject({ value: title?.value, outcome: 'done', mapping: out.mapping, run: 'hire' });
  expect(title?.held).toBe(title?.value);
  const { stdout } = await world.cli(['explain', 'acme', id]);
  for (const secret of [world.apiKey, world.webhookKey]) expect(stdout).not.toContain(secret);
  expect(JSON.stringify(out.writes.find(({ target }) => target === 'enrolment')?.changes)).not.toMatch(/@/);

  expect((await json<PlanView[]>(world, ['plan', 'acme', 'hire', id])).out).toMatchObject([{ records: [], notes: [] }]);
  await appendFile(join(world.tenantsDir, 'acme.yaml'), 'mapping: acme-mapping.yaml\n');
  await writeFile(join(world.tenantsDir, 'acme-mapping.yaml'), 'fields:\n  title: { constant: Corrected }\n');
  const plan = await json<PlanView[]>(world, ['plan', 'acme', 'hire', id]);
  expect([plan.code, plan.out[0]?.records.map(({ changes }) => changes)]).toEqual([
    2,
    [{ title: { old: title?.value, new: 'Corrected' } }],
  ]);
  // The platform has had enough of one call: who applies waits as long as it asks.
  await world.control.act('setFaults', {
    faults: [{ kind: 'throttle', on: 'jobCandidates.bulkFetch', times: 1, retryAfter: 1 }],
  });
  const applied = await json<Applied>(world, ['apply', plan.out[0]?.hash ?? '', '--as', 'ann']);
  expect(applied).toMatchObject({ code: 0, out: { written: 1 } });
  const audit = await json<WriteView[]>(world, ['audit', 'acme', '--run', plan.out[0]?.hash ?? '']);
  expect(audit.out).toMatchObject([
    {
      by: `${systemUser()} for ann`,
      target: 'employee',
      kind: 'update',
      changes: { title: { old: title?.value, new: 'Corrected' } },
    },
  ]);
  expect(audit.out[0]?.mapping).not.toBe(out.mapping);
  expect((await json<PlanView[]>(world, ['plan', 'acme', 'hire', id])).code).toBe(0);
});
