import { expect } from 'vitest';
import { employ, type HrisCase, type HrisUnderTest, offers, shown } from '../hris-case.ts';
import { signal, write } from '../profile.ts';

/** How people are looked up, and what an empty answer proves. */
export const finding: readonly HrisCase[] = [
  { name: 'the probe finds that it works', run: probes },
  { name: 'find by reference', needs: ['reference'], run: findsByReference },
  { name: 'find by number', run: findsByNumber },
  { name: 'find by e-mail', run: findsByEmail },
  { name: 'find by name and birth date', needs: ['persons'], run: findsPerson },
  { name: 'find by name where one side has no birth date', run: findsNamesakes },
  { name: 'an e-mail in other case is the same e-mail', run: foldsEmail },
  { name: 'who is not there is "none", trusted where the filter can prove it', run: findsNobody },
  { name: 'an e-mail beyond ASCII that is not found proves nothing', run: doubtsLetters },
];

async function probes({ adapter }: HrisUnderTest): Promise<void> {
  expect(await adapter.probe(signal)).toMatchObject({ ok: true });
}

async function findsByReference(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'by-reference');
  await expect
    .poll(() => hris.adapter.employees.find({ by: 'reference', value: '27:by-reference' }, signal), shown(hris))
    .toEqual({ kind: 'one', ref, by: 'reference' });
}

async function findsByNumber(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'by-number');
  await expect
    .poll(() => hris.adapter.employees.find({ by: 'number', value: ref.number ?? '' }, signal), shown(hris))
    .toEqual({ kind: 'one', ref, by: 'number' });
}

async function findsByEmail(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'by-email');
  await expect
    .poll(() => hris.adapter.employees.find({ by: 'email', value: 'by-email@example.org' }, signal), shown(hris))
    .toEqual({ kind: 'one', ref, by: 'email' });
}

async function findsPerson(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'person');
  const person = { by: 'person', givenName: 'ANA', familyName: ' reyes  PERSON ', birthDate: '1990-05-17' } as const;
  await expect
    .poll(() => hris.adapter.employees.find(person, signal), shown(hris))
    .toEqual({ kind: 'one', ref, by: 'person' });
}

async function findsNamesakes(hris: HrisUnderTest): Promise<void> {
  const { profile, adapter } = hris;
  const fields = profile.employee('namesake', profile.findsPersons ? { birthDate: null } : {});
  const ref = await employ(hris, 'namesake', fields);
  const [givenName, familyName] = [String(fields['givenName']), String(fields['familyName'])];
  const { name = `${givenName} ${familyName}` } = fields;
  const key = {
    by: 'name',
    fullName: String(name).toUpperCase(),
    ...(fields['name'] === undefined && { parts: { givenName: givenName.toUpperCase(), familyName } }),
  } as const;
  for (const born of [{}, { birthDate: '1990-05-17' }])
    await expect
      .poll(() => adapter.employees.find({ ...key, ...born }, signal), shown(hris))
      .toEqual({ kind: 'one', ref, by: 'name' });
  await adapter.employees.update(ref.id, profile.findsPersons ? { birthDate: '1990-05-17' } : {}, write);
  const other = { ...key, birthDate: '1980-01-01' };
  if (!profile.findsPersons) return;
  await expect.poll(() => adapter.employees.find(other, signal), shown(hris)).toEqual({ kind: 'none', trusted: false });
}

async function foldsEmail(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'Mixed.Case');
  await expect
    .poll(() => hris.adapter.employees.find({ by: 'email', value: 'mixed.CASE@Example.org' }, signal), shown(hris))
    .toEqual({ kind: 'one', ref, by: 'email' });
}

async function findsNobody(hris: HrisUnderTest): Promise<void> {
  const { employees } = hris.adapter;
  const proves = { reference: offers(hris, 'reference'), number: true, email: true, person: offers(hris, 'persons') };
  for (const key of [
    { by: 'reference', value: '17:404' },
    { by: 'number', value: '999999' },
    { by: 'email', value: 'nobody@example.org' },
    { by: 'person', givenName: 'No', familyName: 'Body', birthDate: '1990-05-17' },
  ] as const)
    expect(await employees.find(key, signal)).toEqual({ kind: 'none', trusted: proves[key.by] });
  expect(await employees.read('999999', signal)).toBeUndefined();
  expect(await employees.read("x' or '1'='1", signal)).toBeUndefined();
}

/** Not every database folds the case of every letter; who compares here may be sure. */
async function doubtsLetters({ adapter, profile }: HrisUnderTest): Promise<void> {
  expect(await adapter.employees.find({ by: 'email', value: 'żółć@example.org' }, signal)).toEqual({
    kind: 'none',
    trusted: profile.foldsEveryLetter,
  });
}
