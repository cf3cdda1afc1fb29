import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import type { z } from 'zod';
import { Config } from '../../src/config.ts';
import { AccessFile, readAccess } from '../../src/console/acts.ts';
import { asAdmin } from '../../src/counterparts/start-postgres.ts';
import { freePort } from '../../src/free-port.ts';
import { definitionSchema } from '../../src/hris/http/definition-schema.ts';
import { findHrisAdapter, hrisKinds } from '../../src/hris/registry.ts';
import { createRootLogger } from '../../src/log.ts';
import { createReceiverTenants } from '../../src/receiver/receiver-tenants.ts';
import type { AppliedTenant } from '../../src/store/applied-tenants.ts';
import { audit, HEADS_FILE, keepAudit, verifyAudit } from '../../src/store/audit.ts';
import { STORE_PLACES } from '../../src/store/data-map.ts';
import { migrateStore } from '../../src/store/migrate.ts';
import { openStore } from '../../src/store/open-store.ts';
import { assertSigned, openSigner, signed } from '../../src/store/signing-key.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { landings } from '../../src/streams/streams.ts';
import { type Tenant, tenantFile } from '../../src/tenants/schema.ts';
import { addKey } from '../../src/vault/keys.ts';
import { createPoster, createPostNotice } from '../../src/worker/outgoing.ts';
import { scratchDir, startCli, tenantDir } from '../cli/cli-process.ts';
import { openConsole } from '../console/open-console.ts';
import { createDatabase } from '../harness/postgres.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { fromHarness } from '../harness/services.ts';
import { signWebhook, webhookPayloads } from '../hris/bamboohr-people.ts';
import { startNeighbourHris } from '../isolation/neighbour-hris.ts';
import { freshStore } from '../store/stores.ts';

const ROOT = join(import.meta.dirname, '../..');
const HERE = 'test/tenants/rotations.test.ts';
const HRIS = 'test/hris/rotated-credentials.test.ts';
const FLEET = ['test/e2e/secrets.test.ts', 'each secret behind file: rotated'] as const;
const BESIDE = [HERE, 'secrets and addresses of notify and events'] as const;
const HOOKS = [HERE, "keys of an HR system's webhooks"] as const;

/** Every kind of secret, and the test that replaces it: its file, and words in it. */
const WALKS: Readonly<Record<string, readonly [file: string, words: string]>> = {
  'partner.apiKey': FLEET,
  'partner.webhookKeys': FLEET,
  'hris.sql.url': FLEET,
  'landing.url': [HRIS, "'landing.url':"],
  destinations: [HRIS, 'destinations:'],
  notify: BESIDE,
  'notify.url': BESIDE,
  'notify.secret': BESIDE,
  'events.url': BESIDE,
  'events.secret': BESIDE,
  'hris.entra.clientSecret': [HRIS, 'hris.http.auth.oauth2.clientSecret'],
  'hris.ldap.password': [HRIS, 'hris.ldap.password'],
  'hris.bamboohr.apiKey': [HRIS, 'hris.bamboohr.apiKey'],
  'hris.bamboohr.webhookKeys': HOOKS,
  'hris.bamboohr.webhookKey': HOOKS,
  'hris.http.webhookKeys': HOOKS,
  'hris.tryton.password': [HRIS, 'hris.tryton.password'],
  'hris.sftp.privateKey': [HRIS, 'hris.sftp.privateKey'],
  'hris.sftp.passphrase': [HRIS, 'hris.sftp.passphrase'],
  'hris.sftp.decryptWith': [HRIS, 'hris.sftp.decryptWith'],
  'hris.sftp.decryptPassphrase': [HRIS, 'hris.sftp.decryptPassphrase'],
  'hris.odoo.password': [HRIS, 'hris.http.auth.login'],
  'hris.scim.token': [HRIS, 'hris.http.auth.bearer'],
  'hris.http.password': [HRIS, 'hris.http.auth.login'],
  'hris.http.auth.bearer': [HRIS, 'hris.http.auth.bearer'],
  'hris.http.auth.basic': [HRIS, 'hris.http.auth.basic'],
  'hris.http.auth.headers': [HRIS, 'hris.http.auth.headers'],
  'hris.http.auth.query': [HRIS, 'hris.http.auth.query'],
  'hris.http.auth.login': [HRIS, 'hris.http.auth.login'],
  'hris.http.auth.oauth2.clientSecret': [HRIS, 'hris.http.auth.oauth2.clientSecret'],
  'hris.http.auth.oauth2.refreshToken': [HRIS, 'hris.http.auth.oauth2.refreshToken'],
  'hris.http.tls.certificate': [HRIS, 'hris.http.tls.certificate'],
  'hris.http.tls.key': [HRIS, 'hris.http.tls.key'],
  'access.tokens.token': [HERE, 'a token of an access file'],
  'access.oidc.clientSecret': ['test/console/oidc.test.ts', 'another client secret'],
  HIREBRIDGE_CONSOLE_TOKEN: [HERE, 'the tokens of console and codec'],
  'codec --token': [HERE, 'the tokens of console and codec'],
  HIREBRIDGE_STORE_URL: [HERE, "the store's password"],
  HIREBRIDGE_KEYS: ['test/store/sealed-values.test.ts', 'again once a key was replaced'],
  'store.data_keys.wrapped': ['test/store/sealed-values.test.ts', 'again once a key was replaced'],
  'store.calendar_feeds.token_hash': ['test/receiver/calendar.test.ts', 'nothing once it is revoked'],
  'signing.key': [HERE, 'the key that signs'],
  TEMPORAL_API_KEY: ['test/temporal/connection.test.ts', 'another API key'],
  TEMPORAL_TLS_CLIENT_KEY: ['test/temporal/connection.test.ts', 'another API key'],
};

