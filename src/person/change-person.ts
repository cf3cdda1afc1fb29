import type { Decisions } from '../hire/answers.ts';
import { type Employee, isSameEmployee } from '../hire/employee.ts';
import { type HireRef, isSameHire } from '../hire/hire.ts';
import {
  type Candidate,
  type Creating,
  type Employed,
  type EmployedHow,
  isSameCandidate,
  type Person,
  type Recorded,
  type RecordedHow,
} from './person.ts';

/** What can happen to a person. `hire` is the hire that reports the event. */
export type PersonEvent =
  /** The person was hired without hirebridge. */
  | { kind: 'record'; as: Recorded }
  /** A hire asks to become the owner: the only hire that may look up, make or link the employee. */
  | { kind: 'hold'; hire: HireRef; decided: HoldDecisions; isUnderWay: boolean; company: string | undefined }
  /** The owning hire ended without an employee. */
  | { kind: 'release'; hire: HireRef }
  /** The hire's tenant was removed while the outcome of its create was still open. */
  | { kind: 'abandon'; hire: HireRef }
  /** A removed tenant is back and continues its hires. */
  | { kind: 'take-back'; tenantId: string }
  /** The hire is about to make an employee. For `forMs`, no other hire may make an employee with one of these keys. */
  | { kind: 'create'; hire: HireRef; keys: readonly string[]; holder: string; forMs: number }
  /**
   * The outcome of the create is known, and reads show it after `afterMs`. `holder` limits this to that one attempt.
   */
  | { kind: 'settle'; hire: HireRef; afterMs: number; holder?: string }
  /** Forgets the keys that no longer make anybody wait. */
  | { kind: 'lapse' }
  | Link
  /** A hire with this employee is over; `heir` is the newest other hire with the same employee. */
  | { kind: 'leave'; hire: HireRef; employee: Employee; heir: HireRef | undefined }
  /** A tenant that counted as a company of its own now names its company at the partner. */
  | { kind: 'name-company'; candidate: Candidate; company: string };

/** The person is this employee. */
interface Link {
  kind: 'link';
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
}

/** Those decisions of people about a hire that change what the hire means for its person. */
export type HoldDecisions = Pick<Decisions, 'person' | 'personAt' | 'link' | 'hereToo'>;

export interface Named {
  employee: Employee;
  number: string | null;
}

/** What else is true at the time of the event. */
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
  /** The hire ended or its tenant was removed, so nobody would ever release the person. */
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

type Transition<Kind extends PersonEvent['kind']> = (
  people: People,
  event: Extract<PersonEvent, { kind: Kind }>,
  facts: Facts,
) => Changed;

/** Every change of a person. A refused event changes nothing, and neither does an event that happened before. */
const transitions: { [Kind in PersonEvent['kind']]: Transition<Kind> } = {
  record: ({ subject, others }, { as }) =>
    changed({ subject: { ...subject, recorded: lasting(subject.recorded, as) }, others }),
  hold,
  release: ({ subject, others }, { hire }) =>
    changed({ subject: isOwner(subject, hire) ? { ...subject, ...unowned } : subject, others }),
  abandon: ({ subject, others }, { hire }) =>
    changed({ subject: isOwner(subject, hire) ? { ...subject, isAbandoned: true } : subject, others }),
  'take-back': ({ subject, others }, { tenantId }) => changed({ subject: takenBack(subject, tenantId), others }),
  create,
  settle: ({ subject, others }, { hire, afterMs, holder }, { now }) =>
    changed({ subject: settled(subject, hire, { until: now + afterMs, holder }), others }),
  lapse: ({ subject, others }, _event, facts) => {
    const creating = subject.creating.filter((one) => isInForce(one, facts));
    return changed({ subject: { ...subject, creating }, others });
  },
  link,
  leave: ({ subject, others }, { hire, employee, heir }) =>
    changed({ subject: heir === undefined ? subject : inherited(subject, { hire, employee, heir }), others }),
  'name-company': nameCompany,
};

export function changePerson(people: People, event: PersonEvent, facts: Facts): Changed {
  const transition = transitions[event.kind] as Transition<PersonEvent['kind']>;
  return transition(people, event, facts);
}

const unowned = { owner: undefined, isAbandoned: false, companies: [] } as const;

function changed(people: People, has?: Named): Changed {
  return { kind: 'changed', people, ...(has === undefined ? {} : { has }) };
}

function refused(refusal: Refusal): Changed {
  return { kind: 'refused', refusal };
}

function isOwner({ owner }: Person, hire: HireRef): boolean {
  return owner !== undefined && isSameHire(owner, hire);
}

