import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import { draftFromOpenApi } from '../../src/hris-kit/draft-openapi.ts';
import { draftFromScim } from '../../src/hris-kit/draft-scim.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { GENERATED, json, query } from './generated-documents.ts';
import { startKestrel } from './open-kestrel.ts';
import { refusal } from './profile.ts';
import { SCIM_TOKEN, type ScimServer, startScimServer } from './scim-server.ts';

let scim: ScimServer;
beforeAll(async () => {
  scim = await startScimServer();
});
afterAll(() => scim?.close());

const PERSON = {
  type: 'object',
  required: ['first_name', 'last_name', 'hired_on'],
  properties: {
    id: { type: 'string', readOnly: true },
    employee_number: { type: 'string', readOnly: true },
    first_name: { type: 'string', maxLength: 40 },
    last_name: { type: 'string' },
    hired_on: { type: 'string', format: 'date' },
    external_id: { type: 'string' },
    status: { type: 'string', enum: ['active', 'terminated'] },
    version: { type: 'integer', readOnly: true },
    updated_at: { type: 'string', format: 'date-time', readOnly: true },
    contact: { allOf: [{ $ref: '#/components/schemas/Contact' }] },
    skills: { type: 'array', items: { type: 'string' } },
  },
};

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Acme HR' },
  servers: [{ url: 'https://hr.acme.example/api/v2' }],
  paths: {
    '/companies/{company}/employees': {
      get: {
        parameters: ['page', 'per_page', 'email', 'external_id', 'updated_since'].map(query),
        responses: {
          200: json({
            type: 'object',
            properties: { employees: { type: 'array', items: PERSON }, total: { type: 'integer' } },
          }),
        },
      },
      post: {
        requestBody: json({ properties: { employee: PERSON } }),
        responses: { 201: json({ properties: { employee: PERSON } }) },
      },
    },
    '/companies/{company}/employees/{number}': {
      get: { responses: { 200: json({ properties: { employee: PERSON } }) } },
      patch: {
        parameters: [{ in: 'header', name: 'If-Match' }],
        requestBody: json({ properties: { employee: PERSON } }),
        responses: {},
      },
      delete: { responses: {} },
    },
    '/tasks': { get: { responses: {} }, post: { responses: {} } },
    '/tasks/{id}': { get: { responses: {} } },
    '/me': { get: { responses: {} } },
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
    schemas: {
      Contact: {
        type: 'object',
        properties: { 'private-email': { type: 'string' }, mobile_phone: { type: 'string' } },
      },
    },
  },
};

function problemsOf(definition: object): string[] {
  return loadDefinition('draft.yaml', stringify(definition)).problems.map(({ text }) => text);
}

test('an OpenAPI document gives a definition that loads', () => {
  const { definition, notes } = draftFromOpenApi(JSON.stringify(DOCUMENT));
  expect(problemsOf(definition)).toEqual([]);
  const collection = '/companies/{options.company}/employees';
  expect(definition).toMatchObject({
    name: 'Acme HR',
    options: { company: {}, apiKey: { secret: true } },
    auth: { headers: { 'X-Api-Key': '{options.apiKey}' } },
    record: { id: 'id', number: 'employee_number', reference: 'external_id', former: 'status = "terminated"' },
    fields: {
      givenName: { at: 'first_name', required: true, maxLength: 40 },
      familyName: { at: 'last_name', required: true },
      startDate: { at: 'hired_on', type: 'date', required: true },
      email: { at: 'contact.private-email' },
      phone: { at: 'contact.mobile_phone' },
      status: { options: ['active', 'terminated'] },
      skills: { type: 'list' },
    },
    find: {
      reference: { get: collection, query: { external_id: '{value}' }, items: 'employees' },
      email: { query: { email: '{value | lower}' } },
      all: {
        query: { page: '{page.number}', per_page: '{page.size}' },
        paging: { by: 'page', first: 1, size: 100, total: 'total' },
      },
    },
    read: { get: `${collection}/{id}`, item: 'employee' },
    create: { post: collection, body: { employee: '{record}' }, item: 'body.employee' },
    update: { patch: `${collection}/{id}`, headers: { 'if-match': '{version}' } },
    remove: { delete: `${collection}/{id}` },
    changes: { query: { updated_since: '{since}' }, stamp: 'updated_at' },
    probe: { get: '/me' },
  });
  expect(definition['fields']).not.toHaveProperty('version');
  expect(notes.join('\n')).toMatch(/hris\.url, which the document gives as https:\/\/hr\.acme\.example\/api\/v2/);
  expect(notes.join('\n')).toMatch(/"terminate" and "rehire"/);
});

