import { z } from 'zod';
import type { AnyEndpoint } from '../../src/partner/contract/index.ts';
import {
  codeFacts,
  type EnumerationFact,
  endpointFacts,
  enumerationFacts,
  eventFacts,
  limitFacts,
  pageFacts,
} from './facts.ts';

/** What is compared: the contract, or a copy of it with one thing changed. */
export interface Api {
  endpoints: readonly AnyEndpoint[];
  codes: Readonly<Record<string, { type: string; status: number; assumed?: boolean }>>;
  eventNames: readonly string[];
}

type Json = Record<string, unknown>;

/** Every way in which the API differs from the facts, one sentence each; empty when there is none. */
export function differences(api: Api): string[] {
  const byRoute = new Map(api.endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]));
  const find = (route: string) => byRoute.get(route);
  return [
    ...routeDifferences(api, byRoute),
    ...endpointFacts.flatMap((fact) => endpointDifferences(find(`${fact.method} ${fact.path}`), fact)),
    ...pageFacts.flatMap((fact) => pageDifferences(find(fact.endpoint), fact)),
    ...enumerationFacts.flatMap((fact) => enumerationDifferences(find, fact)),
    ...limitFacts.flatMap((fact) => limitDifferences(find(fact.endpoint), fact)),
    ...codeDifferences(api, find),
    ...listDifferences('event', eventFacts, api.eventNames),
  ];
}

function routeDifferences(api: Api, byRoute: Map<string, AnyEndpoint>): string[] {
  const facts = endpointFacts.map((fact) => `${fact.method} ${fact.path}`);
  const repeated = api.endpoints.length - byRoute.size;
  return [...listDifferences('route', facts, [...byRoute.keys()]), ...(repeated ? [`${repeated} routes twice`] : [])];
}

function endpointDifferences(endpoint: AnyEndpoint | undefined, fact: (typeof endpointFacts)[number]): string[] {
  if (!endpoint) return [];
  const statuses = endpoint.okStatuses ?? [endpoint.status];
  const shape = familyOfSchema(endpoint);
  return [
    ...(endpoint.section === fact.section ? [] : [`${endpoint.id}: section ${endpoint.section}, not ${fact.section}`]),
    ...(endpoint.status === fact.statuses[0]
      ? []
      : [`${endpoint.id}: status ${endpoint.status}, not ${fact.statuses[0]}`]),
    ...fact.statuses
      .filter((status) => !statuses.includes(status))
      .map((status) => `${endpoint.id}: no status ${status}`),
    ...(fact.family === undefined || endpoint.envelope === fact.family
      ? []
      : [`${endpoint.id}: envelope ${endpoint.envelope}`]),
    ...(fact.family === undefined || shape === fact.family
      ? []
      : [`${endpoint.id}: answers as ${shape}, not ${fact.family}`]),
  ];
}

/** The family a response schema really is of, by the keys at its top. */
function familyOfSchema(endpoint: AnyEndpoint): string {
  const keys = Object.keys(properties(jsonOf(endpoint.response)));
  if (keys.includes('status') && (keys.includes('data') || keys.includes('message'))) return 'status-data';
  if (keys.includes('success') && keys.includes('data')) return 'success-data';
  return keys.some((key) => ['campaign', 'campaigns', 'leads', 'sites'].includes(key)) ? 'campaign' : 'bare';
}

function pageDifferences(endpoint: AnyEndpoint | undefined, fact: (typeof pageFacts)[number]): string[] {
  const paging = endpoint?.list?.paging;
  if (!endpoint || !paging) return endpoint ? [`${endpoint.id}: no pages`] : [];
  const query = endpoint.query?.safeParse({}).data as Json | undefined;
  const end = typeof paging.end === 'object' && 'totalAt' in paging.end ? paging.end.totalAt : 'elsewhere';
  return [
    ...(paging.pageParam === fact.pageParam ? [] : [`${endpoint.id}: page parameter ${paging.pageParam}`]),
    ...(paging.sizeParam === fact.sizeParam ? [] : [`${endpoint.id}: size parameter ${paging.sizeParam}`]),
    ...(paging.firstPage === fact.firstPage ? [] : [`${endpoint.id}: first page ${paging.firstPage}`]),
    ...(query?.[fact.pageParam] === fact.firstPage
      ? []
      : [`${endpoint.id}: default page ${String(query?.[fact.pageParam])}`]),
    ...(query?.[fact.sizeParam] === fact.defaultSize
      ? []
      : [`${endpoint.id}: default size ${String(query?.[fact.sizeParam])}`]),
    ...(fact.end === undefined || end === fact.end ? [] : [`${endpoint.id}: total at ${end}`]),
  ];
}

