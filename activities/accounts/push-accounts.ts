import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { type Decisions, decide, undecided } from '../../src/hire/answers.ts';
import { type EmployeeFields, employeeIn, type KnownEmployee, knownIn } from '../../src/hire/hire.ts';
import { type HoldCode, type HoldRequest, holdOf, messageParts } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import { pathsRead } from '../../src/mapping/compile-rule.ts';
import { shortVersion } from '../../src/mapping/load-mapping.ts';
import { climbIdentityLadder, judgeCreate, withoutDenied } from '../../src/plan/identity-ladder.ts';
import { recordWrites } from '../../src/store/foreign-writes.ts';
import { clearHints, type Hint, readHints } from '../../src/store/hints.ts';
import {
  accountOf,
  claimStep,
  hiresDueForStep,
  readStep,
  type SettledStep,
  type StepKey,
  settleStep,
  stepName,
  stepsToTell,
} from '../../src/store/hire-steps.ts';
import { employeeOf } from '../../src/store/hires.ts';
import { openHold, readHold, tenantsHeldLike } from '../../src/store/holds.ts';
import { latestIntent, type OpenIntent } from '../../src/store/intents.ts';
import type { HireRow, HoldRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import { hasOtherName, isStranger, readEmployee, readFindings } from '../hire/read-employee.ts';
import { readSources, type Sources } from '../hire/read-sources.ts';
import { nameEmployee } from '../hire/unique-names.ts';
import { employeeReference, type HireContext, newValues, sensitiveFields } from '../hire/with-hire.ts';
import { guardFor, outcomeUnknown, startClock, writeOnce } from '../hire/write-once.ts';
import type { OwnRecord } from '../own-hris.ts';
import {
  assertAnswered,
  assertOurs,
  type Due,
  hiresDue,
  MOST_HINTS,
  noted,
  originOf,
  type PushContext,
  tell,
  type Verdict,
  waitFor,
} from '../push/push-context.ts';

interface AccountRun extends PushContext {
  hints: readonly Hint[];
  /** Errors that made a destination unusable. */
  down: ConnectorError[];
}

/**
 * Gives each hired person an account in each further destination. This is a step of the hire with its own plan, intent
 * and question, and it delays no other step. The HR system's step came before and is not looked at again.
 */
export async function pushAccounts(context: PushContext): Promise<void> {
  const { deps, connection, key, runId } = context;
  const { destinations } = connection.tenant;
  if (destinations === undefined) throw unconfigured(key.tenantId);
  const hints = await readHints(deps.store, key.tenantId, key.stream, MOST_HINTS);
  const run: AccountRun = { ...context, hints, down: [] };
  for (const row of await stepsToTell(deps.store, key.tenantId, runId)) {
    const { state, code, reason } = row;
    if (state === 'done') tell(run, stepName(row), 'created');
    else tell(run, stepName(row), code === UNCLEAR ? 'held' : 'quarantined', reason ?? code ?? '');
  }
  for (const at of destinations.keys()) await fill(run, at);
  const [down] = run.down;
  if (down !== undefined) throw down;
  await clearHints(deps.store, key.tenantId, key.stream, hints);
  assertAnswered(run, 'An account was asked for');
}

function unconfigured(tenantId: string): ConnectorError {
  return rejected(
    'ACCOUNTS_UNCONFIGURED',
    `Hires of ${tenantId} get no accounts: its file names no "destinations". Add them, or remove the stream.`,
  );
}

/** After this many failures in one pass, the destination is to blame and not the data. */
const MOST_FAILURES = 3;

/** Handles every hire that still has work in one destination. An error of one hire stops no other. */
async function fill(run: AccountRun, at: number): Promise<void> {
  const { connection: name } = run.connection.tenant.destinations?.[at] ?? { connection: '' };
  let failures = 0;
  const named = run.hints.map(({ recordId }) => recordId.split('/'));
  const hinted = named.flatMap(([id = '', of = name]) => (of === name ? [id] : []));
  const dueOf = (due: Due, after?: HireRow) => hiresDueForStep(run.deps.store, { ...due, destination: name }, after);
  for await (const hire of hiresDue(run, run.hints, hinted, dueOf)) {
    await assertOurs(run);
    const ref = { tenantId: hire.tenant_id, jobCandidateId: hire.job_candidate_id, period: hire.period };
    try {
      await stepInto(run, { at, hire, key: { ...ref, destination: name } });
    } catch (error) {
      if (!(error instanceof Down)) throw error;
      run.down.push(error.why);
      failures += error.why.action === 'retry' ? 1 : MOST_FAILURES;
      if (failures >= MOST_FAILURES) return;
    }
    run.beat();
  }
}

/** A destination that cannot be used now. */
class Down extends Error {
  readonly why: ConnectorError;
  constructor(name: string, error: ConnectorError) {
    const { code, action, message, retryAfterMs } = error;
    super(code);
    this.why = new ConnectorError({
      code: code.replace(/^HRIS_/, 'ACCOUNTS_'),
      // `reauthorize` would pause the tenant's hires, which do not need this destination.
      action: action === 'reauthorize' ? 'reject' : action,
      message: `Destination "${name}": ${message} Hires continue; their accounts follow once it works.`,
      retryAfterMs,
      // Knows which words of the message are the other side's.
      cause: error,
    });
  }
}

/** One hire in one destination, which `at` numbers in the tenant's list. */
interface Step {
  at: number;
  hire: HireRow;
  key: StepKey;
}

/** A step that this run has claimed, with both ends open. */
interface Taken extends Step {
  run: AccountRun;
  account: Connection;
  reference: string;
  decisions: Decisions;
  /** The question that a person answered. */
  hold: HoldRow | undefined;
  creation: OpenIntent | undefined;
}

const OF_THIS_PERSON = 'another hire of the same person is getting its account, which this hire will share';
const LEFT =
  'the person is not in a hiring stage now; hirebridge checks again once a day until 30 days after the hire ended, ' +
  'and when somebody retries it';
const UNCLEAR = 'ACCOUNT_UNCLEAR' satisfies HoldCode;
const WAITS = 'a person must decide whether an account is theirs';
const DISMISSED = { kind: 'none', by: ['a person'] };

async function stepInto(run: AccountRun, step: Step): Promise<void> {
  const { store } = run.deps;
  const { key, hire } = step;
  const before = await readStep(store, key);
  const { hold_id: holdId = null } = before ?? {};
  const hold = holdId === null ? undefined : await readHold(store, holdId);
  if (hold?.closed_at === null) return tell(run, nameOf(key), 'held', WAITS);
  const isNext = before?.state === 'waiting' && before.code === UNCLEAR;
  if (isNext && (await tenantsHeldLike(store, 'ACCOUNT_%')).has(key.tenantId))
    return tell(run, nameOf(key), 'held', WAITS);
  const reference = employeeReference(run.connection.tenant, hire.candidate_id ?? '');
  if (!(await claimStep(store, key, { reference, runId: run.runId })))
    return tell(run, nameOf(key), 'skipped', OF_THIS_PERSON);
  const answered = hold?.answer ?? undefined;
  const given = JSON.parse(hold?.answer_arguments ?? '[]') as string[];
  const details = JSON.parse(hold?.details ?? '{}') as Record<string, unknown>;
  const decisions = answered === undefined ? undecided : decide([{ answer: answered, argument: given[0], details }]);
  try {
    const account = await open(run, step);
    const creation = await latestIntent(store, key, verbOf(key));
    const taken = { ...step, run, account, reference, decisions, hold, creation };
    await (answered === 'dismiss'
      ? settle(taken, { state: 'done', plan: JSON.stringify(DISMISSED) }, 'unchanged')
      : give(taken));
  } catch (error) {
    await settleTrouble(run, key, hold, error);
  }
}

function nameOf({ jobCandidateId, destination }: StepKey): string {
  return `${jobCandidateId}/${destination}`;
}

function verbOf({ destination }: StepKey): string {
  return `create-account:${destination}`;
}

async function open({ connection }: AccountRun, { at, key }: Step): Promise<Connection> {
  try {
    const opened = await connection.destinations?.of(at);
    if (opened !== undefined) return opened;
  } catch (error) {
    throw isConnectorError(error) ? new Down(key.destination, error) : error;
  }
  throw unconfigured(key.tenantId);
}

/** A refusal belongs to this step; an unknown outcome waits; any other error is the destination's. */
async function settleTrouble(run: AccountRun, key: StepKey, hold: HoldRow | undefined, error: unknown): Promise<void> {
  if (!isConnectorError(error)) throw error;
  if (error.code === 'OUTCOME_UNKNOWN') return waitFor(run, error.retryAfterMs ?? 0);
  if (error.action !== 'reject') throw error;
  const { code, message: reason } = error;
  // If a person named an account that does not exist, they are asked again.
  const holdId = code === 'ACCOUNT_NOT_FOUND' ? null : (hold?.hold_id ?? null);
  await settleStep(run.deps.store, key, run.runId, { state: 'held', code, reason, hold_id: holdId });
  tell(run, nameOf(key), 'quarantined', reason);
}

type Settling = Omit<SettledStep, 'code' | 'reason' | 'hold_id'> & Partial<SettledStep>;

async function settle({ run, key }: Taken, settled: Settling, kind: Verdict['kind']): Promise<void> {
  const { code = null, reason = null, hold_id = null } = settled;
  await settleStep(run.deps.store, key, run.runId, { ...settled, code, reason, hold_id });
  tell(run, nameOf(key), kind, reason ?? undefined);
}

/** Finds or makes the person's account, and reads it back. */
async function give(taken: Taken): Promise<void> {
  const { key, creation } = taken;
  const context = contextOf(taken);
  const isUnderWay = creation?.outcome === 'open' || creation?.outcome === 'done';
  const employee = await employeeMade(taken);
  // Uses the mapping in force: the one saved with an earlier attempt belongs to the HR system.
  const read = await readSources({ ...context, creation: undefined }, { anyStage: isUnderWay, beside: { employee } });
  if (read.verdict === 'hold') throw rejected(read.hold.code, messageParts(read.hold).what);
  if (read.verdict !== 'read') throw rejected('NOT_IN_STAGE', LEFT);
  const { sources } = read;
  const wrong = sources.problems.map(({ text }) => text).join(' ');
  if (wrong !== '') throw rejected('MAPPING_INCOMPLETE', wrong);
  try {
    await inDestination(taken, context, sources);
  } catch (error) {
    if (!isConnectorError(error) || error.action === 'reject' || error.code === 'OUTCOME_UNKNOWN') throw error;
    throw new Down(key.destination, error);
  }
}

/** The hire as its activities see it, with the destination in place of the HR system. */
function contextOf({ run, key, hire, account, decisions, creation }: Taken): HireContext {
  const { deps } = run;
  const { destination, ...ref } = key;
  const row = { ...hire, employee_id: null, employee_number: null, connection: destination };
  const known = { answers: [], decisions, creation, sinceRead: startClock() };
  return { deps, store: deps.store, connection: account, ref, row, ...known };
}

/** The employee from the hire's first step. Reads the HR system only if the mapping needs more than the ids. */
async function employeeMade({ run, hire, account }: Taken): Promise<Record<string, unknown>> {
  const { hris } = run.connection;
  const employee = employeeOf(hire);
  const isRead = account.mapping.fields.some((field) =>
    pathsRead(field).some((path) => path.source === 'employee' && 'field' in path && !OWN.includes(path.field)),
  );
  const shown = isRead && employee !== undefined ? await readEmployee(hris, employee) : undefined;
  const { employee_id: id, employee_number: number } = hire;
  return { ...shown?.fields, id, ...(number !== null && { number }) };
}

const OWN = ['id', 'number'];

/** What to do for one person in a destination, and the evidence for it. */
type AccountPlan =
  | { kind: 'create'; by: string[] }
  | { kind: 'link'; by: string[]; account: KnownEmployee }
  | { kind: 'ask'; hold: HoldRequest };

async function inDestination(taken: Taken, context: HireContext, sources: Sources): Promise<void> {
  const plan = await planAccount(taken, context, sources.fields);
  if (plan.kind === 'ask') return ask(taken, plan.hold);
  const { key, run, reference } = taken;
  const noted = { kind: plan.kind, by: plan.by, reference, mapping: shortVersion(sources.mapping.hash) };
  const kept = JSON.stringify(plan.kind === 'link' ? { ...noted, account: plan.account.id } : noted);
  const { store } = run.deps;
  const hold_id = taken.hold?.hold_id ?? null;
  const open = { state: 'sending', plan: kept, code: null, reason: null, hold_id } as const;
  if (!(await settleStep(store, key, run.runId, open))) return;
  if (plan.kind === 'link') return see(taken, sources, { account: plan.account, isNew: false });
  const named = await nameEmployee(context, sources.names);
  if (named.verdict === 'hold') throw rejected(named.hold.code, named.hold.message);
  const made = await create(taken, context, { ...sources, fields: { ...sources.fields, ...named.names } });
  if (made !== undefined) await see(taken, sources, made);
}

/**
 * Decides as the identity ladder of employees does; an account that another hire of the person got is this person's
 * too.
 */
async function planAccount(taken: Taken, context: HireContext, fields: EmployeeFields): Promise<AccountPlan> {
  const { key, account, reference, decisions, creation, run } = taken;
  const earlier = decisions.link === undefined ? await accountOf(run.deps.store, key, reference) : undefined;
  const id = decisions.link ?? earlier?.id;
  const known = id === undefined ? undefined : await readEmployee(account.hris, employeeIn(key.destination, id));
  const { jobCandidateId, destination } = key;
  if (decisions.link !== undefined && known !== undefined && (await hasOtherName(context, known))) {
    const about = { jobCandidateId, destination, employeeId: known.ref.id };
    return { kind: 'ask', hold: holdOf('ACCOUNT_OTHER_NAME', about) };
  }
  // The id of an account that somebody else has by now says nothing: the person is looked up like a new one. An account
  // that a person linked may have no reference.
  const isTold = earlier?.isMade === true || (earlier !== undefined && known?.reference !== undefined);
  if (known !== undefined && !(isTold && isOfAnother(taken, known)))
    return { kind: 'link', by: [decisions.link === undefined ? 'an earlier hire' : 'a person'], account: known.ref };
  if (decisions.link !== undefined)
    throw rejected(
      'ACCOUNT_NOT_FOUND',
      `Destination "${key.destination}" has no account ${decisions.link}. Retry the step.`,
    );
  if (creation?.outcome === 'open' || creation?.outcome === 'done') return { kind: 'create', by: [] };
  const findings = withoutDenied(await readFindings(context, reference, fields), decisions.notThese);
  const identity = climbIdentityLadder(findings);
  if (identity.kind === 'create') return { kind: 'create', by: [] };
  const by = identity.evidence.map((one) => one.by);
  if (identity.kind === 'link') return { kind: 'link', by, account: identity.ref };
  if (identity.evidence.length === 0 && decisions.createUnproven === true) return { kind: 'create', by: ['a person'] };
  const accountIds = [...new Set(identity.evidence.flatMap(({ refs }) => refs.map((ref) => ref.id)))];
  return { kind: 'ask', hold: unclear(taken, identity.reason, by, accountIds) };
}

function unclear({ key, creation }: Taken, reason: string, keys: string[], employeeIds: string[]): HoldRequest {
  const { jobCandidateId, destination } = key;
  const about = { jobCandidateId, destination, reason, keys, employeeIds, attempt: creation?.attempt ?? 0 };
  return holdOf(UNCLEAR, about);
}

/** Whether an account that was made for this person has somebody else's reference, or none. */
function isOfAnother({ account, reference }: Taken, shown: Pick<OwnRecord, 'reference'>): boolean {
  return isStranger(account.hris.capabilities, shown.reference, (person) => person === reference);
}

/** A tenant has one open question at a time; the others wait their turn. */
async function ask(taken: Taken, hold: HoldRequest): Promise<void> {
  const { key, run } = taken;
  const { jobCandidateId, destination, tenantId } = key;
  const { store } = run.deps;
  const { holdId } = await openHold(store, { tenantId, ...hold });
  const details = JSON.parse((await readHold(store, holdId))?.details ?? '{}') as Partial<StepKey>;
  const isOurs = details.jobCandidateId === jobCandidateId && details.destination === destination;
  const settled = isOurs ? { state: 'held' as const, hold_id: holdId } : { state: 'waiting' as const };
  await settle(taken, { ...settled, code: UNCLEAR, reason: WAITS }, 'held');
}

interface Made {
  account: KnownEmployee;
  isNew: boolean;
}

/** Returns undefined if a person is asked. */
async function create(
  taken: Taken,
  context: HireContext,
  { fields, mapping, sinceRead }: Sources,
): Promise<Made | undefined> {
  const { key, run, account, reference, decisions } = taken;
  const { deps } = run;
  const verb = verbOf(key);
  const once = await writeOnce<CreateResult<KnownEmployee>, { reference: string }>({
    store: deps.store,
    key: context.ref,
    verb,
    state: 'done',
    pinned: () => ({ reference }),
    giveUpMs: deps.limits.giveUpMs,
    readLagMs: account.hris.capabilities.readLagMs,
    async look() {
      const findings = await readFindings(context, reference, fields);
      const seen = judgeCreate(findings, await latestIntent(deps.store, key, verb), decisions);
      return seen.kind === 'found' ? { kind: 'found', value: { kind: 'created', ref: seen.employee } } : seen;
    },
    sinceRead,
    note: (_pinned, intent) =>
      recordWrites(deps.store, { ...originOf(run, mapping.hash), intent }, [
        writeOf(taken, { kind: 'create', changes: newValues(fields), sensitive: sensitiveFields(context) }),
      ]),
    send: (pinned, guard) => account.hris.employees.create(fields, pinned.reference, guard),
  });
  if (once.kind === 'unprovable') {
    await ask(taken, unclear(taken, 'create-unknown', [], once.hits ?? []));
    return undefined;
  }
  if (once.kind === 'refused') return { account: existingIn(key, once.error), isNew: false };
  if (once.value.kind === 'created') return { account: once.value.ref, isNew: true };
  throw rejected(
    'ACCOUNT_PENDING',
    `Destination "${key.destination}" answered that the account is pending, and no step waits for pending accounts.`,
  );
}

/** The account that a destination already has under our reference. Throws any other refusal. */
function existingIn({ destination }: StepKey, { code, message, details }: ConnectorError): KnownEmployee {
  const { id } = details ?? {};
  if (code === 'ALREADY_EXISTS' && typeof id === 'string') return knownIn(destination, { id });
  throw rejected(code, message);
}

function writeOf(
  { key }: Taken,
  write: Pick<Parameters<typeof recordWrites>[2][number], 'kind' | 'changes' | 'sensitive'>,
) {
  return { target: `account:${key.destination}`, recordId: key.jobCandidateId, period: key.period, ...write };
}

/** Ends the step once the account was read back. Reactivates the account of a person who came back. */
async function see(taken: Taken, { fields, mapping, sinceRead }: Sources, { account, isNew }: Made): Promise<void> {
  const { key, run, account: to } = taken;
  const { deps } = run;
  const { destination, jobCandidateId } = key;
  const { employees, capabilities } = to.hris;
  const shown = await readEmployee(to.hris, account);
  // A create without an answer may have been found by the person's address, without a reference.
  if (shown === undefined || (isNew && shown.reference !== undefined && isOfAnother(taken, shown))) {
    const { decided_at: madeAt, now } = (await latestIntent(deps.store, key, verbOf(key))) ?? { decided_at: 0, now: 0 };
    const leftMs = Number(madeAt) + capabilities.readLagMs - now;
    if (leftMs > 0) throw outcomeUnknown('An account was made', leftMs);
    throw rejected(
      'ACCOUNT_GONE',
      `Destination "${destination}" accepted account ${account.id} but does not show it. Look there: restore it, or ` +
        'create it by hand with our reference, then run hirebridge retry TENANT accounts ' +
        `${jobCandidateId}/${destination}.`,
    );
  }
  if (shown.former === true && employees.rehire !== undefined) {
    const { rehire } = employees;
    const sensitive = mapping.fields.filter((field) => field.sensitive).map(({ target }) => target);
    const write = {
      ...writeOf(taken, { kind: 'update', changes: newValues(fields), sensitive }),
      foreignId: account.id,
    };
    // Somebody who left meanwhile is not to get their account back.
    await assertOurs(run);
    const { signal, beforeSend } = guardFor('reactivate account', deps.limits.giveUpMs, startClock(), sinceRead);
    await noted(run, [write], () => rehire(account, fields, { signal, beforeSend }));
  }
  await settle(taken, { state: 'done', account_id: account.id }, isNew ? 'created' : 'updated');
}
