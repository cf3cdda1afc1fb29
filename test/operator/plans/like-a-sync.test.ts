import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applySavedPlan } from '../../../src/operator/apply-plan.ts';
import { diffMapping } from '../../../src/operator/diff-mapping.ts';
import { explainLanded } from '../../../src/operator/explain.ts';
import { type OpenTenant, withTenant } from '../../../src/operator/open-tenant.ts';
import { planStreams } from '../../../src/operator/plan-streams.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { saveConsents } from '../../../src/store/consents.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { findPlan } from '../../../src/store/plans.ts';
import { openPullWorld, type PullWorld } from '../../activities/streams/pull-world.ts';

/** What an operator does to the tenant, each act as a command of its own. */
function operatorOf({ world, store }: PullWorld) {
  const places = { tenantsDir: world.tenantsDir, dataDir: world.dataDir };
  const withOpen = <T>(use: (open: OpenTenant) => Promise<T>) => withTenant({ store, places, tenantId: 'acme' }, use);
  return {
    withOpen,
    plan: async (stream: string) => {
      const [view] = await withOpen((open) => planStreams(open, stream, 'ann'));
      if (view === undefined) throw new Error(`${stream} was not planned`);
      return view;
    },
    apply: (hash = '') => withOpen(async (open) => applySavedPlan(open, await findPlan(store, hash), 'ann')),
  };
}

const sitesWith = (separator: string) =>
  `fields:\n  city: { from: "job.customFields[Sites]", transform: [{ join: { separator: "${separator}" } }] }\n`;

/** A tenant whose jobs land with a multi-select, which the partner shows as JSON text. */
async function withSites() {
  const played = await openPullWorld('{ jobs: { mapping: acme-jobs.yaml } }', { jobs: 1, candidates: 1 });
  const { world } = played;
  await writeFile(join(world.tenantsDir, 'acme-jobs.yaml'), sitesWith(', '));
  const [job] = (await world.partner.readAll(contract.jobs.list)).items;
  const { data: field } = await world.partner.customFields.create({
    body: { entityType: 'job', fieldLabel: 'Sites', fieldType: 'multi-select', options: ['Wien', 'Graz', 'Linz'] },
  });
  const [jobId, customFieldId] = [String(job?.id), field.id];
  const set = (value: string[]) =>
    world.partner.customFieldValues.upsert({ body: { customFieldId, entityType: 'job', entityId: jobId, value } });
  await set(['Wien', 'Graz']);
  expect(await played.pull('full', { stream: 'jobs' })).toMatchObject({ state: 'done' });
  return {
    ...played,
    ...operatorOf(played),
    jobId,
    set,
    customFieldId,
    city: () => played.rows('jobs').get(jobId)?.['city'],
  };
}

test('a custom field is planned and applied with the value that a sync lands', async () => {
  const { pull, plan, apply, set, jobId, city } = await withSites();
  expect(city()).toBe('Wien, Graz');
  expect(await plan('jobs')).toMatchObject({ read: 1, records: [], notes: [] });
  await set(['Linz', 'Graz']);
  const { hash, records } = await plan('jobs');
  expect(records).toMatchObject([{ record: jobId, changes: { city: { old: 'Wien, Graz', new: 'Linz, Graz' } } }]);
  expect(await apply(hash)).toEqual({ written: 1, already: 0, changed: [], refused: [] });
  expect(city()).toBe('Linz, Graz');
  expect(await pull('full', { stream: 'jobs' })).toMatchObject({ counts: { updated: 0, unchanged: 1 } });
});

test('a renamed custom field stops plan and apply as it stops a sync, and no value is cleared', async () => {
  const { world, plan, apply, set, customFieldId, city } = await withSites();
  await set(['Linz']);
  const { hash } = await plan('jobs');
  await world.partner.customFields.update({ params: { customFieldId }, body: { fieldLabel: 'Places' } });
  const renamed = { code: 'FIELD_RENAMED', message: expect.stringContaining('calls it "Places" now') as string };
  await expect(plan('jobs')).rejects.toMatchObject(renamed);
  await expect(apply(hash)).rejects.toMatchObject(renamed);
  expect(city()).toBe('Wien, Graz');
  await world.partner.customFields.update({ params: { customFieldId }, body: { fieldLabel: 'Sites' } });
  expect(await apply(hash)).toMatchObject({ written: 1 });
  expect(city()).toBe('Linz');
});

test('a new mapping is compared, and a record explained, with custom fields as a sync maps them', async () => {
  const { world, withOpen, jobId } = await withSites();
  const file = join(world.dir, 'new.yaml');
  await writeFile(file, sitesWith(' / '));
  const { fields } = await withOpen((open) => diffMapping(open, 'jobs', file));
  expect(fields).toMatchObject([{ field: 'city', broken: 0, samples: [{ old: 'Wien, Graz', new: 'Wien / Graz' }] }]);
  const explained = await withOpen((open) => explainLanded(open, { stream: 'jobs', id: jobId }, true));
  expect(explained.fields.find(({ field }) => field === 'city')).toMatchObject({
    value: 'Wien, Graz',
    held: 'Wien, Graz',
  });
});

const nobody = () => ({ tenantId: 'acme', mark: 'erased', by: 'ann', about: 'request' }) as const;

/** A tenant whose candidates are planned and did not land yet; the first one is to stay out. */
async function withPlanned() {
  const played = await openPullWorld('{ candidates: { every: 1h }, consents: { every: 1h } }', {
    candidates: 3,
    jobs: 1,
  });
  const operator = operatorOf(played);
  const { hash = '', records } = await operator.plan('candidates');
  const [id = ''] = records.map(({ record }) => record);
  expect(records.length).toBeGreaterThan(1);
  const left = {
    written: records.length - 1,
    already: 0,
    changed: [{ record: id, reason: expect.stringContaining('erased') as string }],
  };
  return {
    ...played,
    ...operator,
    hash,
    id,
    left,
    erase: () => markPerson(played.store, nobody(), [{ kind: 'candidate', id }]),
  };
}

test('whoever was erased since the plan does not land by it', async () => {
  const { apply, rows, hash, id, left, erase } = await withPlanned();
  await erase();
  expect(await apply(hash)).toMatchObject(left);
  expect([rows().size, rows().has(id)]).toEqual([left.written, false]);
});

test('whoever is erased while an apply compares its rows does not land either', async () => {
  const { store, withOpen, rows, hash, id, left, erase } = await withPlanned();
  const applied = await withOpen(async (open) => {
    const { landing } = open.connection.hris;
    if (landing === undefined) throw new Error('candidates land');
    const read: typeof landing.read = async (...args) => {
      const found = await landing.read(...args);
      await erase();
      return found;
    };
    const hris = { ...open.connection.hris, landing: { ...landing, read } };
    return applySavedPlan({ ...open, connection: { ...open.connection, hris } }, await findPlan(store, hash), 'ann');
  });
  expect(applied).toMatchObject(left);
  expect(rows().has(id)).toBe(false);
});

test('whose consent ended since the plan does not land by it', async () => {
  const { store, apply, rows, hash, id, left } = await withPlanned();
  const consent = {
    tenant_id: 'acme',
    job_candidate_id: '9',
    candidate_id: id,
    state: 'withdrawn',
    shown: '{}',
  } as const;
  await saveConsents(store, 'acme', [consent]);
  expect(await apply(hash)).toMatchObject(left);
  expect(rows().has(id)).toBe(false);
});