function enumerationDifferences(find: (route: string) => AnyEndpoint | undefined, fact: EnumerationFact): string[] {
  return fact.at.flatMap(({ endpoint: route, part, field }) => {
    const endpoint = find(route);
    if (!endpoint) return [];
    const schema = part === 'item' ? endpoint.list?.item : endpoint[part];
    const known = schema ? valuesAt(jsonOf(schema, part === 'body' ? 'input' : 'output'), field.split('.')) : [];
    return listDifferences(`${endpoint.id} ${part} ${field}`, fact.values, known);
  });
}

function limitDifferences(endpoint: AnyEndpoint | undefined, fact: (typeof limitFacts)[number]): string[] {
  if (!endpoint) return [];
  const schema = endpoint[fact.part];
  const takes = (value: unknown) => schema?.safeParse(value).success ?? false;
  return [
    ...fact.accepts
      .filter((value) => !takes(value))
      .map((value) => `${endpoint.id}: ${fact.what} refuses ${brief(value)}`),
    ...fact.refuses.filter(takes).map((value) => `${endpoint.id}: ${fact.what} accepts ${brief(value)}`),
  ];
}

function codeDifferences(api: Api, find: (route: string) => AnyEndpoint | undefined): string[] {
  const named = Object.entries(api.codes).filter(([, { assumed }]) => !assumed);
  const own = codeFacts.flatMap((fact) => {
    const code = api.codes[fact.code];
    if (!code) return [];
    const silent = fact.at.filter((route) => {
      const errors = find(route)?.errors ?? [];
      return find(route) && !errors.some((error) => error.code === fact.code && error.status === fact.status);
    });
    return [
      ...(code.status === fact.status ? [] : [`${fact.code}: status ${code.status}, not ${fact.status}`]),
      ...(fact.type === undefined || code.type === fact.type
        ? []
        : [`${fact.code}: type ${code.type}, not ${fact.type}`]),
      ...silent.map((route) => `${route}: does not list ${fact.code}`),
      ...(api.endpoints.some(({ errors }) => errors.some((error) => error.code === fact.code))
        ? []
        : [`${fact.code}: listed nowhere`]),
    ];
  });
  const codes = codeFacts.map((fact) => fact.code);
  return [
    ...listDifferences(
      'code',
      codes,
      named.map(([code]) => code),
    ),
    ...own,
  ];
}

function listDifferences(what: string, facts: readonly string[], found: readonly string[]): string[] {
  return [
    ...facts.filter((fact) => !found.includes(fact)).map((fact) => `${what}: ${fact} is missing`),
    ...found.filter((value) => !facts.includes(value)).map((value) => `${what}: ${value} is no fact`),
  ];
}

function jsonOf(schema: z.ZodType, io: 'input' | 'output' = 'output'): Json {
  return inlined(z.toJSONSchema(schema, { io }) as Json);
}

/** The schema with its $refs replaced; our schemas do not refer to themselves. */
function inlined(root: Json): Json {
  const defs = (root['$defs'] ?? {}) as Json;
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const ref = (value as Json)['$ref'];
    if (typeof ref === 'string') return walk(defs[ref.replace('#/$defs/', '')]);
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, key === '$defs' ? {} : walk(entry)]));
  };
  return walk(root) as Json;
}

/** Alternatives of a schema that are not null, so that nullable and plain are read alike. */
function alternatives(schema: Json): Json[] {
  return Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Json[]).flatMap(alternatives) : [schema];
}

function properties(schema: Json): Json {
  return (alternatives(schema).find((option) => option['properties'])?.['properties'] ?? {}) as Json;
}

function valuesAt(schema: Json, path: readonly string[]): string[] {
  const options = alternatives(schema);
  const items = options.map((option) => option['items']).find((entry) => entry !== undefined);
  if (items) return valuesAt(items as Json, path);
  const [key, ...rest] = path;
  if (key !== undefined) {
    const field = properties(schema)[key];
    return field === undefined ? [] : valuesAt(field as Json, rest);
  }
  return options.flatMap((option) => (option['enum'] ?? option['x-known-values'] ?? []) as string[]);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
