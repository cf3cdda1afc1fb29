import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, openKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

const definitionOf = (as: string, fields: string): string => `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id }
fields: ${fields}
find: {}
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}", as: ${as} }
probe: { get: /me }
`;

const PHONE = 'phone: { at: contact.phone }';
const EMAIL = `email: { at: 'contact.emails[type="home"].value' }`;
const WORK = { type: 'work', value: 'ana@acme.example' };
const RECORD = { id: '1', contact: { phone: 'old', fax: '7', emails: [WORK, { type: 'home', value: 'old' }] } };
const WHOLE = { phone: 'new', fax: '7', emails: [WORK, { type: 'home', value: 'new' }] };

/** What an update of both fields sends. */
async function sentBy(as: string, fields: string): Promise<unknown> {
  let sent = '';
  const hris = await openKestrel(
    definitionOf(as, fields),
    async (asked, say) => {
      if (asked.method === 'PATCH') sent = await text(asked);
      say(200, RECORD);
    },
    { token: 'x' },
  );
  await hris.employees.update('1', { phone: 'new', email: 'new' }, write);
  expect((await hris.employees.read('1', signal))?.ref.id).toBe('1');
  return JSON.parse(sent);
}

test.for([
  ['merge', { contact: WHOLE }],
  ['json-patch', [{ op: 'add', path: '/contact', value: WHOLE }]],
  ['scim-patch', { Operations: [{ op: 'replace', path: 'contact', value: WHOLE }] }],
] as const)('%s: an item of a list and a value beside it are written without a loss', async ([as, expected]) => {
  for (const fields of [`{ ${PHONE}, ${EMAIL} }`, `{ ${EMAIL}, ${PHONE} }`]) {
    const sent = await sentBy(as, fields);
    expect(sent).toMatchObject(expected);
    if (as !== 'scim-patch') expect(sent).toEqual(expected);
  }
});

const BODY = 'create: { post: /staff, headers: { Content-Type: application/x-www-form-urlencoded } }';

test('names of headers have no case: a form is sent as a form, under one type', async () => {
  let sent = { body: '', types: [] as string[], accept: '' as unknown };
  const definition = definitionOf('merge', `{ ${PHONE.replace('contact.', '')} }`)
    .replace('create: { post: /staff }', BODY)
    .replace('record:', 'headers: { ACCEPT: application/vnd.kestrel+json }\nrecord:');
  const hris = await openKestrel(
    definition,
    async (asked, say) => {
      if (asked.method !== 'POST') return say(200, {});
      const types = asked.rawHeaders.filter((_text, at) => asked.rawHeaders[at - 1]?.toLowerCase() === 'content-type');
      sent = { body: await text(asked), types, accept: asked.headers.accept };
      return say(201, { id: '1' });
    },
    { token: 'x' },
  );
  expect(await hris.employees.create({ phone: '+47 1' }, '27:1', write)).toMatchObject({ kind: 'created' });
  expect(sent).toEqual({
    body: 'phone=%2B47+1',
    types: ['application/x-www-form-urlencoded'],
    accept: 'application/vnd.kestrel+json',
  });
});

test('a version in the path of an update is read before it', async () => {
  const asked: string[] = [];
  const hris = await openKestrel(
    definitionOf('merge', '{ title: { at: title } }')
      .replace('record: { id: id }', 'record: { id: id, version: version }')
      .replace('patch: "/staff/{id}"', 'patch: "/staff/{id}?version={version}"'),
    ({ method, url }, say) => {
      asked.push(`${method} ${url}`);
      say(200, { id: '1', version: 7 });
    },
    { token: 'x' },
  );
  await hris.employees.update('1', { title: 'Chef' }, write);
  expect(asked).toEqual(['GET /staff/1', 'PATCH /staff/1?version=7']);
});

/** Where a record has its version, and where an update names it. */
const VERSIONED = definitionOf('merge', '{ title: { at: title } }')
  .replace('record: { id: id }', 'record: { id: id, version: meta.version }')
  .replace('as: merge }', 'as: merge, headers: { if-match: "{version}" } }');
const TAGGED = VERSIONED.replace(', version: meta.version', '').replace(
  '"/staff/{id}" }',
  '"/staff/{id}", version: headers.etag }',
);

test.each([
  ['no version', VERSIONED, {}],
  ['null for a version', VERSIONED, { version: null }],
  ['an empty version', VERSIONED, { version: '' }],
  ['no header with one', TAGGED, {}],
])('an update that names the version is not sent for a record with %s', async (_what, definition, meta) => {
  const asked: string[] = [];
  const hris = await openKestrel(
    definition,
    ({ method }, say) => {
      asked.push(method ?? '');
      say(200, { id: '1', title: 'Cook', meta });
    },
    { token: 'x' },
  );
  const amendment = { from: '2026-12-01', fields: { title: 'Chef' }, over: { title: 'Cook' } };
  for (const change of [
    () => hris.employees.update('1', { title: 'Chef' }, write),
    () => hris.employees.amend?.('1', amendment, write),
  ])
    expect(await refusal(change() ?? Promise.resolve())).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'reject',
      message: expect.stringMatching(/GET \/staff\/\{id\} was answered without a version, .*"record\.version"/),
    });
  expect(asked).toEqual(['GET', 'GET']);
});

