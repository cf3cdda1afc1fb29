import { describe, expect, it } from 'vitest';
import { type ErrorCase, readErrorBody, valueAt } from '../../src/partner/contract/endpoint.ts';
import { type AnyEndpoint, allEndpoints } from '../../src/partner/contract/index.ts';
import { type Literal, literals, pathParams } from './literals.ts';

const byId = new Map(allEndpoints().map((endpoint) => [endpoint.id, endpoint]));

function endpointOf(literal: Literal): AnyEndpoint {
  const endpoint = byId.get(literal.operation);
  if (!endpoint) throw new Error(`${literal.id}: no operation ${literal.operation}`);
  return endpoint;
}

/** Whether the contract's request schemas take the request as it stands on the wire. */
function takes(endpoint: AnyEndpoint, literal: Literal): boolean {
  const { request } = literal;
  const parts: [AnyEndpoint['params'], unknown][] = [
    [endpoint.params, pathParams(literal, endpoint.path)],
    [endpoint.query, request.query ?? {}],
  ];
  if (!(endpoint.bodyOptional && request.body === undefined)) parts.push([endpoint.body, request.body]);
  return parts.every(([schema, value]) => schema === undefined || schema.safeParse(value).success);
}

function isListed(error: ErrorCase, literal: Literal): boolean {
  const { status, body } = literal.response;
  const code = readErrorBody(body)?.code;
  return error.status === status && (code === undefined ? error.shape === 'auth' : error.code === code);
}

const successes = literals.filter((literal) => literal.response.status < 300);
const refusals = literals.filter((literal) => literal.response.status >= 400);

describe('a pair written from the specification', () => {
  it('is one of at least sixty, each with a name of its own', () => {
    expect(literals.length).toBeGreaterThanOrEqual(60);
    expect(new Set(literals.map(({ id }) => id)).size).toBe(literals.length);
  });

  it.each(literals)('goes to a route of the contract: $id', (literal) => {
    const endpoint = endpointOf(literal);
    expect(literal.request.method).toBe(endpoint.method);
    expect(pathParams(literal, endpoint.path)).toBeDefined();
  });

  it.each(literals)('has a request that the contract reads as it should: $id', (literal) => {
    expect(takes(endpointOf(literal), literal)).toBe(literal.badRequest !== true);
  });

  it.each(successes)('is answered by a body of the contract: $id', (literal) => {
    const endpoint = endpointOf(literal);
    expect(endpoint.okStatuses ?? [endpoint.status]).toContain(literal.response.status);
    const body: unknown = endpoint.response.parse(literal.response.body);
    if (!endpoint.list) return;
    const items = valueAt(body, endpoint.list.itemsAt) as unknown[];
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) expect(endpoint.list.item.safeParse(item).error?.issues ?? []).toEqual([]);
  });

  it.each(refusals)('is refused as the contract lists it: $id', (literal) => {
    expect(endpointOf(literal).errors.filter((error) => isListed(error, literal))).toHaveLength(1);
  });

  it('would fail with its envelope taken away', () => {
    const jobs = byId.get('jobs.list');
    expect(jobs?.response.safeParse({ status: 'success', data: [] }).success).toBe(false);
    expect(byId.get('candidates.getBatch')?.response.safeParse({ status: 'success', data: {} }).success).toBe(false);
  });
});
