import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { systemUser } from '../../src/places.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { openStore } from '../../src/store/open-store.ts';
import { landings } from '../../src/streams/streams.ts';
import { scratchDir } from '../cli/cli-process.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { runCommand } from '../harness/run-command.ts';
import { addTenant, type OpenConsole, openConsole, TOKEN, type Visitor } from './open-console.ts';

/** A hiring platform with a key, an empty folder of tenants, and a database of employees. */
async function setUp(over: Parameters<typeof openConsole>[0] = {}) {
  const sandbox = await startSandbox({ jobs: 1, candidates: 4, hired: 1 });
  onTestFinished(() => sandbox.close());
  const folder = await scratchDir();
  const tenantsDir = join(folder, 'tenants');
  const hris = `sqlite:${join(folder, 'hr.db')}`;
  await ensureHrisSchema(hris, undefined, landings);
  const console = await openConsole({ tenantsDir, ...over });
  const first = { tenant: 'globex', baseUrl: sandbox.url, apiKey: sandbox.key };
  return { sandbox, folder, tenantsDir, hris, console, visitor: await console.signIn(), first };
}

/** Where a form leads, or what its page says. */
async function send(visitor: Visitor, path: string, fields: Record<string, string>) {
  const answer = await visitor.post(path, fields);
  return { status: answer.status, to: answer.headers.get('location') ?? '', text: await answer.text() };
}

async function toFields(
  { visitor, hris, first }: Awaited<ReturnType<typeof setUp>>,
  more: Record<string, string> = {},
) {
  const { to } = await send(visitor, '/setup', first);
  const { text } = await visitor.get(to);
  const [, flow = ''] = /<select name="flow">\s*<option value="([^"]+)"/.exec(text) ?? [];
  const second = await send(visitor, `${to}/hr-system`, { flow, startDate: '+define', hris, ...more });
  return { to, text, second };
}

async function actsIn({ store }: OpenConsole): Promise<{ act: string; by: string; details: string | null }[]> {
  return store.kysely.selectFrom('audit').select(['act', 'by', 'details']).where('act', '=', 'applied').execute();
}

test('a tenant that is set up has the files that init writes, and is applied with the same row', async () => {
  const open = await setUp();
  const { visitor, tenantsDir, sandbox, hris, console } = open;
  const { to, text, second } = await toFields(open);
  expect(text).toContain(String(sandbox.companyId));
  expect([second.status, second.to]).toEqual([303, `${to}/fields`]);
  const { text: fields } = await visitor.get(`${to}/fields`);
  const chosen = Object.fromEntries(
    [...fields.matchAll(/name="field:(\w+)"/g)].map(([, key = '']) => [`field:${key}`, 'default']),
  );
  expect(Object.keys(chosen)).toContain('field:email');
  const look = await send(visitor, `${to}/fields`, chosen);
  expect(look.text).toContain('First dry run');
  expect(look.text).toMatch(/<b>0 people<\/b> of 5/);
  expect(look.text).toContain('candidate.customFields[Start date] is empty. Fill it in the hiring platform');
  expect(look.text).not.toContain(sandbox.key);
  expect(existsSync(tenantsDir)).toBe(false);
  expect(await actsIn(console)).toEqual([]);
  expect(await send(visitor, `${to}/write`, {})).toMatchObject({ status: 303, to: '/tenants/globex?did=setup' });

  // What init and tenant apply make of the same answers.
  const other = join(await scratchDir(), 'tenants');
  const dataDir = await scratchDir();
  const store = await openStore(`sqlite:${join(dataDir, 'store.db')}`);
  onTestFinished(() => store.close());
  const given = ['--partner', sandbox.url, '--api-key', sandbox.key, '--hris', hris];
  const flow = ['--flow', /flow: "([^"]+)"/.exec(await readFile(join(tenantsDir, 'globex.yaml'), 'utf8'))?.[1] ?? ''];
  expect(await runCommand(['--tenants', other, 'init', 'globex', ...given, ...flow])).toMatchObject({ code: 0 });
  const applied = await runCommand(['--tenants', other, '--data', dataDir, 'tenant', 'apply', '--yes', '--as', 'ann']);
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  const names = (await readdir(other, { recursive: true })).toSorted();
  expect((await readdir(tenantsDir, { recursive: true })).toSorted()).toEqual(names);
  // Each names its database as seen from its own folder.
  const texts = (dir: string) =>
    Promise.all(
      names
        .filter((name) => name.includes('.'))
        .map(async (name) => (await readFile(join(dir, name), 'utf8')).replace(/sqlite:.*\.db/, 'sqlite:hr.db')),
    );
  expect(await texts(tenantsDir)).toEqual(await texts(other));
  expect((await stat(join(tenantsDir, 'secrets/globex-partner.key'))).mode & 0o777).toBe(0o600);
  const rows = (await store.kysely.selectFrom('audit').select(['act', 'by', 'details']).execute()).map((row) => ({
    ...row,
    details: row.details?.replace(/sqlite:.*\.db/, '') ?? null,
  }));
  const own = (await actsIn(console)).map((row) => ({
    ...row,
    details: row.details?.replace(/sqlite:.*\.db/, '') ?? null,
  }));
  expect(rows).toEqual(own.map((row) => ({ ...row, by: `${systemUser()} for ${row.by}` })));
});

