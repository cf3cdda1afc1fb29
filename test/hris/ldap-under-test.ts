import { execFileSync } from 'node:child_process';
import { Attribute, Change, type Client } from 'ldapts';
import { ensurePackages } from '../../src/counterparts/install-once.ts';
import {
  SLAPD_BASE,
  SLAPD_PASSWORD,
  SLAPD_PEOPLE,
  SLAPD_USER,
  type SlapdServer,
} from '../../src/counterparts/start-slapd.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import type { HrisUnderTest, Powers } from '../../src/hris-kit/hris-under-test.ts';
import { ldapWire } from './ldap-wire.ts';
import { type HrisProfile, ownClock, signal, write } from './profile.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { startTlsProxies } from './tls-proxy.ts';

export const ldapProfile: HrisProfile = {
  employee: (tag, changes = {}) => ({
    givenName: 'Ana',
    familyName: `Reyes ${tag}`,
    name: `Ana Reyes ${tag}`,
    email: `${tag}@example.org`,
    title: 'Cook',
    startDate: '2026-02-01',
    birthDate: '1990-05-17',
    ...changes,
  }),
  nameField: 'familyName',
  edit: { title: 'Chef' },
  missing: { familyName: null },
  refuses: [],
  foldsEveryLetter: false,
  findsPersons: true,
};

/** What the customer's own class adds. */
const FIELDS = {
  startDate: { attribute: 'acmeStartDate', type: 'date' },
  birthDate: { attribute: 'acmeBirthDate', type: 'date' },
  costCentre: { attribute: 'acmeField1', label: 'Cost centre' },
};
const WIDE = Object.fromEntries(
  Array.from({ length: 400 }, (_, n) => [`wide${n + 1}`, { attribute: `acmeField${n + 1}` }]),
);

export function ldapSettings(url: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    url,
    bindDn: SLAPD_USER,
    password: SLAPD_PASSWORD,
    base: SLAPD_BASE,
    createIn: SLAPD_PEOPLE,
    objectClasses: ['top', 'person', 'organizationalPerson', 'inetOrgPerson', 'acmePerson'],
    leaver: { attribute: 'acmeState', value: 'left' },
    fields: FIELDS,
    allowPrivateAddress: true,
    ...changes,
  };
}

export function openLdap(url: string, changes: Record<string, unknown> = {}): Promise<HrisConnection> {
  return openHris('ldap', 'test-hr', ldapSettings(url, changes));
}

export async function ldapUnderTest(server: SlapdServer, changes = {}): Promise<HrisUnderTest> {
  await ensurePackages('ldap-utils');
  const open = () => openLdap(server.url, changes);
  const [adapter, second] = await Promise.all([open(), open()]);
  return {
    profile: ldapProfile,
    adapter,
    second,
    count: async () => (await server.people()).length,
    powers: powersOf(server),
    lacks: {
      numbers: 'a directory assigns no numbers: the customer fills the attribute',
      pending: 'every create is answered at once',
      job: 'every create is answered at once',
      finished: 'every create is answered at once',
      files: 'an entry is no place for documents',
      stored: 'an entry is no place for documents',
      http: 'LDAP is no HTTP',
      webhooks: 'a directory sends none: changes are asked for',
    },
    stop: async () => void (await Promise.all([adapter.close(), second.close()])),
  };
}

function powersOf(server: SlapdServer): Partial<Powers> {
  return {
    wire: () => openWire(server.url),
    tls: () => openTls(server.url),
    busy: async () => ({ adapter: await openLdap(server.url), end: toRepeat(server.pause()) }),
    revoke: () => revoke(server),
    restart: () => server.restart(),
    staleUpdate: (id) => staleUpdate(server, id),
    async wide() {
      const fields = Object.fromEntries(Object.keys(WIDE).map((key) => [key, `value of ${key}`]));
      return {
        adapter: await openLdap(server.url, { fields: { ...FIELDS, ...WIDE, costCentre: FIELDS.startDate } }),
        fields,
      };
    },
    uniqueReference: true,
    ownClock,
    custom: { key: 'costCentre', label: 'Cost centre', value: 'K-17' },
    people: {
      add: (count) => addPeople(server, count),
      touch: (ids) => server.admin((client) => editAll(client, ids)),
    },
  };
}

