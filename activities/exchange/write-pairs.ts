import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import {
  areFew,
  effectsOf,
  judgeTally,
  sumOfTallies,
  type Tally,
  tallyFilled,
  tallyOf,
  type WrittenPairs,
} from '../../src/exchange/pair-limits.ts';
import { echoesOf, type FieldWrite, type Finding, fieldsToWrite, giversFirst } from '../../src/exchange/plan-pair.ts';
import { hrisForms } from '../../src/exchange/see-fields.ts';
import type { EmployeeFields } from '../../src/hire/hire.ts';
import type { Amendment, WriteOptions } from '../../src/hris/port.ts';
import { fieldsToAmend } from '../../src/hris/records.ts';
import { addWrites, isRunning, recentWrites, type SentForms, savePair } from '../../src/store/exchange-pairs.ts';
import { settleConflicts, withdrawConflicts } from '../../src/store/field-conflicts.ts';
import {
  forgetWrites,
  type NewWrite,
  recordWrites,
  settleSomeWrites,
  settleWrites,
} from '../../src/store/foreign-writes.ts';
import { readHints } from '../../src/store/hints.ts';
import { countPairs, type LinkedPair, type PairEntity } from '../../src/store/linked-pairs.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { StreamRow } from '../../src/store/schema.ts';
import { readStreamState } from '../../src/store/streams.ts';
import type { ExchangeStep } from '../../src/streams/stream-activities.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { guardFor, type SendGuard, startClock } from '../hire/write-once.ts';
import { leftHints, stopAt } from '../streams/reading.ts';
import { type ReadPair, readPairs } from './read-pairs.ts';
import { type ExchangeContext, employeeOfPair, type HeldRecord, positionsIn, scopeOf } from './read-sides.ts';
import {
  attempt,
  type Outcomes,
  outcomeKey,
  outcomeOf,
  type RecordWrites,
  type Sent,
  sendApart,
  sendValues,
} from './send-values.ts';

/** Longest wait when we read a record again after writing it. */
const LOOK_MS = 10_000;

/** A pair whose plan this run carries out, unless the stored pair changed since it was read. */
export type PlannedPair = Omit<ReadPair, 'found'> &
  Extract<ReadPair['found'], { plan: unknown }> & {
    /** Ids of the conflicts that were listed when its writes were begun, by field. */
    noted?: ReadonlyMap<string, string>;
  };

export interface WrittenPair {
  planned: PlannedPair;
  /** Fields that a side refused, with the error code. */
  refused: Map<string, string>;
  /** Fields that somebody edited in the meantime: they are read and decided again. */
  stale: ReadonlySet<string>;
  /** An error that leaves open whether the values arrived. */
  unknown?: unknown;
  /** Forms that the HR system showed right after our write, if we asked it. */
  after: ReadonlyMap<string, string>;
}

/**
 * A run that would write more than a few pairs first looks at all remaining pairs and then returns to write, so that it
 * knows whether that is too much before it writes anything.
 */
export interface Survey {
  /** The cursor to return to. */
  from: string | null;
  counts: Tally;
  isOver: boolean;
}

/** What these pairs add to a survey of all pairs or of some. Writes nothing. */
export async function surveyPairs(
  context: ExchangeContext,
  pairs: readonly LinkedPair[],
  of: 'all' | 'some',
): Promise<Tally> {
  const planned = plannedIn(await readPairs(context, pairs));
  return sumOfTallies(of === 'all' ? tallyFilled(planned) : {}, tallyOf(effectsOf(busyIn(planned))));
}

/**
 * Whether the run must begin with a survey: with another mapping than the last run's, fields may be compared for the
 * first time, and a person must be asked before any of them is written. Not needed for a few pairs.
 */
export async function beginsWithSurvey(context: ExchangeContext): Promise<boolean> {
  const { deps, key, mapping } = context;
  const state = await readStreamState(deps.store, key);
  return state?.mapping_hash !== mapping.hash && !areFew({ 'hris met': await countOf(context) });
}

/** Whether these pairs and those written in the last hour are so few that the remaining pairs need no survey. */
export async function areFewWith(context: ExchangeContext, busy: readonly PlannedPair[]): Promise<boolean> {
  return busy.length === 0 || areFew(tallyOf(...(await earlierWrites(context)), effectsOf(busy)));
}

/**
 * Holds the stream if too much would be written in this run or within an hour.
 * @throws ConnectorError MASS_EMPTIED, MASS_CHANGE, FIRST_MEETING
 */
export async function assertWithinLimits(context: ExchangeContext, busy: readonly PlannedPair[]): Promise<void> {
  await assertWithin(context, tallyOf(...(await earlierWrites(context)), effectsOf(busy)));
}

