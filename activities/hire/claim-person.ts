import { ConnectorError } from '../../src/errors.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { isSameHire, judgeClaim } from '../../src/plan/judge-claim.ts';
import { claimInCompany } from '../../src/store/company-claims.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { readHireRow } from '../../src/store/hires.ts';
import { answersOf } from '../../src/store/holds.ts';
import { linksOfPerson, moveClaim, takeClaim } from '../../src/store/identity.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { LinkRow } from '../../src/store/schema.ts';
import { isFormer } from './former-employee.ts';
import { hireOfLink } from './hire-of-link.ts';
import { personOf, personOfCompany } from './hire-references.ts';
import type { HireContext } from './with-hire.ts';

/** Takes the right to look up, create or link this person, or asks what this hire is to them. */
export async function claimPerson(
  hire: HireContext,
  candidateId: string,
): Promise<{ verdict: 'claimed'; before: LinkRow | undefined } | Held> {
  const { store, connection, ref, decisions } = hire;
  const { tenant } = connection;
  const person = personOf(tenant, candidateId);
  const ofCompany = decisions.hereToo === true ? undefined : personOfCompany(tenant, candidateId);
  const other = ofCompany && (await claimInCompany(store, ofCompany, ref));
  if (other !== undefined) return held('PERSON_HIRED_ELSEWHERE', { jobCandidateId: ref.jobCandidateId, other });
  const taken = await takeClaim(store, person, ref);
  if (taken === undefined) throw isOver(ref);
  const others = (await linksOfPerson(store, person)).filter((link) => !isSameHire(hireOfLink(link), ref));
  const [before] = others;
  const holder = hireOfLink(taken.claim);
  const holderWaits = !taken.mine && (await readHireRow(store, holder)).employee_id === null;
  const isKnown =
    before !== undefined && others.length === 1 && decisions.person === undefined && (await isToldOf(hire, before));
  const decided = isKnown ? { ...decisions, person: 'transfer' as const } : decisions;
  const judged = judgeClaim({ ref, holder, holderWaits, before: before && hireOfLink(before) }, decided);
  if (judged.verdict === 'hold') return judged;
  if (judged.take) {
    await moveClaim(store, person, holder, ref);
    const now = await takeClaim(store, person, ref);
    if (now === undefined) throw isOver(ref);
    // Two hires of one person may decide at the same moment; the claim goes to one of them.
    if (!now.mine)
      return held('PERSON_BEING_HIRED', { jobCandidateId: ref.jobCandidateId, other: hireOfLink(now.claim) });
  }
  return { verdict: 'claimed', before };
}

/** Whether nobody need be asked what this hire is to the person: a rehire, or the move that somebody told of. */
async function isToldOf(hire: HireContext, before: LinkRow): Promise<boolean> {
  if (await isMoved(hire.store, hire.ref, before)) return true;
  if (hire.connection.hris.employees.rehire === undefined) return false;
  // A hire that has the employee already: an HR system may show them as former until their first day.
  const besides = { besides: [hireOfLink(before)], states: ['open', 'done'] } as const;
  if (await hasSuccessor(hire.store, hire.ref, before.employee_id, besides)) return false;
  return isFormer(hire, before.employee_id, before);
}

/**
 * Whether somebody said of the hire that has the employee that its person moves to another job. That is one job: once
 * a hire has taken the employee over, it counts for no third one.
 */
async function isMoved(store: Store, ref: HireRef, link: LinkRow): Promise<boolean> {
  const before = hireOfLink(link);
  if (before.tenantId !== ref.tenantId) return false;
  if ((await answersOf(store, before)).at(-1)?.answer !== 'moved') return false;
  return !(await hasSuccessor(store, ref, link.employee_id, { besides: [before] }));
}

/** Said by a worker that stood still; nobody waits for its word. */
function isOver(ref: HireRef): ConnectorError {
  return new ConnectorError({
    code: 'HIRE_OVER',
    action: 'retry',
    message: `The hire of job candidate ${ref.jobCandidateId} ended while this worker stood still.`,
  });
}
