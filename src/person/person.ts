import type { Decisions } from '../hire/answers.ts';
import { type Employee, type HireRef, isSameEmployee, isSameHire } from '../hire/hire.ts';

/** A candidate: a person as the partner knows them. */
export interface Candidate {
  /** The company at the partner, or the tenant if it names no company. */
  company: string;
  candidateId: string;
}

/** A person in one HR system: everything known about who they are, no matter which tenant asks. */
export interface Person {
  id: string;
  /** Name of the connection to the HR system; tenants may share one. */
  connection: string;
  /** Counts every change; 0 for a person of whom nothing is known. */
  version: number;
  /** Several candidates if somebody said that they are one human. */
  candidates: readonly Candidate[];
  /** The one hire that may look up, make or link their employee. */
  owner: HireRef | undefined;
  /** The owner's tenant was removed, and the outcome of the create it sent is unknown. */
  isAbandoned: boolean;
  /** A hire of this person that hirebridge did not make; it stays, no matter which hire owns them. */
  recorded: Recorded | undefined;
  /** Companies at the partner in whose HR systems no other hire may take the person unless somebody allows it. */
  companies: readonly {
    /** Names the partner's server and environment. */
    scope: string;
    candidate: Candidate;
  }[];
  /** Newest first. */
  employees: readonly Employed[];
  /** Keys that identify the person while an employee is being made for them. */
  creating: readonly Creating[];
}

/** One employee that the person is. */
export interface Employed {
  employee: Employee;
  /** The employee number people use; null until the HR system assigns one. */
  number: string | null;
  /** The candidate at the partner now. */
  candidate: Candidate;
  /** The hire that has the employee now; for an import, no real hire (`IMPORTED_PERIOD`). */
  hire: HireRef;
  how: EmployedHow;
  /** Milliseconds on the database's clock. */
  since: number;
}

/** made: by our create. linked: existed and was found or named. imported: from a list. */
export type EmployedHow = 'made' | 'linked' | 'imported';

/**
 * Hired before go-live, while the tenant only observed, for a job outside the tenant's scope, or into the tenant's
 * former HR system. `removed` and `cancelled`: the tenant was removed, or the hire cancelled, after it sent the create,
 * and the outcome is unknown.
 */
type RecordedHow = 'baseline' | 'observed' | 'passed-over' | 'other-hris' | 'removed' | 'cancelled';

/** The person may be an employee that hirebridge does not know. */
export interface Recorded extends HireRef {
  how: RecordedHow;
}

/** A key for which no other hire may make an employee in the meantime. */
export interface Creating {
  /** Hash of an e-mail, or of name and birth date. */
  key: string;
  hire: HireRef;
  /** Names one attempt, so that an attempt that was stalled cannot end what a later attempt holds. */
  holder: string;
  /** Milliseconds on the database's clock; lasts longer while the hire's create is unsettled. */
  until: number;
}

/** What can happen to a person, by kind. `hire` is the hire that reports the event. */
interface Events {
  /** The person was hired without hirebridge. */
  record: { as: Recorded };
  /** A hire asks to become the owner: the only hire that may look up, make or link the employee. */
  hold: { hire: HireRef; decided: HoldDecisions; isUnderWay: boolean; company: string | undefined };
  /** The owning hire ended without an employee. */
  release: { hire: HireRef };
  /** The hire's tenant was removed while the outcome of its create was still open. */
  abandon: { hire: HireRef };
  /** A removed tenant is back and continues its hires. */
  'take-back': { tenantId: string };
  /** The hire is about to make an employee. For `forMs`, no other hire may make an employee with one of these keys. */
  create: { hire: HireRef; keys: readonly string[]; holder: string; forMs: number };
  /** The outcome of the create is known. `holder` limits this to that one attempt. */
  settle: { hire: HireRef; holder?: string };
  /** Forgets the keys that no longer make anybody wait. */
  lapse: object;
  /** The person is this employee. */
  link: {
    hire: HireRef;
    candidate: Candidate;
    is: Named;
    how: EmployedHow;
    /** Reads show the employee only after this time; hires with one of the same keys wait until then. */
    shownAfterMs: number;
    /** A person confirmed the link although the employee belongs to another stored person: both are one human. */
    samePerson?: boolean;
    /** The record that the hire had before is gone: HR merged it into this one, or made it anew. */
    insteadOf?: Employee;
  };
  /** A hire with this employee is over; `heir` is the newest other hire with the same employee, of that candidate. */
  leave: { hire: HireRef; employee: Employee; heir: (HireRef & { candidateId: string | null }) | undefined };
  /** The HR system deleted this employee. */
  lose: { employee: Employee };
  /** The partner shows an application of this person as this candidate's: it merged the two candidates. */
  merge: { from: Candidate; candidate: Candidate };
  /** A tenant that counted as a company of its own now names its company at the partner. */
  'name-company': { candidate: Candidate; company: string };
}

