import { describe, expect, test } from 'vitest';
import { isRepeatable, isWrite } from '../../../src/partner/client/read-answer.ts';
import { allEndpoints } from '../../../src/partner/contract/index.ts';

const repeatable = allEndpoints().filter(isRepeatable);

describe('a lost answer may be repeated', () => {
  test('for no call that costs a credit', () => {
    expect(repeatable.filter((endpoint) => endpoint.costsCredit)).toEqual([]);
    expect(allEndpoints().filter((endpoint) => endpoint.costsCredit && endpoint.chunk !== undefined)).toEqual([]);
  });

  test('for every read', () => {
    const reads = allEndpoints().filter((endpoint) => endpoint.method === 'GET');
    expect(reads.filter((endpoint) => !isRepeatable(endpoint))).toEqual([]);
  });

  test('for these POSTs and no other', () => {
    expect(repeatable.filter((endpoint) => endpoint.method === 'POST').map((endpoint) => endpoint.id)).toEqual([
      'candidates.bulkFetch',
      'jobCandidates.bulkFetch',
      'customFieldValues.upsert',
      'customFieldValues.upsertBulk',
    ]);
  });

  test('for every PUT, PATCH and DELETE but the one that may append', () => {
    const sets = allEndpoints().filter((endpoint) => ['PUT', 'PATCH', 'DELETE'].includes(endpoint.method));
    expect(sets.filter((endpoint) => !isRepeatable(endpoint)).map((endpoint) => endpoint.id)).toEqual([
      'assessmentFlows.update',
    ]);
  });
});

test('every call but a GET and the two that fetch many records by id is a write', () => {
  const reads = allEndpoints().filter((endpoint) => !isWrite(endpoint));
  expect(reads.filter((endpoint) => endpoint.method !== 'GET').map((endpoint) => endpoint.id)).toEqual([
    'candidates.bulkFetch',
    'jobCandidates.bulkFetch',
  ]);
  expect(allEndpoints().filter((endpoint) => endpoint.method === 'GET' && isWrite(endpoint))).toEqual([]);
});
