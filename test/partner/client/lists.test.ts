import { describe, expect, test } from 'vitest';
import type { Page } from '../../../src/partner/client/types.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { errorOf } from '../../http/servers.ts';
import { type Script, type SeenRequest, scriptedPartner } from './scripted-partner.ts';

const job = (id: number) => ({ id, title: `Job ${id}`, status: 'ACTIVE' });
const candidate = (id: number) => ({ id, firstName: 'F', lastName: 'L', email: `c${id}@example.com` });
const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

/** The ids of such records, as they are read. */
const ids = (from: number, to: number) => range(from, to).map(String);

/**
 * Pages of a list of `total` records with ids from 1, by the number of the first page and the names of page and size.
 */
function slice(
  request: SeenRequest,
  total: number,
  first: number,
  pageName = 'pageNumber',
  sizeName = 'perPage',
): number[] {
  const size = Number(request.query[sizeName]);
  const start = (Number(request.query[pageName]) - first) * size;
  return start < 0 ? [] : range(1 + start, 1 + Math.min(total, start + size));
}

describe('each way of paging reads every record once', () => {
  test('jobs: pageNumber from 1, total beside the list', async () => {
    const { partner, seen } = await scriptedPartner((r) => ({
      json: { jobs: slice(r, 25, 1).map(job), totalJobs: 25 },
    }));
    const pages: Page<{ id: string }>[] = [];
    for await (const page of partner.pages(contract.jobs.list, { query: { status: 'ACTIVE' } }, { size: 10 }))
      pages.push(page);
    expect(pages.map((page) => [page.page, page.items.length, page.total])).toEqual([
      [1, 10, 25],
      [2, 10, 25],
      [3, 5, 25],
    ]);
    expect(pages.flatMap((page) => page.items.map((item) => item.id))).toEqual(ids(1, 26));
    expect(seen.map((request) => request.query)).toContainEqual({ status: 'ACTIVE', pageNumber: '2', perPage: '10' });
  });

  test('candidates: pageNumber from 0', async () => {
    const { partner, seen } = await scriptedPartner((r) => ({
      json: { status: 'success', data: slice(r, 20, 0).map(candidate), pagination: { total: 20 } },
    }));
    const { items } = await partner.readAll(contract.candidates.list, {}, { size: 10 });
    expect(items.map((item) => item.id)).toEqual(ids(1, 21));
    expect(seen.map((request) => request.query['pageNumber'])).toEqual(['0', '1']);
  });

  test('the size and the first page that the query names are kept', async () => {
    const { partner, seen } = await scriptedPartner((r) => ({
      json: { jobs: slice(r, 45, 1).map(job), totalJobs: 45 },
    }));
    const { items } = await partner.readAll(contract.jobs.list, { query: { perPage: 20, pageNumber: 2 } });
    expect(items.map((item) => item.id)).toEqual(ids(21, 46));
    expect(seen.map((request) => request.query)).toEqual([
      { pageNumber: '2', perPage: '20' },
      { pageNumber: '3', perPage: '20' },
    ]);
  });

  test('a record on two pages leaves another one on none: how many are unshown is told of a whole list', async () => {
    const jobs = (r: SeenRequest) => slice(r, 25, 1).map((id) => job(id === 11 ? 10 : id));
    const { partner } = await scriptedPartner((r) => ({ json: { jobs: jobs(r), totalJobs: 25 } }));
    const read = async (query = {}) => (await partner.readAll(contract.jobs.list, { query }, { size: 10 })).unshown;
    expect([await read(), await read({ pageNumber: 3 })]).toEqual([1, undefined]);
  });

  test('onboarding: page and limit, total inside data', async () => {
    const { partner, seen } = await scriptedPartner((r) => ({
      json: {
        status: 'success',
        data: {
          candidates: slice(r, 150, 1, 'page', 'limit').map((id) => ({ onboardingCandidateId: `oc_${id}` })),
          pagination: { page: 1, limit: 100, total: 150, totalPages: 2 },
        },
      },
    }));
    const { items } = await partner.readAll(contract.onboarding.listCandidates, { query: { externalRef: 'ref' } });
    expect(items).toHaveLength(150);
    expect(seen.map((request) => request.query)).toEqual([
      { externalRef: 'ref', page: '1', limit: '100' },
      { externalRef: 'ref', page: '2', limit: '100' },
    ]);
  });

  test('resume batches: hasNextPage', async () => {
    const { partner, seen } = await scriptedPartner((r) => ({
      json: {
        success: true,
        data: { candidates: slice(r, 25, 1, 'page').map(candidate), hasNextPage: Number(r.query['page']) < 3 },
      },
    }));
    const { items } = await partner.readAll(contract.candidates.getBatch, { params: { batchId: 'b' } }, { size: 10 });
    expect(items).toHaveLength(25);
    // Whether a page is hidden before the first.
    expect(seen.map(({ query }) => query['page'])).toEqual(['1', '2', '3', '0']);
  });

  test('a list without pages is one page', async () => {
    const { partner, seen } = await scriptedPartner(() => ({
      json: { status: 'success', data: [{ id: 1, name: 'P', stages: [] }] },
    }));
    expect(await partner.readAll(contract.pipelines.list)).toEqual({
      items: [{ id: '1', name: 'P', stages: [] }],
      unreadable: [],
    });
    expect(seen[0]?.query).toEqual({});
  });

  test('reading may start at a later page', async () => {
    const { partner, seen } = await scriptedPartner((r) => ({
      json: { jobs: slice(r, 30, 1).map(job), totalJobs: 30 },
    }));
    const { items } = await partner.readAll(contract.jobs.list, {}, { size: 10, from: 3 });
    expect(items.map((item) => item.id)).toEqual(ids(21, 31));
    expect(seen).toHaveLength(1);
  });
});

