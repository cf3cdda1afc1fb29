import type { Connection } from '../../../activities/connections.ts';
import { withNestedValues } from '../../../activities/fields/nested-values.ts';
import type { HireContext } from '../../../activities/hire/with-hire.ts';
import { readJobNow } from '../../../activities/presence/read-job.ts';
import { ConnectorError } from '../../errors.ts';
import type { Mapping } from '../../mapping/load-mapping.ts';
import type { MappingSources } from '../../mapping/read-source.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { readJob } from '../../store/jobs.ts';
import type { Store } from '../../store/open-store.ts';
import { patiently } from '../open-tenant.ts';

/** Everything that a hire's mapping may read, and when the job was shown so; undefined for now. */
export interface HireSources {
  sources: MappingSources;
  jobSeenAt: number | undefined;
}

/**
 * Everything that a hire's mapping may read, as the partner has it now, from a job candidate just read. A job that is
 * no longer listed is shown as it was listed last.
 */
export async function readHireSources(
  store: Store,
  connection: Connection,
  onboardingCandidateId: string | null,
  record: Record<string, unknown> & { jobId: string; candidateId: string },
  mappings: readonly Mapping[] = [connection.mapping],
): Promise<HireSources> {
  const now = await patiently(() => readJobNow(store, connection, record.jobId));
  const known = now === undefined ? await readJob(store, connection.tenant.tenant, record.jobId) : undefined;
  const sources = {
    candidate: await patiently(() =>
      withNestedValues(connection.partner, mappings, record.candidateId, recordOf(record['candidate_details'])),
    ),
    job: now ?? known?.record,
    jobCandidate: record,
    onboarding: await readOnboarding(connection.partner, onboardingCandidateId),
  };
  return { sources, jobSeenAt: known?.seenAt };
}

/** The same of a hire that was read from the store. */
export async function sourcesOf(
  { store, connection, row }: HireContext,
  record: Record<string, unknown> & { jobId: string; candidateId: string },
): Promise<MappingSources> {
  return (await readHireSources(store, connection, row.onboarding_candidate_id, record)).sources;
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

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