test('a field of the HR system gets its value from what means the same and has a type that fits', async () => {
  const open = await setUp();
  const { visitor, hris, sandbox, tenantsDir } = open;
  const { kysely, close } = openDatabase(hris);
  for (const [column, type] of [
    ['kostenstelle', 'text'],
    ['badge', 'integer'],
    ['review_day', 'date'],
  ] as const)
    await kysely.schema.alterTable('employees').addColumn(column, type).execute();
  await close();
  const define = (fieldLabel: string, fieldType: string) =>
    fetch(`${sandbox.url}/custom-fields`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ entityType: 'candidate', fieldLabel, fieldType, parentSection: 'Miscellaneous' }),
    });
  for (const [label, type] of [
    ['Cost center', 'text'],
    ['Badge', 'date'],
    ['Review day', 'date'],
  ] as const)
    expect((await define(label, type)).status).toBeLessThan(300);
  const { to } = await toFields(open, { startDate: 'Review day' });
  const { text } = await visitor.get(`${to}/fields`);
  const chosen = (key: string) =>
    new RegExp(`name="field:${key}"[^]*?<option value="([^"]+)" selected`).exec(text)?.[1];
  expect([chosen('kostenstelle'), chosen('badge'), chosen('reviewDay'), chosen('givenName')]).toEqual([
    'candidate.customFields[Cost center]',
    'none',
    'candidate.customFields[Review day]',
    'default',
  ]);
  const wanted = { 'field:kostenstelle': 'candidate.customFields[Cost center]', 'field:badge': 'candidate.email' };
  const look = await send(visitor, `${to}/fields`, {
    ...Object.fromEntries(['givenName', 'familyName', 'email', 'title'].map((key) => [`field:${key}`, 'default'])),
    ...wanted,
  });
  expect(look.text).toContain('kostenstelle: { column: kostenstelle, type: text }');
  // No number is read from an e-mail address: only what was offered is taken.
  expect(look.text).not.toContain('badge:');
  expect(look.text).toContain('phone: null');
  expect(existsSync(tenantsDir)).toBe(false);
});

test('what either side calls its fields is shown as text, and stands in the files as text', async () => {
  const open = await setUp();
  const { visitor, hris, sandbox } = open;
  const hostile = `x"><img src=x onerror=alert(1)>`;
  const { kysely, close } = openDatabase(hris);
  await kysely.schema.alterTable('employees').addColumn(hostile, 'text').execute();
  await close();
  const defined = await fetch(`${sandbox.url}/custom-fields`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      entityType: 'candidate',
      fieldLabel: hostile,
      fieldType: 'date',
      parentSection: 'Miscellaneous',
    }),
  });
  expect(defined.status).toBeLessThan(300);
  const { to, text } = await toFields(open, { startDate: hostile });
  const fields = await visitor.get(`${to}/fields`);
  const look = await send(visitor, `${to}/fields`, { 'field:givenName': 'default' });
  for (const one of [text, fields.text, look.text]) {
    expect(one).toContain('onerror');
    expect(one).not.toContain('<img');
  }
});