/** The same for what a survey has counted and what was written before it. */
export async function assertSurveyed(context: ExchangeContext, counts: Tally): Promise<void> {
  await assertWithin(context, sumOfTallies(tallyOf(...(await earlierWrites(context))), counts));
}

async function assertWithin(context: ExchangeContext, tally: Tally): Promise<void> {
  if (areFew(tally)) return;
  const { deps, key } = context;
  const excesses = judgeTally(tally, await countOf(context));
  if (excesses.length === 0) return;
  const state = await readStreamState(deps.store, key);
  for (const { code, message, pairs } of excesses) {
    const told = `${message} See them: hirebridge sync ${key.tenantId} ${key.stream} --dry-run.`;
    await stopAt({ deps, key, state }, { code, message: told }, pairs);
  }
}

async function earlierWrites({ deps, key }: ExchangeContext): Promise<WrittenPairs[]> {
  const kept = await recentWrites(deps.store, key);
  return kept.map((written) => JSON.parse(written) as WrittenPairs);
}

function countOf(context: ExchangeContext): Promise<number> {
  return countPairs(context.deps.store, scopeOf(context), context.runId);
}

export function plannedIn(read: readonly ReadPair[]): PlannedPair[] {
  return read.flatMap(({ found, ...one }) => ('plan' in found ? [{ ...one, ...found }] : []));
}

export function isBusy({ plan }: Pick<PlannedPair, 'plan'>): boolean {
  return plan.toHris.length + plan.toPartner.length > 0;
}

export function busyIn(planned: readonly PlannedPair[]): PlannedPair[] {
  return planned.filter(isBusy);
}

/**
 * Carries out the plans. Each pair is first marked as settling, so that another run, or this one after a crash, does
 * not take a value on its way for a person's edit. Nothing is sent after the mark expires. The agreed values are saved
 * only once both sides took theirs, so a repeat either finds the values there or writes them again.
 */
export async function writePairs(context: ExchangeContext, planned: readonly PlannedPair[]): Promise<WrittenPair[]> {
  const guard = guardOf(context, planned);
  const mine = await beginWrites(context, giversFirst(planned));
  if (mine.length === 0) return [];
  const outcomes: Outcomes = new Map();
  const toPartner = mine.filter(({ plan }) => plan.toPartner.length > 0);
  await recorded(context, { pairs: toPartner, to: 'partner', outcomes }, async () => {
    await sendValues(context, toPartner.map(writesOf), guard, outcomes);
    for (const one of toPartner) await patchCandidate(context, one, outcomes);
  });
  const written: WrittenPair[] = [];
  for (const pair of mine) {
    await writeHris(context, pair, outcomes);
    const judged = judge(pair, outcomes);
    const one = { ...judged, after: await lookAfter(context, judged) };
    await saveWritten(context, one);
    written.push(one);
  }
  return written;
}

/** Marks the pairs as settling and returns them, without those that another run changed in the meantime. */
async function beginWrites(context: ExchangeContext, planned: readonly PlannedPair[]): Promise<PlannedPair[]> {
  const { deps, key, runId } = context;
  const settlesInMs = settlesIn(deps);
  return deps.store.kysely.transaction().execute(async (kysely) => {
    const store = { ...deps.store, kysely };
    if (!(await isRunning(store, key, runId))) throw superseded();
    const mine: PlannedPair[] = [];
    for (const one of planned) {
      const { bases, heard, identities, plan, state, pair } = one;
      const { version } = state;
      const { echoes } = heard;
      // The values about to be sent, by field, and their side.
      const sent: Record<string, SentForms[string]> = {};
      for (const { field, form } of plan.toHris) sent[field] = { to: 'hris', form };
      for (const { field, form } of plan.toPartner) sent[field] = { to: 'partner', form };
      const change = { pairId: pair.pairId, version, bases, identities, sent, echoes, settlesInMs };
      if (!(await savePair(store, key, change))) continue;
      await closeRenewed(store, key, one);
      mine.push({ ...one, state: { ...state, version: version + 1 }, noted: await noteOverwritten(store, key, one) });
    }
    if (mine.length > 0) await addWrites(store, key, JSON.stringify(effectsOf(mine)));
    return mine;
  });
}

/**
 * Closes conflicts of fields that stand for other fields now. Done no later than the new identities are saved, because
 * afterwards nothing tells that a decision or a refusal was about the field before.
 */
