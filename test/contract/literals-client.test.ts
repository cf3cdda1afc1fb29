import { expect, test } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import { type ErrorCase, readErrorBody, valueAt } from '../../src/partner/contract/endpoint.ts';
import { type AnyEndpoint, allEndpoints } from '../../src/partner/contract/index.ts';
import { scriptedPartner } from '../partner/client/scripted-partner.ts';
import { type Literal, literals, pathParams } from './literals.ts';

/** The typed client against a server that answers as the pair says: what it sends and what it reads. */
const byId = new Map(allEndpoints().map((endpoint) => [endpoint.id, endpoint]));
const endpointOf = (literal: Literal) => byId.get(literal.operation) as AnyEndpoint;

/** The call as a caller writes it. */
async function calling(literal: Literal) {
  const { status, body } = literal.response;
  const { partner, seen } = await scriptedPartner(() => ({ status, json: body }));
  const [section = '', name = ''] = literal.operation.split('.');
  const tree = partner as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>;
  const { query, body: sent } = literal.request;
  const params = pathParams(literal, endpointOf(literal).path) ?? {};
  const given = { params, query, body: sent };
  const input = Object.fromEntries(
    Object.entries(given).filter(
      ([key, value]) => value !== undefined && endpointOf(literal)[key as 'params'] !== undefined,
    ),
  );
  const outcome = await tree[section]?.[name]?.(input).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  return { seen, value: outcome?.value, error: outcome?.error };
}

/** What the pair's own words are read as: its code, or that of the flat body without one. */
function codeOf(literal: Literal): string | undefined {
  const listed = endpointOf(literal).errors.find((error: ErrorCase) => error.shape === 'auth');
  return readErrorBody(literal.response.body)?.code ?? (literal.response.status === 401 ? listed?.code : undefined);
}

const sent = literals.filter((literal) => literal.badRequest !== true);

test.each(sent)('leaves the client as it was written: $id', async (literal) => {
  const { seen } = await calling(literal);
  const { method, path, query = {}, body } = literal.request;
  expect(seen.map((one) => ({ method: one.method, path: one.path, query: one.query, body: one.body }))).toEqual([
    { method, path, query, body },
  ]);
});

test.each(sent.filter(({ response }) => response.status < 300))('is read by the client: $id', async (literal) => {
  const { value, error } = await calling(literal);
  expect(error).toBeUndefined();
  const { list } = endpointOf(literal);
  const items = list === undefined ? [] : (valueAt(value, list.itemsAt) as unknown[]);
  expect(items.length > 0).toBe(list !== undefined);
  expect(items.map((item) => list?.item.safeParse(item).success)).toEqual(items.map(() => true));
});

test.each(sent.filter(({ response }) => response.status >= 400))('is an error with its code: $id', async (literal) => {
  const { error } = await calling(literal);
  expect(isConnectorError(error)).toBe(true);
  expect(error).toMatchObject({ status: literal.response.status, code: codeOf(literal) });
});

test.each(literals.filter(({ badRequest }) => badRequest))('never leaves the client: $id', async (literal) => {
  const { seen, error } = await calling(literal);
  expect(seen).toEqual([]);
  expect(error).toMatchObject({ code: 'INVALID_INPUT', action: 'reject' });
  expect(readErrorBody(literal.response.body)?.code).toMatch(/^INVALID_/);
});