/** Secrets that nobody replaces, and why. */
const NEVER: Readonly<Record<string, string>> = {
  'store.person_mark_keys.mark_key': 'marks of erased people would mean nobody; docs/security.md says so',
  'store.resumes.token': 'made for one file, and gone once it was read',
  'hris init --token': 'read once, by a command that ends',
};

/** Text fields of a schema that take a reference to a secret and no other word, by path. */
function referencesIn(schema: z.core.$ZodType, at: string): string[] {
  const { def } = (schema as z.ZodType)._zod as unknown as { def: Def };
  const inside = (one: z.core.$ZodType, key?: string): string[] =>
    referencesIn(one, key === undefined ? at : [at, key].filter((part) => part !== '').join('.'));
  if (def.type === 'object') return Object.entries(def.shape ?? {}).flatMap(([key, one]) => inside(one, key));
  if (def.type === 'union') return (def.options ?? []).flatMap((one) => inside(one));
  const next = def.innerType ?? def.element ?? def.valueType ?? def.in;
  if (next !== undefined) return inside(next);
  const takes = (text: string): boolean => (schema as z.ZodType).safeParse(text).success;
  return def.type === 'string' && takes('env:A_SECRET') && !takes('word') ? [at] : [];
}

interface Def {
  type: string;
  shape?: Record<string, z.core.$ZodType>;
  options?: z.core.$ZodType[];
  innerType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  in?: z.core.$ZodType;
}

/** Of an HR system: what its adapter calls secret, and what may be a reference. */
async function secretsOfKind(kind: string): Promise<string[]> {
  const file = join(ROOT, 'test/hris/definitions/acme.yaml');
  const options = kind === 'http' ? { definition: { file, text: await readFile(file, 'utf8') } } : {};
  const adapter = findHrisAdapter(kind, options);
  const own = adapter === undefined || kind === 'module' ? [] : referencesIn(adapter.optionsSchema(landings), '');
  return [...(adapter?.secrets ?? []), ...own].map((name) => `hris.${kind}.${name}`);
}

/** How a definition may log in. */
function authSecrets(): string[] {
  const { auth, tls } = definitionSchema.shape;
  const { oauth2, none: _none, ...plain } = auth.shape;
  const ofOauth = Object.keys(oauth2.unwrap().shape).filter((key) => /(?:Secret|Token)$/.test(key));
  return [
    ...Object.keys(plain).map((way) => `hris.http.auth.${way}`),
    ...ofOauth.map((key) => `hris.http.auth.oauth2.${key}`),
    ...Object.keys(tls.unwrap().shape).map((key) => `hris.http.tls.${key}`),
  ];
}