test.each([
  ['an id that is none', { tenant: 'Globex!' }, 'a to z, 0 to 9 and -'],
  ['no address', { baseUrl: 'hiring' }, 'expected the partner address, https://.../v1/partner'],
  ['an address without its path', { baseUrl: 'https://hiring.example' }, 'ends in /v1/partner'],
  ['a key that is refused', { apiKey: 'sk_test_nobodys' }, 'key'],
])('%s is told in the form, and nothing is kept', async (_what, over, said) => {
  const { visitor, first, tenantsDir } = await setUp();
  const answer = await send(visitor, '/setup', { ...first, ...over });
  expect([answer.status, answer.text.includes(said)]).toEqual([422, true]);
  expect(answer.text).not.toContain('sk_test_nobodys');
  expect(existsSync(tenantsDir)).toBe(false);
});

test('what cannot work is not offered to be written, and what is there already is left alone', async () => {
  const open = await setUp();
  const { visitor, tenantsDir, folder } = open;
  const empty = join(folder, 'empty.db');
  await writeFile(empty, '');
  const { to } = await toFields(open, { hris: `sqlite:${empty}` });
  const defaults = Object.fromEntries(
    ['givenName', 'familyName', 'email', 'title'].map((key) => [`field:${key}`, 'default']),
  );
  const look = await send(visitor, `${to}/fields`, defaults);
  expect(look.text).toContain('This would not work');
  expect(look.text).not.toContain('Write these files and begin');
  const written = await send(visitor, `${to}/write`, {});
  expect([written.status, written.text.includes('Nothing was applied')]).toEqual([422, true]);
  expect(await readdir(tenantsDir, { recursive: true })).toEqual(['secrets']);
  await writeFile(join(tenantsDir, 'globex.yaml'), 'mine');
  expect((await send(visitor, '/setup', open.first)).text).toContain('nothing is overwritten');
});

test('a draft is of the session that began it, for an hour', async () => {
  const { visitor, console, first } = await setUp();
  const { to } = await send(visitor, '/setup', first);
  const other = await console.signIn();
  expect([(await visitor.get(to)).status, (await other.get(to)).status]).toEqual([200, 404]);
  expect((await send(other, `${to}/write`, {})).status).toBe(404);
  expect((await visitor.get(`${to}/fields`)).status).toBe(404);
});

test('from another machine nobody has files, settings or databases of this one read', async () => {
  const grants = [{ role: 'admin', tenants: 'all' }] as const;
  const open = await setUp();
  const port = await freePort();
  const remote = await openConsole({
    tenantsDir: open.tenantsDir,
    port,
    access: {
      url: new URL(`http://127.0.0.1:${port}`),
      tokens: [{ by: 'eve', token: TOKEN, grants }],
      oidc: undefined,
    },
  });
  const visitor = await remote.signIn();
  process.env['SOME_SECRET'] = open.sandbox.key;
  onTestFinished(() => void delete process.env['SOME_SECRET']);
  for (const apiKey of ['env:SOME_SECRET', 'file:/etc/passwd']) {
    const answer = await send(visitor, '/setup', { ...open.first, apiKey });
    expect([answer.status, answer.text.includes('only at the machine')]).toEqual([422, true]);
  }
  const { second } = await toFields({ ...open, console: remote, visitor });
  expect([second.status, second.text.includes('only at the machine')]).toEqual([422, true]);
});

test.each([
  ['an operator of all tenants', [{ role: 'operator', tenants: 'all' }]],
  ['an admin of one tenant', [{ role: 'admin', tenants: ['acme'] }]],
] as const)('%s sets up none', async (_who, grants) => {
  const console = await openConsole({ grants });
  await addTenant(console.store, 'globex');
  const visitor = await console.signIn();
  expect((await visitor.get('/setup')).status).toBe(403);
  expect((await visitor.get('/setup/x/fields')).status).toBe(403);
  expect((await visitor.get('/')).text).not.toContain('Set up a tenant');
  expect((await send(visitor, '/setup', { tenant: 'x', baseUrl: 'http://x', apiKey: 'y' })).status).toBe(403);
});
