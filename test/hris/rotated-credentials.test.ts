import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import ssh2 from 'ssh2';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, createConnections } from '../../activities/connections.ts';
import { REFERENCE_FIELD, startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';
import { isConnectorError } from '../../src/errors.ts';
import { encrypt } from '../../src/hris/sftp/ready-files.ts';
import { unlimited } from '../../src/rate-limit/rate-limit.ts';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { fromHarness } from '../harness/services.ts';
import { until } from '../harness/until.ts';
import { startNeighbourHris } from '../isolation/neighbour-hris.ts';
import { makeOwnKey } from './counterparts/open-pgp-key.ts';
import { startLdapDouble } from './ldap-double.ts';
import { serveFiles } from './sftp-server.ts';
import { trustedPairs } from './tls-proxy.ts';

/** Which of a secret's two values the other side takes. */
type Taken = readonly ('old' | 'next')[];

/** Secrets by the name of their file. */
type Secrets = Readonly<Record<string, string>>;

interface Walk {
  /** Sections of a tenant file after `partner` and `policies`. */
  sections: string;
  old: Secrets;
  next: Secrets;
  takes(these: Taken): void | Promise<void>;
  /** Something that needs the secret; the probe of the HR system where absent. Throws, or tells the trouble. */
  uses?(connection: Connection): Promise<unknown>;
  /** Other files of the tenant. */
  files?: Secrets;
  /** The other side knows one value alone. */
  one?: boolean;
  /** What becomes of work that needs the secret while it is refused: by default it waits. */
  refused?: 'reauthorize' | 'reject';
}

const { signal } = new AbortController();
const SECRET = { old: 'the-old-secret-0123456789', next: 'the-next-secret-9876543210' };
const BOTH: Taken = ['old', 'next'];

/** What a definition says of logging in, and where a request shows what it logs in with. */
const AUTHS: Readonly<Record<string, { auth: string; shown: (asked: IncomingMessage, body: string) => string }>> = {
  bearer: { auth: 'bearer: "{options.secret}"', shown: bearerOf },
  basic: {
    auth: 'basic: { user: hb, password: "{options.secret}" }',
    shown: ({ headers }) => passwordIn(headers.authorization),
  },
  headers: { auth: 'headers: { x-key: "{options.secret}" }', shown: ({ headers }) => String(headers['x-key']) },
  query: {
    auth: 'query: { key: "{options.secret}" }',
    shown: ({ url = '' }) => new URL(url, 'http://hr').searchParams.get('key') ?? '',
  },
  login: {
    auth:
      'login: { post: /token, body: { password: "{options.secret}" }, token: body.access_token, ' +
      'carry: { authorization: "Bearer {token}" } }',
    shown: (asked, body) => (body === '' ? bearerOf(asked) : (JSON.parse(body) as { password: string }).password),
  },
  'oauth2.clientSecret': {
    auth: 'oauth2: { tokenPath: /token, clientId: hb, clientSecret: "{options.secret}" }',
    shown: (asked, body) => (body === '' ? bearerOf(asked) : passwordIn(asked.headers.authorization)),
  },
  'oauth2.refreshToken': {
    auth:
      'oauth2: { tokenPath: /token, grant: refresh_token, clientId: hb, clientSecret: x, ' +
      'refreshToken: "{options.secret}" }',
    shown: (asked, body) => (body === '' ? bearerOf(asked) : (new URLSearchParams(body).get('refresh_token') ?? '')),
  },
};

function bearerOf({ headers }: IncomingMessage): string {
  return headers.authorization?.replace(/^Bearer /, '') ?? '';
}

function passwordIn(authorization = ''): string {
  return Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
}

const definitionOf = (auth: string, options: string, more = ''): string => `hrisDefinition: 1
name: Walked
options: { ${options} }
auth: { ${auth} }
${more}
record: { id: id, reference: reference }
fields: { givenName: { at: first }, familyName: { at: last }, email: { at: email } }
find: { reference: { get: /staff, query: { reference: "{value}" }, trusted: true } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

const HTTP = (url: string): string =>
  `kind: http, connection: walked, url: "${url}", definition: ./walked.yaml, allowPrivateAddress: true`;

/** An HR system that lets in who shows what it takes, at its token endpoint and everywhere else. */
async function httpSystem(shown: (asked: IncomingMessage, body: string) => string, taken: () => Taken) {
  const server = createServer(async (asked, response) => {
    const shows = shown(asked, String(await buffer(asked)));
    const isIn = taken().some((one) => SECRET[one] === shows);
    answer(response, isIn ? 200 : 401, { access_token: shows, expires_in: 3_600 });
  }).listen(0, '127.0.0.1');
  return started(server, 'http://127.0.0.1');
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function started(server: ReturnType<typeof createServer>, origin: string): Promise<string> {
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${origin}:${(server.address() as AddressInfo).port}`;
}

