import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { CustomFieldValueInput } from '../../src/partner/contract/custom-fields.ts';
import {
  BY_ITSELF,
  type NewWrite,
  recordWrites,
  settleWrites,
  type WriteOrigin,
} from '../../src/store/foreign-writes.ts';
import type { Hint } from '../../src/store/hints.ts';
import { findHireRow } from '../../src/store/hires.ts';
import { tenantsHeldLike } from '../../src/store/holds.ts';
import { lastRefusal } from '../../src/store/invitations.ts';
import { batchesOf, readClock } from '../../src/store/open-store.ts';
import { touchRun } from '../../src/store/quarantine.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { readStreamState, type StreamKey } from '../../src/store/streams.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import type { PushName } from '../../src/streams/streams.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { NOT_LISTED, writeValues } from '../fields/write-values.ts';
import { outcomeUnknown } from '../hire/write-once.ts';
import { stopAt } from '../streams/reading.ts';

/** One run of a push stream, and its results so far. */
export interface PushContext {
  deps: ActivityDeps;
  connection: Connection;
  key: StreamKey;
  runId: string;
  /** Starts from the first record. */
  full: boolean;
  /** Looks only at records with hints. */
  hinted: boolean;
  beat: () => void;
  verdicts: Map<string, Verdict>;
  /** Time until requests without an answer can be looked up, ms. */
  waitMs: number;
}

/** A run's result for one record. `reason` says why it was left out: field names, ids and codes only. */
export interface Verdict {
  id: string;
  kind: 'unchanged' | 'created' | 'updated' | 'skipped' | 'quarantined' | 'held';
  reason?: string | undefined;
}

type OwnRun = Pick<PushContext, 'key' | 'runId'>;

export function tell({ verdicts }: Pick<PushContext, 'verdicts'>, id: string, kind: Verdict['kind'], reason?: string) {
  verdicts.set(id, { id, kind, reason });
}

export function waitFor(run: Pick<PushContext, 'waitMs'>, ms: number): void {
  run.waitMs = Math.max(run.waitMs, ms);
}

/** @throws ConnectorError OUTCOME_UNKNOWN while `what` of this run may still be under way */
export function assertAnswered({ waitMs }: Pick<PushContext, 'waitMs'>, what: string): void {
  if (waitMs > 0) throw outcomeUnknown(what, waitMs);
}

/** Whether a record waits for something that a person allowed this run to do. */
export function isHeldBack({ verdicts }: Pick<PushContext, 'verdicts'>): boolean {
  return [...verdicts.values()].some(({ kind }) => kind === 'held');
}

/** Origin of a run's own writes; `mappingHash` if a mapping decides the values. */
export function originOf({ key, runId }: OwnRun, mappingHash: string | null = null): WriteOrigin {
  return { tenantId: key.tenantId, runId, by: BY_ITSELF, mappingHash };
}

/**
 * Makes a write with its stored note: intent before, outcome after. A refusal is stored as such and thrown like any
 * other error; a write without an answer stays open.
 */
export async function noted(
  context: OwnRun & Pick<PushContext, 'deps'> & { mapping?: { hash: string } },
  writes: readonly NewWrite[],
  send: () => Promise<unknown>,
  refusedBy: readonly ConnectorError['action'][] = ['reject'],
): Promise<void> {
  const { store } = context.deps;
  const batchId = await recordWrites(store, originOf(context, context.mapping?.hash), writes);
  try {
    await send();
  } catch (error) {
    if (isConnectorError(error) && refusedBy.includes(error.action)) await settleWrites(store, batchId, 'refused');
    throw error;
  }
  await settleWrites(store, batchId, 'done');
}

/**
 * Sends a request whose intent is stored. Returns the answer, or the error that says that nothing was done, which the
 * note `writeId` then says too; undefined if no answer came, and the run waits for it.
 */
export async function sendOnce<T>(
  run: PushContext,
  writeId: string,
  send: () => Promise<T>,
): Promise<{ answer: T } | { error: ConnectorError } | undefined> {
  try {
    return { answer: await send() };
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.action === 'unknown') return waitFor(run, run.deps.limits.giveUpMs) as undefined;
    await settleWrites(run.deps.store, writeId, error.action === 'reject' ? 'refused' : 'absent');
    return { error };
  }
}

/** How long a request without an answer may still arrive or stay invisible; 0 or less once it can be looked up. */
export function leftMs(
  { deps }: Pick<PushContext, 'deps'>,
  { give_up_at: until }: { give_up_at: number | null },
  now: number,
): number {
  return Number(until ?? 0) + deps.limits.partnerLagMs - now;
}

/** Most custom field values per request (section 4.5). */
export const MOST_VALUES = 100;

/** Writes custom field values in as many requests as they need, as `noted` does. */
export async function notedValues(
  context: Parameters<typeof noted>[0] & Pick<PushContext, 'connection'>,
  writes: readonly NewWrite[],
  values: readonly CustomFieldValueInput[],
): Promise<void> {
  await noted(context, writes, async () => {
    const { partner } = context.connection;
    for (const body of batchesOf(values, MOST_VALUES))
      for (const one of await writeValues(partner, body)) await writeValues(partner, [one]);
  });
}

export const SUPERSEDED = 'RUN_SUPERSEDED';

/** Whether the other side blames the values that were sent, or passes over one of them. */
export function isOfValues({ action, code }: ConnectorError): boolean {
  return action === 'reject' || code === NOT_LISTED;
}

