import { ConnectorError } from '../../src/errors.ts';
import type { Decisions } from '../../src/hire/decisions.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { linksOfPerson, moveClaim, takeClaim } from '../../src/store/identity.ts';
import type { ClaimRow, LinkRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { personOf } from './hire-references.ts';

export type Claimed = { verdict: 'claimed'; before: LinkRow | undefined } | Held;

/**
 * Takes the right to look up, create or link this person. A person whom another hire holds or has linked is a question to a person:
 * the same employee, a transfer, or a new employment.
 */
export async function claimPerson(
  { store }: ActivityDeps,
  { tenant }: Connection,
  ref: HireRef,
  candidateId: string,
  decisions: Decisions,
): Promise<Claimed> {
  const person = personOf(tenant, candidateId);
  const taken = await takeClaim(store, person, ref);
  if (taken === undefined) throw isOver(ref);
  const { mine, claim } = taken;
  const links = await linksOfPerson(store, person);
  const before = links.find((link) => !isOwn(link, ref));
  if (mine && before === undefined) return { verdict: 'claimed', before: undefined };
  const about = { jobCandidateId: ref.jobCandidateId, other: refOf(before ?? claim) };
  if (decisions.person === undefined) return held('PERSON_HIRED_BEFORE', about);
  if (before === undefined) return held('PERSON_BEING_HIRED', about);
  if (!mine) await moveClaim(store, person, ref);
  return { verdict: 'claimed', before };
}

/** Said by a worker that stood still; nobody waits for its word. */
function isOver(ref: HireRef): ConnectorError {
  return new ConnectorError({
    code: 'HIRE_OVER',
    action: 'retry',
    message: `The hire of job candidate ${ref.jobCandidateId} ended while this worker stood still.`,
  });
}

function isOwn(link: LinkRow, ref: HireRef): boolean {
  return link.tenant_id === ref.tenantId && link.job_candidate_id === ref.jobCandidateId && link.period === ref.period;
}

function refOf(row: LinkRow | ClaimRow): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}
