/**
 * The request collection (Postman v2.1, also read by newman) as a fold over the contract tree, with its environments.
 */
import { type AnyEndpoint, allEndpoints } from '../contract/index.ts';
import { collectionExamples, type Example, UNKNOWN_ID } from './collection-examples.ts';
import { type Addresses, placeholderAddresses } from './openapi.ts';

type Json = { [key: string]: unknown };

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** The collection; requests stand in an order that runs: each remembers the ids the next ones need, removals last. */
export function requestCollection(): Json {
  const endpoints = allEndpoints();
  const kept = endpoints.filter((endpoint) => !isRemoval(endpoint));
  const folders = [...Map.groupBy(kept, (endpoint) => endpoint.id.split('.')[0] ?? '')];
  return {
    info: {
      name: 'Recruitment Partner API',
      description: 'All endpoints of the partner API. Choose an environment and put your key in its variable apiKey.',
      schema: SCHEMA,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    event: [script('prerequest', prepare)],
    item: [
      ...folders.map(([name, own]) => ({ name, item: inWorkingOrder(own).map(requestOf) })),
      { name: 'removals', item: endpoints.filter(isRemoval).map(requestOf) },
    ],
  };
}

/**
 * As the contract has them, but after the request that remembers what they need (a record is made before it is read).
 */
function inWorkingOrder(endpoints: readonly AnyEndpoint[]): AnyEndpoint[] {
  const ordered: AnyEndpoint[] = [];
  const left = [...endpoints];
  while (left.length > 0) {
    const coming = new Set(left.flatMap(({ id }) => Object.keys(collectionExamples[id]?.remember ?? {})));
    const ready = left.findIndex((one) => neededBy(one).every((name) => !coming.has(name)));
    ordered.push(...left.splice(Math.max(ready, 0), 1));
  }
  return ordered;
}

/** The variables a request uses and does not fill itself. */
function neededBy(endpoint: AnyEndpoint): string[] {
  const example = collectionExamples[endpoint.id] ?? {};
  return variablesOf(endpoint, example).filter((name) => !Object.hasOwn(example.remember ?? {}, name));
}

/** One environment a server, importable beside the collection. */
export function collectionEnvironments(addresses: Partial<Addresses> = {}): Record<keyof Addresses, Json> {
  const urls = { ...placeholderAddresses, ...addresses };
  return {
    production: environment('Partner API, production', urls.production, 'sk_live_'),
    sandbox: environment('Partner API, sandbox', urls.sandbox, 'sk_test_'),
  };
}

function environment(name: string, baseUrl: string, prefix: string): Json {
  return {
    name,
    values: [
      { key: 'baseUrl', value: baseUrl, type: 'default', enabled: true },
      { key: 'apiKey', value: `${prefix}put-your-key-here`, type: 'secret', enabled: true },
    ],
    _postman_variable_scope: 'environment',
  };
}

function isRemoval(endpoint: AnyEndpoint): boolean {
  return endpoint.method === 'DELETE' || endpoint.id === 'onboarding.terminate';
}

function requestOf(endpoint: AnyEndpoint): Json {
  const example = collectionExamples[endpoint.id] ?? {};
  return {
    name: endpoint.id,
    event: [script('test', testOf(endpoint, example))],
    request: {
      method: endpoint.method,
      description: `${endpoint.summary}. Section ${endpoint.section}.`,
      header: example.body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }],
      url: urlOf(endpoint, example),
      ...(example.body === undefined ? {} : { body: { mode: 'raw', raw: rawBody(example.body) } }),
    },
  };
}

function urlOf(endpoint: AnyEndpoint, example: Example): Json {
  const segments = endpoint.path
    .slice(1)
    .split('/')
    .map((segment) => fillSegment(endpoint, segment));
  const query = Object.entries(example.query ?? {}).map(([key, value]) => ({ key, value }));
  const search = query.map(({ key, value }) => `${key}=${value}`).join('&');
  const raw = `{{baseUrl}}/${segments.join('/')}${search === '' ? '' : `?${search}`}`;
  return { raw, host: ['{{baseUrl}}'], path: segments, query };
}

