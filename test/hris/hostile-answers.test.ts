import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { ACME, type AcmeServer, startAcmeServer } from './acme-server.ts';
import { employee, signal, write } from './profile.ts';

const file = fileURLToPath(new URL('definitions/acme.yaml', import.meta.url));
/** Nothing that the system says is shown where its definition does not say what may be. */
const definition = { file, text: (await readFile(file, 'utf8')).replace('said: body.message\n', '') };
/** A value of somebody's record; no message may hold it. */
const PRIVATE = 'Salary-4711';
const MB = 1024 * 1024;

type Say = (response: ServerResponse) => unknown;

const json = (status: number, value: unknown): Say => text(status, JSON.stringify(value));
const text =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): Say =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

const hostile: Readonly<Record<string, Say>> = {
  'an empty body': text(200, ''),
  'half of a JSON text': text(200, `{"id":"1","person":{"last":"${PRIVATE}`),
  'an HTML login page': text(200, `<html>${PRIVATE}</html>`, { 'content-type': 'text/html' }),
  'a text': text(200, PRIVATE, { 'content-type': 'text/plain' }),
  'a number': json(200, 4711),
  null: json(200, null),
  true: json(200, true),
  'an empty object': json(200, {}),
  'a list of texts': json(200, { staff: [PRIVATE] }),
  'a list of nothing': json(200, { staff: [null] }),
  'a record whose id is a record': json(200, {
    id: { of: PRIVATE },
    staff: [{ id: { of: PRIVATE } }],
    changed: [{ id: { of: PRIVATE } }],
  }),
  'a record whose id is a list': json(200, { id: [1], staff: [{ id: [1] }] }),
  'a record whose id is empty': json(200, { id: '', staff: [{ id: '' }] }),
  'a record whose id is a number past all others': text(200, '{"id":1e400,"staff":[{"id":1e400}]}'),
  'a record whose id is no whole number': text(200, '{"id":1.5,"staff":[{"id":1.5}]}'),
  'a record whose id is a text of 1 MB': (response) => {
    const id = 'x'.repeat(MB);
    return json(200, { id, staff: [{ id }] })(response);
  },
  'another record than was asked for': json(200, { id: '666', person: { last: PRIVATE } }),
  'a list that is a text': json(200, { staff: PRIVATE }),
  'JSON of ten thousand levels': text(200, `${'['.repeat(10_000)}${']'.repeat(10_000)}`),
  'a hundred thousand fields': (response) =>
    text(200, `{${Array.from({ length: 100_000 }, (_, at) => `"f${at}":1`).join()}}`)(response),
  'a body of 40 MB': (response) => text(200, `"${'x'.repeat(40 * MB)}"`)(response),
  'a gzip bomb': text(200, gzipSync(Buffer.alloc(200 * MB)), { 'content-encoding': 'gzip' }),
  'broken gzip': text(200, 'not gzip', { 'content-encoding': 'gzip' }),
  'an unknown encoding': text(200, '{}', { 'content-encoding': 'br2' }),
  'bytes that are no text': text(200, Buffer.from([0xff, 0xfe, 0x00, 0x7b])),
  'a redirect to a private address': text(302, '', { location: 'http://169.254.169.254/latest/meta-data' }),
  'a redirect elsewhere': text(307, '', { location: 'https://evil.example/staff' }),
  'a refusal that quotes a record': json(400, { message: `${PRIVATE} is no name` }),
  'a conflict': json(409, { message: PRIVATE }),
  'a server error that quotes a record': json(500, { trace: PRIVATE }),
  'a status that is none': text(299, ''),
  'an answer that is cut': (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write(`{"id":"${PRIVATE}"`);
    setImmediate(() => response.destroy());
  },
  'a connection that is dropped': (response) => response.destroy(),
  'an error inside a 200': json(200, { error: 'busy', message: PRIVATE }),
};

let server: AcmeServer;
let hris: HrisConnection;
/** Other files may have used this process before. */
let rssBefore = 0;
beforeAll(async () => {
  rssBefore = process.memoryUsage().rss;
  server = await startAcmeServer();
  const options = { url: server.url, definition, allowPrivateAddress: true, ...ACME };
  hris = await openHris('http', 'acme', options);
  await hris.probe(signal);
});
afterAll(async () => {
  await hris?.close();
  await server?.close();
});

test('there are thirty of them', () => expect(Object.keys(hostile).length).toBeGreaterThanOrEqual(30));

