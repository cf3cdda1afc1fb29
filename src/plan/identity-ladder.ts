import type { Decisions } from '../hire/answers.ts';
import type { FindKey, Found, KnownEmployee } from '../hire/hire.ts';
import { normalized } from '../in-words.ts';

export type Rung = FindKey['by'];

/** What the HRIS answered for one key. Keys that could not be used (no birth date, no number yet) are left out. */
export interface Finding {
  by: Rung;
  found: Found<KnownEmployee>;
}

/** Evidence that a person can check: which key found which records. */
interface Evidence {
  by: Rung;
  refs: KnownEmployee[];
}

export type IdentityDecision =
  | { kind: 'create' }
  | { kind: 'link'; ref: KnownEmployee; evidence: Evidence[] }
  | { kind: 'hold'; reason: IdentityHold; evidence: Evidence[] };

type IdentityHold =
  /** One key found several records. */
  | 'several-records'
  /** Two keys found different records. */
  | 'keys-disagree'
  /** A record was found, but not by evidence that is strong enough to link: e-mail alone never is. */
  | 'weak-evidence'
  /** Nothing was found, but that does not prove absence. */
  | 'absence-unproven'
  /** A person of the same name, with no birth date on one side. */
  | 'same-name';

/** `unsettledCreate`: this hire sent a create whose outcome is unknown. */
interface LadderState {
  unsettledCreate: boolean;
}

/**
 * Decides from all findings what to do about a person. Our own reference links. A number links if the e-mail or the
 * person (name and birth date) found the same record. With an unsettled create, e-mail and person together also link:
 * the record is the one we sent, or the same human. Any other find is a hold, and so is an empty result of filters
 * whose empty answer proves nothing. A person of the same name only turns a create into a question: the name says
 * nothing about an employee who was found, or about a create that was sent.
 */
export function climbIdentityLadder(
  findings: readonly Finding[],
  state: LadderState = { unsettledCreate: false },
): IdentityDecision {
  const decision = climbByKeys(
    findings.filter(({ by }) => by !== 'name'),
    state,
  );
  const isOpen = decision.kind === 'create' || (decision.kind === 'hold' && decision.evidence.length === 0);
  if (!isOpen || state.unsettledCreate) return decision;
  const named = evidenceOf(findings);
  if (named.length === 0) return decision;
  return hold(decision.kind === 'hold' ? decision.reason : 'same-name', named);
}

function evidenceOf(findings: readonly Finding[]): Evidence[] {
  return findings.flatMap(({ by, found }): Evidence[] =>
    found.kind === 'none' ? [] : [{ by, refs: found.kind === 'one' ? [found.ref] : found.refs }],
  );
}

function climbByKeys(findings: readonly Finding[], state: LadderState): IdentityDecision {
  const evidence = evidenceOf(findings);
  const byReference = refOf(findings, 'reference');
  const byNumber = refOf(findings, 'number');
  if (many(findings, 'reference') || many(findings, 'number')) return hold('several-records', evidence);
  if (byReference && byNumber && byReference.id !== byNumber.id) return hold('keys-disagree', evidence);
  // E-mails and names are shared and change, so they cannot contradict our own reference.
  if (byReference) return link(byReference, evidence);
  if (evidence.some(({ refs }) => refs.length > 1)) return hold('several-records', evidence);
  const [first, ...others] = evidence.flatMap(({ refs }) => refs);
  if (first === undefined) return absenceIsProven(findings, state) ? { kind: 'create' } : hold('absence-unproven', []);
  if (others.some((ref) => ref.id !== first.id)) return hold('keys-disagree', evidence);
  return links(new Set(evidence.map(({ by }) => by)), state) ? link(first, evidence) : hold('weak-evidence', evidence);
}

function links(rungs: ReadonlySet<Rung>, { unsettledCreate }: LadderState): boolean {
  if (rungs.has('number')) return rungs.has('email') || rungs.has('person');
  return unsettledCreate && rungs.has('email') && rungs.has('person');
}

/**
 * Only our reference, if the HRIS stores it, is never edited by people there, so a trusted "none" for it is enough.
 * Without it, a first create needs a trusted "none" by e-mail or person. A create that may have happened needs both,
 * because one of the two may have been corrected since.
 */
function absenceIsProven(findings: readonly Finding[], { unsettledCreate }: LadderState): boolean {
  const absent = (by: Rung): boolean =>
    findings.some((finding) => finding.by === by && finding.found.kind === 'none' && finding.found.trusted);
  if (absent('reference')) return true;
  return unsettledCreate ? absent('email') && absent('person') : absent('email') || absent('person');
}

function refOf(findings: readonly Finding[], by: Rung): KnownEmployee | undefined {
  const found = findings.find((finding) => finding.by === by)?.found;
  return found?.kind === 'one' ? found.ref : undefined;
}

function many(findings: readonly Finding[], by: Rung): boolean {
  return findings.some((finding) => finding.by === by && finding.found.kind === 'many');
}

function link(ref: KnownEmployee, evidence: Evidence[]): IdentityDecision {
  return { kind: 'link', ref, evidence };
}

function hold(reason: IdentityHold, evidence: Evidence[]): IdentityDecision {
  return { kind: 'hold', reason, evidence };
}

/** Findings without the records that, according to a person, are somebody else. */
export function withoutDenied(findings: readonly Finding[], notThese: ReadonlySet<string>): Finding[] {
  return findings.map(({ by, found }) => ({ by, found: without(found, notThese) }));
}

