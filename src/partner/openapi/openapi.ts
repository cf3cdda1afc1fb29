/** The OpenAPI 3.1.0 document as a fold over the contract tree (section 9, rule 4). */

import { z } from 'zod';
import { assumptions } from '../contract/assumptions.ts';
import type { ErrorCase } from '../contract/endpoint.ts';
import { EventEnvelope, events } from '../contract/events.ts';
import { type AnyEndpoint, allEndpoints } from '../contract/index.ts';

export interface Addresses {
  /** Base URLs, ending in /v1/partner. */
  production: string;
  sandbox: string;
}

/** The specification names no address: these are placeholders under a reserved domain. */
export const placeholderAddresses: Addresses = {
  production: 'https://api.partner.invalid/v1/partner',
  sandbox: 'https://sandbox.partner.invalid/v1/partner',
};

/** The whole document as plain JSON. Error: two operations or two schemas of one name. */
export function openApiDocument(
  addresses: Partial<Addresses> = {},
  endpoints: readonly AnyEndpoint[] = allEndpoints(),
): Json {
  const components: Components = new Map(Object.entries(errorSchemas));
  const paths = pathsOf(endpoints, components);
  const webhooks = webhooksOf(components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Recruitment Partner API',
      version: '1.0.0',
      summary: 'Partner interface of a hiring platform, as hirebridge reads its specification.',
      description:
        'Operations marked `x-assumed` rest on overrides of questions that the specification leaves open; ' +
        'each names the question and the reading chosen. Responses may carry more keys than shown.',
      contact: { name: 'hirebridge' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: serversOf(addresses),
    security: [{ apiKey: [] }],
    tags: tagsOf(endpoints),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'sk_live_ or sk_test_ and 22 base62 characters',
          description: 'Company-scoped API key: sk_live_ for production, sk_test_ for the sandbox (section 5).',
        },
        webhookKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Webhook-Key',
          description: 'Webhook secret of the dashboard; may be empty if none is set (section 6).',
        },
      },
      schemas: Object.fromEntries([...components].sort(([a], [b]) => a.localeCompare(b))),
    },
    'x-assumed': assumptions,
  };
}

function serversOf(addresses: Partial<Addresses>): Json[] {
  const { production, sandbox } = { ...placeholderAddresses, ...addresses };
  return [
    { url: production, description: 'Production (sk_live_ keys)' },
    { url: sandbox, description: 'Sandbox (sk_test_ keys)' },
  ];
}

function pathsOf(endpoints: readonly AnyEndpoint[], components: Components): Json {
  const paths: Record<string, Json> = {};
  const ids = new Set<string>();
  for (const endpoint of endpoints) {
    if (ids.has(endpoint.id)) throw new Error(`Two operations are called ${endpoint.id}.`);
    ids.add(endpoint.id);
    const path = openApiPath(endpoint.path);
    const item = (paths[path] ??= {});
    item[endpoint.method.toLowerCase()] = operationOf(endpoint, components);
  }
  return paths;
}

const tagNames: Record<string, string> = {
  pipelines: 'Pipelines and their stages',
  jobs: 'Jobs',
  candidates: 'Candidates and resume batches',
  jobCandidates: "Job candidates: a candidate's application to a job",
  customFields: 'Custom field definitions',
  customFieldValues: 'Custom field values',
  assessments: 'AI interview assessments, invitations and results',
  assessmentFlows: 'Multi-step assessment flows',
  bookingSchedules: 'Booking schedules, slots and links',
  bookings: 'Bookings',
  onboarding: 'Agentic onboarding',
  sites: 'Company sites',
  campaigns: 'Company outreach campaigns',
  users: 'Workspace users',
  teams: 'Workspace teams',
};

function tagsOf(endpoints: readonly AnyEndpoint[]): Json[] {
  const names = new Set(endpoints.map((endpoint) => endpoint.id.split('.')[0] ?? ''));
  return [...names].map((name) => ({ name, description: tagNames[name] ?? name }));
}

