import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';

const good = await readFile(new URL('definitions/acme.yaml', import.meta.url), 'utf8');

/** What is written instead of what; where the problem is told, as text that begins there; and what it says. */
const broken: readonly (readonly [what: string, from: string, to: string, at: string, says: RegExp])[] = [
  ['no version of the form', 'hrisDefinition: 1\n', '', 'name: Acme', /"hrisDefinition" is missing/],
  ['another version', 'hrisDefinition: 1', 'hrisDefinition: 2', '2\n', /expected 1/],
  ['no name', 'name: Acme HR\n', '', 'hrisDefinition', /"name" is missing/],
  ['an empty name', 'name: Acme HR', "name: ''", "''", /"name" is not right/],
  ['a key that is misspelt', 'record:\n', 'recrod:\n', 'recrod', /Did you mean "record"/],
  [
    'a key of a field that is misspelt',
    'person.first, required',
    'person.first, requierd',
    'requierd',
    /Did you mean "required"/,
  ],
  ['a type that is none', 'type: boolean', 'type: bool', 'bool ', /expected one of/],
  ['a list where a map belongs', 'options:\n', 'options: [x]\nothers:\n', '[x]', /"options"/],
  ['a secret that is no flag', 'secret: true', 'secret: yes please', 'yes please', /expected true or false/],
  [
    'an option with a key of every tenant file',
    '  user: { about',
    '  url: { about',
    'url: {',
    /is a key of every tenant file/,
  ],
  ['no way in', 'auth:\n  login:', 'auth:\n  logon:', 'logon', /Did you mean "login"/],
  ['two ways in', 'auth:\n  login:', "auth:\n  bearer: '{options.password}'\n  login:", 'auth', /one way in/],
  ['a login without a token', '    token: body.token\n', '', 'login', /token.*missing/],
  ['a login that asks nowhere', '    post: /login\n', '', 'login', /needs one of get, post/],
  [
    'a placeholder that is misspelt',
    '{options.user}',
    '{options.usr}',
    "'{options.usr}'",
    /Did you mean "options.user"/,
  ],
  [
    'a placeholder of another call',
    "get: '/staff/{id}' }",
    "get: '/staff/{ticket}' }",
    "'/staff/{ticket}'",
    /is not a placeholder here/,
  ],
  ['an open brace', "get: '/tasks/{ticket}'", "get: '/tasks/{ticket'", "'/tasks/{ticket'", /brace/],
  ['a closing brace', "get: '/tasks/{ticket}'", "get: '/tasks/ticket}'", "'/tasks/ticket}'", /brace/],
  ['an empty placeholder', "number: '{value}'", "number: '{ }'", "'{ }'", /brace|not a placeholder/],
  [
    'a change that is none',
    '{value | lower}',
    '{value | lowercase}',
    "'{value | lowercase}'",
    /is not a transform for a template/,
  ],
  [
    'a change that needs options',
    '{value | lower}',
    '{value | date}',
    "'{value | date}'",
    /is not a transform for a template/,
  ],
  ['what every object has', '{value | lower}', '{value | toString}', "'{value | toString}'", /is not a transform for/],
  ['what makes an object', '{value | lower}', '{value | constructor}', "'{value | c", /is not a transform for/],
  ['a path without its slash', 'get: /me', 'get: me', 'me }', /Begin it with \//],
  ['a whole address as a path', 'get: /me', 'get: https://hr.example/me', 'https://', /Begin it with \//],
  ['no method', 'probe: { get: /me }', 'probe: {}', '{}', /needs one of get, post/],
  ['two methods', 'probe: { get: /me }', 'probe: { get: /me, post: /me }', '/me }', /it has 2/],
  ['a method that is none', 'probe: { get: /me }', 'probe: { fetch: /me }', 'fetch', /not a known key/],
  [
    'a header whose name has a blank',
    'probe: { get: /me }',
    'probe: { get: /me, headers: { "x api": "1" } }',
    "'1'",
    /"x api" cannot be the name of a header/,
  ],
  ['a header whose name has a colon', 'carry: { x-session: ', "carry: { 'x-session:': ", "'{token}'", /"x-session:"/],
  ['no probe', 'probe: { get: /me }\n', '', 'hrisDefinition', /"probe" is missing/],
  ['no reading', "read: { get: '/staff/{id}' }\n", '', 'hrisDefinition', /"read" is missing/],
  ['no create', 'create:\n  post: /staff\n', 'made:\n  post: /staff\n', 'hrisDefinition', /"create" is missing/],
  [
    'a create that only reads',
    'create:\n  post: /staff',
    'create:\n  get: /staff',
    'create',
    /writes, so it needs post/,
  ],
  [
    'a form of writing that is none',
    'as: put, headers: { if-match: ',
    'as: replace, headers: { if-match: ',
    'replace',
    /expected one of/,
  ],
  ['a ticket that nobody asks about', 'pending:\n', 'pendign:\n', 'pendign', /Did you mean "pending"/],
  ['a ticket, and nobody knows for how long', 'readLag: 0s\n', '', 'body.task', /"readLag" does not say how long/],
  ['a pending create without an end', '  done: state = "done"\n', '', 'pending', /"pending.done" is missing/],
  ['a pending create without an id', '  id: staffId\n', '', 'pending', /"pending.id" is missing/],
  ['a waiting time that is none', 'every: 1s', 'every: soon', 'soon', /"pending.every"/],
  [
    'an expression that does not close',
    'state = "done"',
    'state = ("done"',
    'state = ("done"',
    /not a JSONata expression/,
  ],
  [
    'an expression of another language',
    'former: status = "left"',
    'former: status == "left"',
    'status ==',
    /not a JSONata expression/,
  ],
  ['an expression of nothing', 'id: id\n', "id: ''\n", "''", /"record.id"/],
  ['no id in a record', '  id: id\n', '', 'record', /"record.id" is missing/],
  [
    'a reference that is an expression',
    'reference: external.hirebridge',
    'reference: $lookup(external, "x")',
    '$lookup',
    /not a place that can be written/,
  ],
  ['a reference that is not looked up', 'find:\n  reference:', 'find:\n  name2:', 'name2', /not a known key/],
  ['a place with two points', 'at: person.last', 'at: person..last', 'person..last', /not a place that can be written/],
  ['a place with a blank', 'at: job.title', 'at: job title', 'job title', /not a place that can be written/],
  [
    'a place by number',
    '\'contacts[kind="private"].address\'',
    "'contacts[0].address'",
    "'contacts[0]",
    /not a place that can be written/,
  ],
  ['a field without a place', '{ at: person.shoe }', '{ label: Shoe }', '{ label', /"fields.shoe.at" is missing/],
  ['a field name with a blank', '  shoe: {', "  'shoe size': {", '{', /name of letters and digits|shoe size/],
  ['too many decimals to be any', 'decimals: 2', 'decimals: -2', '-2', /decimals/],
  ['values that are lists', 'values: { permanent: P, temporary: T }', 'values: [P, T]', '[P, T]', /values/],
  [
    'people without a birth date',
    '  birthDate: { at: person.born, type: date }\n',
    '',
    '{ get: /staff, query: { born',
    /there is no field birthDate/,
  ],
  [
    'addresses without a field',
    '  email: { at: \'contacts[kind="private"].address\' }\n',
    '',
    '{ get: /staff, query: { email',
    /no field "email"/,
  ],
  [
    'a search that is misspelt',
    '  number: { get: /staff',
    '  nubmer: { get: /staff',
    'nubmer',
    /Did you mean "number"/,
  ],
  [
    'a trusted search that names nobody',
    "query: { number: '{value}' }, items",
    "query: { kind: '1' }, items",
    '{ get: /staff, query: { kind',
    /"find\.number" is trusted, but its request does not say who is looked for\. Add \{value\}/,
  ],
  [
    'a trusted search that names no person',
    "query: { born: '{birthDate}' }",
    "query: { page: '1' }",
    '{ get: /staff, query: { page',
    /Add \{givenName\} or \{familyName\} or \{fullName\} or \{birthDate\}/,
  ],
  [
    'a search for the part of nobody',
    "query: { reference: '{reference}' }, id",
    "query: { open: '1' }, id",
    '{ get: /contracts',
    /"steps\.contract\.find" does not say which part is looked for/,
  ],
  [
    'items that are no expression',
    "number: '{value}' }, items: staff",
    "number: '{value}' }, items: 'staff['",
    "'staff['",
    /not a JSONata expression/,
  ],
  ['pages by nothing', 'by: cursor, next: next', 'by: number, next: next', 'number, next', /expected one of/],
  ['a cursor that is nowhere', 'by: cursor, next: next, size', 'by: cursor, size', '{ by: cursor', /needs "next"/],
  [
    'a place that nobody says where it begins',
    'by: cursor, next: next, size',
    'by: offset, size',
    '{ by: offset',
    /"first": 0/,
  ],
  [
    'pages that no request names',
    ", cursor: '{page.cursor}' },\n      items",
    ' },\n      items',
    '{ by: cursor',
    /nothing in the request names it\. Use \{page\.cursor\}/,
  ],
  [
    'a cursor that no request names',
    "query: { cursor: '{page.cursor}' }, paging: *page }",
    "query: { page: '{page.number}' }, paging: *page }",
    '*page',
    /pages by cursor, but nothing in the request names it\. Use \{page\.cursor\}/,
  ],
  [
    'pages that are asked by the number of a record',
    "query: { cursor: '{page.cursor}' }, paging: *page }",
    "query: { from: '{page.offset}' }, paging: { by: page } }",
    '{ by: page',
    /pages by page, but nothing in the request names it\. Use \{page\.number\}/,
  ],
  ['pages that are too large', 'size: 50', 'size: 50000', '50000', /size/],
  [
    'numbers without a place',
    '  number: staffNo\n',
    '',
    '{ get: /staff, query: { number',
    /Add it, or remove "find.number"/,
  ],
  ['a version that no record has', '  version: version\n', '', 'update', /record.version/],
  ['changes without a stamp', '  stamp: at\n', '', 'changes', /"changes.stamp" is missing/],
  ['changes that never say since when', "since: '{since}'", "since: '{sinse}'", "'{sinse}'", /Did you mean "since"/],
  [
    'a step of a field that is none',
    'fields: [department]',
    'fields: [departement]',
    'departement]',
    /Did you mean "department"/,
  ],
  [
    'a step that makes nothing',
    'create: { post: /departments, body',
    'make: { post: /departments, body',
    'make',
    /make/,
  ],
  ['a step whose id nobody uses', '{steps.contract}', '{steps.department}', 'contract:', /nothing uses/],
  [
    'a step that uses one behind it',
    "{ name: '{fields.department}' }, id: body.id",
    "{ name: '{steps.contract}' }, id: body.id",
    "{ name: '{steps.contract}'",
    /is not a placeholder here/,
  ],
  [
    'a step that reads its part and cannot change it',
    '    fields: [department]\n',
    '    fields: [department]\n    from: job.departmentId\n',
    'job.departmentId',
    /Add "update", or remove "from" if others share the part/,
  ],
  [
    'files of which nobody knows whether they are there',
    '  same: { sha256: sha256 }\n',
    '',
    'files:',
    /"same" or "download"/,
  ],
  [
    'files by a digest that is none',
    'same: { sha256',
    'same: { sha3',
    'sha3',
    /files.same.*Did you mean|Known here: .*sha256/,
  ],
  [
    'an upload without its bytes',
    "form: { kind: contract, document: '{file}' }",
    'headers: { x-kind: contract }',
    '{ post:',
    /either a "body" or a "form"/,
  ],
  [
    'a signature that covers nothing',
    "signed: '{timestamp}.{body}'",
    "signed: '{timestamp}'",
    "'{timestamp}'",
    /Add {body}/,
  ],
  [
    'a signed time without its header',
    '  timestamp: x-acme-time\n',
    '',
    "'{timestamp}.{body}'",
    /does not name its header/,
  ],
  ['limits without what is left', 'remaining: x-calls-left, ', '', '{ limit:', /"limits.remaining" is missing/],
  [
    'a certificate without its key',
    'auth:\n',
    "tls: { certificate: '{options.password}' }\nauth:\n",
    '{ certificate',
    /"tls.key"/,
  ],
  ['hooks that are not there', 'auth:\n', 'hooks: ./gone.ts\nauth:\n', './gone.ts', /There is no module/],
  ['a refusal that means nothing', 'means: exists', 'means: duplicate', 'duplicate', /expected one of/],
  ['a refusal of no status', '{ status: 409, means', '{ means', '{ means', /"errors.1.status" is missing/],
  [
    'a refusal of a field that is none',
    'field: givenName',
    'field: firstName',
    'firstName',
    /is not a field of this definition/,
  ],
  ['a call that names nobody', "get: '/staff/{id}' }", "get: '/staff/:id' }", 'read', /Add {id}/],
  ['a dollar before a brace', "get: '/staff/{id}' }", "get: '/staff/${id}' }", "'/staff/${id}'", /a \$ before a brace/],
  ['a ticket that is asked about without it', '/tasks/{ticket}', '/tasks', 'pending', /Add {ticket}/],
  [
    'a secret in the file',
    "password: '{options.password}' }\n    token",
    'password: env:ACME_PASSWORD }\n    token',
    'auth',
    /uses no secret option/,
  ],
  ['days in tokens of another library', 'date: dd.MM.yyyy', 'date: DD.MM.YYYY', 'DD.MM.YYYY', /not a format for days/],
  ['minutes for months', 'date: dd.MM.yyyy', 'date: dd.mm.yyyy', 'dd.mm.yyyy', /not a format for days/],
  ['a century that is lost', 'date: dd.MM.yyyy', 'date: dd.MM.yy', 'dd.MM.yy ', /not a format for days/],
  [
    'a form of days of a text',
    'type: date, required: true, date',
    'required: true, date',
    'dd.MM',
    /needs "type: date"/,
  ],
  ['minutes for months in a call', '{lastDay}', '{lastDay | day dd.mm.yyyy}', "'{lastDay", /not a format for days/],
  ['a function that is none', 'former: status = "left"', 'former: $exist(leftOn)', '$exist', /Did you mean "exists"/],
  ['a ticket that is nowhere', 'ticket: body.task', 'ticket: task', 'task', /body\.task/],
  ['a condition on nothing', 'when: body.error = "busy"', 'when: error = "busy"', 'error', /body\.error/],
  ['words of nowhere', 'said: body.message', 'said: message', 'message', /body\.message/],
  ['a body in a body', 'done: state =', 'done: body.state =', 'body.state', /no "body": write state/],
  ['a version of a header in a record', 'version: version\n', 'version: headers.etag\n', 'headers', /"read\.version"/],
  [
    'a create of nobody',
    'ticket: body.task\n',
    'ticket: body.task\n  body: { kind: staff }\n',
    '{ kind',
    /does not send the fields givenName.*\. Add {record}/,
  ],
  [
    'an update that loses fields',
    "update:\n  { put: '/staff/{id}',",
    "update:\n  { body: { title: '{fields.title}' }, put: '/staff/{id}',",
    "{ title: '",
    /"update\.body" does not send the fields givenName, familyName, email, startDate, .*\. Add \{record\}/,
  ],
  [
    'a create without our reference',
    'ticket: body.task\n',
    "ticket: body.task\n  body: &each { first: '{fields.givenName}', last: '{fields.familyName}' }\n",
    '&each',
    /"create\.body" does not send our reference.* could be made twice\. Add \{reference\}/,
  ],
  [
    'a create that loses fields',
    'ticket: body.task\n',
    "ticket: body.task\n  body: { name: '{fields.givenName} {fields.familyName}', key: '{reference}' }\n",
    '{ name:',
    /"create\.body" does not send the fields email, title, startDate, .*\. Add \{record\}, or \{fields\.NAME\}/,
  ],
  [
    'values to set in a record that is not sent',
    "terminate:\n  { put: '/staff/{id}', as: put,",
    "terminate:\n  { put: '/staff/{id}', as: put, body: { state: left },",
    '{ status: left',
    /"terminate\.set" is written into the record, which "terminate\.body" does not send\. Add \{record\}/,
  ],
  ...['staff[status != "gone"]', 'data.(staff[status != "gone"])', '(staff ~> $filter(function($s) { $s.id }))'].map(
    (items) =>
      [
        `pages that are counted, of a list that may leave people out: ${items}`,
        "  name: { get: /staff, items: staff, query: { cursor: '{page.cursor}' }, paging: *page }",
        `  all: { get: /staff, items: '${items}', query: { p: '{page.number}' }, paging: { by: page } }`,
        `'${items}`,
        /"find\.all\.items" is more than a path and may leave records out/,
      ] as const,
  ),
  [
    'a create by the id that it makes',
    'create:\n  post: /staff',
    "create:\n  put: '/staff/{id}'",
    "'/staff/{id}'",
    /"\{id\}" is not a placeholder here\. The HR system gives it in its answer\. Use \{reference\}/,
  ],
  [
    'a create of a version that is not there yet',
    'create:\n  post: /staff',
    "create:\n  headers: { if-match: '{version}' }\n  post: /staff",
    "'{version}'",
    /"\{version\}" is not a placeholder here\. The HR system gives it in its answer/,
  ],
  [
    'a leave to write without a version that is not used',
    'create:\n  post: /staff',
    'create:\n  unversioned: true\n  post: /staff',
    'true',
    /"unversioned" is about \{version\}, which this request does not use/,
  ],
  [
    'a last day in a create',
    'create:\n  post: /staff',
    "create:\n  query: { until: '{lastDay}' }\n  post: /staff",
    "'{lastDay}'",
    /"\{lastDay\}" is not a placeholder here/,
  ],
  [
    'a reference in an update of a position, which has none',
    "put: '/positions/{id}', as: put",
    "put: '/positions/{id}', as: put, query: { by: '{reference}' }",
    "'{reference}'",
    /"\{reference\}" is not a placeholder here/,
  ],
  [
    'a secret that the file itself has',
    'password: { secret: true',
    'password: { default: hunter2, secret: true',
    'hunter2',
    /"options\.password\.default" would be a secret in this file/,
  ],
  [
    'our reference where a field is',
    'title: { at: job.title }',
    'title: { at: external.hirebridge }',
    'external.hirebridge',
    /"fields\.title\.at" is the place of "record\.reference" too/,
  ],
  [
    'two fields at one place',
    'title: { at: job.title }',
    'title: { at: person.shoe }',
    'person.shoe',
    /"fields\.shoe\.at" is the place of "fields\.title" too/,
  ],
  ['a name with a dash', '  givenName: {', '  given-name: {', 'given-name', /a name of letters and digits/],
  ['trust that is no word of ours', 'trusted: true', 'trusted: yes', 'yes', /expected true, false or ascii/],
  ['a status that is none', '{ status: 409,', '{ status: 4xx,', '4xx', /a status such as 409/],
  ['a field that is a text', 'title: { at: job.title }', 'title: job.title', 'job.title', /expected keys with values/],
  ['== in an expression', 'former: status = "left"', 'former: status == "left"', 'status', /compares with one =/],
  ['a template for an expression', 'token: body.token', "token: '{body.token}'", "'{body", /Leave out the braces/],
  [
    'GraphQL with its braces',
    'probe: { get: /me }',
    'probe: { post: /me, body: { q: "{ me { id } }" } }',
    '{ q',
    /\$text/,
  ],
  ['a text that is no YAML', 'name: Acme HR', 'name: [Acme HR', '', /is not valid YAML/],
  ['a tab that indents', '\n  user: {', '\n\tuser: {', '', /a tab indents it/],
  [
    'a key that stands twice',
    'said: body.message\n',
    'said: body.message\nsaid: body.text\n',
    'said: body.text',
    /is here twice/,
  ],
];

test('the definition that the others are made of is a good one', () => {
  expect(loadDefinition('acme.yaml', good).problems).toEqual([]);
  expect(broken.length).toBeGreaterThanOrEqual(60);
});

test.for(broken)('%s is refused with its line and column', ([, from, to, at, says]) => {
  // The formatter keeps the file in double quotes.
  const written = good.includes(from) ? from : from.replaceAll("'", '"');
  expect(good).toContain(written);
  const text = good.replace(written, () => to);
  const { problems } = loadDefinition('acme.yaml', text);
  const told = problems.map((one) => `${one.line}:${one.column} ${one.text}`).join('\n');
  expect(told).toMatch(says);
  const problem = problems.find((one) => says.test(one.text));
  const line = text.split('\n')[(problem?.line ?? 0) - 1] ?? '';
  const there = line.slice((problem?.column ?? 0) - 1).replaceAll('"', "'");
  expect(there, told).toContain(at.split('\n')[0]?.replaceAll('"', "'") ?? '');
  expect(told).not.toMatch(/undefined|\[object/);
});

test('a path that is not in quotes is one problem, not one of each line after it', () => {
  const text = good.replace('read: { get: "/staff/{id}" }', 'read: { get: /staff/{id}, absent: [404] }');
  const { problems } = loadDefinition('acme.yaml', text);
  expect(problems.map((one) => one.text)).toEqual([expect.stringMatching(/text with \{ } .* needs quotes/)]);
});

test('the path of a token begins with a slash, as every other one', () => {
  const oauth = (path: string) =>
    `auth: { oauth2: { tokenPath: ${path}, clientId: x, clientSecret: "{options.password}" } }\n`;
  const problemsOf = (path: string) =>
    loadDefinition('acme.yaml', good.replace(/auth:\n( {2}.*\n)+/, oauth(path))).problems;
  expect(problemsOf('/oauth/token')).toEqual([]);
  expect(problemsOf('oauth/token')).toEqual([
    expect.objectContaining({ column: 30, text: expect.stringContaining('"auth.oauth2.tokenPath" is not a path.') }),
  ]);
});
