import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openHris } from '../../src/hris/registry.ts';
import { refusal, signal } from './profile.ts';

test('employees asked for at the same moment are read by the calls of one', async () => {
  const { hris, asked } = await openTrytonOf(30);
  const ids = Array.from({ length: 30 }, (_, n) => String(n + 1));
  const read = await Promise.all(ids.map((id) => hris.employees.read(id, signal)));
  expect(read.map((record) => record?.ref)).toEqual(ids.map((id) => ({ id, number: `N${id}` })));
  expect(asked.filter((method) => method === EMPLOYEES)).toHaveLength(1);
  expect(asked.filter((method) => method.endsWith('.search_read'))).toHaveLength(4);
});

test('an employee who is not there and an id of no form are nobody, and spoil no other read', async () => {
  const { hris, asked } = await openTrytonOf(1);
  const ids = ['1', '404', 'hr-1', '007', '99999999999'];
  const read = await Promise.all(ids.map((id) => hris.employees.read(id, signal)));
  expect(read.map((record) => record?.ref.id)).toEqual(['1', undefined, undefined, undefined, undefined]);
  expect(asked.filter((method) => method === EMPLOYEES)).toHaveLength(1);
});

test('who asks after a read has left is not given what it answers', async () => {
  const { hris, asked, rename } = await openTrytonOf(1);
  const before = await hris.employees.read('1', signal);
  rename('Later');
  const after = await hris.employees.read('1', signal);
  expect([before?.fields['name'], after?.fields['name']]).toEqual(['Person 1', 'Later']);
  expect(asked.filter((method) => method === EMPLOYEES)).toHaveLength(2);
});

test('who stops waiting takes nothing from the others', async () => {
  const { hris } = await openTrytonOf(2);
  const impatient = new AbortController();
  const one = refusal(hris.employees.read('1', impatient.signal));
  const other = hris.employees.read('2', signal);
  impatient.abort();
  expect(await one).toMatchObject({ code: 'STOPPED', action: 'retry' });
  expect(await other).toMatchObject({ ref: { id: '2' } });
});

// trytond 6.0 gives the text of an exception that is not its own in the place of a name (protocols/jsonrpc.py).
test.for([
  ["KeyError: 'ana@acme.example'", { code: 'HRIS_ERROR', action: 'reject' }],
  ['could not serialize access due to concurrent update\n', { code: 'HRIS_BUSY', action: 'retry' }],
  ['deadlock detected\nDETAIL:  Process 1', { code: 'HRIS_BUSY', action: 'retry' }],
  ['database is locked', { code: 'HRIS_BUSY', action: 'retry' }],
] as const)('an error of its database, %j, is not quoted', async ([text, expected]) => {
  const { hris } = await openTrytonOf(0, [text, 'Traceback']);
  const refused = await refusal(hris.employees.find({ by: 'email', value: 'ana@acme.example' }, signal));
  expect(refused).toMatchObject(expected);
  expect(refused.message).not.toContain(text.slice(0, 20));
});

test('calls whose session has ended are asked again, whichever of them has logged in before', async () => {
  let [latest, ended] = ['', ''];
  let refused = 0;
  const renewed = Promise.withResolvers<void>();
  const { hris, asked } = await openTrytonOf(1, undefined, async (session) => {
    if (ended === '' || session !== ended) {
      if (ended !== '') renewed.resolve();
      else latest = session;
      return false;
    }
    // The second refusal arrives when the first caller has a new session.
    if ((refused += 1) > 1) await renewed.promise;
    return true;
  });
  const find = (of: string) => hris.employees.find({ by: 'email', value: `${of}@acme.example` }, signal);
  expect(await find('ana')).toMatchObject({ kind: 'none' });
  ended = latest;
  const found = await Promise.all([find('bo'), find('cy')]);
  expect(found).toMatchObject([{ kind: 'none' }, { kind: 'none' }]);
  expect(refused).toBe(2);
  expect(asked.filter((method) => method === 'common.db.login')).toHaveLength(2);
});

const EMPLOYEES = 'model.company.employee.search_read';

/** A server that knows some employees, and notes what it is asked. */
async function openTrytonOf(
  count: number,
  error?: readonly unknown[],
  refuses: (session: string) => Promise<boolean> = async () => false,
) {
  let logins = 0;
  const asked: string[] = [];
  let name: string | undefined;
  const rows = (ids: number[]) =>
    ids.filter((id) => id <= count).map((id) => ({ id, party: id, 'party.': partyOf(id, name ?? `Person ${id}`) }));
  const server = createServer(async (request, response) => {
    const { method, params } = (await json(request)) as { method: string; params: [[string, string, number[]][]] };
    asked.push(method);
    const wanted = method === EMPLOYEES ? rows(params[0].find(([field]) => field === 'id')?.[2] ?? []) : [];
    const isLogin = method === 'common.db.login';
    if (isLogin) logins += 1;
    else if (await refuses(request.headers.authorization ?? '')) return response.writeHead(401).end();
    return response.end(
      JSON.stringify(error && !isLogin ? { error } : { result: isLogin ? [1, `key${logins}`] : wanted }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { url, database: 'hr', user: 'hr', password: 'secret', company: 1, allowPrivateAddress: true };
  const hris = await openHris('tryton', 'hr', options);
  onTestFinished(async () => {
    await hris.close();
    server.close();
  });
  return { hris, asked, rename: (to: string) => void (name = to) };
}

function partyOf(id: number, name: string) {
  return { id, name, code: `N${id}`, active: true };
}
