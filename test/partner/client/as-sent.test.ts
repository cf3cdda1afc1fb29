import { expect, test } from 'vitest';
import { scriptedPartner } from './scripted-partner.ts';

test('an id read from an answer is sent as the number that the specification shows', async () => {
  const { partner, seen } = await scriptedPartner(() => ({
    json: { status: 'success', data: { id: 7, name: 'Main', stages: [], rescoreId: 'r' } },
  }));
  const { id } = (await partner.pipelines.get({ params: { pipelineId: 7 } })).data;
  await partner.jobCandidates.rescore({ body: { jobId: id, jobCandidateIds: [id] } });
  expect(seen[1]?.body).toEqual({ jobId: 7, jobCandidateIds: [7] });
});
