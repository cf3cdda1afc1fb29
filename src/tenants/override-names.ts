import { z } from 'zod';
import { allEndpoints, contract } from '../partner/contract/index.ts';
import type { Overrides } from '../partner/contract/overrides.ts';
import { landedNames, pullStreams } from '../streams/streams.ts';

type NameMap = 'queryNames' | 'bodyNames' | 'fieldNames' | 'firstPages';

/** Reports names that no operation has: the override would have no effect, and nobody would notice. */
export function unknownNames({
  queryNames = {},
  bodyNames = {},
  fieldNames = {},
  firstPages = {},
}: {
  [Name in NameMap]?: Overrides[Name] | undefined;
}) {
  const paged = pagedLists();
  const pagesOf = (operation: string) => (paged.includes(operation) ? [] : undefined);
  const read = fieldsRead();
  const fieldsOf = (operation: string) => read.get(operation);
  return [
    ...unknownIn('firstPages', firstPages, pagesOf, `a list that has pages: ${paged.join(', ')}`),
    ...unknownIn('queryNames', queryNames, queryNamesOf, 'an operation that has a query: `openapi` lists them'),
    ...unknownIn('bodyNames', bodyNames, bodyNamesOf, 'an operation that has a body: `openapi` lists them'),
    ...unknownIn('fieldNames', fieldNames, fieldsOf, `a list whose records are read: ${[...read.keys()].join(', ')}`),
  ];
}

function unknownIn(
  override: NameMap,
  overridden: Overrides[NameMap],
  knownOf: (operation: string) => readonly string[] | undefined,
  expected: string,
): { code: 'custom'; path: string[]; message: string }[] {
  const at = (path: string[], message: string) => ({
    code: 'custom' as const,
    path: ['overrides', override, ...path],
    message,
  });
  return Object.entries(overridden).flatMap(([operation, names]) => {
    const known = knownOf(operation);
    if (known === undefined) return [at([operation], `expected ${expected}`)];
    const unknown = Object.keys(names).filter((name) => !known.includes(name));
    return unknown.map((name) => at([operation, name], `expected one of ${known.join(', ')}`));
  });
}

function pagedLists(): string[] {
  return allEndpoints().flatMap(({ id, list }) => (list?.paging === undefined ? [] : [id]));
}

/** The fields of each list whose records land, or whose files are copied. */
function fieldsRead(): Map<string, readonly string[]> {
  const landed = landedNames.map((name) => [pullStreams[name].list.id, pullStreams[name].record.fields] as const);
  const { listDocuments, listOffers } = contract.onboarding;
  const copied = [listDocuments, listOffers].map(({ id, list }) => [id, Object.keys(list.item.out.shape)] as const);
  return new Map([...landed, ...copied]);
}

/** Names of an operation's query parameters, paging included; undefined if the operation is unknown or takes none. */
function queryNamesOf(operation: string): string[] | undefined {
  const query = allEndpoints().find(({ id }) => id === operation)?.query;
  return query instanceof z.ZodObject ? Object.keys(query.shape) : undefined;
}

/** Names in an operation's body, and in the records of its lists. */
function bodyNamesOf(operation: string): string[] | undefined {
  const body = allEndpoints().find(({ id }) => id === operation)?.body;
  return body === undefined ? undefined : namesIn(body);
}

function namesIn(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodOptional) return namesIn(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) return namesIn(schema.element as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries<z.ZodType>(schema.shape).flatMap(([name, field]) => {
    const inner = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field;
    return [name, ...(inner instanceof z.ZodArray ? namesIn(inner) : [])];
  });
}