/** The 29 events of section 6, each with its data. */
function webhooksOf(components: Components): Json {
  jsonSchemaOf(EventEnvelope, 'output', components);
  const entries = Object.entries(events).map(([name, data]) => {
    const envelope = { $ref: '#/components/schemas/EventEnvelope' };
    const own = {
      type: 'object',
      properties: { event: { const: name }, data: jsonSchemaOf(data, 'output', components) },
    };
    const operation = {
      operationId: `event:${name}`.replace(/[^\w.]/g, '.'),
      summary: name,
      description: 'Section 6 of the specification.',
      security: [{ webhookKey: [] }],
      requestBody: { required: true, content: { 'application/json': { schema: { allOf: [envelope, own] } } } },
      responses: {
        '2XX': { description: 'Taken; any 2xx stops the retries.' },
        '4XX': { description: 'Not taken; retried after 200, 400 and 800 ms.' },
      },
      'x-section': '6',
    };
    return [name, { post: operation }];
  });
  return Object.fromEntries(entries);
}

/** One endpoint as an OpenAPI operation; named schemas are added to `components`. */
function operationOf(endpoint: AnyEndpoint, components: Components): Json {
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    tags: [endpoint.id.split('.')[0]],
    ...parametersOf(endpoint, components),
    ...requestBodyOf(endpoint, components),
    responses: { ...successesOf(endpoint, components), ...errorResponses(endpoint.errors) },
    'x-section': endpoint.section,
    'x-envelope': endpoint.envelope,
    ...(endpoint.costsCredit ? { 'x-costs-credit': true } : {}),
    ...(endpoint.list?.paging ? { 'x-paging': endpoint.list.paging } : {}),
    ...assumedOf(endpoint),
  };
}

/** `/pipelines/:pipelineId` as `/pipelines/{pipelineId}`. */
function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function descriptionOf(endpoint: AnyEndpoint): string {
  const { paging } = endpoint.list ?? {};
  const sentences = [
    `Section ${endpoint.section} of the specification.`,
    endpoint.costsCredit ? 'Costs credits: do not repeat it unless you know that it did not happen.' : '',
    paging ? `Pages begin at ${paging.pageParam}=${paging.firstPage}.` : '',
    endpoint.chunk ? `Keep to ${endpoint.chunk.max} entries a call.` : '',
    endpoint.assumed?.length ? 'Rests on overrides, see x-assumed.' : '',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function parametersOf(endpoint: AnyEndpoint, components: Components): Json {
  const parameters = (['path', 'query'] as const).flatMap((place) => {
    const schema = place === 'path' ? endpoint.params : endpoint.query;
    if (!(schema instanceof z.ZodObject)) return [];
    return Object.entries(schema.shape).map(([name, field]) =>
      parameterOf(endpoint, place, name, field as z.ZodType, components),
    );
  });
  return parameters.length === 0 ? {} : { parameters };
}

function parameterOf(
  endpoint: AnyEndpoint,
  place: 'path' | 'query',
  name: string,
  field: z.ZodType,
  components: Components,
): Json {
  const schema = jsonSchemaOf(field, 'output', components);
  const required = place === 'path' || !field.safeParse(undefined).success;
  const list = schema['type'] === 'array' ? { style: 'form', explode: false } : {};
  return { name, in: place, description: parameterText(endpoint, place, name), required, schema, ...list };
}

/** A parameter's description: how the pages are counted, or its allowed words. */
function parameterText(endpoint: AnyEndpoint, place: 'path' | 'query', name: string): string {
  const { paging } = endpoint.list ?? {};
  if (name === paging?.pageParam) return `Page, counted from ${String(paging.firstPage)}.`;
  if (name === paging?.sizeParam) return 'Records a page.';
  const words = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return place === 'path' ? `Path: ${words}.` : `Query: ${words}.`;
}

function requestBodyOf(endpoint: AnyEndpoint, components: Components): Json {
  if (endpoint.body === undefined) return {};
  const schema = jsonSchemaOf(endpoint.body, 'input', components);
  return { requestBody: { required: endpoint.bodyOptional !== true, content: { 'application/json': { schema } } } };
}

function successesOf(endpoint: AnyEndpoint, components: Components): Json {
  const schema = jsonSchemaOf(endpoint.response, 'output', components);
  if (endpoint.list) {
    const items = jsonSchemaOf(endpoint.list.item, 'output', components);
    placeItems(schema, endpoint.list.itemsAt.split('.'), items);
  }
  const response = { description: endpoint.summary, content: { 'application/json': { schema } } };
  return Object.fromEntries((endpoint.okStatuses ?? [endpoint.status]).map((status) => [String(status), response]));
}

/** The contract reads a list's items one by one; the document shows them in their place. */
function placeItems(schema: Json, path: readonly string[], items: Json): void {
  const [key, ...rest] = path;
  const field = key === undefined ? undefined : ((schema['properties'] as Json | undefined)?.[key] as Json | undefined);
  if (field === undefined) throw new Error(`No list at ${path.join('.')} in the response schema.`);
  if (rest.length > 0) placeItems(field, rest, items);
  else field['items'] = items;
}

function assumedOf(endpoint: AnyEndpoint): Json {
  if (!endpoint.assumed?.length) return {};
  const known: Record<string, unknown> = assumptions;
  return {
    'x-assumed': endpoint.assumed.map((question) => ({ question, ...(known[question] as Json) })),
  };
}

const text = { type: 'string' };
const code = { type: 'string', examples: ['INVALID_REQUEST'] };

/** The bodies of sections 5 and 7, by the shape an error case names. */
const errorSchemas: Record<string, Json> = {
  Error: {
    type: 'object',
    description: 'Canonical error body (section 7).',
    properties: {
      error: {
        type: 'object',
        properties: {
          code,
          type: text,
          message: text,
          details: { type: 'object', description: 'Field to message, or the numbers of a credit error.' },
        },
        required: ['code', 'type', 'message'],
      },
    },
    required: ['error'],
  },
  KeyError: {
    type: 'object',
    description: 'Flat body for a key that is not accepted (section 5, rule 5).',
    properties: { message: { type: 'string', examples: ['Invalid API key'] } },
    required: ['message'],
  },
  AccountError: {
    type: 'object',
    description: 'Flat body for an inactive subscription (section 5, rule 6).',
    properties: { code: { type: 'string', const: 'ACCOUNT_INACTIVE' }, message: text },
    required: ['code', 'message'],
  },
  WorkspaceError: {
    type: 'object',
    description: 'Flat body of users and teams (section 7).',
    properties: { statusCode: { type: 'integer' }, code, type: text, errorMessage: text },
    required: ['statusCode', 'code', 'type', 'errorMessage'],
  },
};

const schemaOfShape = { auth: 'KeyError', account: 'AccountError', workspace: 'WorkspaceError', canonical: 'Error' };

/** OpenAPI responses for the errors of an endpoint, one per status. */
function errorResponses(errors: readonly ErrorCase[]): Json {
  const byStatus = Map.groupBy(errors, (error) => error.status);
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, cases]) => [String(status), errorResponse(cases)]),
  );
}