export async function closeRenewed(
  store: Store,
  key: ExchangeContext['key'],
  { pair: { pairId }, open, renewed }: Pick<PlannedPair, 'pair' | 'open' | 'renewed'>,
): Promise<void> {
  await settleConflicts(store, { ...key, pairId }, { open: open.filter(({ field }) => renewed.has(field)) }, []);
}

/**
 * Lists the values of people that these writes replace. Done before they are sent: if an answer is lost or the process
 * dies, the replaced value is shown nowhere else. Returns the ids by field.
 */
async function noteOverwritten(
  store: Store,
  key: ExchangeContext['key'],
  { pair: { pairId }, plan }: PlannedPair,
): Promise<ReadonlyMap<string, string>> {
  const overwritten = plan.findings.filter(isOverwritten);
  const ids = await settleConflicts(store, { ...key, pairId }, { open: [] }, overwritten);
  return new Map(overwritten.map(({ field }, index) => [field, ids[index] ?? '']));
}

function isOverwritten({ kind }: Finding): boolean {
  return kind === 'conflict';
}

/** A page takes longer than one call may, so a pair that is written on its own gets a fresh mark just before. */
async function markAgain({ deps, key }: ExchangeContext, one: PlannedPair): Promise<boolean> {
  const { state } = one;
  const settlesInMs = settlesIn(deps);
  const isMine = await savePair(deps.store, key, { pairId: one.pair.pairId, version: state.version, settlesInMs });
  if (isMine) one.state = { ...state, version: state.version + 1 };
  return isMine;
}

async function patchCandidate(context: ExchangeContext, one: PlannedPair, outcomes: Outcomes): Promise<void> {
  const fields = one.plan.toPartner.filter(({ at }) => 'property' in at);
  if (fields.length === 0) return;
  const guard = guardOf(context, [one]);
  const isMine = await markAgain(context, one);
  if (isMine) return sendProfile(context, writesOf(one), guard, outcomes);
  for (const { field } of fields) outcomes.set(outcomeKey(one.pair.pairId, field), { unknown: superseded() });
}

async function writeHris(context: ExchangeContext, one: PlannedPair, outcomes: Outcomes): Promise<void> {
  const { toHris } = one.plan;
  if (toHris.length === 0) return;
  const { pairId } = one.pair;
  await recorded(context, { pairs: [one], to: 'hris', outcomes }, async () => {
    const guard = guardOf(context, [one]);
    const isMine = await markAgain(context, one);
    const send = (some: FieldWrite[]): Promise<Sent> => attempt(() => changeRecord(context, one, some, guard));
    await sendApart(toHris, isMine ? send : async () => ({ unknown: superseded() }), ({ field }, sent) => {
      outcomes.set(outcomeKey(pairId, field), sent);
    });
  });
}

/**
 * Starts its clock before the mark is set, so that the guard ends first. Refuses to write from readings that are too
 * old.
 */
function guardOf({ deps, key }: ExchangeContext, planned: readonly PlannedPair[]): SendGuard {
  const sinceRead = (): number => Math.max(0, ...planned.map((one) => one.sinceRead()));
  return guardFor(`A write of ${key.stream}`, deps.limits.giveUpMs, startClock(), sinceRead);
}

function settlesIn({ limits }: ActivityDeps): number {
  return limits.giveUpMs + limits.partnerLagMs;
}

/** Longer waits are left to the schedule. */
const LONGEST_WAIT_MS = 600_000;

/** When the pairs whose hints are left can be read, if any are: a write of theirs is in doubt or may not show yet. */
export async function leftPairs(context: ExchangeContext, run: StreamRow): Promise<Pick<ExchangeStep, 'againInMs'>> {
  const { deps, key, connection } = context;
  const early = await leftHints(context, run);
  if (early.againInMs !== undefined) return early;
  const againInMs = Math.max(settlesIn(deps), connection.hris.capabilities.readLagMs);
  if (againInMs > LONGEST_WAIT_MS) return {};
  const [left] = await readHints(deps.store, key.tenantId, key.stream, 1);
  return left === undefined ? {} : { againInMs };
}

function writesOf({ pair, plan }: PlannedPair): RecordWrites {
  return { ...pair, writes: plan.toPartner };
}

/**
 * Writes only over the values the plan was made from. A kind that cannot compare them is read once more just before.
 */
async function changeRecord(
  { connection, entity }: ExchangeContext,
  { pair, from }: PlannedPair,
  writes: readonly FieldWrite[],
  write: WriteOptions,
): Promise<void> {
  const fields = fieldsToWrite(writes);
  const over = Object.fromEntries(writes.map(({ field, old }) => [field, old]));
  const record = recordOf(connection, entity, pair);
  if (record.amend !== undefined) return record.amend({ fields, over, from }, write);
  const held = await record.read(write.signal);
  // An earlier write may still arrive and replace a value that is already shown, so that value is sent as well.
  const late = fieldsToWrite(writes.filter((one) => one.form === one.over));
  const left = { ...late, ...fieldsToAmend({ fields, over }, held ?? { fields: {} }) };
  if (Object.keys(left).length > 0) await record.update(left, write);
}

