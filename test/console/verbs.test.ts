import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ACTS, readAccess } from '../../src/console/acts.ts';
import { withoutCommands } from '../../src/console/layout.ts';
import { systemUser } from '../../src/places.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { pauseTenant } from '../../src/store/tenant-states.ts';
import { scratchDir, tenantDir } from '../cli/cli-process.ts';
import { runCommand } from '../harness/run-command.ts';
import { storeIn } from '../store/stores.ts';
import { addTenant, openConsole } from './open-console.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

async function scratchFile(name: string, text: string): Promise<string> {
  const file = join(await scratchDir(), name);
  await writeFile(file, text);
  return file;
}

/** Commands that change nothing but what they print. */
const LOOKS = new Set(
  (
    'audit, audit export, audit verify, calendar list, check, collection, completion, conflicts, ddl, digest, ' +
    'doctor, events list, events schema, explain, failed, hire list, hire show, hold list, hold show, ' +
    'hris schema, inbox list, keys status, mapping check, mapping diff, mapping schema, mapping show, ' +
    'mapping test, openapi, person due, person find, person map, person receipts, rate-limit, status, ' +
    'tenant list, tenant show'
  ).split(', '),
);

/** The rows of a table of the guide, by their first cell. */
async function tableAfter(heading: string): Promise<Map<string, string[]>> {
  const [, rest = ''] = (await read('docs/console.md')).split(heading);
  const [table = ''] = rest.trim().split('\n\n');
  const rows = table.split('\n').slice(2);
  return new Map(
    rows.map((row) => {
      const [first = '', ...cells] = row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      return [first.replaceAll('`', ''), cells];
    }),
  );
}