describe('the end of a list', () => {
  const jobs = async (script: Script) => {
    const scripted = await scriptedPartner(script);
    const { items } = await scripted.partner.readAll(contract.jobs.list, {}, { size: 10 });
    return { ids: items.map((item) => item.id), calls: scripted.seen.length };
  };

  test('is not met too soon when the partner shortens the pages asked for', async () => {
    const script: Script = (r) => {
      const start = (Number(r.query['pageNumber']) - 1) * 4;
      return { json: { jobs: range(1 + start, Math.min(11, 5 + start)).map(job), totalJobs: 10 } };
    };
    expect((await jobs(script)).ids).toEqual(ids(1, 11));
  });

  test('is an empty page when records vanish while we read', async () => {
    const script: Script = (r) => {
      const pageNumber = String(Math.max(1, Number(r.query['pageNumber'])));
      const rows = slice({ ...r, query: { ...r.query, pageNumber } }, 15, 1);
      return { json: { jobs: rows.map(job), totalJobs: 99 } };
    };
    const { partner, seen } = await scriptedPartner(script);
    const read = async () => (await partner.readAll(contract.jobs.list, {}, { size: 10 })).items.map((item) => item.id);
    expect([await read(), seen.length]).toEqual([ids(1, 16), 5]);
    // That the list is counted as expected was asked once.
    expect([await read(), seen.length]).toEqual([ids(1, 16), 8]);
  });

  test.each([
    ['refuses page 0', 400, 1],
    ['fails over page 0', 500, 2],
  ])('is an empty page though the partner %s', async (_what, status, lookedTwice) => {
    const refusal = { status, json: { error: { code: 'INVALID_REQUEST', message: 'pageNumber' } } };
    const script: Script = (r) =>
      r.query['pageNumber'] === '0' ? refusal : { json: { jobs: slice(r, 15, 1).map(job), totalJobs: 99 } };
    const { partner, seen } = await scriptedPartner(script);
    for (const looks of [1, lookedTwice]) {
      const { items } = await partner.readAll(contract.jobs.list, {}, { size: 10 });
      expect(items.map((item) => item.id)).toEqual(ids(1, 16));
      expect(seen.filter(({ query }) => query['pageNumber'] === '0')).toHaveLength(looks);
    }
  });

  test('of an empty list is one call', async () => {
    expect(await jobs(() => ({ json: { jobs: [], totalJobs: 0 } }))).toEqual({ ids: [], calls: 1 });
  });

  test('is forced when the partner ignores the page number', async () => {
    const { partner, seen } = await scriptedPartner(() => ({ json: { jobs: range(1, 11).map(job), totalJobs: 99 } }));
    expect(await errorOf(partner.readAll(contract.jobs.list, {}, { size: 10 }))).toMatchObject({
      code: 'PAGE_REPEATED',
      action: 'reject',
    });
    expect(seen).toHaveLength(2);
  });

  test('is an empty page though the total of an empty list is one too high', async () => {
    expect(await jobs(() => ({ json: { jobs: [], totalJobs: 1 } }))).toEqual({ ids: [], calls: 2 });
  });

  test('a size the partner does not allow is refused before the first call', async () => {
    const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
    expect(await errorOf(partner.readAll(contract.jobs.list, {}, { size: 50 }))).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await errorOf(partner.readAll(contract.onboarding.listFlows, {}, { size: 101 }))).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(seen).toEqual([]);
  });
});