/** Path parameters whose variable has another name, or a fixed value. */
const segmentValues: Record<string, string> = {
  'assessments.getInviteBatch:batchId': '{{inviteBatchId}}',
  'customFieldValues.removeByEntity:entityType': 'candidate',
};

function fillSegment(endpoint: AnyEndpoint, segment: string): string {
  if (!segment.startsWith(':')) return segment;
  return segmentValues[`${endpoint.id}${segment}`] ?? `{{${segment.slice(1)}}}`;
}

function rawBody(body: unknown): string {
  return JSON.stringify(body, null, 2).replace(/"\{\{#(\w+)\}\}"/g, '{{$1}}');
}

function script(listen: 'test' | 'prerequest', lines: readonly string[]): Json {
  return { listen, script: { type: 'text/javascript', exec: lines } };
}

/** A run has its own number, so that it can be repeated; ids that nothing remembered are `unknown`. */
const prepare = [
  "if (!pm.collectionVariables.get('run')) {",
  '  const day = 86400000;',
  "  pm.collectionVariables.set('run', String(Date.now()));",
  "  pm.collectionVariables.set('today', new Date().toISOString().slice(0, 10));",
  "  pm.collectionVariables.set('nextWeek', new Date(Date.now() + 7 * day).toISOString().slice(0, 10));",
  '}',
  `for (const name of ${JSON.stringify(variableNames())})`,
  `  if (pm.variables.get(name) === undefined) pm.collectionVariables.set(name, '${UNKNOWN_ID}');`,
];

/** Every variable that a request uses and that only an earlier answer, or the environment, can fill. */
function variableNames(): string[] {
  const given = ['run', 'today', 'nextWeek', 'baseUrl', 'apiKey'];
  const used = allEndpoints().flatMap((endpoint) => variablesOf(endpoint, collectionExamples[endpoint.id] ?? {}));
  return [...new Set(used)].filter((name) => !given.includes(name));
}

function variablesOf(endpoint: AnyEndpoint, example: Example): string[] {
  const text = JSON.stringify([urlOf(endpoint, example), example.body ?? null]);
  return [...text.matchAll(/\{\{#?(\w+)\}\}/g)].map((match) => match[1] ?? '');
}

/**
 * The status must be a success. Refusals that state alone explains (402 credits, 409) pass too, and any documented one
 * while an id that only the dashboard can make is unknown.
 */
function testOf(endpoint: AnyEndpoint, example: Example): string[] {
  const ok = endpoint.okStatuses ?? [endpoint.status];
  const documented = [...new Set(endpoint.errors.map((error) => error.status))].filter(isExplained);
  const byState = documented.filter((status) => status === 402 || status === 409);
  const remembered = Object.entries(example.remember ?? {});
  return [
    `const needs = ${JSON.stringify(variablesOf(endpoint, example))};`,
    `const unknown = needs.filter((name) => pm.variables.get(name) === '${UNKNOWN_ID}');`,
    `const expected = unknown.length > 0 ? ${JSON.stringify([...ok, ...documented])} : ` +
      `${JSON.stringify([...ok, ...byState])};`,
    `pm.test('${endpoint.id} answers as documented', () => pm.expect(pm.response.code).to.be.oneOf(expected));`,
    ...(remembered.length === 0 ? [] : ['if (pm.response.code < 300) {', '  const body = pm.response.json();']),
    ...remembered.map(([name, path]) => `  ${rememberLine(name, path)}`),
    ...(remembered.length === 0 ? [] : ['}']),
  ];
}

/** Refusals that an id nobody filled in explains; the key, the account, the rate and a failure do not. */
function isExplained(status: number): boolean {
  return [400, 402, 404, 409].includes(status);
}

function rememberLine(name: string, path: string): string {
  const read = `'${path}'.split('.').reduce((value, key) => (value == null ? value : value[key]), body)`;
  return `{ const value = ${read}; if (value != null) pm.collectionVariables.set('${name}', String(value)); }`;
}