test.each([
  [
    'another collection',
    { path: '/tasks', drop: 'x-nothing' },
    { read: { get: '/tasks/{id}' }, fields: { givenName: { at: 'givenName' } } },
  ],
  ['no way in', { path: undefined, drop: 'components' }, { auth: { bearer: '{options.token}' } }],
])('%s: what the document does not show is a guess with a note, and still loads', (_what, { path, drop }, expected) => {
  const document = { ...DOCUMENT, [drop]: {} };
  const { definition, notes } = draftFromOpenApi(JSON.stringify(document), path);
  expect(problemsOf(definition)).toEqual([]);
  expect(definition).toMatchObject(expected);
  expect(notes.length).toBeGreaterThan(4);
});

test.each([
  ['oauth/token', '/oauth/token'],
  ['/oauth/token', '/oauth/token'],
  ['https://login.acme.example/oauth/token', 'https://login.acme.example/oauth/token'],
  ['https://hr.acme.example/api/v2/oauth/token', '/oauth/token'],
  ['https://[nowhere', '/'],
])(
  'the token endpoint %s continues hris.url, or is a whole address, in a definition that loads',
  (tokenUrl, tokenPath) => {
    const securitySchemes = { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl } } } };
    const { definition } = draftFromOpenApi(JSON.stringify({ ...DOCUMENT, components: { securitySchemes } }));
    expect(problemsOf(definition)).toEqual([]);
    expect(definition).toMatchObject({ auth: { oauth2: { tokenPath } } });
  },
);

test('a version in a header, a PUT that takes less than is shown, and a create elsewhere are seen', () => {
  const { '/companies/{company}/employees': list, '/companies/{company}/employees/{number}': item } = DOCUMENT.paths;
  const tagged = { ...json({ properties: { employee: PERSON } }), headers: { ETag: { schema: { type: 'string' } } } };
  const { version: _version, ...properties } = PERSON.properties;
  const paths = {
    '/hires': { post: {} },
    '/employees': { get: list.get },
    '/employees/{id}': {
      get: { responses: { 200: { ...tagged, ...json({ properties: { employee: { ...PERSON, properties } } }) } } },
      put: { ...item.patch, requestBody: json({ properties: { employee: { ...PERSON, properties } } }) },
    },
  };
  const { definition, notes } = draftFromOpenApi(JSON.stringify({ ...DOCUMENT, paths }));
  expect(problemsOf(definition)).toEqual([]);
  expect(definition).toMatchObject({
    fields: { givenName: { at: 'first_name' }, startDate: { at: 'hired_on', type: 'date' } },
    read: { get: '/employees/{id}', item: 'employee', version: 'headers.etag' },
    update: {
      put: '/employees/{id}',
      as: 'put',
      without: ['id', 'employee_number', 'updated_at'],
      headers: { 'if-match': '{version}' },
    },
  });
  expect(notes.join('\n')).toMatch(/"create": the document shows no POST to \/employees.*: \/hires/);
});

