import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { Candidate } from '../../src/person/person.ts';
import type { Tenant } from '../../src/tenants/schema.ts';

const PREFIX = 'hirebridge';

/**
 * The externalRef of an enrolment: `hirebridge:<jobCandidateId>:<period>`, from the second enrolment of a period on
 * with its number.
 */
export function enrolmentReference({ jobCandidateId, period }: HireRef, enrolment: number): string {
  const base = `${PREFIX}:${jobCandidateId}:${period}`;
  return enrolment > 1 ? `${base}:${enrolment}` : base;
}

/** Reads a reference of ours; undefined for anybody else's. */
export function readEnrolmentReference(
  reference: string | null | undefined,
): { jobCandidateId: string; period: number; enrolment: number } | undefined {
  const match = /^hirebridge:([^:]+):(\d+)(?::(\d+))?$/.exec(reference ?? '');
  if (match === null) return undefined;
  return { jobCandidateId: match[1] ?? '', period: Number(match[2]), enrolment: Number(match[3] ?? 1) };
}

/** The partner company as the HRIS reference and the keys of a person name it. */
export function partnerCompanyOf(tenant: Tenant): string {
  return tenant.partner.company ?? tenant.tenant;
}

/** A candidate as a person of the tenant's HR system. */
export function personOf(tenant: Tenant, candidateId: string): { connection: string; candidate: Candidate } {
  return { connection: tenant.hris.connection, candidate: { company: partnerCompanyOf(tenant), candidateId } };
}

/** Our reference in the HRIS: `<partner company>:<candidateId>`; a person's further employment carries its hire too. */
export function employeeReference(tenant: Tenant, candidateId: string, further?: HireRef): string {
  const base = `${partnerCompanyOf(tenant)}:${candidateId}`;
  return further === undefined ? base : `${base}:${further.jobCandidateId}:${further.period}`;
}
