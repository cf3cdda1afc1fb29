import { createHmac, randomUUID } from 'node:crypto';
import { ConnectorError, isConnectorError, unless } from '../../src/errors.ts';
import {
  type Employee,
  type EmployeeFields,
  type FindKey,
  followedStates,
  HIRE_OVER,
  type HireRef,
  isSameHire,
  type KnownEmployee,
  nameHire,
} from '../../src/hire/hire.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import { foldText } from '../../src/hris/records.ts';
import { type Employed, NAMESAKE, type Person, type Refusal } from '../../src/person/person.ts';
import { lastRestoredAt } from '../../src/store/backups.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { findHireRow } from '../../src/store/hires.ts';
import { answersOf } from '../../src/store/holds.ts';
import { latestIntent } from '../../src/store/intents.ts';
import { readClock, type Store } from '../../src/store/open-store.ts';
import { settleCreating } from '../../src/store/people.ts';
import { changePerson, foreseePerson, type Outcome } from '../../src/store/persons.ts';
import { latestPlan } from '../../src/store/plans.ts';
import { identityKeys, isFormer, namesakeKeys } from './read-employee.ts';
import { type HireContext, personOf, REHIRE_VERB } from './with-hire.ts';
import type { Once } from './write-once.ts';

/*
 * A hire's questions about its person (`src/person`): the right to look up and make their employee, a guarantee that no
 * other hire makes an employee with the same keys meanwhile, and whether another hire has taken the person over.
 */
interface Claimed {
  verdict: 'claimed';
  /** The newest employee that another hire linked to the person. */
  before: Employed | undefined;
}

/** Claims the right to look up, make or link this person's employee, or asks how this hire relates to them. */
export function claimPerson(hire: HireContext, candidateId: string): Promise<Claimed | Held> {
  return claim(hire, candidateId, changePerson);
}

/** What claiming the person would result in; claims nothing. */
export function foreseeClaim(hire: HireContext, candidateId: string): Promise<Claimed | Held> {
  return claim(hire, candidateId, foreseePerson);
}

async function claim(hire: HireContext, candidateId: string, tell: typeof changePerson): Promise<Claimed | Held> {
  const { ref, store, decisions, connection, row, creation } = hire;
  const whose = personOf(connection.tenant, candidateId);
  // Scope of all HR systems of a company at the partner. Environment and server are part of it, because companies
  // elsewhere may share the same number.
  const { company: named, environment, baseUrl } = connection.tenant.partner;
  const company = named === undefined ? undefined : `* ${environment} ${new URL(baseUrl).origin}`;
  // If a create was sent or an employee exists, nobody is asked any more whether there should be one.
  const isUnderWay = row.employee_id !== null || creation?.outcome === 'open' || creation?.outcome === 'done';
  const event = { kind: 'hold', hire: ref, decided: decisions, isUnderWay, company } as const;
  let told = await tell(store, whose, event);
  if (await isToldOf(hire, told)) {
    const decided = { ...decisions, person: 'transfer', personAt: undefined, askedAbout: undefined } as const;
    told = await tell(store, whose, { ...event, decided }, told.person.version);
  }
  if (told.refusal !== undefined) return heldAs(ref, told.refusal);
  return { verdict: 'claimed', before: othersOf(told.person, ref)[0] };
}

const questions = {
  elsewhere: 'PERSON_HIRED_ELSEWHERE',
  recorded: 'PERSON_RECORDED',
  'hired-before': 'PERSON_HIRED_BEFORE',
  'being-hired': 'PERSON_BEING_HIRED',
  creating: 'PERSON_BEING_HIRED',
} as const;

/** Turns a refusal into the question for a person. @throws ConnectorError HIRE_OVER */
export function heldAs(ref: HireRef, refusal: Refusal): Held {
  // Reported by a worker that stood still, and nobody waits for its answer; or by a run whose hire was ended elsewhere.
  if (refusal.reason === 'over')
    throw new ConnectorError({
      code: HIRE_OVER,
      action: 'retry',
      message:
        `The hire of job candidate ${ref.jobCandidateId} ended while it was worked on. If it should go on, it begins ` +
        'anew by itself.',
    });
  const { jobCandidateId } = ref;
  if (refusal.reason !== 'of-another') return held(questions[refusal.reason], { jobCandidateId, other: refusal.other });
  // Two hires may find the employee at the same time: it stays with the first.
  const { employee, hire: other } = refusal.other;
  return held('EMPLOYEE_OF_ANOTHER', { jobCandidateId, employeeIds: [employee.id], other });
}

function othersOf({ employees }: Person, ref: HireRef): Employed[] {
  return employees.filter((one) => !isSameHire(one.hire, ref));
}

/** Whether the hire's relation to the person is clear without asking: a rehire, or a move that somebody announced. */
async function isToldOf(hire: HireContext, { person, refusal }: Outcome): Promise<boolean> {
  const others = othersOf(person, hire.ref);
  const [before] = others;
  if (refusal?.reason !== 'hired-before' || before === undefined || others.length > 1) return false;
  if (await isMoved(hire, before)) return true;
  if (hire.connection.hris.employees.rehire === undefined) return false;
  // An HR system may show a rehired person as former until their first day.
  if (await isRehiredAlready(hire.store, before.hire)) return false;
  if (await isShared(hire, before.employee, before.hire)) return false;
  return isFormer(hire, before.employee);
}

