import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { readPage } from '../docs/documented.ts';
import { emptyFolder, playWalk } from './play-walk.ts';

interface Staff {
  id: string;
  staffNo: string;
  person?: { first: string; last: string };
  external?: { hirebridge: string };
  contacts?: { kind: string; address: string }[];
}

/** The system that the definition of the page describes. */
async function startStaff(token: string): Promise<{ url: string; staff: Staff[] }> {
  const staff: Staff[] = [];
  const server = createServer(async (request, response) => {
    const say = (status: number, body: unknown): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${token}`) return say(401, {});
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://acme');
    const body = request.method === 'GET' ? {} : ((await json(request)) as object);
    const one = staff.find(({ id }) => pathname === `/api/staff/${id}`);
    if (one !== undefined) return say(200, Object.assign(one, body));
    if (pathname === '/api/me') return say(200, {});
    if (pathname !== '/api/staff') return say(404, {});
    if (request.method === 'POST') {
      const id = String(staff.length + 1);
      staff.push({ ...body, id, staffNo: `7000${id}` });
      return say(201, staff.at(-1));
    }
    const [reference, email] = [query.get('reference'), query.get('email')];
    const has = ({ external, contacts = [] }: Staff): boolean =>
      reference === null ? contacts.some(({ address }) => address === email) : external?.hirebridge === reference;
    return say(200, { staff: staff.filter(has) });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, staff };
}

test('docs/http-definitions.md leads from its definition to a hire', async () => {
  const page = await readPage('docs/http-definitions.md');
  const { url, staff } = await startStaff('token-of-acme');
  const { cwd, path: PATH } = await emptyFolder();
  const definition = /```yaml\n(# acme-hr\.yaml.*?)```/s.exec(page)?.[1] ?? '';
  await writeFile(join(cwd, 'acme-hr.yaml'), definition);
  const here = page.replaceAll('https://test.hr.acme.example/api', url);
  const env = { PATH, ACME_HR_TOKEN: 'token-of-acme' };
  const walk = await playWalk(here, '## From the file to the first hire', { cwd, env });
  expect(walk.output).toMatch(/written\s+back\s+and\s+verified/);
  expect(staff).toEqual([
    expect.objectContaining({
      person: { first: 'Ana', last: 'Reyes' },
      contacts: [{ kind: 'private', address: 'ana.reyes@example.org' }],
      external: { hirebridge: expect.any(String) },
    }),
  ]);
});
