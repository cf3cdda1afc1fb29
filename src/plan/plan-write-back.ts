import { rejected } from '../errors.ts';
import type { EmployeeFields, FieldValue } from '../hire/hire.ts';
import { type Held, held } from '../hire/holds.ts';

/** A custom field of the candidate and the value it should hold. */
export interface TargetValue {
  customFieldId: string;
  value: Exclude<FieldValue, null>;
}

/**
 * Where the Employee ID goes: to the enrolment, or to the custom field if there is no enrolment or a terminal one
 * refuses.
 */
type Target =
  | { verdict: 'enrolment'; onboardingCandidateId: string }
  | { verdict: 'custom-field'; customField: string }
  | Held;

/** The tenant's choice of Employee ID: the number people use, or the internal key. */
export function employeeIdToWrite(
  wanted: 'number' | 'id',
  employee: { id: string | null; number: string | null },
): string {
  const value = wanted === 'id' ? employee.id : employee.number;
  if (value !== null) return value;
  throw rejected(
    'EMPLOYEE_NUMBER_MISSING',
    `The HR system gave employee ${employee.id} no number yet. Let it be assigned there, or write the id ` +
      'back with writeBack.employeeId: id.',
  );
}

export function targetOf(
  hire: { jobCandidateId: string; onboardingCandidateId: string | null },
  customField: string | undefined,
): Target {
  const { jobCandidateId, onboardingCandidateId } = hire;
  if (onboardingCandidateId !== null) return { verdict: 'enrolment', onboardingCandidateId };
  if (customField !== undefined) return { verdict: 'custom-field', customField };
  return held('WRITE_BACK_TARGET_MISSING', { jobCandidateId });
}

/** Where the ID goes after the enrolment refused it. */
export function targetAfterRefusal(
  refused: { onboardingCandidateId: string; refusal: string; status: string | null },
  customField: string | undefined,
): Exclude<Target, { verdict: 'enrolment' }> {
  return customField === undefined ? held('WRITE_BACK_REFUSED', refused) : { verdict: 'custom-field', customField };
}

/** Values of the employee's record for the custom fields that the tenant writes back; empty values are left out. */
export function mappedTargets(
  wanted: ReadonlyArray<{ customFieldId: string; field: string }>,
  fields: Readonly<Record<string, FieldValue | undefined>>,
): TargetValue[] {
  return wanted.flatMap(({ customFieldId, field }) => {
    const value = fields[field];
    return value === undefined || value === null ? [] : [{ customFieldId, value }];
  });
}

/**
 * How much longer, in ms, the HR system may not show the employee that the hire made. If the HR system finished the
 * create days later, the lag counts from when we found it finished, `linkedAt`.
 */
export function unreadableForMs(
  creation: { decided_at: number | null; now: number } | undefined,
  readLagMs: number,
  linkedAt = 0,
): number {
  if (creation === undefined) return 0;
  const { decided_at: decidedAt, now } = creation;
  return Math.max(0, Math.max(decidedAt ?? now, linkedAt) + readLagMs - now);
}

/** What was written to the enrolment. */
interface Written {
  status: string;
  employeeId: string;
}

/** Whether the enrolment shows what was written to it. */
export function isShown(externalStatus: unknown, { status, employeeId }: Written): boolean {
  return shownEmployeeId(externalStatus) === employeeId && shownStatus(externalStatus) === status;
}

/** Your system's status on an enrolment. */
export function shownStatus(externalStatus: unknown): string {
  return String((externalStatus as { status?: unknown } | undefined)?.status);
}

/** The Employee ID on an enrolment. */
export function shownEmployeeId(externalStatus: unknown): string | undefined {
  const { employeeId } = (externalStatus ?? {}) as { employeeId?: unknown };
  const isGiven = typeof employeeId === 'number' || (typeof employeeId === 'string' && employeeId !== '');
  return isGiven ? String(employeeId) : undefined;
}

/** Custom fields that do not show the written value. */
export function missingTargets(expected: readonly TargetValue[], shown: ReadonlyMap<string, unknown>): string[] {
  return expected
    .filter(({ customFieldId, value }) => !isSameValue(shown.get(customFieldId), value))
    .map(({ customFieldId }) => customFieldId);
}

/**
 * Compares a shown value with a sent one. Stored forms differ (section 2.5): a list comes back as JSON text, and a
 * number perhaps as decimal text.
 */
function isSameValue(shown: unknown, sent: TargetValue['value']): boolean {
  if (Array.isArray(sent))
    return JSON.stringify(sent) === (typeof shown === 'string' ? plainJson(shown) : JSON.stringify(shown));
  // Number() turns an empty text or an empty list into zero.
  const isNumeral = typeof shown === 'number' || (typeof shown === 'string' && shown.trim() !== '');
  if (typeof sent === 'number') return isNumeral && Number(shown) === sent;
  // An empty field must not equal the text "null", which may be a name.
  return ['string', 'number', 'boolean'].includes(typeof shown) && String(shown) === String(sent);
}

/** Without the blanks and escapes that other writers of JSON use. */
function plainJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** What a later mapping changes in an existing employee. */
interface Corrections {
  /** Fields that still hold what was written and now get another value. */
  fields: EmployeeFields;
  /** Fields that would get another value but were edited in the HR system: they stay. */
  kept: string[];
}

/**
 * Compares the mapping's current values with what was written and what the HR system holds. Corrects only values that
 * are still as written; never overwrites the HR system's own edits.
 */
export function planCorrections(
  wanted: EmployeeFields,
  written: Readonly<Record<string, unknown>>,
  current: EmployeeFields,
): Corrections {
  const fields: EmployeeFields = {};
  const kept: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const [was, now] = [written[name] ?? null, current[name] ?? null];
    if (isEqual(value, was) || isEqual(value, now)) continue;
    if (isEqual(was, now)) fields[name] = value;
    else kept.push(name);
  }
  return { fields, kept };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
