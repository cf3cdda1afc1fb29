import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HrisLimits } from '../../src/hris/http-line.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { type HttpProxy, startHttpProxy } from '../../src/hris-kit/http-proxy.ts';
import { type RateLimitAnswer, unlimited } from '../../src/rate-limit/rate-limit.ts';
import { ACME, type AcmeServer, startAcmeServer } from './acme-server.ts';
import { employee, refusal, signal, write } from './profile.ts';
import { trustedPairs } from './tls-proxy.ts';

const acme = await readFile(new URL('definitions/acme.yaml', import.meta.url), 'utf8');

let folder: string;
let server: AcmeServer;
let proxy: HttpProxy;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hirebridge-definition-'));
  server = await startAcmeServer();
  proxy = await startHttpProxy(server.url);
});
afterAll(async () => {
  await proxy?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The system through the proxy, by the definition `change` makes of ours. */
async function openAcme(
  change: (text: string) => string = (text) => text,
  { limits, url = `${proxy.url}/api` }: { limits?: HrisLimits; url?: string } = {},
): Promise<HrisConnection> {
  const text = change(acme);
  const definition = { file: join(folder, 'acme.yaml'), text };
  const options = { url, definition, allowPrivateAddress: true, ...ACME };
  return openHris('http', 'acme', options, limits === undefined ? {} : { limits });
}

function newcomer(tag: string): ReturnType<typeof employee> {
  return employee(tag, { department: `Kitchen of ${tag}`, hours: 40 });
}

async function employ(hris: HrisConnection, tag: string): Promise<string> {
  const made = await hris.employees.create(newcomer(tag), `27:${tag}`, write);
  if (made.kind !== 'pending') throw new Error('expected a task');
  server.finish(made.ticket);
  const settled = await hris.pending?.resolve(made.ticket, signal);
  return settled?.kind === 'created' ? settled.ref.id : '';
}

/** What the system itself holds of one newcomer. */
function heldOf(tag: string): { staff: number; contracts: number; departments: number } {
  const ours = [...server.staff.values()].filter(
    (one) => (one['external'] as { hirebridge?: string } | undefined)?.hirebridge === `27:${tag}`,
  );
  return {
    staff: ours.length,
    contracts: [...server.contracts.values()].filter((reference) => reference === `27:${tag}`).length,
    departments: [...server.departments.values()].filter((name) => name === `Kitchen of ${tag}`).length,
  };
}

test.for([
  ['answer-lost', '/departments', 'retry'],
  ['answer-lost', '/contracts', 'retry'],
  ['answer-lost', '/staff', 'unknown'],
  ['reset-before', '/departments', 'retry'],
  ['reset-before', '/contracts', 'retry'],
  ['reset-before', '/staff', 'unknown'],
] as const)('a newcomer in three steps is one, though %s strikes POST %s', async ([kind, path, action]) => {
  const hris = await openAcme();
  const tag = `${kind}${path.slice(1)}`;
  const struck = proxy.strike({ kind, on: (asked) => asked.method === 'POST' && asked.path === `/api${path}` });
  expect(await refusal(hris.employees.create(newcomer(tag), `27:${tag}`, write))).toMatchObject({ action });
  await struck;
  const again = await hris.employees.create(newcomer(tag), `27:${tag}`, write).then(
    ({ kind: made }) => made,
    (error: { code: string }) => error.code,
  );
  expect(again).toBe(kind === 'answer-lost' && path === '/staff' ? 'ALREADY_EXISTS' : 'pending');
  expect(heldOf(tag)).toEqual({ staff: 1, contracts: 1, departments: 1 });
  await hris.close();
});

test('a step is taken again where an update needs it, and what it stands for may be emptied', async () => {
  const hris = await openAcme();
  const id = await employ(hris, 'moved');
  const department = async () => (await hris.employees.read(id, signal))?.fields['department'] ?? null;
  expect(await department()).toBe('Kitchen of moved');
  for (const _twice of [1, 2]) await hris.employees.update(id, { department: 'Bar' }, write);
  expect(await department()).toBe('Bar');
  expect([...server.departments.values()].filter((name) => name === 'Bar')).toHaveLength(1);
  await hris.employees.update(id, { title: 'Barkeeper' }, write);
  expect(await department()).toBe('Bar');
  await hris.employees.update(id, { department: null }, write);
  expect(await department()).toBeNull();
  expect(heldOf('moved').contracts).toBe(1);
  await hris.close();
});

test('a file is compared by its bytes where the list tells no digest', async () => {
  const hris = await openAcme((text) =>
    text
      .replace('items: files, name: name }', 'items: files, name: name, id: id }')
      .replace('  same: { sha256: sha256 }', '  download: { get: "/staff/{id}/files/{file.id}" }'),
  );
  const id = await employ(hris, 'with-files');
  const file = {
    name: 'contract.pdf',
    document: 'offer:8',
    mediaType: 'application/pdf',
    bytes: Buffer.from([0, 1, 2, 255]),
  };
  const deliver = () => hris.files?.deliver(id, file, write);
  expect([await deliver(), await deliver()]).toEqual(['delivered', 'there']);
  file.bytes = Buffer.from([0, 1, 2, 254]);
  expect([await deliver(), await deliver()]).toEqual(['delivered', 'there']);
  expect(server.files.get(id)).toHaveLength(2);
  await hris.close();
});

test('open positions are listed over pages and changed over what was read; a filled one is left alone', async () => {
  const hris = await openAcme();
  const { listOpen, read, update, amend } = hris.requisitions ?? {};
  for (let id = 1; id <= 90; id += 1) {
    const position = { id, version: 1, title: `Cook ${id}`, site: { city: 'Oslo' }, pay: 5 };
    server.positions.set(String(id), { ...position, state: id % 3 === 0 ? 'filled' : 'open' });
  }
  const listed = await listOpen?.(signal);
  expect(listed).toHaveLength(60);
  expect(listed?.[0]).toMatchObject({ id: '1', fields: { title: 'Cook 1', city: 'Oslo', country: null } });
  server.positions.set('nobody', { state: 'open' } as never);
  expect(await refusal(listOpen?.(signal) ?? Promise.resolve())).toMatchObject({ code: 'HRIS_UNREADABLE_ANSWER' });
  server.positions.delete('nobody');
  expect((await read?.(['1', '3', '4', '1000'], signal))?.map(({ id }) => id)).toEqual(['1', '4']);
  await update?.('1', { title: 'Chef' }, write);
  await amend?.('1', { fields: { city: 'Bergen' }, over: { city: 'Oslo' } }, write);
  await amend?.('1', { fields: { city: 'Bergen' }, over: { city: 'Oslo' } }, write);
  expect(server.positions.get('1')).toMatchObject({ title: 'Chef', site: { city: 'Bergen' }, pay: 5, version: 3 });
  const late = amend?.('1', { fields: { city: 'Narvik' }, over: { city: 'Oslo' } }, write) ?? Promise.resolve();
  expect(await refusal(late)).toMatchObject({ code: 'STALE', action: 'retry' });
  for (const id of ['3', '1000'])
    expect(await refusal(update?.(id, { title: 'Chef' }, write) ?? Promise.resolve())).toMatchObject({
      code: 'REQUISITION_NOT_FOUND',
      action: 'reject',
    });
  expect(server.positions.get('3')).toMatchObject({ title: 'Cook 3', version: 1 });
  await hris.close();
});

test('a version that only a header tells guards a whole record, without what is not taken back', async () => {
  const hris = await openAcme((text) =>
    text
      .replace('  version: version\nfields', 'fields')
      .replace('read: { get: "/staff/{id}" }', 'read: { get: "/staff/{id}", version: headers.etag }')
      .replace('as: put, headers', 'as: put, without: [id, version, staffNo, at], headers'),
  );
  const id = await employ(hris, 'tagged');
  server.isStrict = true;
  await hris.employees.update(id, { title: 'Chef' }, write);
  expect(server.staff.get(id)).toMatchObject({ job: { title: 'Chef' }, person: { last: expect.any(String) } });
  const struck = proxy.strike({
    kind: 'meanwhile',
    on: ({ method }) => method === 'PUT',
    meanwhile: async () => server.edit(id, (one) => void Object.assign(one, { note: 'by hand' })),
  });
  expect(await refusal(hris.employees.update(id, { title: 'Waiter' }, write))).toMatchObject({ code: 'STALE' });
  await struck;
  expect(server.staff.get(id)).toMatchObject({ job: { title: 'Chef' }, note: 'by hand' });
  server.isStrict = false;
  await hris.close();
});

test('a number that only a call of its own tells is none until it is there', async () => {
  const hris = await openAcme((text) =>
    text
      .replace('  number: staffNo\n', '')
      .replace(/ {2}number: \{ get: .*\n/, '')
      .replace('\ncreate:\n', '\nnumber: { get: "/staff/{id}", item: staffNo }\ncreate:\n'),
  );
  const made = await hris.employees.create(newcomer('numbered'), '27:numbered', write);
  const found = await hris.employees.find({ by: 'reference', value: '27:numbered' }, signal);
  const id = found.kind === 'one' ? found.ref.id : '';
  expect((await hris.employees.read(id, signal))?.ref).toEqual({ id });
  server.finish(made.kind === 'pending' ? made.ticket : '');
  const asked: string[] = [];
  void proxy.strike({ kind: 'meanwhile', on: ({ method, path }) => asked.push(`${method} ${path}`) === 0 });
  expect((await hris.employees.read(id, signal))?.ref).toEqual({ id, number: expect.stringMatching(/^7\d{4}$/) });
  expect(asked).toHaveLength(2);
  // Whoever changes an employee does not need the number.
  await hris.employees.update(id, { title: 'Chef' }, write);
  expect(asked.slice(2).map((one) => one.split(' ')[0])).toEqual(['GET', 'PUT']);
  await hris.pending?.resolve(made.kind === 'pending' ? made.ticket : '', signal);
  expect(asked.slice(4)).toEqual([expect.stringContaining('/tasks/'), `GET /api/staff/${id}`]);
  await hris.close();
});

test('a list is read by id and label, without what may not be chosen', async () => {
  const hris = await openAcme();
  for (const [id, name] of [
    ['d1', 'Kitchen'],
    ['d2', 'Closed'],
    ['d3', ''],
  ] as const)
    server.departments.set(id, name);
  expect(await hris.lists?.read('departments', signal)).toContainEqual({ id: 'd1', label: 'Kitchen' });
  const shown = (await hris.lists?.read('departments', signal))?.map(({ label }) => label);
  expect(shown).not.toContain('Closed');
  expect(shown).not.toContain('');
  await hris.close();
});

test('headers of its own name tell the rate limit', async () => {
  const answers: RateLimitAnswer[] = [];
  const limits: HrisLimits = () => ({ ...unlimited, answered: (answer) => void answers.push(answer) });
  const hris = await openAcme(undefined, { limits });
  await hris.probe(signal);
  expect(answers.at(-1)?.headers).toMatchObject({
    'ratelimit-limit': '500',
    'ratelimit-remaining': '400',
    'ratelimit-reset': '60',
  });
  await hris.close();
});

test('a module beside the file signs requests, and changes what is read and written', async () => {
  const module = join(folder, 'acme-hooks.ts');
  await writeFile(
    module,
    `import { createHmac } from 'node:crypto';
     type Raw = { person?: { last?: string } };
     type Request = { body?: string; headers: Record<string, string> };
     const macOf = (body: string, key: string) => createHmac('sha256', key).update(body).digest('hex');
     export const hooks = {
       request: ({ headers, ...request }: Request, options: Record<string, string>) => ({
         ...request,
         headers: { ...headers, 'x-acme-mac': macOf(request.body ?? '', options.password) },
       }),
       record: (raw: Raw) => ({ ...raw, person: { ...raw.person, last: raw.person?.last?.toLowerCase() } }),
       write: (record: object, purpose: string) => ({ ...record, by: purpose }),
     };`,
  );
  const hris = await openAcme((text) => `hooks: ./acme-hooks.ts\n${text}`);
  const id = await employ(hris, 'hooked');
  const { headers, body = '' } = server.made ?? {};
  expect(JSON.parse(body)).toMatchObject({ by: 'create' });
  expect(headers?.['x-acme-mac']).toBe(createHmac('sha256', ACME.password).update(body).digest('hex'));
  expect((await hris.employees.read(id, signal))?.fields).toMatchObject({ familyName: 'reyes hooked' });
  await hris.close();
});

test('a module that exports something else is refused at its line', async () => {
  await writeFile(join(folder, 'wrong-hooks.ts'), 'export const hooks = { request: 1, records: () => 1 };');
  await expect(openAcme((text) => `hooks: ./wrong-hooks.ts\n${text}`)).rejects.toThrow(
    /acme\.yaml:1:\d+.*must export "hooks" with the functions request, record or write/,
  );
});

test('a system that asks for a certificate is shown ours, and refuses who shows none', async () => {
  const { right } = await trustedPairs();
  const listening = createSecureServer({ ...right, requestCert: true, rejectUnauthorized: true });
  const shown: string[] = [];
  listening.on('request', (request, response) => {
    shown.push(
      String(
        (request.socket as { getPeerCertificate?(): { subject?: { CN?: string } } }).getPeerCertificate?.().subject?.CN,
      ),
    );
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"token":"t"}');
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const url = `https://localhost:${(listening.address() as AddressInfo).port}/api`;
  const withCertificate = (text: string): string =>
    `tls: { certificate: "{options.certificate}", key: "{options.key}" }\n${text.replace(
      'options:\n',
      'options:\n  certificate: { secret: true }\n  key: { secret: true }\n',
    )}`;
  const open = (change: (text: string) => string, more: object) => {
    const definition = { file: join(folder, 'acme.yaml'), text: change(acme) };
    return openHris('http', 'acme', { url, definition, allowPrivateAddress: true, ...ACME, ...more });
  };
  const own = { certificate: right.cert.toString(), key: right.key.toString() };
  const [ours, bare] = await Promise.all([open(withCertificate, own), open((text) => text, {})]);
  expect(await ours.probe(signal)).toEqual({ ok: true });
  expect(await bare.probe(signal)).toMatchObject({ ok: false, error: { action: 'retry' } });
  expect(new Set(shown)).toEqual(new Set(['localhost']));
  await Promise.all([ours.close(), bare.close()]);
  listening.closeAllConnections();
  listening.close();
});

test.for([
  ['a total that fits, nobody', 'nobody', { first: 0, total: 3 }, { kind: 'none', trusted: true }],
  ['a total that nobody counted, who comes last', 'late', { first: 0, total: -1 }, { kind: 'one', ref: { id: '3' } }],
  ['a first page that is the second, nobody for sure', 'early', { first: 1, total: 3 }, { trusted: false }],
  ['a total in text, nobody', 'nobody', { first: 0, total: '3' }, { kind: 'none', trusted: true }],
  [
    'a total that one is missing from, nobody after the short page',
    'nobody',
    { first: 0, total: 1 },
    { trusted: true },
  ],
  ['a total that counts others, nobody for sure', 'nobody', { first: 0, total: 5 }, { trusted: false }],
  ['a total that falls, nobody for sure', 'nobody', { first: 0, total: [4, 3] }, { trusted: false }],
  ['a total in a header that fits, nobody', 'nobody', { first: 0, total: 3 }, { kind: 'none', trusted: true }],
  ['a total in a header that counts others, nobody for sure', 'nobody', { first: 0, total: 5 }, { trusted: false }],
] as const)('everybody is read over pages: with %s is found', async ([name, who, { first, total }, found]) => {
  const person = (id: string, name: string) => ({
    id,
    contacts: [{ kind: 'private', address: `${name}@acme.example` }],
  });
  const asked: number[] = [];
  const inHeader = name.includes('header');
  const everybody = [person('1', 'early'), person('2', 'other'), person('3', 'late')];
  const listing = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://acme');
    const page = searchParams.get('page');
    if (page !== null) asked.push(Number(page));
    const from = Number(page ?? 9) * 2;
    const counted = typeof total === 'object' ? total[Number(page)] : total;
    const rows = { staff: everybody.slice(from, from + 2), ...(!inHeader && { total: counted }) };
    const body = pathname.endsWith('/login') ? { token: 't' } : rows;
    const headers = { 'content-type': 'application/json', ...(inHeader && { 'X-Total-Count': String(counted) }) };
    response.writeHead(200, headers).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(listing, 'listening');
  const paging = `{ by: page, first: ${first}, total: ${inHeader ? 'headers.X-Total-Count' : 'total'} }`;
  const all = `{ get: /staff, query: { page: "{page.number}" }, items: staff, paging: ${paging} }`;
  const hris = await openAcme(
    (text) => text.replace(', items: staff, trusted: true }\n  person:', `, items: staff }\n  all: ${all}\n  person:`),
    { url: `http://127.0.0.1:${(listing.address() as AddressInfo).port}` },
  );
  expect(await hris.employees.find({ by: 'email', value: `${who}@acme.example` }, signal)).toMatchObject(found);
  if (/short page|in text|header that fits/.test(name)) expect(asked).toEqual([0, 1]);
  await hris.close();
  listing.closeAllConnections();
  listing.close();
});

test('a call that finds its session used up logs in again, three times at most', async () => {
  const hris = await openAcme();
  await hris.probe(signal);
  const refuse = (times: number): void => {
    server.next = {
      method: 'GET',
      path: '/me',
      answer: (response) => {
        response.writeHead(401).end();
        if (times > 1) refuse(times - 1);
      },
    };
  };
  const before = server.logins;
  refuse(3);
  expect(await hris.probe(signal)).toEqual({ ok: true });
  expect(server.logins - before).toBe(3);
  refuse(4);
  expect(await hris.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_AUTH', action: 'reauthorize' } });
  expect(server.logins - before).toBe(6);
  await hris.close();
});

test('a 429 is waited out for as long as it says, or for "retryAfter"', async () => {
  const hris = await openAcme((text) => `retryAfter: 5m\n${text}`);
  const on = ({ path }: { path: string }): boolean => path === '/api/staff/1';
  for (const headers of [{}, { 'retry-after': '7' }]) {
    void proxy.strike({ kind: 'answer', on, answer: { status: 429, headers } });
    const retryAfterMs = 'retry-after' in headers ? 7_000 : 300_000;
    const waiting = hris.employees.read('1', signal);
    await expect(waiting).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs });
  }
  await hris.close();
});

test('all words of a list are told, and no value that was sent', async () => {
  const hris = await openAcme((text) => text.replace('said: body.message', 'said: body.errors.text'));
  const says = JSON.stringify({
    errors: [{ text: 'Reyes told is no name.' }, { text: 'A town is missing.' }, { text: 5 }],
  });
  server.next = { method: 'POST', path: '/staff', answer: (response) => void response.writeHead(400).end(says) };
  const { message } = await refusal(hris.employees.create(newcomer('told'), '27:told', write));
  expect(message).toContain('is no name. A town is missing.');
  expect(message).not.toMatch(/Reyes/);
  await hris.close();
});

test.for([
  ['is there by then', true, 'pending'],
  ['is nowhere', false, 'INVALID_VALUE'],
] as const)('a department that is refused as existing, and %s', async ([, isThere, outcome]) => {
  const hris = await openAcme();
  const tag = `shared-${isThere}`;
  const struck = proxy.strike({
    kind: 'answer',
    on({ method, path }) {
      if (isThere && path === '/api/departments') server.departments.set(tag, `Kitchen of ${tag}`);
      return method === 'POST' && path === '/api/departments';
    },
    answer: { status: 409 },
  });
  // Another hire makes it after this one has looked.
  const made = hris.employees.create(newcomer(tag), `27:${tag}`, write).then(
    ({ kind }) => kind,
    (error: { code: string; action: string }) => (expect(error.action).toBe('reject'), error.code),
  );
  expect(await made).toBe(outcome);
  await struck;
  expect(heldOf(tag)).toMatchObject({ staff: isThere ? 1 : 0, departments: isThere ? 1 : 0 });
  await hris.close();
});

test('whatever else is refused as existing holds a value of somebody else', async () => {
  const hris = await openAcme();
  const id = await employ(hris, 'unlike');
  const { update, rehire, terminate } = hris.employees;
  for (const change of [
    () => update(id, { title: 'Chef' }, write),
    () => rehire?.(id, { title: 'Chef' }, write),
    () => terminate?.(id, '2026-01-31', write),
  ]) {
    const struck = proxy.strike({ kind: 'answer', on: ({ method }) => method === 'PUT', answer: { status: 409 } });
    expect(await refusal(change() ?? Promise.resolve())).toMatchObject({ code: 'INVALID_VALUE', action: 'reject' });
    await struck;
  }
  await hris.close();
});

test('a file that is refused as existing is there where its bytes are', async () => {
  const hris = await openAcme();
  const id = await employ(hris, 'filed');
  const bytes = Buffer.from('offer');
  const file = { name: 'offer.pdf', document: 'offer:8', mediaType: 'application/pdf', bytes };
  for (const [held, status, outcome] of [
    [bytes, 409, 'there'],
    [Buffer.from('another'), 409, 'INVALID_VALUE'],
    [bytes, 303, 'HRIS_UNEXPECTED_REDIRECT'],
  ] as const) {
    server.files.delete(id);
    const struck = proxy.strike({
      kind: 'answer',
      on: ({ method }) => method === 'POST' && server.files.set(id, [{ name: file.name, bytes: held }]).size > 0,
      answer: { status },
    });
    const told = hris.files?.deliver(id, file, write).catch(({ code }: { code: string }) => code);
    expect(await told).toBe(outcome);
    await struck;
  }
  await hris.close();
});

test('a list whose total counts others is refused, and the refusal says what to set', async () => {
  const listed = async (paging: string) => {
    const by = paging.split(',', 1)[0];
    const hris = await openAcme((text) =>
      text.replace(
        /(list: .*\{page\.)cursor(.*) \*page \}/,
        (_all, list, items) => `${list}${by}${items} { by: ${paging} } }`,
      ),
    );
    try {
      return (await hris.requisitions?.listOpen(signal))?.length;
    } finally {
      await hris.close();
    }
  };
  server.positions.clear();
  for (let id = 1; id <= 45; id += 1) server.positions.set(String(id), { id, version: 1, state: 'open' });
  for (const paging of ['offset, first: 0', 'cursor, next: next']) {
    const { message } = await refusal(listed(`${paging}, total: "1000"`));
    expect(message).toMatch(/ended before its total.*"requisitions.list.paging".*remove "total"/);
    expect(await listed(paging)).toBe(45);
  }
});
