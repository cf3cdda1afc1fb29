import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { asksToCancel } from '../../src/hire/answers.ts';
import {
  allFields,
  type Change,
  type Employee,
  type EmployeeFields,
  employeeIn,
  isSameEmployee,
  isSameHire,
  type KnownEmployee,
  knownIn,
} from '../../src/hire/hire.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { type Held, type HoldCode, held } from '../../src/hire/holds.ts';
import type { Employed, EmployedHow } from '../../src/person/person.ts';
import { judgeCreate, mayCreateUnseen, withoutDenied } from '../../src/plan/identity-ladder.ts';
import { planCancel } from '../../src/plan/plan-cancel.ts';
import { listWrites } from '../../src/store/foreign-writes.ts';
import { endLost } from '../../src/store/hire-states.ts';
import { lastAnswered } from '../../src/store/holds.ts';
import { decideIntent, latestIntent, refusalOf, refuseMade } from '../../src/store/intents.ts';
import { readKept } from '../../src/store/open-store.ts';
import { changePerson, findPerson } from '../../src/store/persons.ts';
import { latestPlan, markApplied } from '../../src/store/plans.ts';
import { heldAs, isShared, whileNobodyElse } from './ask-person.ts';
import { heldAsTold, judgeEmployee } from './departure.ts';
import {
  type Created,
  giveBackMade,
  isMadeAnew,
  madeBy,
  madeId,
  pinnedReference,
  READ_MS,
  REJECTED_UNSAID,
  resolvePending,
} from './pending-create.ts';
import type { Planned } from './plan-employee.ts';
import {
  createReference,
  findByReference,
  hasOtherName,
  isFormer,
  isShownFormer,
  isStillEndedByUs,
  latestRehire,
  type PinnedRehire,
  readEmployee,
  readFindings,
  type SentRehire,
  sentRehire,
  unlessEnded,
} from './read-employee.ts';
import { readSources } from './read-sources.ts';
import { readToWrite, updateEmployee } from './update-employee.ts';
import {
  CREATE_VERB,
  type HireContext,
  newValues,
  noteWrites,
  onceOf,
  personOf,
  REHIRE_VERB,
  reread,
  sensitiveFields,
} from './with-hire.ts';
import {
  type EarlierOptions,
  type Elapsed,
  type OnceOptions,
  outcomeUnknown,
  type Seen,
  type Settled,
  settleEarlier,
  startClock,
  writeOnce,
} from './write-once.ts';

type Applied = Awaited<ReturnType<HireActivities['employ']>>;
type Creation = Extract<Change, { kind: 'create' }>;

/** Applies a saved plan while the data it was made from is fresh. A create happens once per hire, whatever breaks. */
export async function applyPlan(reading: HireContext, { planId, change, sources }: Planned): Promise<Applied> {
  const hire = { ...reading, mapping: sources.mapping };
  if (!sources.inside) {
    // The plan was made from a reading in any stage, to settle an earlier write. Nothing is written for a person
    // outside the hiring stages.
    const read = await readSources(hire, { anyStage: false });
    return read.verdict === 'read' ? { verdict: 'stale' } : read;
  }
  const applied = await apply(hire, change, sources);
  if (applied.verdict !== 'employee') return applied;
  await markApplied(hire.store, planId);
  return { ...applied, present: true };
}

async function apply(
  hire: HireContext,
  change: Change,
  { sinceRead, fields }: Pick<Planned['sources'], 'sinceRead' | 'fields'>,
): Promise<Applied> {
  if (change.kind === 'create') return create(hire, change, sinceRead);
  if (change.kind === 'rehire') return rehireEmployee(hire, change, sinceRead);
  if (change.kind === 'update') {
    const { employee, fields: ofJob } = change;
    const gone = await updateEmployee(hire, employee, ofJob).catch((error: unknown) =>
      heldAsGone(hire, employee, error),
    );
    if (gone !== undefined) return gone;
  }
  if (change.kind === 'link') await makeWhole(hire, change.employee, fields);
  return finish(hire, { kind: 'created', ref: change.employee }, 'linked', sinceRead);
}

