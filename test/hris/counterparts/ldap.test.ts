import { Attribute, Change } from 'ldapts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  SLAPD_BASE,
  SLAPD_LEAVERS,
  SLAPD_PEOPLE,
  SLAPD_USER,
  type SlapdServer,
  startSlapd,
} from '../../../src/counterparts/start-slapd.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { describeHris } from '../conformance.ts';
import { addPeople, changeNow, ldapProfile, ldapUnderTest, openLdap } from '../ldap-under-test.ts';
import { ldapWire } from '../ldap-wire.ts';
import { created, refusal, signal, write } from '../profile.ts';
import { startTcpProxy } from '../tcp-proxy.ts';
import { trustedPairs } from '../tls-proxy.ts';

const { employee } = ldapProfile;

let server: SlapdServer;
/** It does not tell that it knows assertions (RFC 4528). */
let plain: SlapdServer;
beforeAll(async () => {
  server = await startSlapd({ tls: (await trustedPairs()).right });
  plain = await startSlapd({
    frontend: ['access to dn.base="" attrs=supportedControl by * none', 'access to * by * read'],
  });
});
afterAll(async () => {
  await server?.stop();
  await plain?.stop();
});

describeHris('ldap', () => ldapUnderTest(server));
describeHris('ldap: leavers moved, no assertions', () => ldapUnderTest(plain, { leaver: { moveTo: SLAPD_LEAVERS } }));

async function opened(on: SlapdServer, changes: Record<string, unknown> = {}): Promise<HrisConnection> {
  const adapter = await openLdap(on.url, changes);
  onTestFinished(() => adapter.close());
  return adapter;
}

const edit = (dn: string, type: string, values: string[]) =>
  server.admin((client) =>
    client.modify(dn, [new Change({ operation: 'replace', modification: new Attribute({ type, values }) })]),
  );
const dnOf = (reference: string) => `uid=${reference},${SLAPD_PEOPLE}`;

test('each hire has exactly one entry, although the connection is cut after every add was carried out', async () => {
  const proxy = await startTcpProxy(server.url, ldapWire);
  onTestFinished(() => proxy.close());
  const adapter = await openLdap(proxy.url.replace(/\/$/, ''));
  onTestFinished(() => adapter.close());
  const before = (await server.people()).length;
  for (let n = 0; n < 5; n += 1) {
    const [fields, reference] = [employee(`cut-${n}`), `41:cut-${n}`];
    const struck = proxy.strike({ kind: 'answer-lost', holding: ['organizationalPerson'] });
    expect(await refusal(adapter.employees.create(fields, reference, write))).toMatchObject({ action: 'unknown' });
    expect(await struck).toBe('result code 0');
    const found = await adapter.employees.find({ by: 'reference', value: reference }, signal);
    const again = await refusal(adapter.employees.create(fields, reference, write));
    expect(again).toMatchObject({ code: 'ALREADY_EXISTS', details: found.kind === 'one' ? found.ref : {} });
  }
  const made = (await server.people()).filter((one) => one.get('mail')?.[0]?.startsWith('cut-') === true);
  expect(made.map((one) => one.get('employeeType'))).toEqual(Array.from({ length: 5 }, (_, n) => [`41:cut-${n}`]));
  expect(await server.people()).toHaveLength(before + 5);
});