/** Whether an active hire already made this person an active employee again. */
async function isRehiredAlready(store: Store, before: HireRef): Promise<boolean> {
  if ((await latestIntent(store, before, REHIRE_VERB))?.outcome !== 'done') return false;
  const state = (await findHireRow(store, before))?.state;
  return state === 'open' || state === 'done';
}

/** Whether somebody said, on the hire that has the employee, that the person moves to another job. */
async function isMoved(hire: HireContext, before: Employed): Promise<boolean> {
  if (before.hire.tenantId !== hire.ref.tenantId) return false;
  if ((await answersOf(hire.store, before.hire)).at(-1)?.answer !== 'moved') return false;
  // With a third hire, nobody said which of the two this hire takes over from.
  return !(await isShared(hire, before.employee, before.hire));
}

/**
 * Whether another hire that is not over has this employee too, apart from these: an earlier job, or another candidate
 * who is the same human.
 */
export function isShared({ store, ref }: HireContext, employee: Employee, ...apart: HireRef[]): Promise<boolean> {
  return hasSuccessor(store, employee, { besides: [ref, ...apart], states: followedStates });
}

/**
 * Looks and creates while no other hire makes an employee with the same e-mail, or the same name and birth date. The
 * partner may list one human as two candidates; if both are hired at once, each look would miss the other's create. If
 * somebody must finish the other create in the HR system, that may take days: a hold names it.
 */
export async function whileNobodyElse(
  hire: HireContext,
  fields: EmployeeFields,
  create: () => Promise<Once<CreateResult<KnownEmployee>>>,
): Promise<Once<CreateResult<KnownEmployee>> | Held> {
  const { store, ref } = hire;
  await assertShownSinceRestore(hire);
  const holder = randomUUID();
  const keys = [...identityKeys(fields), ...namesakeKeys(hire.connection.tenant, fields)];
  const waits = await keepOthersOut(hire, keys, holder);
  if (waits !== undefined) return waits;
  try {
    const once = await create();
    // A create that was sent and not found has an unknown outcome, a pending one goes on, and a made employee gets
    // linked: all keep their keys.
    if (once.kind === 'refused') await settleCreating(store, ref, holder);
    return once;
  } catch (error) {
    if (isConnectorError(error) && error.action !== 'unknown') await settleCreating(store, ref, holder);
    throw error;
  }
}

/**
 * A restored store has forgotten the creates since its backup: the HR system may still work on one that a worker sent
 * before the restore, until its deadline, and reads do not show the employee at once.
 */
async function assertShownSinceRestore({ store, connection, deps }: HireContext): Promise<void> {
  const restoredAt = await lastRestoredAt(store);
  if (restoredAt === undefined) return;
  const shownAfterMs = deps.limits.giveUpMs + connection.hris.capabilities.readLagMs;
  const waitMs = restoredAt + shownAfterMs - (await readClock(store));
  if (waitMs <= 0) return;
  throw new ConnectorError({
    code: 'STORE_JUST_RESTORED',
    action: 'retry',
    message:
      'The store was restored from a backup just now, and the HR system may not show yet whom hirebridge created ' +
      'since that backup. The employee is created by itself once it does.',
    retryAfterMs: waitMs,
  });
}

/** Keeps other hires out while a create is pending, even a create sent by a version that kept nobody out. */
export async function keepOutWhilePending(hire: HireContext): Promise<void> {
  const { change = 'purged' } = (await latestPlan(hire.store, hire.ref)) ?? {};
  if (change === 'purged' || change.kind !== 'create') return;
  // Another hire of this person may be creating already, but this hire's create cannot be taken back.
  await keepOthersOut(hire, identityKeys(change.fields), randomUUID()).catch(unless('IDENTITY_LEASED'));
}

/** Returns the hold if this hire must wait for another's pending create. @throws ConnectorError IDENTITY_LEASED */
async function keepOthersOut(hire: HireContext, known: readonly FindKey[], holder: string): Promise<Held | undefined> {
  const { store, ref, row, connection, deps } = hire;
  // Hashes of the keys, folded as the HRIS kinds compare text; the values themselves are never stored.
  const keys = known.map((key) => {
    const isName = 'fullName' in key;
    const words =
      'value' in key ? [key.value] : isName ? [key.fullName] : [key.givenName, key.familyName, key.birthDate];
    const hash = createHmac('sha256', store.installationId).update(JSON.stringify([key.by, ...words.map(foldText)]));
    return `${isName ? NAMESAKE : ''}${hash.digest('base64url')}`;
  });
  if (keys.length === 0) return undefined;
  // A request is sent within two deadlines of the reading and ends within a third; after that, reads may lag.
  const forMs = 3 * deps.limits.giveUpMs + connection.hris.capabilities.readLagMs;
  const whose = personOf(connection.tenant, row.candidate_id ?? '');
  const { refusal } = await changePerson(store, whose, { kind: 'create', hire: ref, keys, holder, forMs });
  if (refusal === undefined) return undefined;
  if (refusal.reason !== 'creating' || refusal.isPending) return heldAs(ref, refusal);
  const { other, waitMs } = refusal;
  throw new ConnectorError({
    code: 'IDENTITY_LEASED',
    action: 'retry',
    message:
      'An employee with the same e-mail or the same name is being created for ' +
      `${nameHire(other)}. Nothing is created here until the HR system shows the result; then this hire ` +
      'continues by itself. If it does not, see what the other hire is waiting for.',
    retryAfterMs: Math.ceil(waitMs) + 50,
    details: { other, pending: false },
  });
}