test.for(Object.entries(hostile))(
  '%s: a proper refusal of a reading, a search, a create and a step before it',
  async ([name, answer]) => {
    const id = server.add(1)[0] ?? '';
    const create = (as: string) => () => hris.employees.create(employee('hostile'), `27:${name}, ${as}`, write);
    const calls: Readonly<Record<string, { method: string; path?: string; run: () => Promise<unknown> }>> = {
      reading: { method: 'GET', run: () => hris.employees.read(id, signal) },
      changes: { method: 'GET', path: '/changes', run: async () => hris.changes?.since(undefined, signal) },
      search: { method: 'GET', run: () => hris.employees.find({ by: 'number', value: '1' }, signal) },
      create: { method: 'POST', path: '/staff', run: create('whole') },
      step: { method: 'POST', path: '/contracts', run: create('step') },
    };
    for (const [call, { method, path = '', run }] of Object.entries(calls)) {
      // Under which id somebody is made, only the system knows.
      if (method === 'POST' && name === 'another record than was asked for') continue;
      server.next = { method, path, answer: (response) => void answer(response) };
      const error: unknown = await run().then(
        (value) => expect.fail(`${call} was taken for an answer: ${JSON.stringify(value)?.slice(0, 200)}`),
        (reason: unknown) => reason,
      );
      if (!isConnectorError(error)) throw error;
      const refused = { code: error.code, action: error.action, message: error.message, details: error.details };
      expect(JSON.stringify(refused), call).not.toContain(PRIVATE);
      expect(refused.code, call).not.toBe('HRIS_ADAPTER_FAULT');
      if (method === 'GET') expect(refused.action, call).not.toBe('ignore');
      if (method === 'POST')
        expect(['unknown', 'reject', 'retry', 'ignore', 'reauthorize'], JSON.stringify(refused)).toContain(
          refused.action,
        );
      // What may have been carried out is looked up, never sent again; a step is found again.
      if (
        call === 'create' &&
        /^(an? (empty|half|HTML|text|number|body|answer|connection|record whose|redirect to)|null|true)/.test(name)
      )
        expect(refused.action, JSON.stringify(refused)).toBe('unknown');
    }
  },
);

const UNKNOWN = { code: 'HRIS_UNREADABLE_ANSWER', action: 'unknown' };
const ELSEWHERE = { code: 'HRIS_UNEXPECTED_REDIRECT', action: 'reject' };
test.for([
  [301, 'the new employee', theirs, { kind: 'created' }],
  [302, 'the new employee', theirs, { kind: 'created' }],
  [303, 'the new employee', theirs, { kind: 'created' }],
  [302, 'somebody else', () => theirs(server.add(1)[0]), UNKNOWN],
  [303, 'somebody else', () => theirs(server.add(1)[0]), UNKNOWN],
  [301, 'the same list elsewhere', () => 'https://hr.acme.example/api/staff', UNKNOWN],
  [302, 'a login page', () => '/login', UNKNOWN],
  [303, 'a login page', () => '/login', UNKNOWN],
  [302, 'a page that "errors" has a row for', () => '/sso/refused', { code: 'INVALID_VALUE', action: 'reject' }],
  [307, 'another system', () => 'https://hr.acme.example/staff', ELSEWHERE],
  [308, 'another system', () => 'https://hr.acme.example/staff', ELSEWHERE],
] as const)('a create that is answered %i with the address of %s', async ([status, , locationOf, outcome]) => {
  const changed = definition.text
    .replace('ticket: body.task', 'id: "$split(headers.location, \'/\')[-1]"')
    .replace(/pending:\n( .*\n)+/, '')
    .replace('errors:\n', `errors:\n  - { status: 302, when: '$contains(headers.location, "sso")', means: reject }\n`);
  const options = { url: server.url, definition: { file, text: changed }, allowPrivateAddress: true, ...ACME };
  const synchronous = await openHris('http', 'acme', options);
  const [id = ''] = server.add(1);
  const reference = `27:redirected-${id}`;
  let sent = 0;
  const redirect = (response: ServerResponse): void => {
    sent += 1;
    server.edit(id, (one) => void Object.assign(one, { external: { hirebridge: reference } }));
    response.writeHead(status, { location: locationOf(id) }).end();
  };
  server.next = { method: 'POST', path: '/staff', answer: redirect };
  const made = await synchronous.employees
    .create(employee('redirected'), reference, write)
    .catch((error: unknown) => error);
  expect(made).toMatchObject(outcome);
  if ('kind' in outcome) expect(made).toMatchObject({ ref: { id } });
  // Only the caller may send it again, once it has looked.
  expect(sent).toBe(1);
  if (outcome === UNKNOWN) expect((made as Error).message).toMatch(/looked up before.*"errors".*correct hris\.url/);
  await synchronous.close();
});

function theirs(id: string | undefined): string {
  return `/api/staff/${id}`;
}

test('memory does not grow with them', () => {
  // Five bombs of 200 MB and five bodies of 40 MB were sent to it, and the bodies were made here.
  expect((process.memoryUsage().rss - rssBefore) / MB).toBeLessThan(800);
});
