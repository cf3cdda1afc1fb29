import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { codes, statusList } from '../../src/partner/contract/endpoint.ts';
import { eventNames } from '../../src/partner/contract/events.ts';
import { type AnyEndpoint, allEndpoints } from '../../src/partner/contract/index.ts';
import { type Api, differences } from './compare.ts';
import { specDifferences } from './compare-spec.ts';
import { codeFacts, endpointFacts, enumerationFacts, eventFacts, limitFacts } from './facts.ts';

const api: Api = { endpoints: allEndpoints(), codes, eventNames };
const specFile = process.env['HIREBRIDGE_SPEC'];

/** The contract with one endpoint changed. */
function changed(id: string, change: Partial<AnyEndpoint>): Api {
  const endpoints = api.endpoints.map((endpoint) => (endpoint.id === id ? { ...endpoint, ...change } : endpoint));
  expect(endpoints, 'the mutation must change something').not.toEqual(api.endpoints);
  return { ...api, endpoints };
}

function endpoint(id: string): AnyEndpoint {
  const found = api.endpoints.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`no endpoint ${id}`);
  return found;
}

function paged(id: string, change: object): Partial<AnyEndpoint> {
  const list = endpoint(id).list;
  if (!list?.paging) throw new Error(`${id} has no pages`);
  return { list: { ...list, paging: { ...list.paging, ...change } } };
}

const candidateIds = z.array(z.int());

/** What is planted, and a word that the difference found must contain. */
const mutations: [string, () => Api, RegExp][] = [
  ['a path', () => changed('jobs.list', { path: '/job' }), /route: GET \/jobs is missing/],
  ['a method', () => changed('candidates.update', { method: 'PUT' }), /PATCH \/candidates\/:candidateId is missing/],
  ['a page base', () => changed('candidates.list', paged('candidates.list', { firstPage: 1 })), /first page 1/],
  ['a page parameter', () => changed('users.list', paged('users.list', { pageParam: 'pageNumber' })), /page parameter/],
  [
    'a place of the total',
    () => changed('jobs.list', paged('jobs.list', { end: { totalAt: 'total' } })),
    /total at total/,
  ],
  [
    'a default page',
    () =>
      changed('candidates.list', {
        query: z.object({ pageNumber: z.coerce.number().default(1), perPage: z.coerce.number().default(10) }),
      }),
    /default page 1/,
  ],
  ['an envelope by name', () => changed('jobs.list', { envelope: 'status-data' }), /envelope status-data/],
  ['an envelope in the schema', () => changed('jobs.list', { response: statusList() }), /answers as status-data/],
  ['a success status', () => changed('onboarding.enrol', { status: 200 }), /status 200, not 201/],
  ['a lost second status', () => changed('pipelines.saveStage', { okStatuses: [201] }), /no status 200/],
  ['a section', () => changed('teams.get', { section: '4.10' }), /section 4.10, not 4.11/],
  [
    'a code',
    () => ({ ...api, codes: { ...codes, NO_APPLICATION: { type: 'x', status: 404 } } }),
    /NO_APPLICATION: status 404/,
  ],
  [
    'a type',
    () => ({ ...api, codes: { ...codes, PERMISSION_DENIED: { type: 'x', status: 403 } } }),
    /PERMISSION_DENIED: type x/,
  ],
  ['an unheard code', () => ({ ...api, codes: { ...codes, TEAPOT: { type: 'x', status: 418 } } }), /TEAPOT is no fact/],
  ['a code not listed', () => changed('onboarding.terminate', { errors: [] }), /does not list ALREADY_TERMINAL/],
  [
    'a limit raised',
    () =>
      changed('candidates.bulkFetch', {
        body: z.object({
          candidateIds: z
            .array(z.union([z.int(), z.string()]))
            .min(1)
            .max(101),
        }),
      }),
    /accepts \{"candidateIds"/,
  ],
  [
    'a limit lowered',
    () => changed('candidates.bulkFetch', { body: z.object({ candidateIds: candidateIds.max(99) }) }),
    /refuses/,
  ],
  [
    'an enumeration',
    () =>
      changed('customFields.list', {
        list: { itemsAt: 'data', idKey: 'id', item: z.object({ entityType: z.enum(['candidate']) }) },
      }),
    /entityType: job is missing/,
  ],
  ['an event', () => ({ ...api, eventNames: eventNames.slice(1) }), /event: .* is missing/],
  [
    'an endpoint too many',
    () => ({ ...api, endpoints: [...api.endpoints, { ...endpoint('jobs.list'), path: '/jobs/:jobId' }] }),
    /no fact/,
  ],
];

describe('the facts of the specification', () => {
  it('are 89 endpoints, 29 events and 21 codes', () => {
    expect(new Set(endpointFacts.map(({ method, path }) => `${method} ${path}`)).size).toBe(89);
    expect(new Set(eventFacts).size).toBe(29);
    expect(new Set(codeFacts.map(({ code }) => code)).size).toBe(21);
  });

  it('stand in the text of the specification', ({ skip }) => {
    skip(specFile === undefined, 'HIREBRIDGE_SPEC does not name a file with the text of the specification');
    expect(specDifferences(readFileSync(specFile ?? '', 'utf8'))).toEqual([]);
  });

  it('are noticed when the text of the specification says something else', () => {
    const found = specDifferences('## 4. x\n### 4.1 y\n| GET /pipelines | none |\n## 5. z');
    expect(found.length).toBeGreaterThan(endpointFacts.length);
  });

  it('agree with the contract', () => {
    expect(differences(api)).toEqual([]);
  });

  it('name a route of the contract wherever they name one', () => {
    const routes = new Set(endpointFacts.map(({ method, path }) => `${method} ${path}`));
    const named = [
      ...limitFacts.map((fact) => fact.endpoint),
      ...enumerationFacts.flatMap((fact) => fact.at.map((place) => place.endpoint)),
      ...codeFacts.flatMap((fact) => fact.at),
    ];
    expect(named.filter((route) => !routes.has(route))).toEqual([]);
  });

  it.each(mutations)('differ from a contract with %s changed', (_what, mutate, words) => {
    expect(differences(mutate()).join('\n')).toMatch(words);
  });
});
