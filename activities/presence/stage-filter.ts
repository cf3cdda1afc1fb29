import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidate.ts';
import type { Connection } from '../connections.ts';

/**
 * Asks GET /candidates/list (section 4.3) for one person in these stages. `shown`: this application is in one of them,
 * provided that a probe has proven the filter. `unclear` proves nothing, and neither does `not-shown`.
 *
 * A person with two applications may match by the other one, so only somebody shown with a single one counts. `jobIds`
 * is left out on purpose: a partner that shows only the applications of these jobs would hide the second one.
 */
export async function askStageFilter(
  { partner }: Connection,
  stageIds: readonly number[],
  { id, candidateId, candidate_details: person }: JobCandidate,
): Promise<'shown' | 'not-shown' | 'unclear'> {
  const candidateEmail = person?.email;
  if (typeof candidateEmail !== 'string' || candidateEmail === '' || stageIds.length === 0) return 'unclear';
  const query = { candidateEmail, stageIds: [...stageIds], includeJobApplicationDetails: true };
  const options = { priority: 'live', size: 10 } as const;
  try {
    // The first page alone: a filter that is ignored lists everybody.
    for await (const { items, unreadable } of partner.pages(contract.candidates.list, { query }, options)) {
      const [one, ...others] = items;
      if (unreadable.length > 0 || others.length > 0) return 'unclear';
      if (one === undefined) return 'not-shown';
      const same = one.id === candidateId;
      return same && hasOnly(one.jobCandidateDetails, id) ? 'shown' : 'unclear';
    }
    return 'unclear';
  } catch (error) {
    if (isConnectorError(error) && error.action === 'reject') return 'unclear';
    throw error;
  }
}

/** A single object may be one of several applications (C15), so only a list of one will do. */
function hasOnly(applications: unknown, jobCandidateId: string): boolean {
  if (!Array.isArray(applications) || applications.length !== 1) return false;
  const { id, jobCandidateId: named = id } = applications[0] as Record<string, unknown>;
  return String(named) === jobCandidateId;
}
