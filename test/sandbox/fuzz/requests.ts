import fc from 'fast-check';
import { allEndpoints } from '../../../src/partner/contract/index.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    '600001',
    '200001',
    '50001',
    '301',
    '4001',
    '__proto__',
    '%',
    "' or 1=1 --",
    '../..',
  ),
);
/** Any JSON, and values that break careless code. */
export const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, 0, -1, 2 ** 53, 1e308, '', [], {}, '\u0000', '\ud800', '9'.repeat(400)),
);
const words = [
  'name',
  'title',
  'city',
  'state',
  'country',
  'email',
  'jobId',
  'stageId',
  'newStageId',
  'pipelineId',
  'candidateIds',
  'jobCandidateIds',
  'customFieldId',
  'entityType',
  'entityId',
  'value',
  'customFields',
  'order',
  'type',
  'metadata',
  'externalRef',
  'candidates',
  'firstName',
  'lastName',
  'skills',
  'educations',
  'status',
  'employeeId',
];
const good = fc.constantFrom<unknown>(
  'a@example.com',
  'Ada',
  50_001,
  600_001,
  4002,
  301,
  'candidate',
  'text',
  'SCREEN',
  [600_001],
  { a: 1 },
);
const body = fc.oneof(
  fc.dictionary(fc.constantFrom(...words), fc.oneof(good, json), { maxKeys: 8 }),
  fc.array(json, { maxLength: 3 }),
  json,
);
const query = fc.dictionary(
  fc.constantFrom(
    'perPage',
    'pageNumber',
    'page',
    'limit',
    'status',
    'stageType',
    'jobId',
    'skills',
    'searchTerm',
    'createdAtMin',
    'sortBy',
    'entityType',
    'entityId',
  ),
  text,
  { maxKeys: 4 },
);
/** A request to any endpoint, from nearly right to nonsense. */
export const request = fc.record({
  endpoint: fc.constantFrom(...allEndpoints()),
  ids: fc.array(text, { minLength: 2, maxLength: 2 }),
  query,
  body,
  raw: fc.option(text, { freq: 8 }),
});

export type FuzzedRequest = (typeof request)['generate'] extends (...args: never[]) => { value: infer R } ? R : never;

/** Path and query of a fuzzed request, below the base URL. */
export function urlOf({ endpoint, ids, query: given }: FuzzedRequest): string {
  let next = 0;
  const path = endpoint.path.replaceAll(/:\w+/g, () =>
    encodeURIComponent((ids[next++ % 2] ?? '').replaceAll(/[\ud800-\udfff]/g, '')),
  );
  return `${path}?${new URLSearchParams(given).toString()}`;
}
