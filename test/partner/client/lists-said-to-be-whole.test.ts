import { describe, expect, test } from 'vitest';
import { readRawRecords } from '../../../src/partner/client/pages.ts';
import type { ListEndpoint } from '../../../src/partner/client/types.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { errorOf } from '../../http/servers.ts';
import { type Script, scriptedPartner } from './scripted-partner.ts';

const COUNT = 45;
const SIZE = 20;

interface Part {
  rows: object[];
  page: number;
  size: number;
}

/** A partner that gives such a list in pages of 20, unless another size is asked for. */
function inPages(recordOf: (n: number) => object, bodyOf: (part: Part) => unknown, sizeParam: string): Script {
  return ({ query }) => {
    const [page, size] = [Number(query['page'] ?? 1), Number(query[sizeParam] ?? SIZE)];
    const all = Array.from({ length: COUNT }, (_, n) => recordOf(n + 1));
    return { json: bodyOf({ rows: all.slice((page - 1) * size, page * size), page, size }) };
  };
}

const booking = (n: number) => ({ id: n, entityType: 'JOB_CANDIDATE', scheduledStartAt: '2026-12-01T10:00:00Z' });
const perPage = ({ page, size }: Part) => ({ page, perPage: size, total: COUNT });
const limit = ({ page, size }: Part) => ({ page, limit: size, total: COUNT, totalPages: Math.ceil(COUNT / size) });

const lists: [string, ListEndpoint, object, Script][] = [
  [
    'bookings, pagination beside data',
    contract.bookings.list,
    {},
    inPages(booking, (part) => ({ status: 'success', data: part.rows, pagination: perPage(part) }), 'perPage'),
  ],
  [
    'bookings, pagination inside data',
    contract.bookings.list,
    {},
    inPages(booking, (p) => ({ status: 'success', data: { bookings: p.rows, pagination: limit(p) } }), 'limit'),
  ],
  [
    'bookings, a total at the top',
    contract.bookings.list,
    {},
    inPages(booking, ({ rows }) => ({ status: 'success', data: rows, totalCount: COUNT }), 'perPage'),
  ],
  [
    'bookings, a flag and no total',
    contract.bookings.list,
    {},
    inPages(
      booking,
      ({ rows, page, size }) => ({
        status: 'success',
        data: rows,
        pagination: { page, perPage: size, hasNextPage: page * size < COUNT },
      }),
      'perPage',
    ),
  ],
  [
    'leads of a campaign',
    contract.campaigns.listLeads,
    { params: { campaignId: 9 } },
    inPages(
      (n) => ({ leadId: `L${n}` }),
      (p) => ({ leads: p.rows, pagination: limit(p) }),
      'limit',
    ),
  ],
  [
    'documents of an onboarding',
    contract.onboarding.listDocuments,
    { params: { onboardingCandidateId: 'o1' } },
    inPages(
      (n) => ({ documentId: `d${n}` }),
      (p) => ({ status: 'success', data: { documents: p.rows, pagination: limit(p) } }),
      'limit',
    ),
  ],
];

describe('a list that the specification shows without pages, and the partner gives in pages', () => {
  test.each(lists)('is read whole: %s', async (_what, endpoint, input, script) => {
    const { partner } = await scriptedPartner(script);
    const { items, unreadable } = await partner.readAll(endpoint, input);
    expect([new Set(items.map((item) => JSON.stringify(item))).size, items.length, unreadable]).toEqual([45, 45, []]);
  });

  test.each(lists)('lands whole: %s', async (_what, endpoint, input, script) => {
    const { partner } = await scriptedPartner(script);
    const raw = await partner.rawPage(endpoint, input, { page: 0, size: 100 });
    expect(raw === undefined ? 0 : readRawRecords(endpoint, raw).items.length).toBe(COUNT);
  });

  test('is refused, and not taken as whole, if the partner knows no number of a page', async () => {
    const data = Array.from({ length: SIZE }, (_, n) => booking(n + 1));
    const json = { status: 'success', data, pagination: { total: COUNT } };
    const { partner } = await scriptedPartner(() => ({ json }));
    expect(await errorOf(partner.readAll(contract.bookings.list))).toMatchObject({ code: 'PAGE_REPEATED' });
  });

  test('is asked for by the names that this tenant sets', async () => {
    const script = inPages(booking, (p) => ({ status: 'success', data: p.rows, pagination: perPage(p) }), 'perPage');
    const renaming: Script = (request) => {
      const { pageNumber, take, ...query } = request.query;
      return script({
        ...request,
        query: { ...query, ...(pageNumber && { page: pageNumber }), ...(take && { perPage: take }) },
      });
    };
    const queryNames = { 'bookings.list': { page: 'pageNumber', perPage: 'take' } };
    const { partner, seen } = await scriptedPartner(renaming, { overrides: { queryNames } });
    expect((await partner.readAll(contract.bookings.list)).items).toHaveLength(COUNT);
    expect(seen.at(-1)?.query).toMatchObject({ take: '100' });
  });
});

test('a list that counts as many records as it shows costs one call', async () => {
  const json = { leads: [{ leadId: 'L1' }], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } };
  const { partner, seen } = await scriptedPartner(() => ({ json }));
  const input = { params: { campaignId: 9 } };
  expect((await partner.readAll(contract.campaigns.listLeads, input)).items).toHaveLength(1);
  expect(seen).toHaveLength(1);
});