function errorResponse(cases: readonly ErrorCase[]): Json {
  const names = [...new Set(cases.map((error) => schemaOfShape[error.shape ?? 'canonical']))];
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return {
    description: cases.map((error) => `${error.code}: ${error.when}`).join('. '),
    content: { 'application/json': { schema: refs.length === 1 ? refs[0] : { anyOf: refs } } },
    'x-errors': cases.map(({ code, type, when }) => ({ code, type, when })),
  };
}

type Json = { [key: string]: unknown };

/** Shared schemas of the document: those with an id in the contract, each written once. */
type Components = Map<string, Json>;

/**
 * JSON Schema 2020-12 of a contract schema; named parts go to `components` and are referred to.
 * `input` is what a caller writes, `output` what the service answers.
 * Error: two schemas of one name that differ.
 */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', components: Components): Json {
  const made = tidy(z.toJSONSchema(schema, { io, target: 'draft-2020-12' })) as Json;
  const { $schema: _dialect, $defs, ...own } = made;
  for (const [id, definition] of Object.entries(($defs ?? {}) as Json))
    addComponent(components, id, definition as Json);
  return own;
}

function addComponent(components: Components, id: string, definition: Json): void {
  const known = components.get(id);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition))
    throw new Error(`Two different schemas are called ${id}: give one of them another id in the contract.`);
  components.set(id, definition);
}

/**
 * Refers to components instead of $defs and leaves out the bounds of safe integers, which are zod's and not the spec's.
 */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, entry]) => !(Math.abs(Number(entry)) === Number.MAX_SAFE_INTEGER && /^(min|max)imum$/.test(key)))
    .filter(([key]) => key !== 'id' || !('$id' in value))
    .map(([key, entry]) => [key, key === '$ref' ? componentRef(String(entry)) : tidy(entry)]);
  return Object.fromEntries(entries);
}

function componentRef(ref: string): string {
  return ref.replace('#/$defs/', '#/components/schemas/');
}