describe('a partner that counts pages of job candidates from 0', () => {
  const list = contract.jobCandidates.listByJob;
  const input = { params: { jobId: 1 } };
  const fromZero =
    (people: number, pagination: object = { total: people }): Script =>
    (r) => {
      const rows = slice({ ...r, query: { pageNumber: '0', ...r.query } }, people, 0);
      const data = rows.map((id) => ({ id, jobId: 1, candidateId: id }));
      return { json: { status: 'success', data, pagination } };
    };

  test.each([
    ['an empty list', 4],
    ['its second page', 25],
    ['its second page, which is full', 20],
  ])('is refused with the setting to write where its first page would pass for %s', async (_what, people) => {
    const refusal = {
      code: 'PAGES_COUNTED_OTHERWISE',
      action: 'reject',
      message:
        'This partner seems to count the pages of this list from 0. People on its first page would be missed. Set ' +
        `partner.overrides.firstPages: { ${list.id}: 0 } in the tenant file.`,
    };
    // Under a name that nobody knows, or not at all.
    for (const pagination of [{ total: people }, { totalElements: people }, {}]) {
      const { partner } = await scriptedPartner(fromZero(people, pagination));
      expect(await errorOf(partner.readAll(list, input, { size: 10 }))).toMatchObject(refusal);
      const rawPages = async (): Promise<void> => {
        for (const page of [1, 2, 3]) await partner.rawPage(list, input, { page, size: 10 });
      };
      expect(await errorOf(rawPages())).toMatchObject(refusal);
    }
  });

  test.each([4, 20, 25])('is read whole where the tenant says so: %d people', async (people) => {
    const overrides = { firstPages: { [list.id]: 0 as const } };
    const { partner, seen } = await scriptedPartner(fromZero(people), { overrides });
    const { items } = await partner.readAll(list, input, { size: 10 });
    expect(items.map(({ id }) => id)).toEqual(ids(1, people + 1));
    expect(seen.map((request) => request.query['pageNumber'])).toEqual(
      ['0', '1', '2'].slice(0, Math.ceil(people / 10)),
    );
  });

  /** A list that alters after each answer; `first` is how it counts. */
  const moving = async (first: 0 | 1, before: number[], alter: (people: number[], answers: number) => void) => {
    const people = [...before];
    const scripted = await scriptedPartner((r) => {
      const start = Math.max(0, (Number(r.query['pageNumber'] ?? first) - first) * 10);
      const data = people.slice(start, start + 10).map((id) => ({ id, jobId: 1, candidateId: id }));
      // A total that is counted together with who has just gone.
      const json = { status: 'success', data, pagination: { total: before.length } };
      alter(people, scripted.seen.length);
      return { json };
    });
    const read = () => scripted.partner.readAll(list, input, { size: 10 });
    return { people, read };
  };

  test('is refused though it wants a page named', async () => {
    const { partner } = await scriptedPartner((r) =>
      r.query['pageNumber'] === undefined ? { status: 400, json: { error: { message: 'page' } } } : fromZero(25)(r),
    );
    expect(await errorOf(partner.readAll(list, input, { size: 10 }))).toMatchObject({
      code: 'PAGES_COUNTED_OTHERWISE',
    });
  });

  test('is refused though somebody slips from the first page to the second between two looks', async () => {
    const { read } = await moving(0, range(1, 26), (people, answers) => {
      if (answers === 4) people.unshift(99);
    });
    expect(await errorOf(read())).toMatchObject({ code: 'PAGES_COUNTED_OTHERWISE' });
  });

  test.each([
    ['loses its first', (people: number[]) => people.shift()],
    ['loses everybody', (people: number[]) => people.splice(0)],
    ['gets somebody in front', (people: number[]) => people.unshift(99)],
  ])('is no partner whose list %s between two looks', async (_what, change) => {
    for (const at of [2, 3, 4]) {
      const { people, read } = await moving(1, range(1, 6), (all, answers) => {
        if (answers === 1) all.push(...range(1, 6));
        if (answers === at) change(all);
      });
      people.splice(0);
      expect((await read()).items).toEqual([]);
    }
  });

  test('is found out later where its list was empty while it was asked', async () => {
    const { read } = await moving(0, range(1, 5), (people, answers) => {
      if (answers === 1) people.splice(0);
      if (answers === 2) people.push(...range(1, 5));
    });
    expect((await read()).items).toEqual([]);
    expect(await errorOf(read())).toMatchObject({ code: 'PAGES_COUNTED_OTHERWISE' });
  });

  test('is no partner whose list was filled while it was asked', async () => {
    let people = 0;
    const { partner } = await scriptedPartner((r) => {
      const pageNumber = String(Math.max(1, Number(r.query['pageNumber'])));
      const rows = slice({ ...r, query: { ...r.query, pageNumber } }, people, 1);
      people = 3;
      const data = rows.map((id) => ({ id, jobId: 1, candidateId: id }));
      return { json: { status: 'success', data, pagination: { total: 3 } } };
    });
    expect((await partner.readAll(list, input, { size: 10 })).items).toEqual([]);
    expect((await partner.readAll(list, input, { size: 10 })).items).toHaveLength(3);
  });
});