/**
 * Refuses a person who is owned, recorded or already an employee until somebody decides about them. If another hire is
 * still making the employee, this hire waits no matter what was decided.
 */
function hold(
  people: People,
  { hire, decided, isUnderWay, company }: Extract<PersonEvent, { kind: 'hold' }>,
  { hire: row, ownerWaits, elsewhere, isRecordedEarlier = false }: Facts,
): Changed {
  const { subject } = people;
  if (row?.isOpen !== true || !row.isServed) return refused({ reason: 'over' });
  const { owner, isAbandoned, employees, companies } = subject;
  const isAsked = employees.length === 0 && company !== undefined && decided.hereToo !== true;
  if (isAsked && (owner === undefined || !isUnderWay) && typeof elsewhere === 'object')
    return refused({ reason: 'elsewhere', other: elsewhere });
  const before = employees.find((one) => !isSameHire(one.hire, hire));
  const known = knownAs(subject);
  const isOurs = known !== undefined && isSameApplication(known, hire) && !isRecordedEarlier;
  const recorded = isUnderWay || isOurs ? undefined : known;
  const isTold = decided.person === 'new-employment' || decided.link !== undefined;
  if (before === undefined && recorded !== undefined && !isTold)
    return refused({ reason: 'recorded', other: recorded });
  const other = owner === undefined || isAbandoned || isSameHire(owner, hire) ? undefined : owner;
  const asked = before?.hire ?? other;
  const own = row.employee && employedAs(subject, row.employee);
  const hasOwn = own !== undefined && isSameHire(own.hire, hire);
  if (asked !== undefined && !hasOwn && decidedAbout(before, decided) === undefined)
    return refused({ reason: 'hired-before', other: asked, before });
  // Of three applications, two could each be declared a new employment by people who never saw the other decision.
  if (other !== undefined && (before === undefined || ownerWaits === true))
    return refused({ reason: 'being-hired', other });
  return changed({
    subject: {
      ...subject,
      owner: hire,
      isAbandoned: false,
      // The outcome of the abandoned create is still unknown.
      recorded: subject.recorded ?? (isAbandoned && !isOwner(subject, hire) ? known : undefined),
      companies: owner === undefined && isAsked && elsewhere === undefined ? ofCompany(subject, company) : companies,
    },
    others: people.others,
  });
}

/** What a person said this hire is; nothing, if another hire got the person's newest employee only after that. */
export function decidedAbout(
  before: Employed | undefined,
  { person, personAt }: Pick<Decisions, 'person' | 'personAt'>,
): Decisions['person'] {
  return before !== undefined && personAt !== undefined && before.since > personAt ? undefined : person;
}

function ofCompany({ candidates }: Person, scope: string): Person['companies'] {
  return candidates.slice(0, 1).map((candidate) => ({ scope, candidate }));
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
  if (how === 'removed' || recorded.jobCandidateId !== hire.jobCandidateId) return false;
  return how === 'passed-over' || recorded.period === hire.period;
}

function takenBack(person: Person, tenantId: string): Person {
  const { owner, recorded } = person;
  if (owner?.tenantId === tenantId) return { ...person, isAbandoned: false };
  if (recorded?.how !== 'removed' || recorded.tenantId !== tenantId) return person;
  const { how: _, ...hire } = recorded;
  return { ...person, recorded: undefined, owner: owner ?? hire };
}

/** Takes all keys or none. A hire that has to wait is told of the key that takes longest. */
function create(
  { subject, others }: People,
  { hire, keys, holder, forMs }: Extract<PersonEvent, { kind: 'create' }>,
  facts: Facts,
): Changed {
  const asked = new Set(keys);
  const isOwn = (one: Creating): boolean => isSameHire(one.hire, hire);
  const stands = [subject, ...others]
    .flatMap(({ creating }) => creating)
    .filter((one) => asked.has(one.key) && !isOwn(one) && isInForce(one, facts))
    .map((one) => ({ one, isPending: isPending(one, facts) }))
    .toSorted((a, b) => Number(b.isPending) - Number(a.isPending) || b.one.until - a.one.until);
  const [first] = stands;
  if (first !== undefined) {
    const { one, isPending: pends } = first;
    const waitMs = Math.max(0, one.until - facts.now);
    return refused({ reason: 'creating', other: one.hire, isPending: pends, waitMs });
  }
  const without = (person: Person): Person => {
    const creating = person.creating.filter((one) => !asked.has(one.key));
    return { ...person, creating };
  };
  const own = [...asked].map((key): Creating => ({ key, hire, holder, until: facts.now + forMs }));
  const { creating, ...rest } = without(subject);
  return changed({ subject: { ...rest, creating: [...creating, ...own] }, others: others.map(without) });
}

