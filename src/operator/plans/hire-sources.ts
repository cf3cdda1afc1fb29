import type { HireContext } from '../../../activities/hire/with-hire.ts';
import { ConnectorError } from '../../errors.ts';
import type { MappingSources } from '../../mapping/read-source.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { readJob } from '../../store/jobs.ts';
import type { Store } from '../../store/open-store.ts';

/** Everything that a hire's mapping may read, as the partner has it now, from a job candidate just read. */
export async function readHireSources(
  store: Store,
  partner: PartnerClient,
  hire: { tenantId: string; onboardingCandidateId: string | null },
  record: Record<string, unknown> & { jobId: string },
): Promise<MappingSources> {
  const job = await readJob(store, hire.tenantId, record.jobId);
  return {
    candidate: recordOf(record['candidate_details']),
    job: job?.record,
    jobCandidate: record,
    onboarding: await readOnboarding(partner, hire.onboardingCandidateId),
  };
}

/** The same of a hire that was read from the store. */
export function sourcesOf(
  { store, connection, ref, row }: HireContext,
  record: Record<string, unknown> & { jobId: string },
): Promise<MappingSources> {
  const hire = { tenantId: ref.tenantId, onboardingCandidateId: row.onboarding_candidate_id };
  return readHireSources(store, connection.partner, hire, record);
}

async function readOnboarding(partner: PartnerClient, id: string | null): Promise<Record<string, unknown> | undefined> {
  if (id === null) return undefined;
  const { data } = await partner.onboarding.getCandidate(
    { params: { onboardingCandidateId: id } },
    { priority: 'live' },
  );
  return data as Record<string, unknown>;
}

export function unknownRecord(id: string, reason: string | undefined): ConnectorError {
  const why = reason === undefined ? 'the partner shows none' : `its record cannot be read: ${reason}`;
  return new ConnectorError({
    code: 'RECORD_UNKNOWN',
    action: 'reject',
    message: `There is nothing to explain of job candidate ${id}: ${why}. Check the id; it is no candidate id.`,
  });
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
