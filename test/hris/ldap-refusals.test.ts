import { expect, onTestFinished, test } from 'vitest';
import { ldapOptions } from '../../src/hris/ldap/options.ts';
import { readSchema, typeOf } from '../../src/hris/ldap/schema.ts';
import { openHris } from '../../src/hris/registry.ts';
import { startLdapDouble } from './ldap-double.ts';
import { refusal, signal, write } from './profile.ts';

const LEAST = { url: 'ldaps://ldap.acme.example', bindDn: 'cn=hb,dc=acme', password: 'secret', base: 'dc=acme' };
const ANA = { givenName: 'Ana', familyName: 'Reyes', name: 'Ana Reyes', email: 'ana@example.org' };

async function openDouble(...given: Parameters<typeof startLdapDouble>) {
  const url = await startLdapDouble(...given);
  const hris = await openHris('ldap', 'hr', { ...LEAST, url, allowPrivateAddress: true });
  onTestFinished(() => hris.close());
  return hris;
}

test.each([
  [19, { code: 'INVALID_VALUE', action: 'reject' }],
  [20, { code: 'INVALID_VALUE', action: 'reject' }],
  [32, { code: 'HRIS_MISCONFIGURED', action: 'reject' }],
  [50, { code: 'HRIS_FORBIDDEN', action: 'reauthorize' }],
  [51, { code: 'HRIS_BUSY', action: 'retry' }],
  [52, { code: 'HRIS_UNREACHABLE', action: 'retry' }],
  [53, { code: 'HRIS_ERROR', action: 'reject' }],
  [65, { code: 'INVALID_VALUE', action: 'reject' }],
])('an add that is answered with result code %i', async (code, expected) => {
  const hris = await openDouble(({ operation }) => (operation === 'add' ? code : 0), 'Reyes, ana@example.org: no');
  const refused = await refusal(hris.employees.create(ANA, '27:1', write));
  expect(refused).toMatchObject(expected);
  expect(refused.message).not.toMatch(/Reyes|example\.org/);
});

test.each([3, 4, 11])('a search that is cut (result code %i) does not prove that nobody is there', async (code) => {
  const hris = await openDouble(({ operation }) => (operation === 'search' ? code : 0));
  const found = await hris.employees.find({ by: 'reference', value: '27:1' }, signal);
  expect(found).toEqual({ kind: 'none', trusted: false });
});

test('a password that was refused is not tried again and again', async () => {
  const tried: unknown[] = [];
  const hris = await openDouble(({ operation, password }) => {
    if (operation === 'bind') tried.push(password);
    return operation === 'bind' ? 49 : 0;
  });
  for (let n = 0; n < 5; n += 1)
    expect(await hris.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_AUTH', action: 'reauthorize' } });
  expect(tried).toEqual(['secret']);
});

test.each([
  [{ url: 'ldap://ldap.acme.example' }, /unencrypted/],
  [{ url: 'ldap://10.0.0.5' }, /unencrypted/],
  [{ startTls: true }, /expected false/],
  [{ createIn: 'ou=people,dc=other' }, /below base/],
  [{ leaver: { moveTo: 'ou=leavers,dc=other' } }, /created again/],
  [{ leaver: { moveTo: 'dc=acme' } }, /pass for a leaver/],
  [{ createIn: 'ou=chefs,ou=staff,dc=acme', leaver: { moveTo: 'OU=staff, dc=acme' } }, /pass for a leaver/],
  [{ leaver: { attribute: 'EmployeeType', value: 'left' } }, /replace our reference/],
  [{ leaver: { attribute: 'uid', value: 'left' } }, /replace our reference/],
  [{ rdnAttribute: 'cn' }, /no field has/],
  [{ fields: { kind: { attribute: 'EmployeeType' } } }, /no field has/],
])('a tenant file with %j is refused', (changes, expected) => {
  expect(ldapOptions.safeParse({ ...LEAST, ...changes }).error?.message).toMatch(expected);
});

test.each([
  { url: 'ldap://localhost:1389' },
  { url: 'ldap://127.0.0.1' },
  { url: 'ldap://[::1]' },
  { url: 'ldap://ldap.acme.example', startTls: true },
  { createIn: 'ou=people, DC=acme' },
])('a tenant file with %j is taken', (changes) => {
  expect(ldapOptions.safeParse({ ...LEAST, ...changes }).error).toBeUndefined();
});

test('a schema is read as servers write it', () => {
  const { attributes, attributesOf, withoutEquality } = readSchema(
    [
      "( 2.5.4.41 NAME 'name' DESC 'a (b) SYNTAX 1.2' EQUALITY folded SYNTAX 1.3.6.1.4.1.1466.115.121.1.15{32768} )",
      "( 2.5.4.4 NAME ( 'sn' 'surname' ) SUP name )",
      "( 1.1 NAME 'hired' SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 SINGLE-VALUE X-ORIGIN 'acme' )",
      "( 1.2 NAME 'photo' SYNTAX 1.3.6.1.4.1.1466.115.121.1.28 )",
    ],
    [
      "( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) MAY photo )",
      "( 1.3 NAME 'own' SUP person MAY ( hired ) )",
    ],
  );
  const types = [...attributes].map(([name, one]) => [name, typeOf(one)]);
  expect(Object.fromEntries(types)).toEqual({
    name: 'text',
    sn: 'text',
    surname: 'text',
    hired: 'date',
    photo: 'other',
  });
  expect(attributesOf(['Own'])).toEqual({
    classes: new Set(['own', 'person']),
    must: new Set(['sn', 'cn']),
    may: new Set(['hired', 'photo']),
  });
  expect(withoutEquality(['surname', 'Hired', 'unknown'])).toEqual(['Hired']);
  // Some servers tell no rule of any attribute.
  expect(readSchema(["( 1.1 NAME 'hired' )"], []).withoutEquality(['hired'])).toEqual([]);
});