test('every command that changes something has its action on a page, or a line that says why not', async () => {
  const headings = (await read('docs/reference.md')).matchAll(/^### `hirebridge ([a-z- ]+?)(?= [<[]|`)/gm);
  const commands = [...headings].map(([, name = '']) => name);
  expect(commands.length).toBeGreaterThan(50);
  const [there, not] = [await tableAfter('## What can be done there'), await tableAfter('they change something:')];
  const known = (name: string): number => [LOOKS.has(name), there.has(name), not.has(name)].filter(Boolean).length;
  expect(commands.filter((name) => known(name) !== 1)).toEqual([]);
  expect([...LOOKS, ...there.keys(), ...not.keys()].filter((name) => !commands.includes(name))).toEqual([]);
  for (const [name, [why = '']] of not) expect([name, why]).toEqual([name, expect.stringMatching(/^It .{20,}\.$/)]);
});

test('the guide names the actions that there are, each with the role that it needs', async () => {
  const acts = Object.values(ACTS).filter(({ verb }) => verb !== '' && !/reveal|diff/.test(verb));
  const there = await tableAfter('## What can be done there');
  // What the revert command does is a plan, too.
  const named = new Set([...acts.map(({ verb }) => verb), 'revert']);
  expect([...there.keys()].toSorted()).toEqual([...named].toSorted());
  for (const { verb, needs } of acts) expect([verb, there.get(verb)?.[1]]).toEqual([verb, needs]);
});

test('the access file of the guide is taken as it stands there', async () => {
  const [, text = ''] = /```console-access\n(.*?)```/s.exec(await read('docs/console.md')) ?? [];
  process.env['NIGHT_SHIFT_TOKEN'] = 'x'.repeat(32);
  process.env['CONSOLE_CLIENT_SECRET'] = 'y';
  onTestFinished(() => {
    delete process.env['NIGHT_SHIFT_TOKEN'];
    delete process.env['CONSOLE_CLIENT_SECRET'];
  });
  const access = await readAccess(await scratchFile('console.yaml', text));
  expect(access.tokens[0]).toMatchObject({ by: 'night-shift', grants: [{ role: 'operator', tenants: 'all' }] });
  expect(access.oidc).toMatchObject({ name: 'email', roles: [{ role: 'admin' }, { tenants: ['acme'] }] });
});

test.each([
  ['an unknown role', 'tokens: [{ name: a, token: env:T, role: root, tenants: all }]', /tokens\.0\.role/],
  [
    'a token in the file',
    'tokens: [{ name: a, token: abc, role: admin, tenants: all }]',
    /must not stand in this file/,
  ],
  ['nobody', '', /lets nobody in/],
  ['http to the world', 'url: http://c.example.com\ntokens: []', /certificate/],
  ['an unknown key', 'admins: all', /"admins" is not a known key/],
  ['no list of tenants', 'tokens: [{ name: a, token: env:T, role: admin, tenants: some }]', /tokens\.0\.tenants/],
])('an access file with %s is refused with its place', async (_what, lines, said) => {
  const text = lines.includes('url:') ? lines : `url: https://c.example.com\n${lines}\n`;
  const file = await scratchFile('console.yaml', text);
  await expect(readAccess(file)).rejects.toMatchObject({
    code: 'ACCESS_FILE_INVALID',
    message: expect.stringMatching(new RegExp(`console\\.yaml:\\d+:\\d+ .*${said.source}`)) as string,
  });
});

const DELIVERY = 'abcdef012345';

async function lose(store: Store): Promise<void> {
  const delivery = { tenantId: 'acme', bodyHash: `${DELIVERY}6789`, event: 'x', ids: {}, body: '{}' };
  await insertDelivery(store, { ...delivery, state: 'waiting' });
  await store.kysely.updateTable('inbox').set({ state: 'undeliverable' }).execute();
}

/** A row as it is, without when; for whom it was done, whoever did it. */
async function rowsOf(store: Store) {
  const rows = await store.kysely
    .selectFrom('audit')
    .select(['act', 'by', 'tenant_id', 'details'])
    .where('act', '<>', 'signed-in')
    .execute();
  const told = rows.map((row) => ({ ...row, by: row.by.replace(`${systemUser()} for `, '') }));
  return told.toSorted((a, b) => (a.act < b.act ? -1 : 1));
}

describe('a button and its command leave the same row in the audit trail', () => {
  test.each<[string, string, string[], ((store: Store) => Promise<unknown>)?]>([
    ['pause', '/tenants/acme/pause', ['pause', 'acme']],
    [
      'resume',
      '/tenants/acme/resume',
      ['resume', 'acme'],
      (store) => pauseTenant(store, 'acme', 'PAUSED_BY_PERSON', ''),
    ],
    [
      'tenant confirm-company',
      '/tenants/acme/confirm-company',
      ['tenant', 'confirm-company', 'acme'],
      (store) => pauseTenant(store, 'acme', 'COMPANY_MISMATCH', ''),
    ],
    ['freeze', '/tenants/acme/freeze', ['freeze', 'acme']],
    ['freeze everybody', '/freeze', ['freeze']],
    ['pause', '/streams/acme/jobs/pause', ['pause', 'acme', 'jobs']],
    ['replay', `/deliveries/acme/${DELIVERY}/replay`, ['replay', 'acme', DELIVERY], lose],
    ['inbox retry', `/deliveries/acme/${DELIVERY}/retry`, ['inbox', 'retry', DELIVERY, '--tenant', 'acme'], lose],
  ])('%s', async (_verb, path, args, prepare) => {
    const open = await openConsole();
    await prepare?.(open.store);
    const visitor = await open.signIn();
    expect((await visitor.post(path, {})).status).toBe(303);

    const dataDir = await scratchDir();
    const store = await openStore(await storeIn(dataDir), { relaxed: true });
    onTestFinished(() => store.close());
    await addTenant(store, 'acme');
    await prepare?.(store);
    const places = ['--data', dataDir, '--tenants', await tenantDir()];
    const { code, stderr } = await runCommand([...args, '--as', 'ann', ...places]);
    expect([code, stderr]).toEqual([0, '']);
    const rows = await rowsOf(open.store);
    expect(rows).toHaveLength(1);
    expect(await rowsOf(store)).toEqual(rows);
  });
});

test('a message loses the commands that it names, and keeps what it says about hirebridge', async () => {
  const headings = (await read('docs/reference.md')).matchAll(/^### `hirebridge ([a-z-]+)/gm);
  const names = new Set([...headings].map(([, name = '']) => name));
  const left = [...names].filter(
    (name) => withoutCommands(`It stopped. See: hirebridge ${name} acme`) !== 'It stopped.',
  );
  expect(left).toEqual([]);
  const said = 'This is former employee 7, and hirebridge cannot rehire people there. hirebridge tries one again.';
  expect(withoutCommands(`${said} See: hirebridge status`)).toBe(said);
});