/** A walk whose other side is told what to take by setting it. */
function told(): { now: Taken; takes: (these: Taken) => void } {
  const state: { now: Taken; takes: (these: Taken) => void } = {
    now: ['old'],
    takes: (these) => void (state.now = these),
  };
  return state;
}

const inFile = (which: Secrets[string]): Secrets => ({ secret: which });

async function definedWalk(way: string): Promise<Walk> {
  const { auth = '', shown = () => '' } = AUTHS[way] ?? {};
  const state = told();
  const url = await httpSystem(shown, () => state.now);
  return {
    sections: `hris: { ${HTTP(url)}, secret: file:secrets/secret }`,
    files: { 'walked.yaml': definitionOf(auth, 'secret: { secret: true }') },
    old: inFile(SECRET.old),
    next: inFile(SECRET.next),
    takes: state.takes,
  };
}

async function certificateWalk(): Promise<Walk> {
  const state = told();
  const { right, wrong } = await trustedPairs();
  const names = { old: 'localhost', next: 'elsewhere.example' };
  const server = createSecureServer({ ...right, requestCert: true, rejectUnauthorized: true }, (asked, response) => {
    const shown = (asked.socket as TLSSocket).getPeerCertificate().subject.CN;
    answer(response, state.now.some((one) => names[one] === shown) ? 200 : 401, {});
  }).listen(0, '127.0.0.1');
  const url = await started(server as unknown as ReturnType<typeof createServer>, 'https://localhost');
  const pem = ({ cert, key }: typeof right): Secrets => ({ certificate: String(cert), key: String(key) });
  const options = 'certificate: { secret: true }, key: { secret: true }';
  const tls = 'tls: { certificate: "{options.certificate}", key: "{options.key}" }';
  return {
    sections: `hris: { ${HTTP(url)}, certificate: file:secrets/certificate, key: file:secrets/key }`,
    files: { 'walked.yaml': definitionOf('none: true', options, tls) },
    old: pem(right),
    next: pem(wrong),
    takes: state.takes,
  };
}

/** A further system, which gets its credentials where it is first needed. */
async function destinationWalk(): Promise<Walk> {
  const walk = await definedWalk('bearer');
  const system = walk.sections.replace(/^hris: \{(.*)\}$/, '$1');
  return {
    ...walk,
    sections: `hris: { kind: sql, connection: acme-hr, url: "sqlite:./hr.sqlite", createTable: true }
destinations: [{ ${system}, mapping: ./accounts.yaml }]
streams: { accounts: { every: 1m } }`,
    files: { ...walk.files, 'accounts.yaml': 'fields: { givenName: { from: employee.givenName } }\n' },
    uses: async ({ destinations }) => (await destinations?.of(0))?.hris.probe(signal),
  };
}

async function bamboohrWalk(): Promise<Walk> {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  const options = `url: "${double.url}", apiKey: file:secrets/secret, referenceField: ${REFERENCE_FIELD}`;
  return {
    sections: `hris: { kind: bamboohr, connection: acme-hr, ${options}, allowPrivateAddress: true }`,
    old: inFile(SECRET.old),
    next: inFile(SECRET.next),
    takes: (these) => void (double.keys = these.map((one) => SECRET[one])),
  };
}

/** As far as logging in goes; the real one is asked by the suite of counterparts. */
async function trytonWalk(): Promise<Walk> {
  const state = told();
  const server = createServer(async (asked, response) => {
    const { method, params } = JSON.parse(String(await buffer(asked))) as { method: string; params: unknown[] };
    if (method === 'common.db.login') {
      const { password } = params[1] as { password: string };
      return answer(response, 200, {
        result: state.now.some((one) => SECRET[one] === password) ? [1, password] : null,
      });
    }
    const session = Buffer.from(asked.headers.authorization?.replace('Session ', '') ?? '', 'base64').toString();
    const isIn = state.now.some((one) => session.endsWith(`:${SECRET[one]}`));
    return isIn ? answer(response, 200, { result: [{ id: 1 }] }) : answer(response, 401, {});
  }).listen(0, '127.0.0.1');
  const url = await started(server, 'http://127.0.0.1');
  const options = `url: "${url}", database: hr, company: 1, user: hb, password: file:secrets/secret`;
  return {
    sections: `hris: { kind: tryton, connection: acme-hr, ${options}, allowPrivateAddress: true }`,
    old: inFile(SECRET.old),
    next: inFile(SECRET.next),
    takes: state.takes,
  };
}

