import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type BambooDouble, startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';
import { addPeople } from './bamboohr-people.ts';
import { bamboohrUnderTest, openBamboohr, bamboohrProfile as profile } from './bamboohr-under-test.ts';
import { describeHris } from './conformance.ts';
import { created, refusal, signal, write } from './profile.ts';

/** Without the vendor's document, which only `npm run test:hris` puts between. */
let double: BambooDouble;
beforeAll(async () => {
  double = await startBambooDouble();
});
afterAll(() => double?.close());

describeHris('bamboohr: without its document', () => bamboohrUnderTest(double, double.url));

test('an amended title is a row of its day, which keeps what the row before it holds', async () => {
  const { employees, close } = await openBamboohr(double.url);
  const { id } = created(await employees.create(profile.employee('dated', { department: 'Kitchen' }), '27:1', write));
  const amended = { over: { title: 'Cook' }, from: '2026-05-01' };
  await employees.amend?.(id, { fields: { title: 'Chef' }, ...amended }, write);
  await employees.amend?.(id, { fields: { title: 'Head chef' }, over: { title: 'Chef' }, from: '2026-05-01' }, write);
  expect(double.company.jobs.get(id)).toMatchObject([
    { date: '2026-02-01', jobTitle: 'Cook', department: 'Kitchen' },
    { date: '2026-05-01', jobTitle: 'Head chef', department: 'Kitchen' },
  ]);
  await close();
});

test('a row of another day keeps what the account has of its own in the row before it', async () => {
  const { employees, close } = await openBamboohr(double.url);
  const { id } = created(await employees.create(profile.employee('own'), '27:own', write));
  const [row = {}] = double.company.jobs.get(id) ?? [];
  Object.assign(row, { customPayGrade: '7', customShift: null });
  const amendment = { fields: { title: 'Chef' }, over: { title: 'Cook' }, from: '2026-05-01' };
  await employees.amend?.(id, amendment, write);
  const [, later] = double.company.jobs.get(id) ?? [];
  const { date: _date, jobTitle: _title, customShift: _empty, ...kept } = row;
  expect(later).toEqual({ ...kept, id: '2', date: '2026-05-01', jobTitle: 'Chef' });
  await close();
});