/** A transfer's employee whose record HR deleted, merged or gave to somebody else: a person says who they are now. */
function heldAsGone({ ref: { jobCandidateId } }: HireContext, { id }: Employee, error: unknown): Held {
  const isChanged = isConnectorError(error, 'RECORD_OF_ANOTHER');
  if (!isChanged && !isConnectorError(error, 'EMPLOYEE_NOT_FOUND')) throw error;
  return held('LINK_NOT_FOUND', { jobCandidateId, employeeId: id, employeeIds: [id], isChanged });
}

async function create(hire: HireContext, change: Creation, sinceRead: Elapsed): Promise<Applied> {
  const { store, ref, creation } = hire;
  const isRefused = refusalOf(creation) === REJECTED;
  // The refusal of an earlier create may not have become a question, because its worker crashed: it is asked now.
  if (isRefused && !(Number((await lastAnswered(store, ref))?.answered_at) >= Number(creation?.decided_at)))
    throw rejected(REJECTED, REJECTED_UNSAID);
  const once = await whileNobodyElse(hire, change.fields, () => writeOnce(onceOptions(hire, change, sinceRead)));
  if ('verdict' in once) return once;
  if (once.kind === 'unprovable') return createUnknown(hire, once.hits);
  if (once.kind !== 'refused') return finish(hire, once.value);
  return takeExisting(hire, once.error, change, sinceRead);
}

const REJECTED = 'HIRE_REJECTED';

function onceOptions(
  hire: HireContext,
  change: Creation,
  sinceRead: Elapsed,
): OnceOptions<Created, { reference: string }> {
  const { connection } = hire;
  return {
    ...onceOf(hire, CREATE_VERB),
    pinned: () => ({ reference: change.reference }),
    async look() {
      const now = await reread(hire);
      const seen = await look(now, change);
      const isThere = seen.kind === 'unprovable' && (seen.hits ?? []).length > 0;
      if (!isThere || now.creation?.outcome === 'open') return seen;
      // Nothing was sent yet, so the next plan asks about the person who is there now.
      throw new ConnectorError({
        code: 'PERSON_APPEARED',
        action: 'retry',
        message:
          'After this was planned, somebody who may be this person appeared in the HR system. It is planned again.',
        retryAfterMs: 0,
      });
    },
    sinceRead,
    note: (_pinned, intent) => {
      const [changes, sensitive] = [newValues(allFields(change)), sensitiveFields(hire)];
      return noteWrites(hire, [{ target: 'employee', kind: 'create', changes, sensitive }], intent);
    },
    send: (pinned, guard) => connection.hris.employees.create(allFields(change), pinned.reference, guard),
  };
}

/** Whether an earlier attempt made the employee. */
async function look(hire: HireContext, change: Creation): Promise<Seen<Created>> {
  const { fields, reference } = change;
  const { store, connection, creation, decisions, ref, row } = hire;
  if (mayCreateUnseen(creation, decisions)) return { kind: 'absent' };
  const { employees } = await findPerson(store, personOf(connection.tenant, row.candidate_id ?? ''));
  // The plan knows these employees: they belong to this person through another employment.
  const own = employees.filter((one) => !isSameHire(one.hire, ref)).map(({ employee }) => employee.id);
  const findings = withoutDenied(await readFindings(hire, reference, fields), new Set(own));
  const seen = judgeCreate(findings, creation, decisions);
  if (seen.kind !== 'found') return seen;
  await makeWhole(hire, seen.employee, allFields(change));
  return { kind: 'found', value: { kind: 'created', ref: seen.employee } };
}