export type PersonEvent = { [Kind in keyof Events]: { kind: Kind } & Events[Kind] }[keyof Events];

/** People's decisions about a hire that change its effect on the person. */
export type HoldDecisions = Pick<Decisions, 'person' | 'personAt' | 'askedAbout' | 'link' | 'hereToo'>;

export interface Named {
  employee: Employee;
  number: string | null;
}

/** Other facts at the time of the event. */
export interface Facts {
  /** The database's clock, milliseconds since 1970. */
  now: number;
  /** Facts of the event's hire, locked until the change is committed. */
  hire?: HireFacts | undefined;
  /** The owning hire is still working towards an employee and has none yet. */
  ownerWaits?: boolean;
  /**
   * Who hires the person into another HR system of the company: another tenant's hire, or this tenant itself. If the
   * event's hire already owns the person: the hire that made them an employee there without a person being asked.
   */
  elsewhere?: HireRef | 'ours' | undefined;
  /**
   * Another tenant recorded this application before the hire's tenant went live, so this tenant's baseline missed it.
   */
  isRecordedEarlier?: boolean;
  /** Whether a hire sent a create and has not stored the employee yet: `open` means that its outcome is unknown. */
  unsettled: (hire: HireRef) => 'open' | 'done' | undefined;
}

export interface HireFacts {
  isOpen: boolean;
  isDone: boolean;
  /** The hire's tenant still exists. */
  isServed: boolean;
  employee: Employee | undefined;
}

/** The person the event is about, and other persons who share one of its keys. */
export interface People {
  subject: Person;
  others: readonly Person[];
}

export type Refusal =
  /** The hire ended, was erased or its tenant was removed, so nobody would ever release the person. */
  | { reason: 'over' }
  | { reason: 'elsewhere' | 'being-hired'; other: HireRef }
  | { reason: 'recorded'; other: Recorded }
  /** `before`: the employee that the person became through that hire. */
  | { reason: 'hired-before'; other: HireRef; before: Employed | undefined }
  /** Another hire is making an employee with one of the keys. `isPending`: this may take days. */
  | { reason: 'creating'; other: HireRef; isPending: boolean; waitMs: number }
  /** The employee belongs to another person. */
  | { reason: 'of-another'; other: Employed };

/** `has`: the employee that the event's hire has from now on. */
export type Changed = { kind: 'changed'; people: People; has?: Named } | { kind: 'refused'; refusal: Refusal };

type Transition<Kind extends keyof Events> = (
  people: People,
  event: Events[Kind],
  facts: Facts,
) => (Partial<People> & { subject: Person; has?: Named | undefined }) | Refusal;

/** Every change of a person. A refused event changes nothing, and neither does an event that happened before. */
const transitions: { [Kind in keyof Events]: Transition<Kind> } = {
  record: ({ subject }, { as }) => ({ subject: { ...subject, recorded: lasting(subject.recorded, as) } }),
  hold,
  release: ({ subject }, { hire }) => ({ subject: isOwner(subject, hire) ? { ...subject, ...unowned } : subject }),
  abandon: ({ subject }, { hire }) => ({
    subject: isOwner(subject, hire) ? { ...subject, isAbandoned: true } : subject,
  }),
  'take-back': ({ subject }, { tenantId }) => ({ subject: takenBack(subject, tenantId) }),
  create,
  settle: ({ subject }, { hire, holder }, { now }) => ({ subject: settled(subject, hire, now, holder) }),
  lapse: ({ subject }, _event, facts) => ({
    subject: { ...subject, creating: subject.creating.filter((one) => isInForce(one, facts)) },
  }),
  link,
  leave,
  lose: ({ subject }, { employee }) => ({
    subject: { ...subject, employees: subject.employees.filter((one) => !isSameEmployee(one.employee, employee)) },
  }),
  merge,
  'name-company': nameCompany,
};

export function changePerson(people: People, event: PersonEvent, facts: Facts): Changed {
  const decided = (transitions[event.kind] as Transition<typeof event.kind>)(people, event as never, facts);
  if ('reason' in decided) return { kind: 'refused', refusal: decided };
  const { subject, others = people.others, has } = decided;
  return { kind: 'changed', people: { subject, others }, ...(has && { has }) };
}

const unowned = { owner: undefined, isAbandoned: false, companies: [] } as const;
const nothing = { ...unowned, recorded: undefined, employees: [], creating: [] } as const;

