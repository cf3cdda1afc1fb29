import { ConnectorError } from '../../src/errors.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { isSameHire, judgeClaim } from '../../src/plan/judge-claim.ts';
import { claimInCompany } from '../../src/store/company-claims.ts';
import { readHireRow } from '../../src/store/hires.ts';
import { linksOfPerson, moveClaim, takeClaim } from '../../src/store/identity.ts';
import type { ClaimRow, LinkRow } from '../../src/store/schema.ts';
import { personOf, personOfCompany } from './hire-references.ts';
import type { HireContext } from './with-hire.ts';

/** Takes the right to look up, create or link this person, or asks what this hire is to them. */
export async function claimPerson(
  { store, connection: { tenant }, ref, decisions }: HireContext,
  candidateId: string,
): Promise<{ verdict: 'claimed'; before: LinkRow | undefined } | Held> {
  const person = personOf(tenant, candidateId);
  const ofCompany = decisions.hereToo === true ? undefined : personOfCompany(tenant, candidateId);
  const other = ofCompany && (await claimInCompany(store, ofCompany, ref));
  if (other !== undefined) return held('PERSON_HIRED_ELSEWHERE', { jobCandidateId: ref.jobCandidateId, other });
  const taken = await takeClaim(store, person, ref);
  if (taken === undefined) throw isOver(ref);
  const before = (await linksOfPerson(store, person)).find((link) => !isSameHire(hireOfLink(link), ref));
  const holder = hireOfLink(taken.claim);
  const holderWaits = !taken.mine && (await readHireRow(store, holder)).employee_id === null;
  const judged = judgeClaim({ ref, holder, holderWaits, before: before && hireOfLink(before) }, decisions);
  if (judged.verdict === 'hold') return judged;
  if (judged.take) await moveClaim(store, person, holder, ref);
  return { verdict: 'claimed', before };
}

export function hireOfLink(row: LinkRow | ClaimRow): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}

/** Said by a worker that stood still; nobody waits for its word. */
function isOver(ref: HireRef): ConnectorError {
  return new ConnectorError({
    code: 'HIRE_OVER',
    action: 'retry',
    message: `The hire of job candidate ${ref.jobCandidateId} ended while this worker stood still.`,
  });
}