/** If a create is several writes, its attempt may have ended between them: writes what our employee may lack. */
async function makeWhole(hire: HireContext, employee: Employee, fields: EmployeeFields): Promise<void> {
  const { creation, connection, store, ref } = hire;
  const isWhole = connection.hris.capabilities.createsInParts !== true || creation?.outcome === 'done';
  if (isWhole || creation === undefined) return;
  const reference = pinnedReference(creation);
  const shown = await readEmployee(connection.hris, employee);
  if (reference === undefined || shown?.former === true || shown?.reference !== reference) return;
  // Until its deadline such a write may go on beside this one, and a read may miss what it wrote.
  const { tenantId, jobCandidateId: recordId } = ref;
  const writes = await listWrites(store, { tenantId, recordId, target: 'employee' });
  const open = writes.filter(({ kind, outcome }) => kind === 'update' && outcome === 'open');
  const until = Math.max(creation.give_up_at, ...open.map(({ sent_at: sentAt }) => sentAt + READ_MS));
  const waitMs = until + connection.hris.capabilities.readLagMs - creation.now;
  if (waitMs > 0) throw outcomeUnknown(`${CREATE_VERB} left`, waitMs);
  await updateEmployee(hire, employee, fields);
}

/**
 * What became of a create or rehire that was sent comes before every question about the person, no matter in which
 * stage they are: another hire may have taken them over meanwhile, and nobody would look for this employee later.
 */
export async function finishSent(hire: HireContext): Promise<Applied | undefined> {
  const { creation, decisions, row } = hire;
  if (row.employee_id !== null) return undefined;
  const rehire = await sentRehire(hire);
  // A person may have named the employee since.
  if (rehire?.isLost === false && (decisions.link ?? rehire.employee.id) === rehire.employee.id) {
    const rehired = await finishRehire(hire, rehire.employee);
    if (rehired !== undefined) return rehired;
  }
  if (creation === undefined || decisions.link !== undefined) return undefined;
  const made = madeBy(creation);
  if (made !== undefined) return finish(hire, made.kind === 'pending' ? { ...made, nextCheckMs: 0 } : made);
  if (creation.outcome !== 'open') return undefined;
  const settled = await settleSent(hire);
  if (settled?.kind === 'unprovable') return createUnknown(hire, settled.hits);
  return settled?.kind === 'adopted' ? finish(hire, settled.value) : undefined;
}

/** Links whom a rehire made active. Undefined if nothing proves it: then the outcome stays open. */
async function finishRehire(hire: HireContext, employee: Employee): Promise<Applied | undefined> {
  const earlier = earlierRehire(hire, { employee });
  const look = async (): Promise<Seen<null>> => {
    const seen = await earlier.look();
    return seen.kind === 'found' ? seen : { kind: 'unprovable' };
  };
  const { kind } = await settleEarlier({ ...earlier, look });
  return kind === 'adopted' ? linkRehired(hire, employee) : undefined;
}

/** If the hire that had the employee ended them after the rehire was sent, it is sent again. */
async function linkRehired(hire: HireContext, employee: Employee): Promise<Applied> {
  const [elapsed, sent] = [startClock(), await latestRehire(hire)];
  const sinceSent = () => elapsed() + Number(sent?.now) - Number(sent?.sent_at);
  const finished = await finish(hire, { kind: 'created', ref: employee }, 'linked', sinceSent);
  if (finished.verdict === 'stale' && sent !== undefined) await refuseMade(hire.store, sent, { code: 'ended-since' });
  return finished;
}

/** Looks for what the last create made, by the plan that it was sent from; undefined if that is not known any more. */
async function settleSent(hire: HireContext): Promise<Settled<Created> | undefined> {
  const { change = 'purged' } = (await latestPlan(hire.store, hire.ref)) ?? {};
  if (change === 'purged' || change.kind !== 'create') return undefined;
  return settleEarlier({
    ...onceOptions(hire, change, startClock()),
    look: async () => look(await reread(hire), change),
  });
}

/**
 * Settles a create or rehire before its hire ends without an employee: an employee that was made is linked, so that
 * somebody is asked about them. Opens a hold if the outcome of a create is unknown, unless a person said how the hire
 * ends (`asked`).
 */