function isOwner({ owner }: Person, hire: HireRef): boolean {
  return owner !== undefined && isSameHire(owner, hire);
}

/**
 * Refuses a person who is owned, recorded or already an employee until somebody decides about them. If another hire is
 * still making the employee, this hire waits no matter what was decided.
 */
function hold(
  { subject }: People,
  { hire, decided, isUnderWay, company }: Events['hold'],
  { hire: row, ownerWaits, elsewhere, isRecordedEarlier = false }: Facts,
): ReturnType<Transition<'hold'>> {
  if (row?.isOpen !== true || !row.isServed) return { reason: 'over' };
  const { owner, isAbandoned, employees, companies, candidates } = subject;
  const isAsked = employees.length === 0 && company !== undefined && decided.hereToo !== true;
  if (isAsked && (owner === undefined || !isUnderWay) && typeof elsewhere === 'object')
    return { reason: 'elsewhere', other: elsewhere };
  const before = employees.find((one) => !isSameHire(one.hire, hire));
  const known = knownAs(subject);
  const isOurs = known !== undefined && isSameApplication(known, hire) && !isRecordedEarlier;
  const recorded = isUnderWay || isOurs ? undefined : known;
  const isTold = decided.person === 'new-employment' || decided.link !== undefined;
  if (before === undefined && recorded !== undefined && !isTold) return { reason: 'recorded', other: recorded };
  const other = owner === undefined || isAbandoned || isSameHire(owner, hire) ? undefined : owner;
  const asked = before?.hire ?? other;
  const own = row.employee && employedAs(subject, row.employee);
  const hasOwn = own !== undefined && isSameHire(own.hire, hire);
  if (asked !== undefined && !hasOwn && decidedAbout(before, decided) === undefined)
    return { reason: 'hired-before', other: asked, before };
  // Of three applications, two could each be declared a new employment by people who never saw the other decision.
  if (other !== undefined && (before === undefined || ownerWaits === true)) return { reason: 'being-hired', other };
  // The outcome of an abandoned create is still unknown.
  const kept = subject.recorded ?? (isAbandoned && !isOwner(subject, hire) ? known : undefined);
  const isFirst = owner === undefined && isAsked && elsewhere === undefined;
  const claimed = isFirst ? candidates.slice(0, 1).map((candidate) => ({ scope: company, candidate })) : companies;
  return { subject: { ...subject, owner: hire, isAbandoned: false, recorded: kept, companies: claimed } };
}

/**
 * A person's answer about this hire; void if another hire got the person's newest employee after it, or if the question
 * named another hire than the one that has it.
 */
export function decidedAbout(
  before: Employed | undefined,
  { person, personAt, askedAbout }: Pick<Decisions, 'person' | 'personAt' | 'askedAbout'>,
): Decisions['person'] {
  if (before === undefined) return person;
  const isLater = personAt !== undefined && before.since > personAt;
  const isOther = askedAbout !== undefined && !isSameHire(before.hire, askedAbout);
  return isLater || isOther ? undefined : person;
}

function knownAs({ owner, isAbandoned, recorded }: Person): Recorded | undefined {
  return isAbandoned && owner !== undefined ? { ...owner, how: 'removed' } : recorded;
}

/**
 * Whether the record is of this very application, so that the hire may go on: a person started it. Tenants of one
 * company record each other's applications: those that the other tenant takes, and those hired before their own
 * go-live.
 */
function isSameApplication({ how, ...recorded }: Recorded, hire: HireRef): boolean {
  if (recorded.tenantId === hire.tenantId) return isSameHire(recorded, hire);
  if (isUnsettled(how) || recorded.jobCandidateId !== hire.jobCandidateId) return false;
  return how === 'passed-over' || recorded.period === hire.period;
}

/** Whether it is unknown if the person became an employee. */
export function isUnsettled(how: RecordedHow): boolean {
  return how === 'removed' || how === 'cancelled';
}

function takenBack(person: Person, tenantId: string): Person {
  const { owner, recorded } = person;
  if (owner?.tenantId === tenantId) return { ...person, isAbandoned: false };
  if (recorded?.how !== 'removed' || recorded.tenantId !== tenantId) return person;
  const { how: _, ...hire } = recorded;
  return { ...person, recorded: undefined, owner: owner ?? hire };
}

/**
 * Takes all keys or none. A hire that has to wait learns which key takes longest. One that lost the person since it
 * claimed them, because the partner merged two candidates, asks.
 */
