/** One application in one employment period. */
export interface HireRef {
  tenantId: string;
  jobCandidateId: string;
  period: number;
}

/** Of a link that was imported: there is no hire behind it. */
export const IMPORTED_PERIOD = 0;

export function isSameHire(one: HireRef, other: HireRef): boolean {
  return one.tenantId === other.tenantId && one.jobCandidateId === other.jobCandidateId && one.period === other.period;
}

/** Ids come from webhooks, so only forms that can be ids become part of a workflow id. */
export function isSafeId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}

/** As messages name a hire. */
export function nameHire({ jobCandidateId, tenantId, period }: HireRef): string {
  if (period === IMPORTED_PERIOD) return `an employee linked by import, in tenant ${tenantId}`;
  return `job candidate ${jobCandidateId} of tenant ${tenantId}`;
}