export async function settleForEnd(hire: HireContext, { asked }: { asked: boolean }): Promise<Held | undefined> {
  const { creation, row, decisions, connection, answers } = hire;
  if (row.employee_id !== null) return undefined;
  const rehire = await sentRehire(hire);
  // After a rehire without an outcome, somebody may have asked for a new employment: its employee comes first.
  if (rehire !== undefined && creation?.outcome !== 'done') return settleRehire(hire, rehire);
  if (creation === undefined || creation.outcome === 'refused') return settleUnknown(hire);
  if (creation.outcome === 'absent' && connection.hris.pending === undefined) return settleUnknown(hire);
  const { link } = asksToCancel(answers) ? {} : decisions;
  const here = connection.tenant.hris.connection;
  const named = link === undefined ? undefined : await readEmployee(connection.hris, employeeIn(here, link));
  if (named !== undefined && (await hasOtherName(hire, named)))
    return held('LINK_OTHER_NAME', { jobCandidateId: hire.ref.jobCandidateId, employeeId: named.ref.id });
  if (named !== undefined) return heldOf(await finish(hire, { kind: 'created', ref: named.ref }, 'linked'));
  const made = madeBy(creation);
  return made === undefined ? settleLost(hire, asked) : settleMade(hire, made, asked);
}

/** Whom nothing proves to be active is asked about as well, and not linked: if the hire goes on, it sends again. */
async function settleRehire(hire: HireContext, { employee, isLost }: SentRehire): Promise<Held | undefined> {
  const finished = isLost ? undefined : await finishRehire(hire, employee);
  if (finished !== undefined) return heldOf(finished);
  const { ref, row, answers } = hire;
  const plan = planCancel({ ...ref, state: row.state, employeeId: employee.id, answers });
  return 'verdict' in plan ? plan : undefined;
}

/**
 * The store knows of no create, or only of attempts that made nobody. An employee made after the backup that the store
 * was restored from still carries our reference, and one of an earlier period may have been made active again since. A
 * look that fails is repeated, except if the HR system is known not to work or refuses it: that must not keep the hire
 * from ending. The Employee ID that the partner holds is not looked up, because another tenant or the tenant's former
 * HR system may have assigned it; but it shows that a person must be asked.
 */
async function settleUnknown(hire: HireContext): Promise<Held | undefined> {
  const { store, row, creation } = hire;
  if (row.candidate_id === null) return undefined;
  const ref = await findOwn(hire, row.candidate_id).catch((error: unknown) => {
    if (isConnectorError(error) && (error.action === 'retry' || error.action === 'unknown')) throw error;
    return undefined;
  });
  if (ref === undefined) return heldAsTold(hire);
  // The create may have been refused because of this former employee.
  if (creation?.outcome === 'refused' && (await isShownFormer(hire, ref))) return undefined;
  const { employees } = await findPerson(store, { employee: ref });
  if (employees.length > 0 && !(await isToBeAskedAbout(hire, ref, employees))) return undefined;
  return heldOf(await finish(hire, { kind: 'created', ref }, employees.length > 0 ? 'linked' : 'made'));
}

/** As at the end of the application's earlier period; the employee of another application is that hire's matter. */
async function isToBeAskedAbout(
  hire: HireContext,
  employee: Employee,
  employees: readonly Employed[],
): Promise<boolean> {
  const owner = employees.find((one) => isSameEmployee(one.employee, employee))?.hire;
  if (owner === undefined || !isSameHire({ ...owner, period: hire.ref.period }, hire.ref)) return false;
  if (await isStillEndedByUs(hire, employee)) return false;
  return (await judgeEmployee(hire, employee, await isShared(hire, employee))).verdict === 'hold';
}

/** A further employment has a reference of its own; the person's plain one may be that of the employment before. */
async function findOwn(hire: HireContext, candidateId: string): Promise<KnownEmployee | undefined> {
  const own = [true, false].map((isFurther) => createReference(hire, candidateId, isFurther));
  for (const reference of new Set(own)) {
    const found = await findByReference(hire, reference);
    if (found !== undefined && !hire.decisions.notThese.has(found.id)) return found;
  }
  return undefined;
}

