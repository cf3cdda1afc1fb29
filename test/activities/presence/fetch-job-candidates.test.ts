import { expect, test } from 'vitest';
import type { Connection } from '../../../activities/connections.ts';
import { fetchJobCandidates } from '../../../activities/presence/fetch-job-candidates.ts';
import { type Script, scriptedPartner } from '../../partner/client/scripted-partner.ts';

const notFound = { status: 404, json: { error: { code: 'NOT_FOUND', type: 'not_found', message: 'no such record' } } };

function idsIn(body: unknown): string[] {
  return (body as { jobCandidateIds: string[] }).jobCandidateIds;
}

async function fetchFrom(script: Script, ids: string[]) {
  const { partner, seen } = await scriptedPartner(script);
  const fetched = await fetchJobCandidates({ partner } as unknown as Connection, ids);
  return { fetched: fetched.map((one) => one.jobCandidate?.id), asked: seen.map(({ body }) => idsIn(body)) };
}

function show(id: string) {
  return { id: Number(id), jobId: 1, candidateId: Number(id) + 100 };
}

test('ids asked for together are fetched by one call, repeated ones once, in the order asked for', async () => {
  const script: Script = ({ body }) => ({ json: { status: 'success', data: idsIn(body).toReversed().map(show) } });
  const { fetched, asked } = await fetchFrom(script, ['3', '1', '3', '2']);
  expect(fetched).toEqual(['3', '1', '3', '2']);
  expect(asked).toEqual([['3', '1', '2']]);
});

test('a partner that refuses the whole fetch for one unknown id still shows all the others', async () => {
  const script: Script = ({ body }) =>
    idsIn(body).includes('7') ? notFound : { json: { status: 'success', data: idsIn(body).map(show) } };
  const { fetched } = await fetchFrom(script, ['1', '2', '7', '4', '5']);
  expect(fetched).toEqual(['1', '2', undefined, '4', '5']);
});

test('an answer that cannot be read is not asked for again in halves', async () => {
  const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: 7 } }));
  await expect(fetchJobCandidates({ partner } as unknown as Connection, ['1', '2', '3'])).rejects.toMatchObject({
    code: 'UNREADABLE_ANSWER',
  });
  expect(seen).toHaveLength(1);
});
