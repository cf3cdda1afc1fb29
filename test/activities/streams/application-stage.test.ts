import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { addHints } from '../../../src/store/hints.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

const STAGE = {
  landing: { applications: { fields: { stage: { column: 'stage' }, payload: { column: 'payload' } } } },
};

async function openApplications(): Promise<PullWorld> {
  const streams = '{ applications: { every: 1h, mapping: acme-applications.yaml } }';
  const opened = await openPullWorld(streams, { jobs: 2, candidates: 12, hris: STAGE });
  const rule =
    'fields:\n  stage: { from: jobCandidate.stageType, required: true }\n  payload: { from: "jobCandidate.*" }\n';
  await writeFile(join(opened.world.tenantsDir, 'acme-applications.yaml'), rule);
  return opened;
}

const stageOf = ({ rows }: PullWorld, id: string): unknown => rows('applications').get(id)?.['stage'];

test('an application lands with the type of the stage that its list is of', async () => {
  const opened = await openApplications();
  expect(await opened.pull('full', { stream: 'applications' })).toMatchObject({ state: 'done' });
  const { items } = await opened.world.partner.readAll(contract.jobCandidates.listByStageType, {
    query: { stageType: 'APPLIED' },
  });
  expect(items.length).toBeGreaterThan(0);
  for (const { jobCandidateDetails } of items) expect(stageOf(opened, jobCandidateDetails.id)).toBe('APPLIED');
});

test('read by its id it keeps the stage of its row, and a whole pass brings the new one', async () => {
  const opened = await openApplications();
  const { world, store, pull } = opened;
  await pull('full', { stream: 'applications' });
  const query = { stageType: 'APPLIED' } as const;
  const { items } = await world.partner.readAll(contract.jobCandidates.listByStageType, { query });
  const [id = ''] = items.map(({ jobCandidateDetails }) => jobCandidateDetails.id);
  const { items: pipelines } = await world.partner.readAll(contract.pipelines.list);
  const screen = pipelines[0]?.stages.find(({ type }) => type === 'SCREEN')?.id ?? '';
  await world.partner.jobCandidates.move({
    params: { jobCandidateId: Number(id) },
    body: { stageId: Number(screen) },
  });
  await addHints(store, 'acme', 'applications', [id]);
  expect(await pull('incremental', { stream: 'applications' })).toMatchObject({
    state: 'done',
    counts: { read: 1, unchanged: 1, quarantined: 0 },
  });
  expect(stageOf(opened, id)).toBe('APPLIED');
  await pull('full', { stream: 'applications' });
  expect(stageOf(opened, id)).toBe('SCREEN');
});
