import type { EmployeeFields, EmployeeRef, FindKey, Found, NameParts } from '../hire/hire.ts';
import type { EmployeeRecord } from './port.ts';

/** Text for comparison, ignoring case, blanks and Unicode form. */
export function foldText(text: string): string {
  return text.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** Whether a record matches a search. Compared here, so that no server's filter decides on identity. */
export function fitsKey(
  { ref, reference, fields }: EmployeeRecord,
  key: FindKey,
  addresses: readonly string[] = ['email'],
): boolean {
  if (key.by === 'reference') return reference === key.value;
  if (key.by === 'number') return ref.number === key.value;
  if (key.by === 'email') return addresses.some((name) => folded(fields[name]) === folded(key.value));
  const { birthDate = null } = fields;
  if (key.by === 'person')
    return birthDate === key.birthDate && isNamed(fields, key, `${key.givenName} ${key.familyName}`);
  const isUnknown = key.birthDate === undefined || birthDate === null || birthDate === '';
  return isUnknown && isNamed(fields, key.parts, key.fullName);
}

/** The result of a search. `trusted`: an empty result proves that nobody is there. */
export function foundBy({ by }: FindKey, refs: readonly EmployeeRef[], trusted: boolean): Found {
  const [first, ...others] = refs;
  if (first === undefined) return { kind: 'none', trusted };
  return others.length === 0 ? { kind: 'one', ref: first, by } : { kind: 'many', refs: [...refs], by };
}

function folded(value: unknown): string | undefined {
  return typeof value === 'string' ? foldText(value) : undefined;
}

/** Some systems have a single name field. */
function isNamed(fields: EmployeeFields, parts: NameParts | undefined, fullName: string): boolean {
  if (typeof fields['name'] === 'string' && fields['familyName'] === undefined)
    return foldText(fields['name']) === foldText(fullName);
  if (parts === undefined) return false;
  const { familyName, givenName } = parts;
  return folded(fields['familyName']) === folded(familyName) && folded(fields['givenName']) === folded(givenName);
}
