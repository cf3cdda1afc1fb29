import type { TargetValue } from './plan-write-back.ts';

/** What was written to the enrolment. */
interface Written {
  status: string;
  employeeId: string;
}

/** Whether the enrolment shows what was written to it. */
export function isShown(externalStatus: unknown, { status, employeeId }: Written): boolean {
  const shown = (externalStatus ?? {}) as { status?: unknown; employeeId?: unknown };
  return String(shown.employeeId) === employeeId && String(shown.status) === status;
}

/** Targets that do not show what was written, by custom field. */
export function missingTargets(expected: readonly TargetValue[], shown: ReadonlyMap<string, unknown>): string[] {
  return expected
    .filter(({ customFieldId, value }) => !isSameValue(shown.get(customFieldId), value))
    .map(({ customFieldId }) => customFieldId);
}

/**
 * Stored forms differ from sent ones (section 2.5): a list comes back as JSON text, a number perhaps as a decimal text.
 */
function isSameValue(shown: unknown, sent: TargetValue['value']): boolean {
  if (Array.isArray(sent)) return shown === JSON.stringify(sent) || JSON.stringify(shown) === JSON.stringify(sent);
  if (typeof sent === 'number') return isNumeral(shown) && Number(shown) === sent;
  // An empty field is not the name Null.
  return ['string', 'number', 'boolean'].includes(typeof shown) && String(shown) === String(sent);
}

/** Number() takes an empty text or an empty list for zero. */
function isNumeral(shown: unknown): boolean {
  return typeof shown === 'number' || (typeof shown === 'string' && shown.trim() !== '');
}