function without(found: Found<KnownEmployee>, notThese: ReadonlySet<string>): Found<KnownEmployee> {
  if (found.kind === 'none' || notThese.size === 0) return found;
  const refs = (found.kind === 'one' ? [found.ref] : found.refs).filter(({ id }) => !notThese.has(id));
  const [ref, ...others] = refs;
  // A person looked at the denied records, so an empty rest is as good as a trusted "none".
  if (ref === undefined) return { kind: 'none', trusted: true };
  return others.length === 0 ? { kind: 'one', ref, by: found.by } : { kind: 'many', refs, by: found.by };
}

/** The newest attempt at the create. */
interface CreateAttempt {
  attempt: number;
  outcome: 'open' | 'done' | 'absent' | 'refused';
}

type CreateSeen =
  | { kind: 'found'; employee: KnownEmployee }
  | { kind: 'absent' }
  /** `hits`: employees that may be the one. */
  | { kind: 'unprovable'; hits: string[] };

/** If a person vouched for the absence before the first attempt, no look is needed: nothing of ours was sent since. */
export function mayCreateUnseen(latest: CreateAttempt | undefined, { createUnproven }: Decisions): boolean {
  return latest === undefined && createUnproven === true;
}

/**
 * Whether an earlier attempt made the employee. Only evidence decides, or a person's word on that very attempt; their
 * word counts only while nothing is found that they were not shown.
 */
export function judgeCreate(
  findings: readonly Finding[],
  latest: CreateAttempt | undefined,
  decisions: Decisions,
): CreateSeen {
  const unsettledCreate = latest?.outcome === 'open';
  const identity = climbIdentityLadder(withoutDenied(findings, decisions.notThese), { unsettledCreate });
  if (identity.kind === 'link') return { kind: 'found', employee: identity.ref };
  if (identity.kind === 'create') return { kind: 'absent' };
  const hits = [...new Set(identity.evidence.flatMap(({ refs }) => refs.map(({ id }) => id)))];
  const denied = latest !== undefined && decisions.neverHappened.has(latest.attempt);
  return denied && hits.length === 0 ? { kind: 'absent' } : { kind: 'unprovable', hits };
}

/** What both sides and the store show for one line of an import. */
export interface LinkFacts {
  /** Undefined if the partner shows no such candidate. */
  candidate: PersonName | undefined;
  /** Undefined if the HR system shows no such employee. */
  employee: PersonName | undefined;
  /** The candidate that the store already links to this employee. */
  linkedCandidate: string | undefined;
  /** The partner no longer shows that one: two candidates were merged, and this line names the one that is left. */
  isMerged: boolean;
  /** Employees that the store already links to this candidate. */
  linkedEmployees: readonly string[];
  /** Whether a hire is about to find or make this person's employee. */
  isBeingHired: boolean;
  /** Which of the two was erased from the store. */
  erased: 'candidate' | 'employee' | undefined;
}

export interface PersonName {
  id: string;
  /** The full name. */
  name: string;
}

type LinkVerdict = { kind: 'fits' | 'known' } | { kind: 'refused'; at: 'candidate' | 'employee'; text: string };

/** Whether a candidate may be linked to an employee: the names agree, and nothing speaks against it. */
export function judgeLink(facts: LinkFacts): LinkVerdict {
  const { candidate, employee, linkedCandidate, isMerged, linkedEmployees, isBeingHired, erased } = facts;
  if (erased !== undefined) return refused(erased, ERASED);
  if (candidate === undefined) return refused('candidate', 'The partner shows no such candidate.');
  if (employee === undefined) return refused('employee', 'The HR system shows no such employee.');
  if (linkedCandidate === candidate.id) return { kind: 'known' };
  if (linkedCandidate !== undefined && !isMerged)
    return refused('employee', `Is already linked to candidate ${linkedCandidate}.`);
  const [other] = linkedEmployees;
  if (other !== undefined) return refused('candidate', `Is already linked to employee ${other}.`);
  if (isBeingHired) return refused('candidate', 'Has a hire under way, which finds or makes the employee itself.');
  if (isSameName(candidate, employee)) return { kind: 'fits' };
  const text = `Is ${maskName(employee)} in the HR system, and the candidate is ${maskName(candidate)} at the partner.`;
  return refused('employee', text);
}

const ERASED = 'Was erased from hirebridge on request, and is not linked again. Take the line out of the file.';

function refused(at: 'candidate' | 'employee', text: string): LinkVerdict {
  return { kind: 'refused', at, text };
}

export function isSameName(one: Pick<PersonName, 'name'>, other: Pick<PersonName, 'name'>): boolean {
  return fold(one.name) !== '' && fold(one.name) === fold(other.name);
}

/** Ignores case, accents, dashes, blanks and the order, which differ between systems without meaning. */
function fold(text: string): string {
  const words = normalized(text, 'NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[\s\p{Pd}'’.,]+/u);
  return words.toSorted().join(' ').trim();
}

/** An employee's full name, which may be one field or two; empty if the HR system shows none. */
export function nameOfEmployee({ name, givenName, familyName }: Record<string, unknown>): string {
  return typeof name === 'string' ? name : [givenName, familyName].filter(Boolean).join(' ');
}

/** A candidate's full name at the partner. */
export function nameOfCandidate({ firstName, lastName }: { firstName?: unknown; lastName?: unknown } = {}): string {
  return [firstName, lastName].filter(Boolean).join(' ');
}

/** Shows enough to compare with a record at hand, but not the name. */
export function maskName({ name }: Pick<PersonName, 'name'>): string {
  const masked = name
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => `${String.fromCodePoint(word.codePointAt(0) ?? 0)}***`);
  return masked.length === 0 ? '(no name)' : masked.join(' ');
}