/** As far as logging in goes: everything else finds nothing. */
async function ldapWalk(): Promise<Walk> {
  const state = told();
  const isTaken = (password: string): boolean => state.now.some((one) => SECRET[one] === password);
  const url = await startLdapDouble(({ password }) => (password === undefined || isTaken(password) ? 0 : 49));
  const options = `url: "${url}", bindDn: "cn=hb,dc=hr", base: "dc=hr", password: file:secrets/secret`;
  return {
    sections: `hris: { kind: ldap, connection: acme-hr, ${options}, allowPrivateAddress: true }`,
    old: inFile(SECRET.old),
    next: inFile(SECRET.next),
    takes: state.takes,
  };
}

const sftp = (options: Awaited<ReturnType<typeof serveFiles>>['options'], more: string): string =>
  `hris: { kind: sftp, connection: acme-hr, host: 127.0.0.1, port: ${options.port}, user: hr, ` +
  `hostKey: "${options.hostKey}", privateKey: file:secrets/key, ${more}, allowPrivateAddress: true }`;

const ROSTER = 'employee_id,employee_number\r\nb,7\r\n';
const findSomebody = (connection: Connection) => connection.hris.employees.find({ by: 'number', value: '7' }, signal);

/** A private key and its passphrase, which are replaced together. */
async function sftpWalk(): Promise<Walk> {
  const state = told();
  const made = { old: sshKey(SECRET.old), next: sshKey(SECRET.next) };
  const files = { 'rosters/one.csv': { bytes: Buffer.from(ROSTER) } };
  const { options } = await serveFiles(files, (shown) => state.now.some((one) => made[one].publicKey.equals(shown)));
  const secrets = (one: 'old' | 'next'): Secrets => ({ key: made[one].privateKey, passphrase: SECRET[one] });
  return {
    sections: sftp(options, 'passphrase: file:secrets/passphrase'),
    old: secrets('old'),
    next: secrets('next'),
    takes: state.takes,
    uses: findSomebody,
  };
}

function sshKey(passphrase: string): { privateKey: string; publicKey: Buffer } {
  const privateKeyEncoding = { type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase } as const;
  const publicKeyEncoding = { type: 'pkcs1', format: 'pem' } as const;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048, privateKeyEncoding, publicKeyEncoding });
  const key = ssh2.utils.parseKey(privateKey, passphrase);
  if (key instanceof Error) throw key;
  return { privateKey, publicKey: key.getPublicSSH() };
}

/** Our OpenPGP key: files that wait under the old one are read as long as both stand in the file. */
async function openPgpWalk(): Promise<Walk> {
  const [old, next] = [await makeOwnKey('future-default', SECRET.old), await makeOwnKey('future-default', SECRET.old)];
  const files: Parameters<typeof serveFiles>[0] = {};
  const { options } = await serveFiles(files);
  return {
    sections: sftp(options, 'decryptWith: file:secrets/pgp, decryptPassphrase: file:secrets/passphrase'),
    old: { key: options.privateKey, pgp: old.privateKey, passphrase: SECRET.old },
    next: { key: options.privateKey, pgp: `${next.privateKey}\n${old.privateKey}`, passphrase: SECRET.old },
    takes: async (these) => {
      const key = these.includes('old') ? old : next;
      files['rosters/one.csv.pgp'] = { bytes: await encrypt(Buffer.from(ROSTER), key.publicKey, signal) };
    },
    uses: findSomebody,
  };
}

async function landingWalk(): Promise<Walk> {
  const { url } = await fromHarness('postgres');
  const beside = await startNeighbourHris(url);
  onTestFinished(() => beside.line.close());
  const next: Record<string, string> = {};
  return {
    sections: `hris: { kind: sql, connection: acme-hr, url: "sqlite:./hr.sqlite", createTable: true }
landing: { kind: sql, url: file:secrets/url }`,
    old: { url: beside.url },
    next,
    one: true,
    // Ends the run of a stream; the next one begins by its schedule where this one was.
    refused: 'reject',
    takes: async (these) => {
      if (!these.includes('old')) next['url'] ??= await beside.rotatePassword();
    },
    uses: ({ hris }) => hris.describe?.('jobs', signal) ?? Promise.reject(new Error('nothing lands')),
  };
}