test('a changed employee whom the key may not read stops no other change', async () => {
  const ids = addPeople(double.company, 3);
  const server = createServer(async ({ url = '', headers: { authorization = '' } }, response) => {
    if (url.includes(`/employees/${ids[1]}?`)) return response.writeHead(403).end();
    const answer = await fetch(`${double.url}${url}`, { headers: { authorization } });
    const type = answer.headers.get('content-type') ?? '';
    return response.writeHead(answer.status, { 'content-type': type }).end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { changes, close } = await openBamboohr(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const seen = { employees: [] as string[], unread: [] as unknown[] };
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await changes?.since(cursor, signal);
    seen.employees.push(...(page?.employees ?? []).map(({ ref }) => ref.id));
    seen.unread.push(...(page?.unread ?? []));
    more = page?.more === true;
    cursor = page?.next;
  }
  expect(seen.employees).toEqual(expect.arrayContaining([ids[0], ids[2]]));
  expect(seen.unread).toEqual([{ id: ids[1], reason: expect.stringContaining('status 403') }]);
  await close();
});

test('who is rehired before an employment was to end stays active after it, until ended again', async () => {
  const { employees, close } = await openBamboohr(double.url);
  const { id } = created(await employees.create(profile.employee('returned'), '27:2', write));
  for (const lastDay of ['2026-01-31', '2026-03-01', '2099-12-31']) await employees.terminate?.(id, lastDay, write);
  const fields = profile.employee('returned', { startDate: '2026-03-01' });
  for (const _twice of [1, 2]) await employees.rehire?.(id, fields, write);
  expect(double.company.statuses.get(id)).toMatchObject([
    { date: '2026-01-31', employmentStatus: 'Terminated' },
    { date: '2026-03-01', employmentStatus: 'Full-Time' },
    { date: '2099-12-31', employmentStatus: 'Full-Time' },
  ]);
  expect(double.company.statuses.get(id)).toHaveLength(3);
  for (const _twice of [1, 2]) await employees.terminate?.(id, '2026-05-31', write);
  const rows = double.company.statuses.get(id) ?? [];
  expect(rows.map(({ date, employmentStatus }) => `${date} ${employmentStatus}`).toSorted()).toEqual([
    '2026-01-31 Terminated',
    '2026-03-01 Full-Time',
    '2026-05-31 Terminated',
    '2099-12-31 Terminated',
  ]);
  await close();
});

test('a list is read by its alias, without archived values; one that is not there is named', async () => {
  const { lists, close } = await openBamboohr(double.url);
  const { signal } = write;
  expect(await lists?.read('department', signal)).toEqual([{ id: '1', label: 'Kitchen' }]);
  await expect(lists?.read('cost centre', signal)).rejects.toThrow(/no list "cost centre"\. It has: department/);
  await close();
});

test('what it says of a search is not told, and of a write without the values', async () => {
  const words = 'Eva Lind <eva.lind@example.org> is in department 7';
  const server = createServer((request, response) => {
    const isSearch = request.url?.includes('/datasets/') === true;
    response.writeHead(request.method === 'POST' && isSearch ? 500 : 400, { 'x-bamboohr-error-message': words }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { employees, close } = await openBamboohr(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  for (const key of [
    { by: 'email', value: 'eva.lind@example.org' } as const,
    { by: 'reference', value: '27:9' } as const,
  ])
    expect((await refusal(employees.find(key, signal))).message).not.toMatch(/eva|lind/i);
  expect((await refusal(employees.read('40500', signal))).message).not.toMatch(/eva|lind/i);
  const sent = { givenName: 'Eva', familyName: 'Lind', email: 'eva.lind@example.org' };
  const { message } = await refusal(employees.update('40500', sent, write));
  expect(message).toContain('is in department 7');
  expect(message).not.toMatch(/eva|lind/i);
  await close();
  server.close();
});

test("a country goes over by the account's own name, and comes back as its code", async () => {
  const { employees, close } = await openBamboohr(double.url);
  const fields = profile.employee('abroad', { country: 'US' });
  const { id } = created(await employees.create(fields, '27:abroad', write));
  expect(double.company.employees.get(id)).toMatchObject({ country: 'United States' });
  expect(await employees.read(id, signal)).toMatchObject({ fields: { country: 'US' } });
  await close();
});

/** A company whose list of everybody has these pages; `total` is what each of them says. */
async function openPaged(pages: readonly (readonly number[])[], total: (page: number) => number | undefined) {
  const server = createServer(async (asked, response) => {
    const { filter, page } = (await json(asked)) as { filter?: string; page: number };
    const ids = filter === undefined ? (pages[page - 1] ?? []) : [];
    const data = ids.map((employeeId) => ({
      fields: { employeeId, homeEmail: `e${employeeId}@example.org`, workEmail: '' },
    }));
    const meta = { page, pageSize: 1000, totalPages: pages.length, totalItems: total(page) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, meta }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const hris = await openBamboohr(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => hris.close());
  return hris.employees.find({ by: 'email', value: 'e9@example.org' }, signal);
}

test.each([
  ['is whole', [[1, 2], [3]], () => 3, true],
  ['has no total', [[1, 2], [3]], () => undefined, true],
  [
    'grows',
    [
      [1, 2],
      [3, 4],
    ],
    (page: number) => 2 + page,
    true,
  ],
  // 1 was deleted, so 3 moved to the first page after it was read.
  ['loses somebody between its pages', [[1, 2], [4]], (page: number) => 5 - page, false],
  ['has fewer than its total', [[1, 2], [3]], () => 4, false],
  [
    'has its first page twice',
    [
      [1, 2],
      [1, 2],
    ],
    () => undefined,
    false,
  ],
])('a list of everybody that %s proves absence: %j', async (_what, pages, total, trusted) => {
  expect(await openPaged(pages, total)).toEqual({ kind: 'none', trusted });
});

/** A company that shows only these of one employee's fields, and numbers as numbers. */
async function openShowing(shown: Readonly<Record<string, unknown>>) {
  const server = createServer((asked, response) => {
    const fields = { employeeId: 7, employeeNumber: 1007, ...shown };
    const meta = { page: 1, pageSize: 1000, totalPages: 1, totalItems: 1 };
    const body = asked.url?.includes('/datasets/') === true ? { data: [{ fields }], meta } : { id: '7', ...fields };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const hris = await openBamboohr(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => hris.close());
  return hris;
}

test('an account without a list of countries has their English names', async () => {
  const { employees } = await openShowing({ country: 'Germany' });
  expect(await employees.read('7', signal)).toMatchObject({ fields: { country: 'DE' } });
});

test('nobody is absent whose address this key may not see', async () => {
  const find = async (shown: object) =>
    (await openShowing({ ...shown })).employees.find({ by: 'email', value: 'ana@example.org' }, signal);
  expect(await find({ workEmail: 'eve@example.org' })).toEqual({ kind: 'none', trusted: false });
  expect(await find({ workEmail: 'eve@example.org', homeEmail: null })).toEqual({ kind: 'none', trusted: true });
});

test('an employee number may be a number', async () => {
  const hris = await openShowing({ firstName: 'Ana' });
  expect(await hris.employees.read('7', signal)).toMatchObject({ ref: { id: '7', number: '1007' } });
});