function isInForce({ until, hire }: Creating, { now, unsettled }: Facts): boolean {
  return until > now || unsettled(hire) !== undefined;
}

/** The create may take days: somebody must finish it in the HR system, or say what became of it. */
function isPending({ until, hire }: Creating, { now, unsettled }: Facts): boolean {
  const outcome = unsettled(hire);
  return outcome === 'done' || (outcome === 'open' && until <= now);
}

function settled(person: Person, hire: HireRef, { until, holder }: { until: number; holder?: string | undefined }) {
  const isMeant = (one: Creating): boolean =>
    isSameHire(one.hire, hire) && (holder === undefined || one.holder === holder);
  return { ...person, creating: person.creating.map((one) => (isMeant(one) ? { ...one, until } : one)) };
}

/** If another tenant already owns the person under the company's name, that tenant keeps them. */
function nameCompany(
  { subject, others }: People,
  { candidate, company }: Extract<PersonEvent, { kind: 'name-company' }>,
): Changed {
  const named = (one: Candidate): Candidate => (isSameCandidate(one, candidate) ? { ...one, company } : one);
  const renamed: Person = {
    ...subject,
    candidates: subject.candidates.map(named),
    employees: subject.employees.map((one) => ({ ...one, candidate: named(one.candidate) })),
  };
  const [other] = others;
  return changed(other === undefined ? { subject: renamed, others } : absorb({ subject: other, others: [] }, renamed));
}

/** Gives the employee to the reporting hire, unless that hire is over or already has another employee. */
function link(
  people: People,
  { hire, candidate, is, how, shownAfterMs, samePerson, insteadOf }: Link,
  facts: Facts,
): Changed {
  const { employee, number } = is;
  const held = people.subject.owner;
  if (how === 'imported' && held !== undefined) return refused({ reason: 'being-hired', other: held });
  const owner = people.others.find((one) => employedAs(one, employee) !== undefined);
  const theirs = owner && employedAs(owner, employee);
  if (owner !== undefined && theirs !== undefined && samePerson !== true)
    return refused({ reason: 'of-another', other: theirs });
  const merged = owner === undefined ? people : absorb(people, owner);
  const { subject, others } = merged;
  const mayHave = mayHaveIt(facts.hire, employee, insteadOf);
  const known = employedAs(subject, employee);
  const entry: Employed =
    known === undefined
      ? { employee, number, candidate, hire, how, since: facts.now }
      : {
          ...known,
          number: number ?? known.number,
          ...(samePerson === true ? { candidate } : {}),
          ...(mayHave && !isSameHire(known.hire, hire) ? { candidate, hire, since: facts.now } : {}),
        };
  const isGone = (one: Employed): boolean =>
    insteadOf !== undefined && isSameEmployee(one.employee, insteadOf) && isSameHire(one.hire, hire);
  const rest = subject.employees.filter((one) => one !== known && !isGone(one));
  const shown = settled(subject, hire, { until: facts.now + shownAfterMs });
  return changed(
    { subject: { ...shown, employees: newestFirst([entry, ...rest]) }, others },
    mayHave && facts.hire?.isOpen === true ? { employee, number: entry.number } : undefined,
  );
}

function mayHaveIt(hire: HireFacts | undefined, employee: Employee, insteadOf: Employee | undefined): boolean {
  if (hire === undefined) return false;
  const { isOpen, isDone, employee: own } = hire;
  if (own === undefined) return isOpen;
  const isOwn = isSameEmployee(own, employee);
  return (isOwn && (isOpen || isDone)) || (isOpen && insteadOf !== undefined && isSameEmployee(own, insteadOf));
}

function inherited(
  person: Person,
  { hire, employee, heir }: { hire: HireRef; employee: Employee; heir: HireRef },
): Person {
  const had = (one: Employed): boolean => isSameEmployee(one.employee, employee) && isSameHire(one.hire, hire);
  if (!person.employees.some(had)) return person;
  const employees = person.employees.map((one) => (had(one) ? { ...one, hire: heir } : one));
  return { ...person, employees, owner: isOwner(person, hire) ? heir : person.owner };
}

/** Both are one human: the subject takes over everything known of the other person, who is left empty. */
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
  const emptied: Person = { ...other, ...unowned, candidates: [], recorded: undefined, employees: [], creating: [] };
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
