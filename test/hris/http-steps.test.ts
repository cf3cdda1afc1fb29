import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openKestrel } from './open-kestrel.ts';
import { refusal, write } from './profile.ts';

const definitionOf = (method: string, more: string): string => `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id }
fields: { familyName: { at: last }, department: { at: departmentId } }
find: {}
steps:
  department:
    fields: [department]
    find: { ${method}: /lookup, query: { name: "{fields.department}" }, id: departments.id }
    create: { post: /departments, body: { name: "{fields.department}" }, id: body.id }
read: { get: "/staff/{id}" }
create: { post: /staff, set: { departmentId: "{steps.department}" } }
update: { patch: "/staff/{id}" }
probe: { get: /me }
${more}`;

/** Somebody is hired into a department that a lookup answers about: what is made. */
async function made(status: number, body: unknown, { more = '', method = 'get' } = {}): Promise<string[]> {
  const asked: string[] = [];
  const hris = await openKestrel(
    definitionOf(method, more),
    ({ url = '' }, say) => {
      if (url.startsWith('/lookup')) return say(status, body);
      asked.push(url);
      return say(201, { id: '9' });
    },
    { token: 'x' },
  );
  await hris.employees.create({ familyName: 'Reyes', department: 'Kitchen' }, '27:1', write);
  return asked;
}

const FOUND = ['/staff'];
const MADE = ['/departments', '/staff'];

test.each([
  ['one', { departments: [{ id: 5, name: 'Kitchen' }] }, FOUND],
  ['one, named twice', { departments: [{ id: 5 }, { id: 5 }] }, FOUND],
  ['none', { departments: [] }, MADE],
  ['nothing', { departments: null }, MADE],
])('a lookup of a part that lists %s', async (_what, body, outcome) => {
  expect(await made(200, body)).toEqual(outcome);
});

test.each([
  ['several', [{ id: 5 }, { id: 6 }], /several parts.*"steps\.department\.find\.id".*\[0\]/],
  ['no id', [{ id: { value: 5 } }], /"steps\.department\.find\.id"/],
])('a lookup of a part that lists %s makes nothing', async (_what, departments, says) => {
  const refused = await refusal(made(200, { departments }));
  expect(refused).toMatchObject({ code: 'HRIS_UNREADABLE_ANSWER', message: expect.stringMatching(says) });
});

const ROW_404 = 'errors: [{ status: 404, means: absent }]\n';
const ROW = 'errors: [{ status: 400, when: body.error = "none", means: absent }]\n';

test.each([
  ['404, which a row of "errors" calls absent,', 404, {}, 'get', ROW_404],
  ['404 to a POST, which such a row calls absent,', 404, {}, 'post', ROW_404],
  ['what a row of "errors" calls absent', 400, { error: 'none' }, 'get', ROW],
])('a lookup of a part that is answered %s finds none', async (_what, status, body, method, more) => {
  expect(await made(status, body, { method, more })).toEqual(MADE);
});

test('a lookup of a part that is refused otherwise makes nothing', async () => {
  expect(await refusal(made(400, { error: 'other' }, { more: ROW }))).toMatchObject({ code: 'INVALID_VALUE' });
  for (const method of ['get', 'post'])
    expect(await refusal(made(404, {}, { method }))).toMatchObject({ code: 'NOT_FOUND', action: 'reject' });
  const more = 'errors: [{ status: 404, means: retry }]\n';
  expect(await refusal(made(404, {}, { more }))).toMatchObject({ code: 'HRIS_BUSY', action: 'retry' });
});

test.each([
  ['a list of one', [{ id: 5 }], ['/departments/5', '/staff/1']],
  ['an empty list', [], ['/departments', '/staff/1']],
])('a part that a record has in %s is taken from there', async (_what, departments, outcome) => {
  const asked: string[] = [];
  const hris = await openKestrel(
    definitionOf('get', '')
      .replace('    find:', '    from: departments.id\n    update: { put: "/departments/{id}" }\n    find:')
      .replace(
        'update: { patch: "/staff/{id}" }',
        'update: { patch: "/staff/{id}", set: { d: "{steps.department}" } }',
      ),
    ({ method, url = '' }, say) => {
      if (method === 'GET') return say(200, { id: '1', departments });
      asked.push(url);
      return say(200, { id: '9' });
    },
    { token: 'x' },
  );
  await hris.employees.update('1', { department: 'Bar' }, write);
  expect(asked).toEqual(outcome);
});

test('a record with several parts refuses a change of the part, and of nothing else', async () => {
  const asked: string[] = [];
  const hris = await openKestrel(
    definitionOf('get', '')
      .replace('    find:', '    from: departments.id\n    update: { put: "/departments/{id}" }\n    find:')
      .replace('update: { patch: "/staff/{id}" }', 'update: { put: "/staff/{id}", as: put }'),
    ({ method, url = '' }, say) => {
      if (method !== 'GET') asked.push(url);
      return say(200, { id: '1', departments: [{ id: 5 }, { id: 6 }] });
    },
    { token: 'x' },
  );
  expect(await refusal(hris.employees.update('1', { department: 'Bar' }, write))).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    action: 'reject',
    message: expect.stringContaining('"steps.department.from"'),
  });
  expect(asked).toEqual([]);
  await hris.employees.update('1', { familyName: 'Okafor' }, write);
  expect(asked).toEqual(['/staff/1']);
});

test('a create at a wrong path is not told as an employee who is not there', async () => {
  const hris = await openKestrel(definitionOf('get', ''), (_asked, say) => say(404, {}), { token: 'x' });
  expect(await refusal(hris.employees.create({ familyName: 'Reyes' }, '27:1', write))).toMatchObject({
    code: 'NOT_FOUND',
    action: 'reject',
    message: expect.stringMatching(/^POST \/staff was answered 404 .*there is no such record/),
  });
});

test('a part that an earlier attempt made gets the values of this one', async () => {
  const asked: string[] = [];
  const definition = definitionOf('get', '').replace(
    '    find:',
    '    from: departmentId\n    update: { put: "/departments/{id}", body: { n: "{fields.department}" } }\n    find:',
  );
  const hris = await openKestrel(
    definition,
    async (request, say) => {
      const { method, url = '' } = request;
      if (method === 'GET') return say(200, { departments: [{ id: 5 }] });
      asked.push(`${method} ${url} ${await text(request)}`);
      return say(201, { id: '9' });
    },
    { token: 'x' },
  );
  await hris.employees.create({ familyName: 'Reyes', department: 'Kitchen' }, '27:1', write);
  expect(asked).toEqual(['PUT /departments/5 {"n":"Kitchen"}', 'POST /staff {"departmentId":"5","last":"Reyes"}']);
});
