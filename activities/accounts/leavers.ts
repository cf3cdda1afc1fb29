import { dayOf } from '../../src/day-of.ts';
import { isConnectorError } from '../../src/errors.ts';
import { type Employee, employeeIn } from '../../src/hire/employee.ts';
import { type HoldCode, holdOf } from '../../src/hire/holds.ts';
import { recordWrites } from '../../src/store/foreign-writes.ts';
import {
  accountsToLookAt,
  countEnded,
  type HireStepRow,
  isHeldByOther,
  moveStep,
  readStep,
  type SettledStep,
  type StepKey,
} from '../../src/store/hire-steps.ts';
import { employeeOf, readHireRow } from '../../src/store/hires.ts';
import { closeHold, openHold, readHold, tenantsHeldLike } from '../../src/store/holds.ts';
import { latestIntent } from '../../src/store/intents.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import type { Connection } from '../connections.ts';
import { readEmployee } from '../hire/read-employee.ts';
import { outcomeUnknown, startClock, writeOnce } from '../hire/write-once.ts';
import { originOf, type Verdict } from '../push/push-context.ts';
import {
  type AccountRun,
  atDestination,
  dueIn,
  eachOf,
  openDestination,
  refused,
  stepId,
  tell,
  writeOf,
} from './account-run.ts';

export const OF_LEAVER = 'ACCOUNT_OF_LEAVER' satisfies HoldCode;
const HOUR_MS = 3_600_000;
/** Whose end is found to be a mistake within so long gets the account back. */
const BACK_WITHIN_MS = 30 * 86_400_000;
const ASKED = 'the person has left, and what becomes of the account a person must say';
const SHARED = 'the person has left this employment, and another hire of theirs has the account';

/** Why an account is not ended by itself. */
const WHY = {
  asks: 'what is to become of it, the tenant leaves to a person',
  many: 'more accounts were to be ended within an hour than policies.changeLimits.cancellationsPerHour',
  unsure: 'the HR system does not say that the employment is over, so nothing is ended by itself',
  cannot: 'hirebridge cannot end accounts there, so somebody must do it by hand',
};

/** One account that was made, and whose it is. */
interface Held {
  run: AccountRun;
  at: number;
  key: StepKey;
  step: HireStepRow;
  hire: HireRow;
  account: Employee;
}

/**
 * Accounts of those whose employment ended: a person is asked, or they are ended where the tenant says so. The HR
 * system's word counts, never the stage that the person stands in at the partner.
 */
export async function closeAccounts(run: AccountRun, at: number): Promise<void> {
  const { connection: name = '' } = run.context.connection.tenant.destinations?.[at] ?? {};
  await eachOf(run, dueAccounts(run, name), async (key) => {
    const { store } = run.context.deps;
    const step = await readStep(store, key);
    if (step === undefined || step.account_id === null) return;
    const hire = await readHireRow(store, key);
    const held: Held = { run, at, key, step, hire, account: employeeIn(name, step.account_id) };
    try {
      await look(held);
    } catch (error) {
      await settleRefused(held, error);
    }
  });
}

async function* dueAccounts({ context, hints }: AccountRun, destination: string): AsyncGenerator<StepKey> {
  const due = dueIn(context, hints, destination);
  for (let after: StepKey | undefined; ; ) {
    const wanted = { backWithinMs: BACK_WITHIN_MS, asked: OF_LEAVER };
    const keys = await accountsToLookAt(context.deps.store, due, wanted, after);
    yield* keys;
    after = keys.at(-1);
    if (after === undefined) return;
  }
}

async function look(held: Held): Promise<void> {
  const { run, key, step } = held;
  const { store } = run.context.deps;
  const hold = step.hold_id === null ? undefined : await readHold(store, step.hold_id);
  const isNext = step.state === 'leaving' && step.code === OF_LEAVER && step.hold_id === null;
  if (isNext && (await tenantsHeldLike(store, OF_LEAVER)).has(key.tenantId))
    return tell(run, stepId(key), { kind: 'held', reason: ASKED });
  const left = await whetherLeft(held);
  if (left === 'no') {
    if (hold?.closed_at === null) await closeHold(store, hold.hold_id);
    return isStill(held);
  }
  if (step.state === 'ended') return settle(held, { state: 'ended' });
  if (hold?.closed_at === null) return tell(run, stepId(key), { kind: 'held', reason: ASKED });
  if (hold?.answer === 'dismiss') return settle(held, { state: 'kept' }, 'unchanged');
  if (await isHeldByOther(store, step)) return settle(held, { state: 'leaving', reason: SHARED }, 'skipped');
  const account = await openDestination(run, held.at, key);
  const why = hold?.answer === 'end-account' ? undefined : await whyAsk(held, left);
  if (account.hris.employees.terminate === undefined) return ask(held, 'cannot');
  return why === undefined ? atDestination(key, () => end(held, account)) : ask(held, why);
}

/** unsure: the HR system shows them no more, or says nothing of an end, and the hire is over. */
async function whetherLeft({ run, hire }: Held): Promise<'no' | 'yes' | 'unsure'> {
  const employee = employeeOf(hire);
  if (employee === undefined) return 'no';
  const shown = await readEmployee(run.context.connection.hris, employee);
  if (shown === undefined) return 'unsure';
  if (shown.former === true) return 'yes';
  return shown.former === undefined && hire.state === 'left' ? 'unsure' : 'no';
}