test('a list that is said to begin with page 0 is refused where page 0 is empty and page 1 is not', async () => {
  const { partner } = await scriptedPartner((r) => {
    const rows = Number(r.query['pageNumber']) < 1 ? [] : slice(r, 4, 1);
    return { json: { status: 'success', data: rows.map(candidate), pagination: { total: 4 } } };
  });
  expect(await errorOf(partner.readAll(contract.candidates.list))).toMatchObject({
    code: 'PAGES_COUNTED_OTHERWISE',
    message: expect.stringContaining('firstPages: { candidates.list: 1 }') as string,
  });
});

test('a partner that shows no id but jobCandidateId and ignores the page number is not read for ever', async () => {
  const data = range(1, 11).map((jobCandidateId) => ({
    candidate_details: candidate(jobCandidateId),
    jobCandidateDetails: { jobCandidateId, jobId: 1, candidateId: jobCandidateId },
  }));
  const { partner, seen } = await scriptedPartner(() => ({
    json: { status: 'success', data: { jobCandidates: data }, pagination: { total: 99 } },
  }));
  const pages = partner.pages(contract.jobCandidates.listByStageType, { query: { stageType: 'HIRED' } }, { size: 10 });
  const first = await pages.next();
  expect(first.value?.items.map((item) => item.jobCandidateDetails.id)).toEqual(ids(1, 11));
  expect(await errorOf(pages.next())).toMatchObject({ code: 'PAGE_REPEATED' });
  expect(seen).toHaveLength(2);
});

test('an application listed without the id of its candidate has the id of the candidate beside it', async () => {
  const data = [{ candidate_details: candidate(5), jobCandidateDetails: { id: 9, jobId: 1 } }];
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data, pagination: { total: 1 } } }));
  const query = { stageType: 'HIRED' as const };
  const { items, unreadable } = await partner.readAll(contract.jobCandidates.listByStageType, { query });
  expect([items.map((item) => item.jobCandidateDetails.candidateId), unreadable]).toEqual([['5'], []]);
});