/** After so many failures in a row, the other side is to blame and not the records. */
const MOST_FAILURES = 3;

export type Failures = ReturnType<typeof createFailures>;

/**
 * Lets a pass go on after a record that fails for a while, so that it stops no other record. `end` throws the first
 * failure, so that the pass is tried again for such records once it is through.
 */
export function createFailures() {
  let first: ConnectorError | undefined;
  let inRow = 0;
  const failures = {
    /**
     * Sends records together; if the whole request is refused or fails, each alone, so that one spoils no others.
     * `refused` takes those that are refused, or passed over, alone.
     */
    async sendApart<One>(
      all: readonly One[],
      send: (some: readonly One[]) => Promise<void>,
      refused: (one: One, error: ConnectorError) => void,
    ): Promise<void> {
      const aloneOf = async (one: One): Promise<void> => {
        try {
          await send([one]);
        } catch (error) {
          if (!isConnectorError(error) || !isOfValues(error)) throw error;
          refused(one, error);
        }
      };
      try {
        if (all.length > 0) await send(all);
      } catch (error) {
        if (!isConnectorError(error) || (!isOfValues(error) && error.action !== 'retry')) throw error;
        for (const one of all) await failures.tryOne(() => aloneOf(one));
      }
    },
    async tryOne<T>(work: () => Promise<T>): Promise<{ done: T } | { failed: ConnectorError }> {
      try {
        const done = await work();
        inRow = 0;
        return { done };
      } catch (error) {
        if (!isConnectorError(error) || error.code === SUPERSEDED) throw error;
        if (error.action !== 'retry' && error.action !== 'unknown') throw error;
        first ??= error;
        inRow += 1;
        if (inRow === MOST_FAILURES) throw error;
        return { failed: error };
      }
    },
    end(): void {
      if (first !== undefined) throw first;
    },
  };
  return failures;
}

/** Shows that the run is alive. @throws ConnectorError RUN_SUPERSEDED */
export async function assertOurs({ deps, key, runId }: OwnRun & Pick<PushContext, 'deps'>): Promise<void> {
  if (await touchRun(deps.store, key, runId)) return;
  throw new ConnectorError({
    code: SUPERSEDED,
    action: 'retry',
    message: `Another run of ${key.tenantId} ${key.stream} took over. This one writes nothing more.`,
  });
}

// Shared by streams that continue each hire once it has ended.

/** Most hints per pass; the next pass takes the rest. */
export const MOST_HINTS = 500;
/** Work for a hire that ended longer ago, and was not begun, is found only by a pass with `full`, ms. */
const ENDED_WITHIN_MS = 30 * 86_400_000;

/** Which hires a pass looks at. */
export interface Due {
  tenantId: string;
  connection: string;
  againAfterMs: number;
  endedWithinMs: number | undefined;
  /** Always due. */
  hinted: readonly string[];
}

/**
 * Hires that hints name, that have ended a while ago, or that were not looked at for as long as the stream says. Each
 * is read again before its turn, because a person may have been erased since the page was read.
 */
export async function* hiresDue(
  { deps, connection: { tenant }, key, full }: PushContext,
  hints: readonly Hint[],
  hinted: readonly string[],
  read: (due: Due, after: HireRow | undefined) => Promise<HireRow[]>,
): AsyncGenerator<HireRow> {
  const isWhole = full || hints.some(({ recordId }) => recordId === WHOLE_LIST);
  const due = {
    tenantId: key.tenantId,
    connection: tenant.hris.connection,
    againAfterMs: isWhole ? 0 : tenant.streams[key.stream as PushName].wholeWithin,
    endedWithinMs: full ? undefined : ENDED_WITHIN_MS,
    hinted,
  };
  for (let after: HireRow | undefined; ; ) {
    const hires = await read(due, after);
    for (const { job_candidate_id: jobCandidateId, period } of hires) {
      const hire = await findHireRow(deps.store, { tenantId: key.tenantId, jobCandidateId, period });
      if (hire !== undefined) yield hire;
    }
    after = hires.at(-1);
    if (after === undefined) return;
  }
}

// Shared by streams that do something for people because a rule names them.

/**
 * Stops the run if too many people are affected: a new rule, or one that suddenly matches many, may include people by
 * mistake. A person must look first.
 * @throws ConnectorError with `code`
 */
export async function assertFew(
  { deps, key }: PushContext,
  { fresh, most, code, message }: { fresh: number; most: number; code: string; message: string },
): Promise<void> {
  if (fresh <= most) return;
  const state = await readStreamState(deps.store, key);
  await stopAt({ deps, key, state }, { code, message }, fresh);
}

/** While the partner is out of credits, one request finds out whether there are some again. */
export interface Credits {
  isOut: boolean;
  mayTry: boolean;
}

/**
 * Whether a hold says that the partner has no credits; if so, whether it is time to try one request, as for onboarding
 * credits.
 */
export async function creditsOf(
  { deps, connection, key }: PushContext,
  { code, table }: { code: string; table: Parameters<typeof lastRefusal>[1] },
): Promise<Credits> {
  if (!(await tenantsHeldLike(deps.store, code)).has(key.tenantId)) return { isOut: false, mayTry: true };
  const last = await lastRefusal(deps.store, table, key.tenantId, code);
  const { canaryEvery } = connection.tenant.policies.credits;
  return { isOut: true, mayTry: last === null || (await readClock(deps.store)) >= last + canaryEvery };
}
