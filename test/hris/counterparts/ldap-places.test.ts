import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SLAPD_LEAVERS, SLAPD_PEOPLE, type SlapdServer, startSlapd } from '../../../src/counterparts/start-slapd.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { changeNow, ldapProfile, openLdap } from '../ldap-under-test.ts';
import { created, refusal, signal, write } from '../profile.ts';

const { employee } = ldapProfile;
const CLASSES = ['top', 'person', 'organizationalPerson', 'inetOrgPerson', 'acmePerson'];

let server: SlapdServer;
beforeAll(async () => {
  server = await startSlapd({
    frontend: [
      "attributetype ( 1.3.6.1.4.1.99999.1.900 NAME 'acmeMail' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )",
      "objectclass ( 1.3.6.1.4.1.99999.2.9 NAME 'acmeMailUser' SUP top AUXILIARY MAY acmeMail )",
    ],
  });
});
afterAll(() => server?.stop());

async function opened(changes: Record<string, unknown>): Promise<HrisConnection> {
  const adapter = await openLdap(server.url, changes);
  onTestFinished(() => adapter.close());
  return adapter;
}

test.each([
  ['that the schema does not have', { personClass: 'inetOrgPersn' }],
  ['that new entries do not have', { personClass: 'acmePerson', objectClasses: CLASSES.slice(0, -1) }],
])('a class of people %s finds nobody, and the probe says so', async (_what, changes) => {
  const probed = await (await opened({ leaver: undefined, fields: {}, ...changes })).probe(signal);
  expect(probed).toMatchObject({ ok: false, error: { code: 'HRIS_MISCONFIGURED', message: /personClass/ } });
});

test('people are found by a class above that of new entries', async () => {
  expect(await (await opened({ personClass: 'Person' })).probe(signal)).toEqual({ ok: true });
});

test('an attribute by which nobody is found is told, and does not make a value pass for free', async () => {
  const fields = { email: { attribute: 'acmeMail' } };
  const adapter = await opened({ objectClasses: [...CLASSES, 'acmeMailUser'], fields });
  const { startDate: _startDate, birthDate: _birthDate, ...ana } = employee('blind');
  await adapter.employees.create(ana, '41:blind', write);
  expect(await adapter.employees.find({ by: 'email', value: 'blind@example.org' }, signal)).toMatchObject({
    kind: 'none',
  });
  const told = { code: 'HRIS_MISCONFIGURED', message: /acmeMail/ };
  expect(await adapter.probe(signal)).toMatchObject({ ok: false, error: told });
  const taken = adapter.employees.isTaken?.('email', 'blind@example.org', signal);
  expect(await refusal(Promise.resolve(taken))).toMatchObject(told);
});

const inPeople = (reference: string) => `dn: uid=${reference},${SLAPD_PEOPLE}`;
const renamed = (reference: string, to: string) => [
  inPeople(reference),
  'changetype: modrdn',
  `newrdn: uid=${to}`,
  'deleteoldrdn: 1',
];

test('who has got the name of a leaver is not moved in their place', async () => {
  const adapter = await opened({ leaver: { moveTo: SLAPD_LEAVERS } });
  const ref = created(await adapter.employees.create(employee('leaver'), '41:leaver', write));
  const stranger = ['changetype: add', 'objectClass: inetOrgPerson', 'cn: Stranger', 'sn: Stranger'];
  const beforeSend = () =>
    changeNow(server, [...renamed('41:leaver', 'leaver'), '', inPeople('41:leaver'), ...stranger]);
  const ended = adapter.employees.terminate?.(ref.id, '2026-01-31', { ...write, beforeSend });
  expect(await refusal(Promise.resolve(ended))).toMatchObject({ code: 'STALE', action: 'retry' });
  await adapter.employees.terminate?.(ref.id, '2026-01-31', write);
  const people = (await server.people()).filter((one) => /^(Stranger|Reyes leaver)$/.test(one.get('sn')?.[0] ?? ''));
  expect(people.map((one) => one.get('dn')?.[0]).toSorted()).toEqual([
    `uid=41:leaver,${SLAPD_PEOPLE}`,
    `uid=leaver,${SLAPD_LEAVERS}`,
  ]);
});

test('a leaver who is renamed while they are moved is read again, and a place that is not there is told', async () => {
  const adapter = await opened({ leaver: { moveTo: SLAPD_LEAVERS } });
  const ref = created(await adapter.employees.create(employee('moved'), '41:moved', write));
  const beforeSend = () => changeNow(server, renamed('41:moved', 'moved'));
  const ended = adapter.employees.terminate?.(ref.id, '2026-01-31', { ...write, beforeSend });
  expect(await refusal(Promise.resolve(ended))).toMatchObject({ code: 'STALE', action: 'retry' });
  const nowhere = await opened({ leaver: { moveTo: `ou=nowhere,${SLAPD_LEAVERS}` } });
  const lost = nowhere.employees.terminate?.(ref.id, '2026-01-31', write);
  expect(await refusal(Promise.resolve(lost))).toMatchObject({ code: 'HRIS_MISCONFIGURED', action: 'reject' });
});