test.each([
  ['in pagination', (total: number) => ({ pagination: { page: 1, perPage: 10, totalCount: total } })],
  ['as text', (total: number) => ({ pagination: { total: String(total) } })],
  ['beside the list', (total: number) => ({ total })],
])('the total of a list is read %s', async (_where, told) => {
  const { partner, seen } = await scriptedPartner((r) => ({
    json: { status: 'success', data: { candidates: slice(r, 20, 0).map(candidate), ...told(20) }, ...told(20) },
  }));
  expect((await partner.readAll(contract.candidates.list, {}, { size: 10 })).items).toHaveLength(20);
  expect(seen).toHaveLength(2);
});

describe('a partner that answers 404 after the last page', () => {
  const refused = { status: 404, json: { error: { code: 'NOT_FOUND', message: 'No such page' } } };
  const list = contract.jobCandidates.listByJob;
  const input = { params: { jobId: 1 } };

  test('shows all records before it', async () => {
    const { partner } = await scriptedPartner((r) => {
      const rows = slice(r, 20, 1).map((id) => ({ id, jobId: 1, candidateId: id }));
      return rows.length === 0 ? refused : { json: { status: 'success', data: rows } };
    });
    expect((await partner.readAll(list, input, { size: 10 })).items.map(({ id }) => id)).toEqual(ids(1, 21));
    const rawPage = async (page: number) => (await partner.rawPage(list, input, { page, size: 10 }))?.raw.length;
    expect([await rawPage(1), await rawPage(2), await rawPage(3)]).toEqual([10, 10, undefined]);
  });

  test('and counts its pages from 0 is refused, since nobody on the first would be read', async () => {
    const { partner } = await scriptedPartner((r) => {
      const rows = slice(r, 25, 0).map((id) => ({ id, jobId: 1, candidateId: id }));
      return rows.length === 0 ? refused : { json: { status: 'success', data: rows, pagination: { total: 25 } } };
    });
    expect(await errorOf(partner.readAll(list, input, { size: 10 }))).toMatchObject({
      code: 'PAGES_COUNTED_OTHERWISE',
    });
  });

  test('is no partner whose job was deleted while its list was read', async () => {
    let calls = 0;
    const { partner } = await scriptedPartner((r) => {
      calls += 1;
      const rows = slice(r, 20, 1).map((id) => ({ id, jobId: 1, candidateId: id }));
      return calls > 1 ? refused : { json: { status: 'success', data: rows } };
    });
    expect(await errorOf(partner.readAll(list, input, { size: 10 }))).toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('records that cannot be read are set apart with id and reason, and the page goes on', async () => {
  const bad = [{ id: 7, title: 5, status: 'ACTIVE' }, 'no record', { title: 'no id', status: 'X' }];
  const { partner } = await scriptedPartner(() => ({ json: { jobs: [job(1), ...bad, job(2)], totalJobs: 5 } }));
  const { items, unreadable } = await partner.readAll(contract.jobs.list);
  expect(items.map((item) => item.id)).toEqual(['1', '2']);
  expect(unreadable).toEqual([
    { index: 1, id: '7', reason: 'title: expected string' },
    { index: 2, reason: 'body: expected object' },
    { index: 3, reason: 'id: expected string' },
  ]);
});

describe('a list that moves while it is read', () => {
  /** Pages of ten of a list that `change` alters after each answer. */
  const readMoving = async (
    change: (rows: number[], calls: number) => number[],
    totalOf = (rows: number[]) => rows.length,
  ) => {
    let rows = range(1, 31);
    let calls = 0;
    const { partner } = await scriptedPartner((r) => {
      const start = (Number(r.query['pageNumber']) - 1) * 10;
      const json = { jobs: rows.slice(start, start + 10).map(job), totalJobs: totalOf(rows) };
      calls += 1;
      rows = change(rows, calls);
      return { json };
    });
    const { items } = await partner.readAll(contract.jobs.list, {}, { size: 10 });
    return { read: items.map((item) => item.id), calls };
  };

  test('loses nobody who slips to a page that was read before', async () => {
    const list = await readMoving((rows, n) => (n === 1 ? rows.filter((id) => id !== 5) : rows));
    expect(list.read.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids(1, 31));
    expect(list.calls).toBe(4);
  });

  test('loses nobody who slips while the pages are read again', async () => {
    const shrink = (rows: number[], n: number): number[] => {
      // After page 2, a record before it goes; after the last page, two more do.
      if (n === 2) return rows.filter((id) => id !== 5);
      return n === 3 ? rows.filter((id) => id !== 6 && id !== 7) : rows;
    };
    const { read } = await readMoving(shrink);
    expect(read.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids(1, 31));
  });

  test('that falls at every call ends all the same', async () => {
    const { read, calls } = await readMoving((rows, n) => rows.filter((id) => id !== n));
    expect(read).toEqual(expect.arrayContaining(ids(20, 31)));
    expect(calls).toBeLessThan(20);
  });

  test('loses nobody and gives nobody twice when it grows in front under the old total', async () => {
    const grow = (rows: number[], n: number): number[] => (n === 1 ? [31, 32, ...rows] : rows);
    expect((await readMoving(grow, () => 30)).read).toEqual(ids(1, 31));
  });

  test('that does not move costs no further call', async () => {
    expect((await readMoving((rows) => rows)).calls).toBe(3);
  });
});

describe('a call with too many ids', () => {
  const echo: Script = (r) => {
    const ids = (r.body as { jobCandidateIds: number[] }).jobCandidateIds;
    if (ids.includes(150)) return { status: 500, json: { error: { code: 'INTERNAL_ERROR', message: 'x' } } };
    return { json: { status: 'success', data: ids.map((id) => ({ id, jobId: 1, candidateId: id })) } };
  };

  test('is split at 100, with an outcome per chunk in order', async () => {
    const { partner, seen } = await scriptedPartner(echo);
    const outcomes = await partner.inChunks(contract.jobCandidates.bulkFetch, {
      body: { jobCandidateIds: range(0, 250) },
    });
    expect(
      seen.map((r) => (r.body as { jobCandidateIds: number[] }).jobCandidateIds.length).toSorted((a, b) => a - b),
    ).toEqual([50, 100, 100]);
    expect(outcomes.map((outcome) => [outcome.from, outcome.to, outcome.ok])).toEqual([
      [0, 100, true],
      [100, 200, false],
      [200, 250, true],
    ]);
    expect(outcomes[1]).toMatchObject({ error: { code: 'INTERNAL_ERROR', action: 'retry' } });
    expect(outcomes[2]).toMatchObject({ value: { items: expect.objectContaining({ length: 50 }), unreadable: [] } });
  });

  test('is split as a bare array too', async () => {
    const value = { customFieldId: 'f', entityType: 'candidate' as const, entityId: 1, value: 'x' };
    const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: [] } }));
    await partner.inChunks(contract.customFieldValues.upsertBulk, { body: range(0, 101).map(() => value) });
    expect(seen.map((request) => (request.body as unknown[]).length).toSorted((a, b) => a - b)).toEqual([1, 100]);
  });

  test('is refused, never split, when it costs credits', async () => {
    const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
    const candidates = range(0, 101).map((id) => ({ firstName: 'A', lastName: 'B', email: `a${id}@example.com` }));
    const call = partner.inChunks(contract.onboarding.enrolBulk, { params: { flowId: 'f' }, body: { candidates } });
    expect(await errorOf(call)).toMatchObject({ code: 'INVALID_INPUT' });
    expect(seen).toEqual([]);
  });

  test('of no ids at all is no call', async () => {
    const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
    expect(await partner.inChunks(contract.jobCandidates.bulkFetch, { body: { jobCandidateIds: [] } })).toEqual([]);
    expect(seen).toEqual([]);
  });
});