/** By the secret that is replaced, as `test/tenants/rotations.test.ts` names it. */
const WALKS: Readonly<Record<string, () => Promise<Walk>>> = {
  'hris.bamboohr.apiKey': bamboohrWalk,
  'hris.tryton.password': trytonWalk,
  'hris.ldap.password': ldapWalk,
  'hris.sftp.privateKey, hris.sftp.passphrase': sftpWalk,
  'hris.sftp.decryptWith, hris.sftp.decryptPassphrase': openPgpWalk,
  'hris.http.tls.certificate, hris.http.tls.key': certificateWalk,
  'hris.http.auth.bearer': () => definedWalk('bearer'),
  'hris.http.auth.basic': () => definedWalk('basic'),
  'hris.http.auth.headers': () => definedWalk('headers'),
  'hris.http.auth.query': () => definedWalk('query'),
  'hris.http.auth.login': () => definedWalk('login'),
  'hris.http.auth.oauth2.clientSecret': () => definedWalk('oauth2.clientSecret'),
  'hris.http.auth.oauth2.refreshToken': () => definedWalk('oauth2.refreshToken'),
  'landing.url': landingWalk,
  destinations: destinationWalk,
};

test.each(Object.entries(WALKS))(
  '%s: replaced without a restart, the old one until the other side ends it',
  async (_name, begin) => {
    const walk = await begin();
    const { put, connection, close } = await openTenant(walk);
    onTestFinished(close);
    const uses = walk.uses ?? ((open: Connection) => open.hris.probe(signal));
    /** Undefined where it works; else what is to be done, by the error. */
    const trouble = async (): Promise<string | undefined> => {
      try {
        const { ok = true, error } = ((await uses(await connection())) ?? {}) as { ok?: boolean; error?: unknown };
        if (ok) return undefined;
        throw error;
      } catch (error) {
        return isConnectorError(error) ? `${error.action}: ${error.message}` : String(error);
      }
    };
    await walk.takes(['old']);
    expect(await trouble()).toBeUndefined();
    if (walk.one !== true) {
      await walk.takes(BOTH);
      expect(await trouble()).toBeUndefined();
      await put(walk.next);
      await until('the next one at work', async () => (await trouble()) === undefined);
    }
    await walk.takes(['next']);
    await put(walk.next);
    await until('the next one alone at work', async () => (await trouble()) === undefined);
    // Whoever still has the old one is let in no longer, and what needs it waits.
    await put(walk.old);
    await until('the old one refused', async () => (await trouble()) !== undefined);
    expect(await trouble()).toMatch(new RegExp(`^${walk.refused ?? 'reauthorize'}: `));
    await put(walk.next);
    await until('the next one at work again', async () => (await trouble()) === undefined);
  },
);

/** A tenant whose secrets are files, opened as a worker does, and asked for anew each time. */
async function openTenant({ sections, files = {}, old }: Walk) {
  const dir = await scratchFolder();
  await mkdir(join(dir, 'secrets'));
  const put = async (secrets: Secrets): Promise<void> => {
    for (const [name, text] of Object.entries(secrets)) await writeFile(join(dir, 'secrets', name), `${text}\n`);
  };
  await put({ ...old, partner: `sk_test_${'a'.repeat(22)}` });
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  await writeFile(
    join(dir, 'acme.yaml'),
    `tenant: acme
partner:
  baseUrl: http://127.0.0.1:1/v1/partner
  environment: sandbox
  apiKey: file:secrets/partner
  webhooks: off
  allowPrivateAddress: true
policies: { onboarding: { flow: f } }
${sections}
`,
  );
  const [tenant] = await loadTenants(dir, { secrets: 'check' });
  if (tenant === undefined) throw new Error('no tenant');
  const connections = createConnections(() => tenant, {
    requestMs: 5_000,
    rateLimitOf: () => ({ ...unlimited, ownEndpoints: () => [], close: async () => undefined }),
    beforeWrite: async () => undefined,
    assertOwnHris: () => undefined,
  });
  return { put, connection: () => connections.of('acme'), close: () => connections.close() };
}