function create(
  { subject, others }: People,
  { hire, keys, holder, forMs }: Events['create'],
  facts: Facts,
): ReturnType<Transition<'create'>> {
  if (facts.hire === undefined) return { reason: 'over' };
  const { owner } = subject;
  if (owner !== undefined && !isSameHire(owner, hire)) return { reason: 'being-hired', other: owner };
  const asked = new Set(keys);
  const [first] = [subject, ...others]
    .flatMap(({ creating }) => creating)
    .filter((one) => asked.has(one.key) && !isSameHire(one.hire, hire) && isInForce(one, facts))
    .map((one) => ({ ...one, isPending: isPending(one, facts) }))
    .toSorted((a, b) => Number(b.isPending) - Number(a.isPending) || b.until - a.until);
  if (first !== undefined) {
    const waitMs = Math.max(0, first.until - facts.now);
    return { reason: 'creating', other: first.hire, isPending: first.isPending, waitMs };
  }
  const rest = (person: Person): Creating[] => person.creating.filter((one) => !asked.has(one.key));
  const own = [...asked].map((key) => ({ key, hire, holder, until: facts.now + forMs }));
  return {
    subject: { ...subject, creating: [...rest(subject), ...own] },
    others: others.map((one) => ({ ...one, creating: rest(one) })),
  };
}

/** Begins the key of a name alone: somebody else may have that name, so they do not wait for days. */
export const NAMESAKE = 'name ';

function isInForce(one: Creating, facts: Facts): boolean {
  return one.until > facts.now || outcomeOf(one, facts) !== undefined;
}

function outcomeOf({ key, hire }: Creating, { unsettled }: Facts): ReturnType<Facts['unsettled']> {
  return key.startsWith(NAMESAKE) ? undefined : unsettled(hire);
}

/** The create may take days: somebody must finish it in the HR system, or report its outcome. */
function isPending(one: Creating, facts: Facts): boolean {
  const outcome = outcomeOf(one, facts);
  return outcome === 'done' || (outcome === 'open' && one.until <= facts.now);
}

function settled(person: Person, hire: HireRef, until: number, holder?: string): Person {
  const isMeant = (one: Creating): boolean =>
    isSameHire(one.hire, hire) && (holder === undefined || one.holder === holder);
  return { ...person, creating: person.creating.map((one) => (isMeant(one) ? { ...one, until } : one)) };
}

/** If another tenant already owns the person under the company's name, that tenant keeps them. */
function nameCompany({ subject, others }: People, { candidate, company }: Events['name-company']): People {
  const named = (one: Candidate): Candidate => (isSameCandidate(one, candidate) ? { ...one, company } : one);
  const renamed: Person = {
    ...subject,
    candidates: subject.candidates.map(named),
    employees: subject.employees.map((one) => ({ ...one, candidate: named(one.candidate) })),
  };
  return intoOther({ subject: renamed, others });
}

/**
 * The person keeps both names, because records with the earlier one may still come. Of two hires under way, the one
 * that is making an employee keeps the person, and the other one asks.
 */
function merge({ subject, others }: People, { from, candidate }: Events['merge']): People {
  if (isUnknown(subject) || subject.candidates.some((one) => isSameCandidate(one, candidate)))
    return { subject, others };
  const candidates = [candidate, ...subject.candidates];
  const employees = subject.employees.map((one) =>
    isSameCandidate(one.candidate, from) ? { ...one, candidate } : one,
  );
  const merged = intoOther({ subject: { ...subject, candidates, employees }, others });
  const { owner, isAbandoned } = subject;
  const keeps = isCreatingFor(subject) && !others.some(isCreatingFor);
  return keeps ? { ...merged, subject: { ...merged.subject, owner, isAbandoned } } : merged;
}

/** The person's owner is making their employee. */
function isCreatingFor({ owner, creating }: Person): boolean {
  return owner !== undefined && creating.some(({ hire }) => isSameHire(hire, owner));
}

/** The person who has the new name already takes this one in. */
function intoOther({ subject, others }: People): People {
  const [other] = others;
  return other === undefined ? { subject, others } : absorb({ subject: other, others: [] }, subject);
}

