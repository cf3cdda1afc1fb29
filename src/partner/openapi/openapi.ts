/** The OpenAPI 3.1.0 document as a fold over the contract tree (section 9, rule 4). */
import { assumptions } from '../contract/assumptions.ts';
import { EventEnvelope, events } from '../contract/events.ts';
import { type AnyEndpoint, allEndpoints } from '../contract/index.ts';
import { errorSchemas } from './error-responses.ts';
import { type Components, type Json, jsonSchemaOf } from './json-schema.ts';
import { openApiPath, operationOf } from './operation.ts';

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