async function everySecret(): Promise<string[]> {
  const ofStore = Object.entries(STORE_PLACES).flatMap(([table, place]) =>
    Object.entries('people' in place ? place.people : {}).flatMap(([column, classes]) =>
      classes.includes('secret') ? [`store.${table}.${column}`] : [],
    ),
  );
  const reference = await readFile(join(ROOT, 'docs/reference.md'), 'utf8');
  const ofCommands = reference.split('\n### `hirebridge ').flatMap((part) => {
    const name = /^[^`<[]*/.exec(part)?.[0].trim() ?? '';
    return [...part.matchAll(/(--[a-z-]+) <ref>/g)].map(([, flag]) => `${name} ${flag}`);
  });
  const ofEnvironment = Object.keys(Config.shape).filter((name) => /(?:KEYS?|TOKEN|PASSWORD|STORE_URL)$/.test(name));
  return [
    ...referencesIn(tenantFile, ''),
    ...('destinations' in tenantFile.shape ? ['destinations'] : []),
    ...(await Promise.all(hrisKinds().map(secretsOfKind))).flat(),
    ...authSecrets(),
    ...referencesIn(AccessFile, 'access'),
    ...ofEnvironment,
    ...ofCommands,
    ...ofStore,
    // Of files and libraries: no schema of ours has them.
    'signing.key',
    'TEMPORAL_API_KEY',
    'TEMPORAL_TLS_CLIENT_KEY',
  ];
}

test('every kind of secret is replaced by a test, or has a reason why it never is', async () => {
  const known = [...Object.keys(WALKS), ...Object.keys(NEVER)].toSorted();
  expect([...new Set(await everySecret())].toSorted()).toEqual(known);
  for (const [secret, [file, words]] of Object.entries(WALKS)) {
    const text = await readFile(join(ROOT, file), 'utf8');
    // Here the words stand in the list as well.
    expect(text.split(words).length, `${file} replaces ${secret}`).toBeGreaterThan(file === HERE ? 2 : 1);
  }
});

const secretOf = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const NOTICE = { id: 'hold_1', type: 'hold.opened' as const, at: 0, data: {} };

test('secrets and addresses of notify and events: the next message is signed and sent as the files say', async () => {
  const dir = await scratchFolder();
  const seen: { path: string; by: number }[] = [];
  const secrets = [secretOf(), secretOf()];
  const server = createServer(async (request, response) => {
    const body = String(await buffer(request));
    const isBy = (secret: string): boolean => {
      try {
        return new Webhook(secret).verify(body, request.headers as Record<string, string>) !== undefined;
      } catch {
        return false;
      }
    };
    seen.push({ path: request.url ?? '', by: secrets.findIndex(isBy) });
    response.writeHead(200).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const put = async (at: 0 | 1): Promise<void> => {
    await writeFile(join(dir, 'url'), `http://127.0.0.1:${port}/${at}\n`);
    await writeFile(join(dir, 'secret'), `${secrets[at]}\n`);
  };
  const [url, secret] = [`file:${join(dir, 'url')}`, `file:${join(dir, 'secret')}`];
  const notify = createPostNotice(createRootLogger(undefined, 'silent'));
  const post = createPoster();
  const tenant = {
    tenant: 'acme',
    partner: { allowPrivateAddress: true },
    notify: { form: 'webhook', timezone: 'UTC', url, secret },
  } as unknown as Tenant;
  const { signal } = new AbortController();
  for (const at of [0, 1] as const) {
    await put(at);
    expect(await notify(tenant, NOTICE, signal)).toBe('taken');
    const to = { url, secret, secretAt: 'events.secret', allowPrivate: true } as const;
    expect(await post(to, { id: 'evt_1', body: '{}' }, signal)).toBe('taken');
  }
  expect(seen).toEqual([0, 0, 1, 1].map((at) => ({ path: `/${at}`, by: at })));
});

test("keys of an HR system's webhooks: both while both are named, then the next one alone", async () => {
  const dir = await scratchFolder();
  for (const name of ['old', 'next']) await writeFile(join(dir, name), `${name}-webhook-key-0123456789\n`);
  const tenants = createReceiverTenants();
  const [body = Buffer.alloc(0)] = webhookPayloads(['40500']);
  const taken = (names: readonly string[]): string[] => {
    const webhookKeys = names.map((name) => `file:${join(dir, name)}`);
    const hris = { kind: 'bamboohr', webhookKey: webhookKeys[0], webhookKeys };
    const receives = { webhooks: 'on', webhookKeys: [], hris };
    tenants.take([{ tenantId: 'acme', state: 'active', receives } as unknown as AppliedTenant]);
    return ['old', 'next'].filter((name) => {
      const at = Date.now();
      const headers = signWebhook(body, `${name}-webhook-key-0123456789`, at);
      return tenants.find('acme')?.hris?.read({ headers, body, at }) !== undefined;
    });
  };
  expect(taken(['old'])).toEqual(['old']);
  expect(taken(['old', 'next'])).toEqual(['old', 'next']);
  expect(taken(['next'])).toEqual(['next']);
  // A single key, whose file is replaced.
  await rename(join(dir, 'next'), join(dir, 'old'));
  expect(taken(['old'])).toEqual(['next']);
});

test('a token of an access file: the next console takes the next one, and no session of before', async () => {
  const dir = await scratchFolder();
  const file = join(dir, 'console.yaml');
  const tokens = 'tokens: [{ name: ann, token: file:ann.token, role: viewer, tenants: all }]';
  const [old, next] = ['the-token-of-before-0123', 'the-token-of-after-45678'];
  const begin = async (token: string) => {
    const port = await freePort();
    await writeFile(join(dir, 'ann.token'), `${token}\n`);
    await writeFile(file, `url: http://127.0.0.1:${port}\n${tokens}\n`);
    return openConsole({ port, access: await readAccess(file) });
  };
  const before = await begin(old);
  const visitor = await before.signIn(old);
  expect((await visitor.get('/')).status).toBe(200);
  const after = await begin(next);
  expect((await (await after.signIn(next)).get('/')).status).toBe(200);
  expect((await (await after.signIn(old)).get('/')).status).toBe(401);
  expect((await fetch(after.url, { headers: { cookie: visitor.cookie } })).status).toBe(401);
});

test('the tokens of console and codec: each start takes what stands in the file', async () => {
  const [data, tenants, file] = [await scratchDir(), await tenantDir(), join(await scratchDir(), 'token')];
  const places = ['--data', data, '--tenants', tenants];
  const env = { HIREBRIDGE_KEYS: `file:${join(data, 'keys')}`, HIREBRIDGE_CONSOLE_TOKEN: `file:${file}` };
  addKey(env.HIREBRIDGE_KEYS, '2026-11-27');
  await (await openStore(`sqlite:${join(data, 'store.db')}`)).close();
  const enters = async (part: 'console' | 'codec', url: string, token: string): Promise<number> => {
    if (part === 'console') return (await fetch(`${url}/?token=${token}`, { redirect: 'manual' })).status;
    return (await fetch(`${url}/${token}/decode`, { method: 'POST', body: '{"payloads":[]}' })).status;
  };
  const asked = async (part: 'console' | 'codec', more: readonly string[]): Promise<[number, number]> => {
    const { child, urls, exited } = startCli([part, '--port', '0', ...more, ...places], env);
    const url = (await urls())[part] ?? '';
    const given = [
      await enters(part, url, 'a-token-of-before-0123'),
      await enters(part, url, 'a-token-of-after-45678'),
    ];
    child.kill('SIGTERM');
    await exited;
    return given as [number, number];
  };
  const both = () => Promise.all([asked('console', []), asked('codec', ['--token', `file:${file}`])]);
  await writeFile(file, 'a-token-of-before-0123\n');
  expect(await both()).toEqual([
    [303, 403],
    [200, 401],
  ]);
  await writeFile(file, 'a-token-of-after-45678\n');
  expect(await both()).toEqual([
    [403, 303],
    [401, 200],
  ]);
});

test("the store's password: a second role beside the first, process after process, then the first ends", async () => {
  const server = await fromHarness('postgres');
  // Roles that are asked for a password.
  const [one, two] = [await startNeighbourHris(server.url), await startNeighbourHris(server.url)];
  for (const { line } of [one, two]) onTestFinished(() => line.close());
  const { url } = await createDatabase();
  const roleOf = (of: typeof one): string => new URL(of.url).username;
  for (const role of [one, two].map(roleOf)) await asAdmin(server.url, `alter role ${role} nosuperuser`);
  const as = (of: typeof one): string => Object.assign(new URL(of.url), { pathname: new URL(url).pathname }).href;
  await migrateStore(url, { worker: roleOf(one) }, false);
  const before = await openStore(as(one));
  onTestFinished(() => before.close());
  await readTenantState(before, 'acme');
  await migrateStore(url, { worker: roleOf(two) }, false);
  const after = await openStore(as(two));
  onTestFinished(() => after.close());
  for (const store of [before, after]) await readTenantState(store, store === before ? 'globex' : 'umbrella');
  await one.rotatePassword();
  const { rows } = await sql`select tenant_id from tenants`.execute(after.kysely);
  expect(rows).toHaveLength(3);
  await expect(openStore(as(one))).rejects.toThrow('password');
});

test('the key that signs: what the former one signed is verified still, and told from the next', async () => {
  const { store } = await freshStore('sqlite');
  const dir = await scratchFolder();
  const act = async (): Promise<void> => {
    await audit(store, { by: 'ann', tenantId: 'acme', act: 'paused', details: 'x' });
    await keepAudit(store, dir);
  };
  await act();
  const former = openSigner(dir);
  const receipt = signed(former, { erased: 'x' });
  await rename(join(dir, 'signing.key'), join(dir, 'signing.key.former'));
  await act();
  const next = openSigner(dir);
  expect(next.keyId).not.toBe(former.keyId);
  const [chain] = await verifyAudit(store, { tenantId: undefined, files: [join(dir, HEADS_FILE)] });
  expect([chain?.rows, chain?.trouble]).toEqual([2, undefined]);
  const heads = (await readFile(join(dir, HEADS_FILE), 'utf8')).trim().split('\n');
  expect(heads.map((head) => (JSON.parse(head) as { signedBy: string }).signedBy)).toEqual([former.keyId, next.keyId]);
  assertSigned(receipt, former.keyId);
  expect(() => assertSigned(receipt, next.keyId)).toThrow(former.keyId);
});
