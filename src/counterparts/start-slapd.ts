import { type ChildProcess, execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'ldapts';
import { freePort } from '../free-port.ts';
import { endChild, spawnTied } from '../temporal/dev-server/spawn-tied.ts';
import { ensurePackages, until } from './install-once.ts';

const run = promisify(execFile);

export const SLAPD_PASSWORD = 'slapd-test-0123456789';
export const SLAPD_BASE = 'dc=acme,dc=example';
export const SLAPD_PEOPLE = `ou=people,${SLAPD_BASE}`;
export const SLAPD_LEAVERS = `ou=leavers,${SLAPD_BASE}`;
export const SLAPD_USER = `cn=hirebridge,${SLAPD_BASE}`;
const ADMIN = `cn=admin,${SLAPD_BASE}`;

/** A person's values by attribute. */
type SlapdEntry = ReadonlyMap<string, readonly string[]>;

/** OpenLDAP's slapd from Debian: people, leavers, and a user with the rights that src/hris/ldap/README.md names. */
export interface SlapdServer {
  url: string;
  /** People as in its database, past the server. */
  people(): Promise<SlapdEntry[]>;
  /** Runs work as the administrator. */
  admin<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** It takes connections and answers nothing, until the returned function is called. */
  pause(): () => void;
  /** Kills it with SIGKILL and restarts it on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const TEXT = 'EQUALITY caseExactMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15';
const TIME = 'EQUALITY generalizedTimeMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 SINGLE-VALUE';
/** Attributes of the customer's own, and the class that adds them to a person. */
const OWN: Readonly<Record<string, string>> = {
  acmeStartDate: TIME,
  acmeBirthDate: TEXT,
  acmeState: TEXT,
  ...Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`acmeField${n + 1}`, TEXT])),
};
const OID = '1.3.6.1.4.1.99999';
const OWN_SCHEMA = [
  ...Object.entries(OWN).map(([name, what], n) => `attributetype ( ${OID}.1.${n + 1} NAME '${name}' ${what} )`),
  `objectclass ( ${OID}.2.1 NAME 'acmePerson' SUP top AUXILIARY`,
  // One name a line: slapd takes no line of so many words.
  `  MAY ( ${Object.keys(OWN).join('\n  $ ')} ) )`,
];

interface SlapdSettings {
  tls?: { key: Buffer; cert: Buffer };
  /** Lines of its configuration, in place of ours. */
  frontend?: readonly string[];
  limits?: string;
  access?: readonly string[];
}

export async function startSlapd(settings: SlapdSettings = {}): Promise<SlapdServer> {
  await ensurePackages('slapd');
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-slapd-'));
  const config = await configure(folder, settings);
  await run('/usr/sbin/slapadd', ['-q', '-f', config, '-l', join(folder, 'first.ldif')]);
  const url = `ldap://127.0.0.1:${await freePort()}`;
  let child = await serve(config, url);
  return {
    url,
    people: () => readPeople(config),
    admin: (work) => asAdmin(url, work),
    pause() {
      const paused = child;
      paused.kill('SIGSTOP');
      return () => void paused.kill('SIGCONT');
    },
    async restart() {
      await endChild(child, 'SIGKILL');
      child = await serve(config, url);
    },
    async stop() {
      await endChild(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function configure(folder: string, settings: SlapdSettings): Promise<string> {
  const { tls, frontend = [], limits = 'size=unlimited', access = ACCESS } = settings;
  const [config, own, data] = [join(folder, 'slapd.conf'), join(folder, 'acme.schema'), join(folder, 'data')];
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await mkdir(data);
  if (tls !== undefined) await Promise.all([writeFile(key, tls.key), writeFile(cert, tls.cert)]);
  const lines = [
    ...['core', 'cosine', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`),
    `include ${own}`,
    `pidfile ${join(folder, 'pid')}`,
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    ...(tls === undefined ? [] : [`TLSCertificateFile ${cert}`, `TLSCertificateKeyFile ${key}`]),
    ...frontend,
    'database mdb',
    'maxsize 268435456',
    `directory ${data}`,
    `suffix "${SLAPD_BASE}"`,
    `rootdn "${ADMIN}"`,
    `rootpw ${SLAPD_PASSWORD}`,
    'index objectClass,entryUUID,entryCSN,uid,mail,sn,cn,employeeType,employeeNumber eq',
    'index modifyTimestamp eq',
    `limits dn.exact="${SLAPD_USER}" ${limits}`,
    ...access,
  ];
  await writeFile(own, `${OWN_SCHEMA.join('\n')}\n`);
  await writeFile(config, `${lines.join('\n')}\n`);
  await writeFile(join(folder, 'first.ldif'), FIRST);
  return config;
}

const ACCESS = [
  'access to attrs=userPassword by anonymous auth by * none',
  `access to dn.subtree="${SLAPD_BASE}" by dn.exact="${SLAPD_USER}" write by * none`,
];

const FIRST = `dn: ${SLAPD_BASE}
objectClass: dcObject
objectClass: organization
dc: acme
o: Acme

dn: ${SLAPD_PEOPLE}
objectClass: organizationalUnit
ou: people

dn: ${SLAPD_LEAVERS}
objectClass: organizationalUnit
ou: leavers

dn: ${SLAPD_USER}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: hirebridge
userPassword: ${SLAPD_PASSWORD}
`;

async function serve(config: string, url: string): Promise<ChildProcess> {
  const child = spawnTied('/usr/sbin/slapd', ['-d', '0', '-f', config, '-h', `${url}/`], { signal: 'SIGKILL' });
  let said = '';
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-2_000);
  });
  await until('slapd answers', async () => {
    if (child.exitCode !== null) throw new Error(`slapd ended with ${child.exitCode}: ${said}`);
    return asAdmin(url, async () => true).catch(() => false);
  });
  return child;
}

async function asAdmin<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ url, timeout: 30_000 });
  try {
    await client.bind(ADMIN, SLAPD_PASSWORD);
    return await work(client);
  } finally {
    await client.unbind();
  }
}

async function readPeople(config: string): Promise<SlapdEntry[]> {
  const options = ['-f', config, '-o', 'ldif-wrap=no', '-a', '(objectClass=inetOrgPerson)'];
  const { stdout } = await run('/usr/sbin/slapcat', options, { maxBuffer: 256 * 1024 * 1024 });
  return stdout
    .split('\n\n')
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const lines = text.split('\n').flatMap((line) => {
        const [, name, isEncoded, value = ''] = /^([^:#]+):(:?) ?(.*)$/.exec(line) ?? [];
        if (name === undefined) return [];
        return [[name, isEncoded === '' ? value : Buffer.from(value, 'base64').toString()] as const];
      });
      return new Map([...Map.groupBy(lines, ([name]) => name)].map(([name, of]) => [name, of.map(([, one]) => one)]));
    });
}