/** The HR system's record of one pair: an employee or a position. */
interface OneRecord {
  amend: ((amendment: Amendment, write: WriteOptions) => Promise<void>) | undefined;
  read(signal: AbortSignal): Promise<HeldRecord | undefined>;
  update(fields: EmployeeFields, write: WriteOptions): Promise<void>;
}

function recordOf(connection: Connection, entity: PairEntity, pair: LinkedPair): OneRecord {
  return entity === 'job' ? positionOf(connection, pair) : employeeIn(connection, pair);
}

function positionOf(connection: Connection, { pairId }: LinkedPair): OneRecord {
  const positions = positionsIn(connection);
  const { amend } = positions;
  return {
    amend: amend && (async (amendment, write) => amend(pairId, amendment, write)),
    read: async (signal) => (await positions.read([pairId], signal))[0],
    update: async (fields, write) => positions.update(pairId, fields, write),
  };
}

function employeeIn({ hris: { employees } }: Connection, pair: LinkedPair): OneRecord {
  const employee = employeeOfPair(pair);
  const { amend } = employees;
  return {
    amend: amend && (async (amendment, write) => amend(employee, amendment, write)),
    read: async (signal) => employees.read(employee, signal),
    update: async (fields, write) => employees.update(employee, fields, write),
  };
}

/** Stores the writes, sends them, then stores the outcome of each record. */
async function recorded(
  { deps: { store }, key, origin }: ExchangeContext,
  { pairs, to, outcomes }: { pairs: readonly PlannedPair[]; to: 'partner' | 'hris'; outcomes: Outcomes },
  send: () => Promise<void>,
): Promise<void> {
  if (pairs.length === 0) return;
  const valuesOf = ({ plan }: PlannedPair): readonly FieldWrite[] => (to === 'hris' ? plan.toHris : plan.toPartner);
  const writes = pairs.map((one): NewWrite => {
    const { pair } = one;
    const values = valuesOf(one);
    return {
      target: `${key.stream}:${to}`,
      // A person linked by import has no application that we know.
      recordId: pair.hire?.jobCandidateId ?? pair.partnerId,
      foreignId: to === 'hris' ? pair.pairId : pair.partnerId,
      kind: 'update',
      changes: Object.fromEntries(values.map(({ field, old, new: value }) => [field, { old, new: value }])),
      sensitive: values.filter(({ isSensitive }) => isSensitive).map(({ field }) => field),
    };
  });
  const batchId = await recordWrites(store, origin, writes);
  await send();
  const sentOf = (one: PlannedPair) =>
    valuesOf(one).map(({ field }) => outcomes.get(outcomeKey(one.pair.pairId, field)));
  const sent = pairs.map(sentOf);
  if (sent.flat().every((one) => one !== undefined && ('code' in one || 'stale' in one)))
    return forgetWrites(store, batchId);
  const ends = Map.groupBy(writes.keys(), (index) => outcomeOf(sent[index] ?? []));
  for (const [outcome, some] of ends) {
    if (outcome === 'open') continue;
    const records = [...some].flatMap((index) => writes[index]?.recordId ?? []);
    await (ends.size === 1
      ? settleWrites(store, batchId, outcome)
      : settleSomeWrites(store, batchId, records, outcome));
  }
}

/**
 * Reads values that both sides may edit as the HR system stored them: a rounded or cut value would later pass for a
 * person's edit. Asks only systems that show a write at once; for others the next reading tells.
 */
async function lookAfter(context: ExchangeContext, written: Omit<WrittenPair, 'after'>): Promise<WrittenPair['after']> {
  const { connection, defined, entity, mapping } = context;
  const { readLagMs, shownWithinMs = readLagMs } = connection.hris.capabilities;
  const { pair } = written.planned;
  const { pairId } = pair;
  const taken = doneIn(written).filter((one) => written.planned.plan.toHris.includes(one));
  const shared = mapping.back.filter(({ rule }) => rule.owner === 'either');
  if (shownWithinMs > 0 || !taken.some(({ field }) => shared.some(({ target }) => target === field))) return new Map();
  try {
    const held = await recordOf(connection, entity, pair).read(AbortSignal.timeout(LOOK_MS));
    if (held === undefined) return new Map();
    return hrisForms({ ...mapping, back: shared }, { pairId, record: held, defined });
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    return new Map();
  }
}

