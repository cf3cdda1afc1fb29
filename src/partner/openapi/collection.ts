/**
 * The request collection (Postman v2.1, also read by newman) as a fold over the contract tree, with its environments.
 */
import { type AnyEndpoint, allEndpoints } from '../contract/index.ts';
import { type Addresses, placeholderAddresses } from './openapi.ts';

/**
 * The bodies of the collection's requests, and the parts of an answer that they remember for later ones. `{{name}}` is
 * a variable as text, `{{#name}}` a variable as a number in the JSON.
 */
interface Example {
  query?: Record<string, string>;
  body?: unknown;
  /** Variable to dotted path in the answer's body. */
  remember?: Record<string, string>;
}

/** Ids that a dashboard makes may be missing in a fresh company: such requests may answer a documented refusal. */
const UNKNOWN_ID = 'unknown';

const person = { firstName: 'Ada', lastName: 'Example' };

const collectionExamples: Record<string, Example> = {
  'pipelines.list': { remember: { pipelineId: 'data.0.id', newStageId: 'data.0.stages.0.id' } },
  'pipelines.create': { body: { name: 'Collection pipeline' } },
  'pipelines.rename': { body: { name: 'Collection pipeline, renamed' } },
  'pipelines.saveStage': {
    body: { pipelineId: '{{#pipelineId}}', name: 'Collection stage', type: 'SCREEN' },
    remember: { stageId: 'data.id' },
  },
  'pipelines.deleteStage': { body: { pipelineId: '{{#pipelineId}}', newStageId: '{{#newStageId}}' } },
  'jobs.list': { query: { pageNumber: '1', perPage: '10' } },
  'jobs.create': {
    body: { title: 'Collection job', city: 'Manila', state: '', country: 'Philippines', status: 'ACTIVE' },
    remember: { jobId: 'id' },
  },
  'candidates.add': {
    body: {
      email: 'collection.{{run}}@example.org',
      ...person,
      city: 'Manila',
      country: 'Philippines',
      educations: [],
      workExperiences: [],
      jobId: '{{#jobId}}',
      shouldParseResume: false,
    },
    remember: { candidateId: 'data.id', jobCandidateId: 'data.jobCandidateId', entityId: 'data.id' },
  },
  'candidates.list': { query: { pageNumber: '0', perPage: '10' } },
  'candidates.update': { body: { currentJobTitle: 'Engineer' } },
  'candidates.uploadResumes': {
    body: { resumeURLs: ['https://files.example.org/resume.pdf'] },
    remember: { batchId: 'data.batchId' },
  },
  'candidates.getBatch': { query: { page: '1', perPage: '10' } },
  'candidates.bulkFetch': { body: { candidateIds: ['{{#candidateId}}'] } },
  'jobCandidates.bulkFetch': { body: { jobCandidateIds: ['{{#jobCandidateId}}'] } },
  'jobCandidates.rescore': { body: { jobId: '{{#jobId}}' }, remember: { rescoreId: 'data.rescoreId' } },
  'jobCandidates.uploadResumes': {
    body: { jobId: '{{#jobId}}', resumeURLs: ['https://files.example.org/resume.pdf'] },
  },
  'jobCandidates.listByJob': { query: { pageNumber: '1', perPage: '10' } },
  'jobCandidates.listByStageType': { query: { stageType: 'SOURCED', perPage: '10' } },
  'jobCandidates.listByStage': { query: { perPage: '10' } },
  'jobCandidates.update': { body: { noticePeriod: '30 days' } },
  'jobCandidates.move': { body: { stageId: '{{#stageId}}' } },
  'customFields.list': { query: { entityType: 'candidate' } },
  'customFields.create': {
    body: { entityType: 'candidate', fieldLabel: 'Collection field', fieldType: 'text' },
    remember: { customFieldId: 'data.id' },
  },
  'customFields.update': { body: { description: 'Made by the request collection' } },
  'customFieldValues.list': { query: { entityType: 'candidate', entityId: '{{candidateId}}' } },
  'customFieldValues.upsert': {
    body: {
      customFieldId: '{{customFieldId}}',
      entityType: 'candidate',
      entityId: '{{#candidateId}}',
      value: 'set by the collection',
    },
    remember: { valueId: 'data.id' },
  },
  'customFieldValues.upsertBulk': {
    body: [
      {
        customFieldId: '{{customFieldId}}',
        entityType: 'candidate',
        entityId: '{{#candidateId}}',
        value: 'set in bulk',
      },
    ],
    remember: { valueId: 'data.0.id' },
  },
  'assessments.list': { query: { pageNumber: '1', perPage: '10' } },
  'assessments.createAudioInterview': {
    body: {
      title: 'Collection interview',
      hiringForRole: 'Engineer',
      purposeOfInterview: 'To see that the collection works',
    },
    remember: { assessmentId: 'data.assessmentId' },
  },
  'assessments.update': { body: { duration: 25 } },
  'assessments.addQuestion': { body: { question: 'Why this collection?' }, remember: { questionId: 'data.id' } },
  'assessments.updateQuestion': { body: { idealAnswer: 'Because it runs.' } },
  'assessments.autoGenerate': { body: { purpose: 'To see that the collection works', role: 'Engineer', duration: 15 } },
  'assessments.generateQuestions': { body: { jobDescription: 'An engineer who likes collections' } },
  'assessments.invite': { body: { ...person, emailAddress: 'collection.invite.{{run}}@example.org' } },
  'assessments.inviteBulk': {
    body: {
      candidates: [{ ...person, emailAddress: 'collection.bulk.{{run}}@example.org', externalRef: 'collection' }],
    },
    remember: { inviteBatchId: 'data.batchId' },
  },
  'assessments.listCandidates': {
    query: { pageNumber: '1', perPage: '10' },
    remember: { submissionId: 'data.0.submissionId' },
  },
  'assessmentFlows.create': {
    body: { flowName: 'Collection flow', steps: [{ assessmentId: '{{assessmentId}}', passThreshold: 50 }] },
    remember: { id: 'data.id' },
  },
  'assessmentFlows.update': { body: { description: 'Made by the request collection' } },
  'assessmentFlows.listCandidates': { query: { page: '1', perPage: '10' } },
  'assessmentFlows.assign': { body: { email: 'collection.flow.{{run}}@example.org', ...person } },
  'bookingSchedules.list': {
    query: { scheduleProfile: 'INTERVIEW' },
    remember: { bookingScheduleId: 'data.0.id' },
  },
  'bookingSchedules.listSlots': {
    query: { from: '{{today}}', to: '{{nextWeek}}' },
    remember: { slotStartAt: 'data.0.startAt' },
  },
  'bookingSchedules.createLink': { body: { entityType: 'JOB_CANDIDATE', entityId: '{{jobCandidateId}}' } },
  'bookingSchedules.createBooking': {
    body: { entityType: 'JOB_CANDIDATE', entityId: '{{jobCandidateId}}', scheduledStartAt: '{{slotStartAt}}' },
  },
  'onboarding.listFlows': { query: { page: '1', limit: '20' }, remember: { flowId: 'data.flows.0.flowId' } },
  'onboarding.enrol': {
    body: { ...person, email: 'collection.{{run}}@example.org', externalRef: 'collection-{{run}}' },
    remember: { onboardingCandidateId: 'data.onboardingCandidateId' },
  },
  'onboarding.enrolBulk': { body: { candidates: [{ ...person, email: 'collection.bulk.{{run}}@example.org' }] } },
  'onboarding.listCandidates': { query: { externalRef: 'collection-{{run}}' } },
  'onboarding.listDocuments': { remember: { documentId: 'data.documents.0.documentId' } },
  'onboarding.setExternalStatus': { body: { status: 'ACTIVE', employeeId: 'E-{{run}}' } },
  'onboarding.terminate': { body: { reason: 'end of the collection' } },
  'onboarding.listOffers': { query: { page: '1', limit: '20' }, remember: { offerId: 'data.offers.0.offerId' } },
  'sites.list': { remember: { companySiteId: 'sites.0.id' } },
  'campaigns.list': { query: { page: '1', limit: '20' }, remember: { campaignId: 'campaigns.0.id' } },
  'campaigns.create': {
    body: {
      title: 'Collection campaign',
      timezone: 'Asia/Manila',
      companySiteId: '{{#companySiteId}}',
      phoneNumber: '{{verifiedPhone}}',
      openingMessage: 'Hello',
      closingMessage: 'Goodbye',
      purposeType: 'ASSESSMENT_REMINDER',
    },
    remember: { campaignId: 'campaign.id' },
  },
  'campaigns.addLeads': { body: { leads: [{ firstName: 'Ada', phone: '+639170000001' }] } },
  'users.list': { query: { page: '1', perPage: '20' }, remember: { userId: 'data.0.id' } },
  'teams.list': { remember: { teamId: 'data.0.id' } },
};

type Json = { [key: string]: unknown };

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** The collection; its requests run in order: each remembers the ids that the next ones need, removals come last. */
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

/** In the contract's order, but after the request that remembers their ids (a record is created before it is read). */
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

/** One environment per server, importable beside the collection. */
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