test.each(Object.entries(GENERATED))('%s', (_what, { document, says, notes }) => {
  const draft = draftFromOpenApi(JSON.stringify(document));
  expect(problemsOf(draft.definition)).toEqual([]);
  expect(draft.definition).toMatchObject(says);
  for (const note of notes) expect(draft.notes.join('\n')).toMatch(note);
  expect(JSON.stringify(draft.definition['fields'])).not.toMatch(/odata|"employees"|workEmail":.*"email"/);
});

test.each([
  ['{"hello": 1}', /not an OpenAPI document/],
  ['a: [', /not an OpenAPI document/],
  [
    JSON.stringify({ openapi: '3.1.0', paths: { '/jobs': { post: {} }, '/jobs/{id}': {} } }),
    /Name it with --path\. Known: \/jobs\./,
  ],
])('%s is refused', async (text, message) => {
  expect(await refusal(Promise.resolve().then(() => draftFromOpenApi(text)))).toMatchObject({
    code: 'OPENAPI_UNREADABLE',
    message: expect.stringMatching(message),
  });
});

test("a SCIM server's own schemas give a definition that loads", async () => {
  const { definition, notes } = await draftFromScim(scim.url, { token: SCIM_TOKEN, allowPrivate: true });
  expect(problemsOf(definition)).toEqual([]);
  expect(definition).toMatchObject({ fields: { nickName: { at: 'nickName' }, userName: { required: true } } });
  expect(notes.join('\n')).toContain('no versions');
});

test('a SCIM server without the enterprise extension gives a definition that loads', async () => {
  const user = { id: 'urn:ietf:params:scim:schemas:core:2.0:User', attributes: [] };
  const bare = createServer(({ url }, response) => {
    const config = { filter: { supported: true }, patch: { supported: true } };
    response.end(JSON.stringify(url === '/Schemas' ? { Resources: [user] } : config));
  }).listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const url = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
  const { definition, notes } = await draftFromScim(url, { token: SCIM_TOKEN, allowPrivate: true });
  expect(problemsOf(definition)).toEqual([]);
  expect(definition['find']).not.toHaveProperty('number');
  expect(definition['find']).toHaveProperty('reference');
  expect(notes.join('\n')).toContain('no employee numbers');
  bare.close();
});

test('a SCIM server with cursors, versions and no filters keeps our reference', async () => {
  const config = { patch: { supported: true }, etag: { supported: true }, pagination: { cursor: true, index: false } };
  const url = await startKestrel(({ url: asked }, say) => say(200, asked === '/Schemas' ? { Resources: [] } : config));
  const { definition } = await draftFromScim(url, { token: SCIM_TOKEN, allowPrivate: true });
  expect(problemsOf(definition)).toEqual([]);
  expect(definition).toMatchObject({
    record: { reference: 'externalId' },
    // RFC 9865: an empty cursor asks for the first page.
    find: { all: { get: '/Users?cursor={page.cursor}', paging: { by: 'cursor', next: 'nextCursor' } } },
    remove: { headers: { 'if-match': '*' } },
  });
  expect(JSON.stringify(definition)).not.toContain('startIndex');
});

test('days written as times, enumerations without a type and fixed values (ASP.NET, NestJS) are seen', () => {
  const { '/companies/{company}/employees/{number}': item } = DOCUMENT.paths;
  const { properties } = PERSON;
  const person = {
    ...PERSON,
    required: ['$type'],
    properties: {
      ...properties,
      $type: { const: 'employee' },
      hired_on: { type: 'string', format: 'date-time' },
      status: { enum: ['Active', 'Terminated'] },
    },
  };
  const many = { properties: { items: { type: 'array', items: person } } };
  const paths = {
    '/employees': {
      get: { parameters: [query('take'), query('page')], responses: { 200: json(many) } },
      post: { requestBody: json(person), responses: { 201: json(person) } },
    },
    '/employees/{id}': { ...item, get: { responses: { 200: json(person) } } },
  };
  const { definition } = draftFromOpenApi(JSON.stringify({ ...DOCUMENT, paths }));
  expect(problemsOf(definition)).toEqual([]);
  expect(definition).toMatchObject({
    record: { former: 'status = "Terminated"' },
    fields: { startDate: { at: 'hired_on', type: 'date' } },
    find: { all: { query: { take: '{page.size}', page: '{page.number}' } } },
    create: { set: { '`$type`': 'employee' } },
  });
});

test('`hris init` writes what loads, says what is missing, and overwrites nothing', async () => {
  vi.stubEnv('SCIM_TOKEN', SCIM_TOKEN);
  const folder = await scratchFolder();
  const [document, file] = [join(folder, 'openapi.json'), join(folder, 'acme-hr.yaml')];
  await writeFile(document, JSON.stringify(DOCUMENT));
  const { code, stdout } = await runCommand(['hris', 'init', file, '--openapi', document]);
  expect(code).toBe(0);
  const text = await readFile(file, 'utf8');
  expect(loadDefinition(file, text).problems).toEqual([]);
  expect(text.split('\n').filter((line) => line.length > 120)).toEqual([]);
  expect(stdout).toContain('What it could not know:\n- ');
  const again = await runCommand(['hris', 'init', file, '--scim', scim.url, '--token', 'env:SCIM_TOKEN']);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('FILE_EXISTS') });
  expect(await readFile(file, 'utf8')).toBe(text);
  const flags = ['--scim', scim.url, '--token', 'env:SCIM_TOKEN'];
  const refused = await runCommand(['hris', 'init', join(folder, 'scim.yaml'), ...flags]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('PRIVATE_ADDRESS') });
  const scimmed = await runCommand(['hris', 'init', join(folder, 'scim.yaml'), ...flags, '--allow-private-address']);
  expect(scimmed.code).toBe(0);
});
