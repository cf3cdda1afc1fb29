import { ConnectorError } from '../../src/errors.ts';
import { type HireRef, isSameHire } from '../../src/hire/hire-ref.ts';
import { followedStates } from '../../src/hire/hire-state.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { judgeClaim } from '../../src/plan/judge-claim.ts';
import { type CompanyPerson, claimInCompany, readStanding } from '../../src/store/company-claims.ts';
import { hireOf } from '../../src/store/hire-columns.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { findHireRow } from '../../src/store/hires.ts';
import { answersOf } from '../../src/store/holds.ts';
import {
  claimOfPerson,
  linksOfPerson,
  moveClaim,
  type Person,
  type RecordedAs,
  takeClaim,
} from '../../src/store/identity.ts';
import { latestIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { ClaimRow, LinkRow } from '../../src/store/schema.ts';
import { isFormer } from './former-employee.ts';
import { personOf, personOfCompany } from './hire-references.ts';
import { REHIRE_VERB } from './verbs.ts';
import type { HireContext } from './with-hire.ts';

interface Claimed {
  verdict: 'claimed';
  /** The newest employee that another hire linked to the person. */
  before: LinkRow | undefined;
}

/** Takes the right to look up, create or link this person, or asks what this hire is to them. */
export async function claimPerson(hire: HireContext, candidateId: string): Promise<Claimed | Held> {
  const { store, connection, ref } = hire;
  const person = personOf(connection.tenant, candidateId);
  const ofCompany = askedOfCompany(hire, candidateId);
  const other = ofCompany && (await claimInCompany(store, ofCompany, ref));
  if (other !== undefined) return heldElsewhere(ref, other);
  const taken = await takeClaim(store, person, ref);
  if (taken === undefined) throw isOver(ref);
  const { judged, before } = await judgePerson(hire, person, taken.claim);
  if (judged.verdict === 'hold') return judged;
  if (judged.take) {
    await moveClaim(store, person, hireOf(taken.claim), ref);
    const now = await takeClaim(store, person, ref);
    if (now === undefined) throw isOver(ref);
    // Two hires of one person may decide at the same moment; the claim goes to one of them.
    if (!now.mine) return held('PERSON_BEING_HIRED', { jobCandidateId: ref.jobCandidateId, other: hireOf(now.claim) });
  }
  return { verdict: 'claimed', before };
}

/** What taking the claim would come to; nothing is taken. */
export async function foreseeClaim(hire: HireContext, candidateId: string): Promise<Claimed | Held> {
  const { store, connection, ref } = hire;
  const ofCompany = askedOfCompany(hire, candidateId);
  const standing = ofCompany && (await readStanding(store, ofCompany, ref.tenantId));
  if (typeof standing === 'object') return heldElsewhere(ref, standing);
  const person = personOf(connection.tenant, candidateId);
  const claim = await claimOfPerson(store, person);
  const { judged, before } = await judgePerson(hire, person, claim);
  return judged.verdict === 'hold' ? judged : { verdict: 'claimed', before };
}

/** Nobody is asked twice whether the person is to be an employee in two HR systems. */
function askedOfCompany({ connection, decisions }: HireContext, candidateId: string): CompanyPerson | undefined {
  return decisions.hereToo === true ? undefined : personOfCompany(connection.tenant, candidateId);
}

function heldElsewhere({ jobCandidateId }: HireRef, other: HireRef): Held {
  return held('PERSON_HIRED_ELSEWHERE', { jobCandidateId, other });
}

/** What this hire is to its person. */
async function judgePerson(
  hire: HireContext,
  person: Person,
  claim: ClaimRow | undefined,
): Promise<{ judged: ReturnType<typeof judgeClaim>; before: LinkRow | undefined }> {
  const { store, ref, decisions } = hire;
  const others = (await linksOfPerson(store, person)).filter((link) => !isSameHire(hireOf(link), ref));
  const [before] = others;
  const holder = claim === undefined ? ref : hireOf(claim);
  const isHeld = claim?.how === null && !isSameHire(holder, ref);
  const holderWaits = isHeld && (await findHireRow(store, holder))?.employee_id === null;
  const recorded = isUnderWay(hire) ? undefined : recordedAs(claim);
  const isKnown =
    before !== undefined && others.length === 1 && decisions.person === undefined && (await isToldOf(hire, before));
  const decided = isKnown ? { ...decisions, person: 'transfer' as const } : decisions;
  const judged = judgeClaim({ ref, holder, holderWaits, before: before && hireOf(before), recorded }, decided);
  return { judged, before };
}

/** Of a create that has left or an employee who is there, nobody is asked whether there is to be one. */
function isUnderWay({ row, creation }: HireContext): boolean {
  return row.employee_id !== null || creation?.outcome === 'open' || creation?.outcome === 'done';
}

function recordedAs(claim: ClaimRow | undefined): RecordedAs | undefined {
  const recorded = claim?.recorded ?? null;
  return recorded === null ? undefined : (JSON.parse(recorded) as RecordedAs);
}

/** Whether nobody need be asked what this hire is to the person: a rehire, or the move that somebody told of. */
async function isToldOf(hire: HireContext, before: LinkRow): Promise<boolean> {
  if (await isMoved(hire.store, hire.ref, before)) return true;
  if (hire.connection.hris.employees.rehire === undefined) return false;
  // An HR system may show somebody who was rehired as former until their first day.
  if (await isRehiredAlready(hire.store, hireOf(before))) return false;
  if (await hasOthers(hire.store, hire.ref, before)) return false;
  return isFormer(hire, before.employee_id, before);
}

/** A hire that goes on made this person an active employee again. */
async function isRehiredAlready(store: Store, before: HireRef): Promise<boolean> {
  if ((await latestIntent(store, before, REHIRE_VERB))?.outcome !== 'done') return false;
  const state = (await findHireRow(store, before))?.state;
  return state === 'open' || state === 'done';
}

/** Whether somebody said of the hire that has the employee that its person moves to another job. */
async function isMoved(store: Store, ref: HireRef, link: LinkRow): Promise<boolean> {
  const before = hireOf(link);
  if (before.tenantId !== ref.tenantId) return false;
  if ((await answersOf(store, before)).at(-1)?.answer !== 'moved') return false;
  return !(await hasOthers(store, ref, link));
}

/** A third hire that goes on has the employee, too: nobody said which of them this one takes over from. */
function hasOthers(store: Store, ref: HireRef, link: LinkRow): Promise<boolean> {
  const { connection, employee_id: id } = link;
  return hasSuccessor(store, ref, { connection, id }, { besides: [hireOf(link)], states: followedStates });
}

/** Said by a worker that stood still; nobody waits for its word. */
function isOver(ref: HireRef): ConnectorError {
  return new ConnectorError({
    code: 'HIRE_OVER',
    action: 'retry',
    message: `The hire of job candidate ${ref.jobCandidateId} ended while this worker stood still.`,
  });
}
