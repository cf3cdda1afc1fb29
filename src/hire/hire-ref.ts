/** One application in one employment period. */
export interface HireRef {
  tenantId: string;
  jobCandidateId: string;
  period: number;
}

/** Ids come from webhooks, so only forms that can be ids become part of a workflow id. */
export function isSafeId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}