const toRepeat = (end: () => void) => async () => end();

async function openWire(url: string): ReturnType<Powers['wire']> {
  const proxy = await startTcpProxy(url, ldapWire);
  const adapter = await openLdap(proxy.url.replace(/\/$/, ''));
  return {
    adapter,
    strike(kind, of) {
      // A search names only the last of the classes.
      const holding = [of === 'amendment' ? String(ldapProfile.edit['title']) : 'organizationalPerson'];
      return proxy.strike({ kind: kind === 'cut' ? 'reset-before' : kind, holding, ms: 400 });
    },
    refusesLate: false,
    async close() {
      await adapter.close();
      await proxy.close();
    },
  };
}

async function openTls(url: string): ReturnType<Powers['tls']> {
  const { right, wrong, reached, close } = await startTlsProxies(url);
  const at = (port: number) => openLdap(`ldaps://localhost:${port}`);
  return { right: await at(right), wrong: await at(wrong), reached, close };
}

const replace = (type: string, values: string[]) =>
  new Change({ operation: 'replace', modification: new Attribute({ type, values }) });

/** A user of our own, whose password the administrator replaces. */
async function revoke(server: SlapdServer): ReturnType<Powers['revoke']> {
  const adapter = await openLdap(server.url);
  await adapter.probe(signal);
  const setPassword = (to: string) =>
    server.admin((client) => client.modify(SLAPD_USER, [replace('userPassword', [to])]));
  await setPassword('another-0123456789');
  return { adapter, end: () => setPassword(SLAPD_PASSWORD) };
}

/** Somebody edits the entry after it was read, while our write waits for its permission. */
async function staleUpdate(server: SlapdServer, id: string): Promise<void> {
  const dn = await server.admin(async (client) => {
    const { searchEntries } = await client.search(SLAPD_BASE, { filter: `(entryUUID=${id})`, attributes: ['1.1'] });
    return searchEntries[0]?.dn ?? '';
  });
  const beforeSend = () => changeNow(server, [`dn: ${dn}`, 'changetype: modify', 'replace: title', 'title: Baker']);
  const adapter = await openLdap(server.url);
  try {
    await adapter.employees.update(id, { title: 'Waiter' }, { ...write, beforeSend });
  } finally {
    await adapter.close();
  }
}

/** Carries out a change, as LDIF, before anything else happens in this process. */
export function changeNow({ url }: SlapdServer, lines: readonly string[]): void {
  const who = ['-x', '-H', url, '-D', `cn=admin,${SLAPD_BASE}`, '-w', SLAPD_PASSWORD];
  execFileSync('ldapmodify', who, { input: `${lines.join('\n')}\n`, stdio: ['pipe', 'ignore', 'inherit'] });
}

export async function addPeople(server: Pick<SlapdServer, 'admin'>, count: number): Promise<string[]> {
  return server.admin(async (client) => {
    const mark = `import-${Date.now()}`;
    await Promise.all(
      Array.from({ length: count }, (_, n) => {
        const names = { cn: `Imported ${n}`, sn: `Imported ${n}`, departmentNumber: mark };
        return client.add(`uid=${mark}-${n},${SLAPD_PEOPLE}`, { objectClass: 'inetOrgPerson', ...names });
      }),
    );
    const found = await client.search(SLAPD_PEOPLE, {
      filter: `(departmentNumber=${mark})`,
      attributes: ['entryUUID'],
      paged: true,
    });
    return found.searchEntries.map((entry) => String(entry['entryUUID']));
  });
}

async function editAll(client: Client, ids: readonly string[]): Promise<void> {
  const wanted = new Set(ids);
  const found = await client.search(SLAPD_BASE, {
    filter: '(objectClass=inetOrgPerson)',
    attributes: ['entryUUID'],
    paged: true,
  });
  const dns = found.searchEntries.filter((entry) => wanted.has(String(entry['entryUUID']))).map(({ dn }) => dn);
  await Promise.all(dns.map((dn) => client.modify(dn, [replace('l', [`Perth ${Date.now()}`])])));
}
