import { expect, test } from 'vitest';
import type { ListEndpoint } from '../../../src/partner/client/types.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { errorOf } from '../../http/servers.ts';
import { type Script, scriptedPartner } from './scripted-partner.ts';

/** Reads a list in pages of ten of which `gone` leaves once the first page was answered. */
async function readShrinking(people: number, gone: number | undefined) {
  let ids = Array.from({ length: people }, (_, index) => index + 1);
  const { partner, seen } = await scriptedPartner(({ query }) => {
    const start = (Number(query['pageNumber']) - 1) * 10;
    const data = ids.slice(start, start + 10).map((id) => ({ id, jobId: 1, candidateId: id }));
    if (seen.length === 1) ids = ids.filter((id) => id !== gone);
    return { json: { status: 'success', data } };
  });
  const { items } = await partner.readAll(contract.jobCandidates.listByJob, { params: { jobId: 1 } }, { size: 10 });
  return { read: new Set(items.map((item) => Number(item.id))).size, calls: seen.length };
}

test('a list that tells no total loses nobody who slips to a page that was read before', async () => {
  expect(await readShrinking(30, 5)).toEqual({ read: 30, calls: 7 });
});

test.each<[string, (total: number) => { status?: number; json: object }]>([
  ['an empty page with a lower total', (totalJobs) => ({ json: { jobs: [], totalJobs } })],
  ['a 404', () => ({ status: 404, json: { error: { code: 'NOT_FOUND', type: 'not_found', message: 'no page' } } })],
])('a record of the last page that slips to the page before is read, where %s is left', async (_what, nothingLeft) => {
  let ids = Array.from({ length: 21 }, (_, index) => index + 1);
  const { partner, seen } = await scriptedPartner(({ query }) => {
    const start = (Number(query['pageNumber']) - 1) * 10;
    const jobs = ids.slice(start, start + 10).map((id) => ({ id, title: `Job ${id}`, status: 'ACTIVE' }));
    const totalJobs = ids.length;
    if (seen.length === 2) ids = ids.filter((id) => id !== 5);
    return jobs.length === 0 ? nothingLeft(totalJobs) : { json: { jobs, totalJobs } };
  });
  const { items } = await partner.readAll(contract.jobs.list, {}, { size: 10 });
  expect(items.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 21 }, (_, index) => index + 1),
  );
});

test('a list of one page that tells no total is read once, and its end, and the page before its first', async () => {
  expect(await readShrinking(9, undefined)).toEqual({ read: 9, calls: 3 });
});

test('a partner that shows no id at all and ignores the page number is not read for ever', async () => {
  const data = [{ candidate_details: { id: 1 }, jobCandidateDetails: [{ jobId: 1 }] }];
  const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data } }));
  const query = { stageType: 'HIRED' as const };
  const error = await errorOf(partner.readAll(contract.jobCandidates.listByStageType, { query }));
  expect(error).toMatchObject({ code: 'PAGE_REPEATED' });
  expect(seen).toHaveLength(2);
});

test.each<[string, ListEndpoint, object, (rows: object[]) => unknown]>([
  ['flows', contract.assessmentFlows.listCandidates, { params: { id: 1 } }, (rows) => rows],
  ['offers', contract.onboarding.listOffers, {}, (offers) => ({ offers })],
])('a record whose id is called id is known on the next page: %s', async (_what, endpoint, input, dataOf) => {
  const pages: Record<string, object[]> = { 1: [{ id: 1 }, { id: 2 }], 2: [{ id: 2 }, { id: 3 }] };
  const { partner } = await scriptedPartner(({ query }) => ({
    json: { status: 'success', data: dataOf(pages[query['page'] ?? ''] ?? []) },
  }));
  const { items } = await partner.readAll(endpoint, input, { size: 2 });
  expect(items).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]);
});

test.each([4, 10, 15, 25])(
  'a batch, whose end is a flag, is refused at a partner that counts from 0: %d people',
  async (people) => {
    const batch = (first: 0 | 1): Script => {
      return (r) => {
        const page = Number(r.query['page']);
        if (page < first) return { status: 400, json: { error: { code: 'INVALID_REQUEST', message: 'page' } } };
        const from = (page - first) * 10;
        const candidates = Array.from({ length: Math.max(0, Math.min(people - from, 10)) }, (_, nth) => ({
          id: from + nth + 1,
        }));
        return { json: { success: true, data: { candidates, hasNextPage: from + 10 < people } } };
      };
    };
    const read = async (first: 0 | 1, overrides = {}) => {
      const { partner } = await scriptedPartner(batch(first), { overrides });
      return partner.readAll(contract.candidates.getBatch, { params: { batchId: 'b' } }, { size: 10 });
    };
    expect(await errorOf(read(0))).toMatchObject({ code: 'PAGES_COUNTED_OTHERWISE' });
    for (const whole of [read(1), read(0, { firstPages: { 'candidates.getBatch': 0 } })])
      expect((await whole).items).toHaveLength(people);
  },
);
