import { describe, expect, it } from 'vitest';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { collectionEnvironments, requestCollection } from '../../src/partner/openapi/collection.ts';
import { openApiDocument } from '../../src/partner/openapi/openapi.ts';

type Json = Record<string, unknown>;

const document = openApiDocument({ sandbox: 'http://127.0.0.1:8800/v1/partner' });
const operations = Object.values(document['paths'] as Json).flatMap((item) => Object.values(item as Json)) as Json[];
const operationIds = new Set<unknown>(allEndpoints().map(({ id }) => id));

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => (key === '$ref' ? [String(entry)] : refsIn(entry)));
}

function at(value: unknown, ...path: string[]): Json {
  return path.reduce<unknown>((inner, key) => (inner as Json | undefined)?.[key], value) as Json;
}

function requestsIn(items: Json[]): Json[] {
  return items.flatMap((item) => ('request' in item ? [item] : requestsIn(item['item'] as Json[])));
}

describe('the OpenAPI document', () => {
  it('has the 89 operations and the 29 webhooks', () => {
    expect(document['openapi']).toBe('3.1.0');
    expect(operations).toHaveLength(89);
    expect(new Set(operations.map((operation) => operation['operationId']))).toEqual(operationIds);
    expect(Object.keys(document['webhooks'] as Json)).toHaveLength(29);
  });

  it('leads every reference to a schema', () => {
    const schemas = Object.keys(at(document, 'components', 'schemas')).map((name) => `#/components/schemas/${name}`);
    expect(refsIn(document).filter((ref) => !schemas.includes(ref))).toEqual([]);
  });

  it('shows the items of a list in their place', () => {
    const jobs = at(document, 'paths', '/jobs', 'get', 'responses', '200', 'content', 'application/json', 'schema');
    expect(at(jobs, 'properties', 'jobs', 'items')).toEqual({ $ref: '#/components/schemas/Job' });
  });

  it('asks for a query parameter only where the specification does', () => {
    const parameters = (at(document, 'paths', '/job-candidates/stage', 'get')['parameters'] ?? []) as Json[];
    expect(parameters.filter((parameter) => parameter['required']).map((parameter) => parameter['name'])).toEqual([
      'stageType',
    ]);
  });

  it('marks what is assumed with question and choice', () => {
    const marked = operations.flatMap((operation) => (operation['x-assumed'] ?? []) as Json[]);
    expect(marked.length).toBeGreaterThan(0);
    expect(marked.every((one) => Boolean(one['question'] && one['choice']))).toBe(true);
  });

  it('names both servers', () => {
    expect(document['servers']).toMatchObject([{}, { url: 'http://127.0.0.1:8800/v1/partner' }]);
  });

  it('refuses two operations of one name', () => {
    const [first] = allEndpoints();
    expect(() => openApiDocument({}, first ? [first, { ...first, path: '/other' }] : [])).toThrow(/Two operations/);
  });
});

describe('the request collection', () => {
  const requests = requestsIn(requestCollection()['item'] as Json[]);

  it('has a request for each of the 89 operations', () => {
    expect(requests).toHaveLength(89);
    expect(new Set(requests.map((request) => request['name']))).toEqual(operationIds);
  });

  it('sends a body wherever one is asked for', () => {
    const bodies = new Set(requests.filter((item) => at(item, 'request', 'body')).map((item) => item['name']));
    const asked = allEndpoints().filter((endpoint) => endpoint.body && !endpoint.bodyOptional);
    expect(asked.filter(({ id }) => !bodies.has(id)).map(({ id }) => id)).toEqual([]);
  });

  it('comes with an environment for production and one for the sandbox', () => {
    const { production, sandbox } = collectionEnvironments();
    expect(JSON.stringify(production)).toContain('sk_live_');
    expect(JSON.stringify(sandbox)).toContain('sk_test_');
  });
});