/** The employee was made, or somebody in the HR system has yet to finish the create. */
async function settleMade(hire: HireContext, made: Created, asked: boolean): Promise<Held | undefined> {
  const { jobCandidateId } = hire.ref;
  try {
    const finished = await finish(hire, made);
    const waits =
      finished.verdict === 'pending' || isHeldAs(finished, 'EMPLOYEE_PENDING') || isHeldAs(finished, 'REQUEST_LOST');
    if (!waits) return heldOf(finished);
    return asked ? undefined : held('LEFT_WHILE_PENDING', { jobCandidateId });
  } catch (error) {
    if (isConnectorError(error, 'HIRE_REJECTED')) return undefined;
    throw error;
  }
}

/**
 * No answer came. If people finish requests in the HR system, an employee that is not shown may still be on the way.
 */
async function settleLost(hire: HireContext, asked: boolean): Promise<Held | undefined> {
  const settled: Settled<Created> = (await settleSent(hire)) ?? { kind: 'unprovable' };
  if (settled.kind === 'adopted') return heldOf(await finish(hire, settled.value));
  if (settled.kind === 'clear' && !asked && hire.connection.hris.pending !== undefined)
    return held('LEFT_WHILE_PENDING', { jobCandidateId: hire.ref.jobCandidateId });
  return settled.kind === 'clear' || asked ? undefined : heldOf(await createUnknown(hire, settled.hits));
}

function heldOf(applied: Applied): Held | undefined {
  return applied.verdict === 'hold' ? applied : undefined;
}

function isHeldAs(applied: Applied, code: HoldCode): boolean {
  return applied.verdict === 'hold' && applied.hold.code === code;
}

/** `sinceRead`: undefined if nobody else may be ending the employee. */
async function finish(
  hire: HireContext,
  created: Created,
  how: EmployedHow = 'made',
  sinceRead?: Elapsed,
): Promise<Applied> {
  const { store, ref, row, creation } = hire;
  const { tenant, hris } = hire.connection;
  const result = created.kind === 'pending' ? await resolvePending(hire, created.ticket) : created;
  if ('verdict' in result) return result;
  // The tenant's HR system may have another name since the create. It cannot be another system before this is linked.
  const employee = knownIn(tenant.hris.connection, result.ref);
  const shown = employee.number === undefined ? ((await readEmployee(hris, employee))?.ref ?? employee) : employee;
  // An attempt made just now has its outcome already.
  const latest = creation?.outcome === 'open' ? await latestIntent(store, ref, CREATE_VERB) : undefined;
  if (latest?.outcome === 'open') await decideIntent(store, latest, 'done', { kind: 'created', ref: shown });
  const { connection, candidate } = personOf(tenant, row.candidate_id ?? '');
  // The plan finds an employee whom this hire made, but had no time to link.
  const isOwn = how === 'made' || madeId(creation) === employee.id;
  const event = {
    kind: 'link',
    hire: ref,
    candidate,
    is: { employee: shown, number: shown.number ?? null },
    how: isOwn ? 'made' : how,
    shownAfterMs: hris.capabilities.readLagMs,
    samePerson: hire.decisions.samePerson === shown.id,
  } as const;
  const link = () =>
    unlessEnded(hire, { employee, sinceRead }, (open) => changePerson(open, { connection, candidate }, event));
  let linked = await link();
  const refusal = linked?.refusal;
  if (
    refusal?.reason === 'of-another' &&
    (await isMadeAnew(hire, refusal.other)) &&
    (await endLost(store, refusal.other))
  ) {
    hire.deps.log.warn({ ...ref, other: refusal.other.hire }, 'the id of a deleted employee is given to this hire');
    linked = await link();
  }
  if (linked === undefined) return { verdict: 'stale' };
  const refused = linked.refusal;
  if (refused === undefined) return { verdict: 'employee' };
  const isGivenBack = refused.reason === 'of-another' && (await giveBackMade(hire, refused.other.employee));
  return isGivenBack ? { verdict: 'stale' } : heldAs(ref, refused);
}

