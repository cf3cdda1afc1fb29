import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ErrorBody } from '../../src/partner/contract/errors.ts';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';

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
const json = fc.oneof(
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
const request = fc.record({
  endpoint: fc.constantFrom(...allEndpoints()),
  ids: fc.array(text, { minLength: 2, maxLength: 2 }),
  query,
  body,
  raw: fc.option(text, { freq: 8 }),
});

test('whatever is sent is answered or refused in a body of section 7, and nothing inside breaks', () => {
  const { state, key } = createSandboxState({ file: ':memory:', clock: 'stepped', jobs: 1, candidates: 3 });
  const defects: unknown[] = [];
  state.onDefect = (where, error) => defects.push([where, error]);
  fc.assert(
    fc.property(request, ({ endpoint, ids, query: given, body: sent, raw }) => {
      let next = 0;
      const path = endpoint.path.replaceAll(/:\w+/g, () =>
        encodeURIComponent((ids[next++ % 2] ?? '').replaceAll(/[\ud800-\udfff]/g, '')),
      );
      const url = `/v1/partner${path}?${new URLSearchParams(given).toString()}`;
      const response = handle(state, {
        method: endpoint.method,
        url,
        headers: { authorization: `Bearer ${key}` },
        body: raw ?? JSON.stringify(sent),
      });
      expect(defects).toEqual([]);
      const parsed = JSON.parse(response.body);
      const promised = response.status >= 400 ? ErrorBody : endpoint.response;
      expect(promised.safeParse(parsed).error).toBeUndefined();
      expect(response.status === 501 || response.status < 500).toBe(true);
      expect(response.body).not.toMatch(/SQLITE|at .*\.ts:\d/);
    }),
    { numRuns: 2000, seed: 5 },
  );
  state.close();
});