test('a version of 0 is one, and a system that need not give any is told so by "unversioned"', async () => {
  let version: number | undefined = 0;
  const sent: unknown[] = [];
  const hris = await openKestrel(
    VERSIONED.replace('as: merge,', 'as: merge, unversioned: true,'),
    ({ method, headers }, say) => {
      if (method === 'PATCH') sent.push(headers['if-match']);
      say(200, { id: '1', meta: { version } });
    },
    { token: 'x' },
  );
  await hris.employees.update('1', { title: 'Chef' }, write);
  version = undefined;
  await hris.employees.update('1', { title: 'Chef' }, write);
  expect(sent).toEqual(['0', undefined]);
});

test('what a system says of credentials that it refuses is shown without them', async () => {
  const definition = definitionOf('merge', '{ title: { at: title } }')
    .replace('secret: true }', 'secret: true }, company: { about: whose people }')
    .replace('probe:', 'said: body.message\nprobe:');
  for (const status of [401, 403, 400]) {
    const hris = await openKestrel(
      definition,
      (_asked, say) => say(status, { message: 'Token tk-Kestrel-4711 of kestrel may not write Chef.' }),
      { token: 'tk-Kestrel-4711', company: 'kestrel' },
    );
    const { message } = await refusal(hris.employees.update('1', { title: 'Chef' }, write));
    expect(message).toContain('It said: "Token … of kestrel may not write …."');
  }
});

test('a system that needs long for an answer has as long as "timeout" says', async () => {
  const limits: unknown[] = [];
  const noted = (message: unknown): void => {
    limits.push((message as { request: { headersTimeout: unknown } }).request.headersTimeout);
  };
  subscribe('undici:request:create', noted);
  onTestFinished(() => void unsubscribe('undici:request:create', noted));
  for (const timeout of ['', 'timeout: 2m\n']) {
    const definition = `${definitionOf('merge', '{ title: { at: title } }')}${timeout}`;
    const hris = await openKestrel(definition, (_asked, say) => say(200, {}), { token: 'x' });
    expect(await hris.probe(signal)).toEqual({ ok: true });
  }
  expect(limits).toEqual([30_000, 120_000]);
});

test.each([
  ['a text', 'The title is unknown.', 'INVALID_VALUE'],
  ['a list', [{ code: 7 }], 'INVALID_VALUE'],
  ['true', true, 'INVALID_VALUE'],
  ['an empty text', '', undefined],
  ['an empty list', [], undefined],
  ['null', null, undefined],
  ['false', false, undefined],
  ['0', 0, undefined],
  ['an empty object', {}, undefined],
])('an error inside a 200 that is %s', async (_what, error, code) => {
  const rows = 'errors: [{ status: 200, when: body.error, means: reject }]\n';
  const definition = `${definitionOf('merge', '{ title: { at: title } }')}${rows}`;
  const hris = await openKestrel(definition, (_asked, say) => say(200, { error }), { token: 'x' });
  const told = hris.employees.update('1', { title: 'Chef' }, write).catch((refused: { code: string }) => refused.code);
  expect(await told).toBe(code);
});

test.each([
  ['done: state, id: id', 'pending.done'],
  ['done: state = "done", refused: error, id: id', 'pending.refused'],
])('a pending create whose end is told by neither yes nor no does not wait for ever: %s', async (ends, key) => {
  const pending = `pending: { get: "/tasks/{ticket}", every: 1m, ${ends} }\n`;
  const definition = definitionOf('merge', '{ title: { at: title } }')
    .replace('create: { post: /staff }', 'create: { post: /staff, ticket: body.task }\nreadLag: 1s')
    .concat(pending);
  const hris = await openKestrel(definition, (_asked, say) => say(200, { state: 'open', error: 'no' }), { token: 'x' });
  const asked = Promise.resolve(hris.pending?.resolve('7', signal));
  expect(await refusal(asked)).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringContaining(`"${key}" of the definition gives neither true nor false`),
  });
});

test.each([
  ['post: "/staff/{id}/rehire", body: { reason: back }', 'POST {"reason":"back"}'],
  ['post: "/staff/{id}/rehire", body: {}', 'POST {}'],
  ['delete: "/staff/{id}/end"', 'DELETE '],
])('a rehire that only says that somebody is back is followed by an update: %s', async (rehire, first) => {
  const sent: string[] = [];
  const definition = VERSIONED.concat(`rehire: { ${rehire} }\n`);
  const hris = await openKestrel(
    definition,
    async (asked, say) => {
      sent.push(`${asked.method} ${await text(asked)}`);
      say(200, { id: '1', meta: { version: sent.length } });
    },
    { token: 'x' },
  );
  await hris.employees.rehire?.('1', { title: 'Chef' }, write);
  expect(sent).toEqual([first, 'GET ', 'PATCH {"title":"Chef"}']);
});