async function createUnknown(hire: HireContext, employeeIds: string[] = []): Promise<Applied> {
  const { creation, ref } = await reread(hire);
  const { jobCandidateId } = ref;
  return held('CREATE_UNKNOWN', { jobCandidateId, attempt: creation?.attempt ?? 0, employeeIds });
}

/**
 * Takes the employee if a create was refused because one with our own reference exists, which no search showed: some HR
 * systems hide former employees. They belong to this hire unless somebody said otherwise. Any other refusal is thrown.
 */
async function takeExisting(
  hire: HireContext,
  error: ConnectorError,
  { fields }: Extract<Change, { kind: 'create' }>,
  sinceRead: Elapsed,
): Promise<Applied> {
  const employee = existingIn(hire, error);
  if (employee === undefined || hire.decisions.notThese.has(employee.id)) {
    if (error.action !== 'ignore') throw error;
    // An error to ignore would be retried forever, but a person must learn of a refused create.
    throw error.but({ action: 'reject' });
  }
  if (!(await isFormer(hire, employee))) return finish(hire, { kind: 'created', ref: employee }, 'linked', sinceRead);
  if (hire.connection.hris.employees.rehire === undefined)
    return held('FORMER_EMPLOYEE', { jobCandidateId: hire.ref.jobCandidateId, employeeIds: [employee.id] });
  return rehireEmployee(hire, { kind: 'rehire', employee, fields }, sinceRead);
}

function existingIn({ connection }: HireContext, { code, details }: ConnectorError): KnownEmployee | undefined {
  const { id, number } = details ?? {};
  if (code !== 'ALREADY_EXISTS' || typeof id !== 'string') return undefined;
  return knownIn(connection.tenant.hris.connection, typeof number === 'string' ? { id, number } : { id });
}

type Rehire = Extract<Change, { kind: 'rehire' }>;

/** Makes a former employee active again under this hire's intent, and links them. Throws a refusal. */
async function rehireEmployee(hire: HireContext, change: Rehire, sinceRead: Elapsed): Promise<Applied> {
  const shown = (await readToWrite(hire, change.employee))?.former === true;
  const once = await writeOnce(rehireOptions(hire, change, { shown, sinceRead }));
  if (once.kind === 'refused') throw once.error;
  return linkRehired(hire, change.employee);
}

function earlierRehire(hire: HireContext, { employee }: Pick<Rehire, 'employee'>): EarlierOptions<null> {
  return {
    ...onceOf(hire, REHIRE_VERB),
    // An active employee proves the earlier attempt if a former one was shown before it; otherwise the rehire is sent
    // again.
    async look() {
      const latest = await latestRehire(hire);
      const pinned =
        latest === undefined || latest.outcome === 'refused' ? 'purged' : readKept<PinnedRehire>(latest.pinned);
      const wasShown = pinned !== 'purged' && pinned.shown;
      return wasShown && !(await isShownFormer(hire, employee)) ? { kind: 'found', value: null } : { kind: 'absent' };
    },
  };
}

function rehireOptions(
  hire: HireContext,
  change: Rehire,
  { shown, sinceRead }: { shown: boolean; sinceRead: Elapsed },
): OnceOptions<null, PinnedRehire> {
  const { employee, fields } = change;
  const { id } = employee;
  const { employees } = hire.connection.hris;
  return {
    ...earlierRehire(hire, change),
    pinned: () => ({ employeeId: id, shown }),
    giveUpMs: hire.deps.limits.giveUpMs,
    sinceRead,
    note: (_pinned, intent) => {
      const [changes, sensitive] = [newValues(fields), sensitiveFields(hire)];
      return noteWrites(hire, [{ target: 'employee', foreignId: id, kind: 'update', changes, sensitive }], intent);
    },
    async send(_pinned, guard) {
      await employees.rehire?.(employee, fields, guard);
      return null;
    },
  };
}