describe('OpenLDAP', () => {
  test('who was renamed and moved by the customer keeps their id, and is not made again', async () => {
    const adapter = await opened(server);
    const ref = created(await adapter.employees.create(employee('renamed'), '41:renamed', write));
    await server.admin((client) => client.modifyDN(dnOf('41:renamed'), `uid=areyes,${SLAPD_LEAVERS}`));
    expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ ref, fields: employee('renamed') });
    await adapter.employees.update(ref.id, { title: 'Chef' }, write);
    const again = await refusal(adapter.employees.create(employee('renamed'), '41:renamed', write));
    expect(again).toMatchObject({ code: 'ALREADY_EXISTS', details: { ...ref } });
  });

  test('who is renamed or moved while they are written is read again', async () => {
    const adapter = await opened(server);
    const ref = created(await adapter.employees.create(employee('moving'), '41:moving', write));
    const move = ['changetype: modrdn', 'newrdn: uid=moving', 'deleteoldrdn: 1'];
    const beforeSend = () => changeNow(server, [`dn: ${dnOf('41:moving')}`, ...move]);
    const refused = await refusal(adapter.employees.update(ref.id, { title: 'Chef' }, { ...write, beforeSend }));
    expect(refused).toMatchObject({ code: 'STALE', action: 'retry' });
    await adapter.employees.update(ref.id, { title: 'Chef' }, write);
    expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ ref, fields: { title: 'Chef' } });
  });

  test('a number that the customer gives is read and found, and an entry may have more than one address', async () => {
    const adapter = await opened(server);
    const ref = created(await adapter.employees.create(employee('numbered'), '41:numbered', write));
    await edit(dnOf('41:numbered'), 'employeeNumber', ['000417']);
    await edit(dnOf('41:numbered'), 'mail', ['numbered@example.org', 'Second@Example.org']);
    const numbered = { ...ref, number: '000417' };
    for (const key of [
      { by: 'number', value: '000417' } as const,
      { by: 'email', value: 'second@example.org' } as const,
    ])
      expect(await adapter.employees.find(key, signal)).toEqual({ kind: 'one', ref: numbered, by: key.by });
    expect(await adapter.employees.find({ by: 'number', value: '417' }, signal)).toEqual({
      kind: 'none',
      trusted: true,
    });
    expect(await adapter.employees.isTaken?.('email', 'SECOND@example.org', signal)).toBe(true);
  });

  test('two people with one address are several', async () => {
    const adapter = await opened(server);
    await adapter.employees.create(employee('twofold', { familyName: 'One' }), '41:s1', write);
    await adapter.employees.create(employee('twofold', { familyName: 'Two' }), '41:s2', write);
    const found = await adapter.employees.find({ by: 'email', value: 'twofold@example.org' }, signal);
    expect(found).toMatchObject({ kind: 'many', refs: [{}, {}] });
  });

  test('signs of a filter find only themselves', async () => {
    const adapter = await opened(server);
    const ref = created(await adapter.employees.create(employee('a*(b)\\c'), '41:signs', write));
    const find = (value: string) => adapter.employees.find({ by: 'email', value }, signal);
    expect(await find('a*(b)\\c@example.org')).toEqual({ kind: 'one', ref, by: 'email' });
    expect(await find('*@example.org')).toEqual({ kind: 'none', trusted: true });
    expect(await find('x)(mail=*')).toEqual({ kind: 'none', trusted: true });
  });

  test('a reference with signs of a name makes an entry with exactly that reference', async () => {
    const adapter = await opened(server);
    const reference = '41:a,b+c="d"\\<é> #';
    const ref = created(await adapter.employees.create(employee('odd'), reference, write));
    expect(await adapter.employees.find({ by: 'reference', value: reference }, signal)).toMatchObject({ ref });
    expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ reference });
  });

  test('what the schema refuses is told by field, without the value', async () => {
    const adapter = await opened(server);
    const refused = await refusal(adapter.employees.create(employee('schema', { email: 'réyes' }), '41:schema', write));
    expect(refused).toMatchObject({ code: 'INVALID_VALUE', action: 'reject', details: { email: /./ } });
    expect(JSON.stringify(refused)).not.toContain('réyes');
    const classes = ['top', 'person', 'organizationalPerson', 'inetOrgPerson'];
    const other = await opened(server, { objectClasses: classes });
    const lacking = await refusal(other.employees.create(employee('class'), '41:class', write));
    expect(lacking).toMatchObject({ code: 'INVALID_VALUE', details: { startDate: /acmeStartDate/ } });
    const probed = await other.probe(signal);
    expect(probed).toMatchObject({ ok: false, error: { code: 'HRIS_MISCONFIGURED', message: /acmeStartDate/ } });
  });

  test('its schema is described, and a day is written in the form of its attribute', async () => {
    const adapter = await opened(server);
    const described = new Map((await adapter.describe?.('employee', signal))?.map((one) => [one.key, one]));
    expect(described.get('familyName')).toMatchObject({ isField: true, required: true, type: 'text' });
    expect(described.get('startDate')).toMatchObject({ isField: true, required: false, type: 'date' });
    expect(described.get('carLicense')).toMatchObject({ isField: false, type: 'text' });
    expect(described.get('jpegPhoto')).toMatchObject({ type: 'other' });
    await adapter.employees.create(employee('days'), '41:days', write);
    const [entry] = (await server.people()).filter((one) => one.get('employeeType')?.[0] === '41:days');
    expect(entry?.get('acmeStartDate')).toEqual(['20260201000000Z']);
    expect(entry?.get('acmeBirthDate')).toEqual(['1990-05-17']);
  });

  test('TLS begins on the plain port with startTls, and a certificate of another name is refused', async () => {
    const at = (host: string) => server.url.replace('127.0.0.1', host);
    const right = await opened(server, { url: at('localhost'), startTls: true });
    expect(await right.probe(signal)).toEqual({ ok: true });
    const ref = created(await right.employees.create(employee('tls'), '41:tls', write));
    expect(await right.employees.read(ref.id, signal)).toMatchObject({ ref });
    const other = await opened(server, { url: at('127.0.0.1'), startTls: true });
    expect(await other.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_UNREACHABLE' } });
  });

  test('a wrong password and a wrong place are told by the probe', async () => {
    const wrong = await opened(server, { password: 'wrong' });
    for (let n = 0; n < 3; n += 1)
      expect(await wrong.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_AUTH' } });
    const nowhere = await opened(server, { base: 'dc=other,dc=example', createIn: 'dc=other,dc=example' });
    expect(await nowhere.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_MISCONFIGURED' } });
  });

  test('nothing is read or written at an address that a tenant may not reach', async () => {
    const adapter = await opened(server, { allowPrivateAddress: false });
    expect(await adapter.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_PRIVATE_ADDRESS' } });
  });

  test('a list that the server cuts is no proof, and is not taken for everybody', async () => {
    const small = await startSlapd({ limits: 'size=2' });
    onTestFinished(() => small.stop());
    await addPeople(small, 3);
    const adapter = await opened(small);
    await small.admin(async (client) => {
      for (const n of [1, 2, 3])
        await client.add(`uid=same-${n},${SLAPD_PEOPLE}`, {
          objectClass: 'inetOrgPerson',
          cn: 'Same',
          sn: 'Same',
          mail: 'same@example.org',
        });
    });
    const found = await adapter.employees.find({ by: 'email', value: 'same@example.org' }, signal);
    expect(found).toEqual({ kind: 'none', trusted: false });
    const listed = await refusal(Promise.resolve(adapter.changes?.since(undefined, signal)));
    expect(listed).toMatchObject({ code: 'HRIS_MISCONFIGURED', message: /size limit/ });
  });

  test('what the user may not read proves nothing, and what they may not write is refused', async () => {
    const access = [
      `access to attrs=mail by dn.exact="${SLAPD_USER}" search by * none`,
      `access to dn.subtree="${SLAPD_BASE}" by dn.exact="${SLAPD_USER}" read by anonymous auth by * none`,
    ];
    const strict = await startSlapd({ access });
    onTestFinished(() => strict.stop());
    await strict.admin((client) =>
      client.add(`uid=x,${SLAPD_PEOPLE}`, { objectClass: 'inetOrgPerson', cn: 'X', sn: 'X', mail: 'x@example.org' }),
    );
    const adapter = await opened(strict);
    const found = await adapter.employees.find({ by: 'email', value: 'x@example.org' }, signal);
    expect(found).toEqual({ kind: 'none', trusted: false });
    const refused = await refusal(adapter.employees.create(employee('strict'), '41:strict', write));
    expect(refused).toMatchObject({ code: 'HRIS_FORBIDDEN', action: 'reauthorize' });
  });
});