/** Who was said to have left, and has not: the account is made active again as for somebody who comes back. */
async function isStill(held: Held): Promise<void> {
  const { step, hire } = held;
  const isBack = step.state === 'ended' && hire.state === 'done';
  await settle(held, { state: isBack ? 'waiting' : step.state === 'ended' ? 'ended' : 'done' });
}

async function whyAsk({ run, at, key }: Held, left: 'yes' | 'unsure'): Promise<keyof typeof WHY | undefined> {
  const { deps, connection } = run.context;
  const { destinations, policies } = connection.tenant;
  if (destinations?.[at]?.leavers !== 'end') return 'asks';
  if (left === 'unsure') return 'unsure';
  const most = policies.changeLimits.cancellationsPerHour;
  return (await countEnded(deps.store, key.tenantId, HOUR_MS)) >= most ? 'many' : undefined;
}

/** One question of a tenant stands open at a time; the others wait their turn. */
async function ask(held: Held, why: keyof typeof WHY): Promise<void> {
  const { key, run, account } = held;
  const { jobCandidateId, destination, tenantId } = key;
  const about = { jobCandidateId, destination, account: account.id, why: WHY[why] };
  const { store } = run.context.deps;
  const { holdId } = await openHold(store, { tenantId, ...holdOf(OF_LEAVER, about) });
  const details = JSON.parse((await readHold(store, holdId))?.details ?? '{}') as Partial<typeof about>;
  const isOurs = details.account === account.id && details.destination === destination;
  await settle(held, { state: 'leaving', code: OF_LEAVER, reason: ASKED, hold_id: isOurs ? holdId : null }, 'held');
}

/** Sent once; the step is over when the account was seen to be inactive, or gone. */
async function end(held: Held, destination: Connection): Promise<void> {
  const { run, key, account } = held;
  const { deps, connection, runId } = run.context;
  const { store, limits } = deps;
  const { employees, capabilities } = destination.hris;
  const verb = await verbOf(held);
  const lastDay = dayOf(await readClock(store), connection.tenant.policies.timezone);
  const changes = { lastDay: { new: lastDay } };
  const isEnded = async (): Promise<boolean> => {
    const shown = await readEmployee(destination.hris, account);
    return shown === undefined || shown.former === true;
  };
  const once = await writeOnce<null, { lastDay: string }>({
    store,
    key,
    verb,
    // The hire may be over, too.
    state: 'none',
    pinned: () => ({ lastDay }),
    giveUpMs: limits.giveUpMs,
    readLagMs: capabilities.readLagMs,
    look: async () => ((await isEnded()) ? { kind: 'found', value: null } : { kind: 'absent' }),
    sinceRead: startClock(),
    note: (_pinned, intent) =>
      recordWrites(store, { ...originOf(run.context), intent }, [
        writeOf(key, { foreignId: account.id, kind: 'end', changes, sensitive: [] }),
      ]),
    async send(pinned, guard) {
      await employees.terminate?.(account, pinned.lastDay, guard);
      return null;
    },
  });
  if (once.kind === 'refused') throw refused(once.error.code, once.error.message);
  if (await isEnded()) return settle(held, { state: 'ended', run_id: runId }, 'updated');
  const { decided_at: endedAt, now } = (await latestIntent(store, key, verb)) ?? { decided_at: 0, now: 0 };
  const leftMs = Number(endedAt) + capabilities.readLagMs - now;
  if (leftMs > 0) throw outcomeUnknown('The end of an account was sent', leftMs);
  const text = `Destination "${key.destination}" took the end of account ${account.id}, and shows it as active.`;
  throw refused('ACCOUNT_ACTIVE', `${text} Look there; it is tried again a day later, or by hirebridge retry.`);
}

/** Of an account that was made active again, another end is another write. */
async function verbOf({ run, key, step }: Held): Promise<string> {
  const { store } = run.context.deps;
  for (let nth = 1; ; nth += 1) {
    const verb = `end-account:${key.destination}${nth === 1 ? '' : `:${nth}`}`;
    const latest = await latestIntent(store, key, verb);
    if (latest?.outcome !== 'done' || Number(latest.decided_at) >= Number(step.done_at)) return verb;
  }
}

/** A refusal is this step's own; what is not known yet waits. */
async function settleRefused(held: Held, error: unknown): Promise<void> {
  const { run, step } = held;
  if (!isConnectorError(error)) throw error;
  const { code, message: reason } = error;
  if (code === 'OUTCOME_UNKNOWN') return void run.waits.push(error.retryAfterMs ?? 0);
  if (error.action !== 'reject') throw error;
  const state = step.state === 'ended' ? 'ended' : 'leaving';
  await settle(held, { state, code, reason, hold_id: step.hold_id }, 'quarantined');
}

type Settling = Pick<SettledStep, 'state'> & Partial<SettledStep>;

async function settle({ run, key, step }: Held, settled: Settling, kind?: Verdict['kind']): Promise<void> {
  const { code = null, reason = null, hold_id = null } = settled;
  await moveStep(run.context.deps.store, step, { ...settled, code, reason, hold_id });
  if (kind !== undefined) tell(run, stepId(key), { kind, ...(reason !== null && { reason }) });
}
