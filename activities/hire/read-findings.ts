import type { EmployeeFields, FindKey } from '../../src/hire/employee.ts';
import type { Finding } from '../../src/plan/identity-ladder.ts';
import type { Connection } from '../connections.ts';

const emailFields = ['workEmail', 'email', 'personalEmail'];
const LOOK_MS = 30_000;

/** Asks the HR system for a person along the identity ladder. */
export async function readFindings(
  { hris, tenant }: Connection,
  reference: string,
  fields: EmployeeFields,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const key of keysOf(reference, fields)) {
    const found = await hris.employees.find(key, AbortSignal.timeout(LOOK_MS));
    findings.push({ by: key.by, found });
    // Our own reference settles it; nothing below can say otherwise.
    if (key.by === 'reference' && found.kind === 'one') break;
  }
  const name = tenant.policies.identity.sameName === 'ask' ? nameOf(fields) : undefined;
  if (name === undefined || findings.some(({ found }) => found.kind !== 'none')) return findings;
  return [...findings, { by: name.by, found: await hris.employees.find(name, AbortSignal.timeout(LOOK_MS)) }];
}

function nameOf({ name, familyName, givenName, birthDate }: EmployeeFields): FindKey | undefined {
  const born = typeof birthDate === 'string' ? { birthDate } : {};
  if (typeof name === 'string') return { by: 'name', fullName: name, ...born };
  if (typeof familyName !== 'string' || typeof givenName !== 'string') return undefined;
  return { by: 'name', fullName: `${givenName} ${familyName}`, parts: { familyName, givenName }, ...born };
}

function keysOf(reference: string, fields: EmployeeFields): FindKey[] {
  return [{ by: 'reference', value: reference }, ...identityKeys(fields)];
}

/** What a human is known by, whoever hires them. */
export function identityKeys(fields: EmployeeFields): Extract<FindKey, { by: 'email' | 'person' }>[] {
  const keys: ReturnType<typeof identityKeys> = [];
  const emails = emailFields.map((name) => fields[name]).filter((value) => typeof value === 'string' && value !== '');
  for (const value of new Set(emails)) keys.push({ by: 'email', value: String(value) });
  const { familyName, givenName, birthDate } = fields as Record<string, unknown>;
  if (typeof familyName === 'string' && typeof givenName === 'string' && typeof birthDate === 'string')
    keys.push({ by: 'person', familyName, givenName, birthDate });
  return keys;
}
