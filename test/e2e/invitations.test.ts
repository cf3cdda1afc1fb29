import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { changeTenant, joinFleet } from '../harness/fleet.ts';
import { patience } from '../harness/pace.ts';

test('a webhook of a move has somebody invited, and that of their interview lands its result', async () => {
  const world = await joinFleet({ jobs: 1, candidates: 6 });
  const { control, partner } = world;
  const made = (await control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string };
  const { assessmentId } = made;
  const streams = 'streams: { invitations: { every: 1h }, interviews: { every: 1h } }';
  const rules = `invitations: { rules: [{ on: { stage: SCREEN }, assessment: "${assessmentId}" }] }`;
  await changeTenant(world, (text) => `${text}\n${streams}\n${rules}\n`);
  const store = await openStore(world.storeUrl);

  const { items: pipelines } = await partner.readAll(contract.pipelines.list);
  const stageId = Number(pipelines[0]?.stages.find(({ type }) => type === 'SCREEN')?.id);
  const query = { stageType: 'SOURCED' } as const;
  const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query });
  const jobCandidateId = Number(items[0]?.jobCandidateDetails.id);
  const invites = async () => {
    const own = await control.ledger({ kind: 'effect', name: 'invite' });
    return own.filter(({ detail }) => detail['assessmentId'] === assessmentId).length;
  };
  const settled = async () => {
    const rows = await store.kysely
      .selectFrom('invitations')
      .selectAll()
      .where('tenant_id', '=', world.tenant)
      .execute();
    return rows.filter((row) => row.job_candidate_id === String(jobCandidateId)).map(({ state }) => state);
  };
  await partner.jobCandidates.move({ params: { jobCandidateId }, body: { stageId } });
  // The request, and then the webhook of its batch, which says what became of it.
  await expect.poll(settled, { timeout: patience(120_000) }).toEqual(['invited']);
  const invited = await invites();
  await control.act('takeInterview', { assessmentId, jobCandidateId, score: 77 });
  const landed = () => {
    const hris = new DatabaseSync(world.hrisUrl.slice('sqlite:'.length), { timeout: 60_000 });
    const rows = hris.prepare('select * from partner_interviews').all();
    hris.close();
    return rows.filter((row) => row['assessment_id'] === assessmentId).map((row) => row['score']);
  };
  await expect.poll(landed, { timeout: patience(120_000) }).toEqual([77]);
  expect(await invites()).toBe(invited);
  await store.close();
  await world.close();
});
