import type { EmployeeFields, EmployeeRef, FindKey } from '../../src/hire/employee.ts';
import { climbIdentityLadder, type Finding, type IdentityDecision } from '../../src/plan/identity-ladder.ts';
import type { Connection } from '../connections.ts';

const emailFields = ['workEmail', 'email', 'personalEmail'];
const LOOK_MS = 30_000;

/** Asks the HRIS along the identity ladder and decides; records that a person said are somebody else are left out. */
export async function lookForEmployee(
  { hris }: Connection,
  reference: string,
  fields: EmployeeFields,
  options: { unsettledCreate: boolean; notThese: ReadonlySet<string> },
): Promise<IdentityDecision> {
  const findings: Finding[] = [];
  for (const key of keysOf(reference, fields)) {
    const found = await hris.employees.find(key, AbortSignal.timeout(LOOK_MS));
    findings.push({ by: key.by, found: without(found, options.notThese) });
    // Our own reference settles it; nothing below can say otherwise.
    if (key.by === 'reference' && found.kind === 'one') break;
  }
  return climbIdentityLadder(findings, { unsettledCreate: options.unsettledCreate });
}

function keysOf(reference: string, fields: EmployeeFields): FindKey[] {
  const keys: FindKey[] = [{ by: 'reference', value: reference }];
  const emails = emailFields.map((name) => fields[name]).filter((value) => typeof value === 'string' && value !== '');
  for (const value of new Set(emails)) keys.push({ by: 'email', value: String(value) });
  const { familyName, givenName, birthDate } = fields as Record<string, unknown>;
  if (typeof familyName === 'string' && typeof givenName === 'string' && typeof birthDate === 'string')
    keys.push({ by: 'person', familyName, givenName, birthDate });
  return keys;
}

function without(found: Finding['found'], notThese: ReadonlySet<string>): Finding['found'] {
  if (found.kind === 'none' || notThese.size === 0) return found;
  const refs = (found.kind === 'one' ? [found.ref] : found.refs).filter((ref: EmployeeRef) => !notThese.has(ref.id));
  const [ref, ...others] = refs;
  // What is left out was found and looked at: the empty rest is as good as a trusted "none".
  if (ref === undefined) return { kind: 'none', trusted: true };
  return others.length === 0 ? { kind: 'one', ref, by: found.by } : { kind: 'many', refs, by: found.by };
}