function judge(planned: PlannedPair, outcomes: Outcomes): Omit<WrittenPair, 'after'> {
  const refused = new Map<string, string>();
  const stale = new Set<string>();
  let unknown: unknown;
  for (const { field } of [...planned.plan.toHris, ...planned.plan.toPartner]) {
    const sent = outcomes.get(outcomeKey(planned.pair.pairId, field));
    if (sent === undefined) continue;
    if ('unknown' in sent) unknown = sent.unknown;
    else if ('stale' in sent) stale.add(field);
    else if (!sent.ok) refused.set(field, sent.code);
  }
  return { planned, refused, stale, ...(unknown === undefined ? {} : { unknown }) };
}

/** Saves what both sides hold now. If a write is in doubt, the pair stays settling and is read again later. */
async function saveWritten({ deps, connection, key }: ExchangeContext, written: WrittenPair): Promise<void> {
  const { planned, unknown, after } = written;
  const { pair, state, plan, bases: before, heard, noted = new Map<string, string>() } = planned;
  if (unknown !== undefined) return;
  const done = doneIn(written);
  const bases = { ...before, ...plan.agreed, ...Object.fromEntries(done.map(({ field, form }) => [field, form])) };
  const { readLagMs } = connection.hris.capabilities;
  const settlesInMs = Math.max(readLagMs, deps.limits.partnerLagMs);
  const { pairId } = pair;
  const at = planned.readAt + planned.sinceRead();
  const kept = Object.entries(heard.echoes).filter(([field]) => !done.some((one) => one.field === field));
  const echoes = { ...Object.fromEntries(kept), ...echoesOf(plan, heard, { done, after, at }) };
  const change = { bases, sent: {}, echoes, settlesInMs, missing: null, isGone: false };
  if (!(await savePair(deps.store, key, { pairId, version: state.version, ...change }))) return;
  const findings = findingsOf(written).filter((one) => !isOverwritten(one));
  await settleConflicts(deps.store, { ...key, pairId }, planned, findings);
  const untouched = [...noted].flatMap(([field, id]) => (done.some((one) => one.field === field) ? [] : [id]));
  await withdrawConflicts(deps.store, untouched);
}

/** The writes that either side accepted. */
export function doneIn({ planned: { plan }, refused, stale, unknown }: Omit<WrittenPair, 'after'>): FieldWrite[] {
  if (unknown !== undefined) return [];
  return [...plan.toHris, ...plan.toPartner].filter(({ field }) => !refused.has(field) && !stale.has(field));
}

/**
 * Adds a finding for each refused value, which now waits for a person, and drops the findings those fields had before.
 */
export function findingsOf({ planned: { plan }, refused, stale }: WrittenPair): Finding[] {
  const kept = plan.findings.filter(({ field }) => !refused.has(field) && !stale.has(field));
  const writes = plan.toHris.map((one) => ({ one, to: 'hris' as const }));
  const back = plan.toPartner.map((one) => ({ one, to: 'partner' as const }));
  const refusals = [...writes, ...back].flatMap(({ one, to }): Finding[] => {
    const code = refused.get(one.field);
    if (code === undefined) return [];
    const values = to === 'hris' ? { partner: one.new, hris: one.old } : { partner: one.old, hris: one.new };
    const forms = to === 'hris' ? { partner: one.form, hris: null } : { partner: null, hris: one.form };
    return [{ field: one.field, kind: 'quarantined', code, forms, values, isSensitive: one.isSensitive }];
  });
  return [...kept, ...refusals];
}

function superseded(): ConnectorError {
  return new ConnectorError({
    code: 'RUN_SUPERSEDED',
    action: 'ignore',
    message: 'Another run of this stream took over; this one writes nothing more.',
  });
}

/** Sends all fields of one profile in one call, and in halves if the partner refuses them. */
async function sendProfile(
  { connection }: ExchangeContext,
  { pairId, partnerId: candidateId, writes }: RecordWrites,
  { signal, beforeSend }: SendGuard,
  outcomes: Outcomes,
): Promise<void> {
  const options = { priority: 'bulk' as const, signal, beforeSend };
  const send = (some: RecordWrites['writes']): Promise<Sent> => {
    const body = Object.fromEntries(some.flatMap(({ at }) => ('property' in at ? [[at.property, at.sent]] : [])));
    return attempt(() => connection.partner.candidates.update({ params: { candidateId }, body }, options));
  };
  await sendApart(
    writes.filter(({ at }) => 'property' in at),
    send,
    ({ field }, sent) => outcomes.set(outcomeKey(pairId, field), sent),
  );
}