/** Gives the employee to the reporting hire, unless that hire is over or already has another employee. */
function link(
  people: People,
  { hire, candidate, is, how, shownAfterMs, samePerson, insteadOf }: Events['link'],
  facts: Facts,
): ReturnType<Transition<'link'>> {
  const { employee, number } = is;
  const { owner } = people.subject;
  if (how === 'imported' && owner !== undefined) return { reason: 'being-hired', other: owner };
  if (how !== 'imported' && facts.hire === undefined) return { reason: 'over' };
  const other = people.others.find((one) => employedAs(one, employee) !== undefined);
  const theirs = other && employedAs(other, employee);
  if (theirs !== undefined && samePerson !== true) return { reason: 'of-another', other: theirs };
  const { subject, others } = other === undefined ? people : absorb(people, other);
  const mayHave = mayHaveIt(facts.hire, employee, insteadOf);
  const known = employedAs(subject, employee);
  const entry: Employed =
    known === undefined
      ? { employee, number, candidate, hire, how, since: facts.now }
      : {
          ...known,
          number: number ?? known.number,
          ...(samePerson === true && (how === 'imported' || isSameHire(known.hire, hire)) ? { candidate } : {}),
          ...(mayHave && !isSameHire(known.hire, hire) ? { candidate, hire, since: facts.now } : {}),
        };
  const isGone = (one: Employed): boolean =>
    insteadOf !== undefined && isSameEmployee(one.employee, insteadOf) && isSameHire(one.hire, hire);
  const rest = subject.employees.filter((one) => one !== known && !isGone(one));
  const shown = settled(subject, hire, facts.now + shownAfterMs);
  return {
    subject: { ...shown, employees: newestFirst([entry, ...rest]) },
    others,
    has: mayHave && facts.hire?.isOpen === true ? { employee, number: entry.number } : undefined,
  };
}

function mayHaveIt(hire: HireFacts | undefined, employee: Employee, insteadOf: Employee | undefined): boolean {
  if (hire === undefined) return false;
  const { isOpen, isDone, employee: own } = hire;
  if (own === undefined) return isOpen;
  const isOwn = isSameEmployee(own, employee);
  return (isOwn && (isOpen || isDone)) || (isOpen && insteadOf !== undefined && isSameEmployee(own, insteadOf));
}

function leave({ subject }: People, { hire, employee, heir }: Events['leave']): { subject: Person } {
  const had = (one: Employed): boolean => isSameEmployee(one.employee, employee) && isSameHire(one.hire, hire);
  if (heir === undefined || !subject.employees.some(had)) return { subject };
  const { candidateId, ...next } = heir;
  const own = subject.candidates.find((one) => one.candidateId === candidateId);
  const employees = subject.employees.map((one) =>
    had(one) ? { ...one, hire: next, candidate: own ?? one.candidate } : one,
  );
  return { subject: { ...subject, employees, owner: isOwner(subject, hire) ? next : subject.owner } };
}

/** Both are one human: the subject takes over all knowledge of the other person, who is left empty. */
function absorb({ subject, others }: People, other: Person): People {
  const isNew = (one: Candidate): boolean => !subject.candidates.some((own) => isSameCandidate(own, one));
  const owned = subject.owner === undefined ? other : subject;
  const merged: Person = {
    ...subject,
    candidates: [...other.candidates.filter(isNew), ...subject.candidates],
    owner: owned.owner,
    isAbandoned: owned.isAbandoned,
    recorded: lasting(subject.recorded, other.recorded),
    companies: [...subject.companies, ...other.companies],
    employees: newestFirst([...subject.employees, ...other.employees]),
    creating: [...subject.creating, ...other.creating],
  };
  const emptied: Person = { ...other, ...nothing, candidates: [] };
  return { subject: merged, others: [...others.filter((one) => one !== other), emptied] };
}

/**
 * Keeps the record that lasts longest. `removed` ends when the tenant comes back; `passed-over` ends when another
 * tenant takes the person.
 */
function lasting(own: Recorded | undefined, other: Recorded | undefined): Recorded | undefined {
  if (own === undefined || other === undefined) return own ?? other;
  return (passing[other.how] ?? 2) > (passing[own.how] ?? 2) ? other : own;
}

const passing: Partial<Record<RecordedHow, number>> = { removed: 0, 'passed-over': 1 };

function employedAs({ employees }: Person, employee: Employee): Employed | undefined {
  return employees.find((one) => isSameEmployee(one.employee, employee));
}

/** Breaks ties by id, so that every reader gets the same order. */
function newestFirst(employees: readonly Employed[]): Employed[] {
  return employees.toSorted((a, b) => b.since - a.since || (a.employee.id < b.employee.id ? 1 : -1));
}

/** A person of whom nothing is known. */
export function unknownPerson(id: string, connection: string, candidates: readonly Candidate[]): Person {
  return { id, connection, version: 0, candidates, ...nothing };
}

/** Only candidate ids are left, so there is nothing to keep. */
export function isUnknown({ owner, recorded, employees, creating }: Person): boolean {
  return owner === undefined && recorded === undefined && employees.length === 0 && creating.length === 0;
}

export function isSameCandidate(one: Candidate, other: Candidate): boolean {
  return one.company === other.company && one.candidateId === other.candidateId;
}
