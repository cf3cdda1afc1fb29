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
  if (typeof sent === 'number') return shown !== null && shown !== '' && Number(shown) === sent;
  return String(shown) === String(sent);
}
