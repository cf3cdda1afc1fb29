import { ConnectorError } from '../../src/errors.ts';
import { linksOfPerson, moveClaim, takeClaim } from '../../src/store/identity.ts';
import type { LinkRow } from '../../src/store/schema.ts';
import type { HireRef } from '../../workflows/messages.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import type { Held } from './hire-activities.ts';
import { personOf } from './hire-references.ts';
import type { Decisions } from './read-decisions.ts';

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
  const other = before ?? claim;
  if (decisions.person === undefined)
    return held(
      ref,
      other,
      'PERSON_HIRED_BEFORE',
      `The person of job candidate ${ref.jobCandidateId} is already hired as job candidate ${other.job_candidate_id} of tenant ${other.tenant_id}. Answer same-employee (nothing new is made), transfer (the employee takes the new job), or new-employment (a second employee record).`,
      ['same-employee', 'transfer', 'new-employment', 'cancel'],
    );
  if (before === undefined)
    return held(
      ref,
      other,
      'PERSON_BEING_HIRED',
      `Job candidate ${claim.job_candidate_id} of tenant ${claim.tenant_id} is the same person and has no employee yet. Finish or cancel that hire, then answer retry.`,
      ['retry', 'cancel'],
    );
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

function held(
  _ref: HireRef,
  other: { tenant_id: string; job_candidate_id: string; period: number },
  code: string,
  message: string,
  answers: string[],
): Held {
  const details = { tenantId: other.tenant_id, jobCandidateId: other.job_candidate_id, period: other.period };
  return { verdict: 'hold', hold: { code, message, answers, details } };
}
