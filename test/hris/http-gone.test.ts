import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { ACME, type AcmeServer, startAcmeServer } from './acme-server.ts';
import { employee, refusal, signal, write } from './profile.ts';

const acme = await readFile(new URL('definitions/acme.yaml', import.meta.url), 'utf8');

let folder: string;
let server: AcmeServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hirebridge-gone-'));
  server = await startAcmeServer();
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The system by the definition `change` makes of ours. */
async function openAcme(change: (text: string) => string = (text) => text): Promise<HrisConnection> {
  const definition = { file: join(folder, 'acme.yaml'), text: change(acme) };
  return openHris('http', 'acme', { url: server.url, definition, allowPrivateAddress: true, ...ACME }, {});
}

test('a request that the system forgot is told apart from one that it refused', async () => {
  const hris = await openAcme();
  const made = await hris.employees.create(
    employee('forgotten', { department: 'Kitchen', hours: 40 }),
    '27:forgotten',
    write,
  );
  const ticket = made.kind === 'pending' ? made.ticket : '';
  server.tasks.delete(ticket);
  const refused = await refusal(hris.pending?.resolve(ticket, signal) ?? Promise.resolve());
  expect(refused).toMatchObject({ code: 'REQUEST_UNKNOWN', action: 'reject' });
  await hris.close();
});

test('a record that was merged into another one is there no more, whichever way the system says so', async () => {
  const hris = await openAcme();
  const [gone = '', alias = '', survivor = ''] = server.add(3);
  const response = { method: 'GET', path: `/staff/${gone}` };
  server.next = { ...response, answer: (told) => void told.writeHead(410).end('{}') };
  expect(await hris.employees.read(gone, signal)).toBeUndefined();
  server.staff.set(alias, structuredClone(server.staff.get(survivor)!));
  expect(await hris.employees.read(alias, signal)).toBeUndefined();
  expect(await refusal(hris.employees.update(alias, { title: 'Chef' }, write))).toMatchObject({
    code: 'EMPLOYEE_NOT_FOUND',
  });
  expect((await hris.employees.read(survivor, signal))?.ref.id).toBe(survivor);
  await hris.close();
});

test('a definition that reads somebody for any id is still refused', async () => {
  const [first = '', second = ''] = server.add(2);
  const hris = await openAcme((text) =>
    text.replace('get: "/staff/{id}"', `get: "/staff/${first}", query: { of: "{id}" }`),
  );
  expect(await refusal(hris.employees.read(second, signal))).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringContaining('"read"'),
  });
  await hris.close();
});

test('a row of "errors" comes before the statuses that mean that nobody is there', async () => {
  const hris = await openAcme((text) =>
    text.replace(
      'errors:\n',
      'errors:\n' +
        '  - { status: 404, when: body.error = "starting", means: retry }\n' +
        '  - { status: 404, when: body.error = "left", means: absent }\n',
    ),
  );
  const [id = ''] = server.add(1);
  const answered = (error: string): void => {
    const path = `/staff/${id}`;
    server.next = { method: 'GET', path, answer: (told) => void told.writeHead(404).end(JSON.stringify({ error })) };
  };
  answered('starting');
  expect(await refusal(hris.employees.read(id, signal))).toMatchObject({ code: 'HRIS_BUSY', action: 'retry' });
  for (const error of ['left', 'unknown']) {
    answered(error);
    expect(await hris.employees.read(id, signal)).toBeUndefined();
  }
  expect((await hris.employees.read(id, signal))?.ref.id).toBe(id);
  await hris.close();
});