test.each([
  ['of another version is stale', 8, { code: 'STALE', action: 'retry' }],
  ['of the same version is refused', 7, { action: 'reject' }],
])('a conditional update that is answered 409 for a record %s', async (_what, later, expected) => {
  for (const rows of ['', 'errors: [{ status: 409, means: exists }]\n']) {
    let version = 7;
    const hris = await openKestrel(
      `${VERSIONED}${rows}`,
      ({ method }, say) => {
        if (method === 'GET') return say(200, { id: '1', title: 'Cook', meta: { version } });
        version = later;
        return say(409, {});
      },
      { token: 'x' },
    );
    expect(await refusal(hris.employees.update('1', { title: 'Chef' }, write))).toMatchObject(expected);
  }
});

test.each([
  ['/staff/42', { kind: 'created', ref: { id: '42' } }],
  ['/tasks', { code: 'REQUEST_UNKNOWN', action: 'reject' }],
])('a pending create that is answered 303 has ended at the address %s', async (location, expected) => {
  const definition = definitionOf('merge', '{ title: { at: title } }')
    .replace(
      'create: { post: /staff }',
      `create: { post: /staff, ticket: body.task, id: "$split(headers.location, 'staff/')[1]" }\nreadLag: 1s`,
    )
    .concat('pending: { get: "/tasks/{ticket}", done: state = "done", id: id }\n');
  const answer: Answer = (_asked, say) => say(303, {}, { location });
  const hris = await openKestrel(definition, answer, { token: 'x' });
  const asked = Promise.resolve(hris.pending?.resolve('7', signal));
  expect(await asked.catch((error: unknown) => error)).toMatchObject(expected);
});

test.for([
  ['a job', 'job-7', { code: 'HRIS_UNREADABLE_ANSWER', action: 'unknown', message: /"create\.ticket" and "pending"/ }],
  ['the employee', '42', undefined],
] as const)('the id in a 202 is that of %s', async ([, id, refused]) => {
  const definition = definitionOf('merge', '{ title: { at: title } }').replace(
    'record: { id: id',
    'record: { reference: reference, id: id',
  );
  const found = 'find: { reference: { get: /staff, query: { reference: "{value}" }, trusted: true } }\n';
  let made: object[] = [];
  const hris = await openKestrel(
    definition.replace(/^find: .*\n/m, found),
    ({ method, url = '' }, say) => {
      if (method === 'GET')
        return url.startsWith('/staff/42') ? say(200, made[0]) : say(url[6] === '/' ? 404 : 200, []);
      made = [{ id: '42', reference: '17:1' }];
      return say(202, { id });
    },
    { token: 'x' },
  );
  const create = hris.employees.create({ title: 'Cook' }, '17:1', write);
  if (refused === undefined) return expect(await create).toMatchObject({ kind: 'created', ref: { id } });
  const { message, ...facts } = refused;
  expect(await refusal(create)).toMatchObject({ ...facts, message: expect.stringMatching(message) });
});

const ANA = { name: 'Ana Reyes', email: 'ana@kestrel.example' };

test.each([
  ['a job', undefined],
  ['somebody else', { id: 17, name: 'Bo Lind', email: 'bo@kestrel.example' }],
  ['a namesake of another address', { id: 17, ...ANA, email: 'other@kestrel.example' }],
  ['the employee', { id: 17, ...ANA, email: 'Ana@kestrel.example' }],
])('a 202 of a system without our reference has the id of %s', async (what, record) => {
  const definition = definitionOf('merge', '{ name: { at: name }, email: { at: email } }');
  const answer: Answer = ({ method }, say) => {
    if (method === 'POST') return say(202, { id: 17 });
    return record === undefined ? say(404, {}) : say(200, record);
  };
  const hris = await openKestrel(definition, answer, { token: 'x' });
  const create = hris.employees.create(ANA, '17:1', write);
  if (what === 'the employee') return expect(await create).toMatchObject({ kind: 'created', ref: { id: '17' } });
  expect(await refusal(create)).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    action: 'unknown',
    message: expect.stringMatching(/answered 202.*that of a job.*"create\.ticket" and "pending"/),
  });
});

test('an option of the tenant file is written by "set" to a new employee and to a known one', async () => {
  const sent: unknown[] = [];
  const definition = definitionOf('merge', `{ ${PHONE} }`)
    .replace('token: { secret: true }', 'token: { secret: true }, site: {}')
    .replace('post: /staff', 'post: /staff, set: { site: "{options.site}" }')
    .replace('as: merge', 'set: { contact.site: "{options.site}" }');
  const hris = await openKestrel(
    definition,
    async (asked, say) => {
      sent.push(JSON.parse(await text(asked)));
      say(200, { id: '1' });
    },
    { token: 'x', site: 'London' },
  );
  await hris.employees.create({ phone: '1' }, '27:1', write);
  await hris.employees.update('1', { phone: '2' }, write);
  expect(sent).toEqual([{ site: 'London', contact: { phone: '1' } }, { contact: { site: 'London', phone: '2' } }]);
});
