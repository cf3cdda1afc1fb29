import { decide } from '../../src/hire/answers.ts';
import type { Decisions } from '../../src/hire/decisions.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { Held, refusalAnswers } from '../../src/hire/holds.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { type HireChange, readHireRow, updateHire } from '../../src/store/hires.ts';
import { answersOf } from '../../src/store/holds.ts';
import { latestIntent, type OpenIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guarded, guardedOrHeld } from '../guarded.ts';
import { CREATE_VERB } from './verbs.ts';

/** One hire at work: the tenant's two ends, and what the store held of the hire when it was read. */
export interface HireContext {
  deps: ActivityDeps;
  store: Store;
  connection: Connection;
  ref: HireRef;
  row: HireRow;
  /** Every answer given in this period, oldest first: read each time, so that they outlive every workflow. */
  answers: Awaited<ReturnType<typeof answersOf>>;
  decisions: Decisions;
  /** By which the person was mapped, where it is not the one in force. */
  mapping?: Mapping;
  /** The newest attempt at making the employee. */
  creation: OpenIntent | undefined;
}

/**
 * The HR system that this hire's employee is in, where the tenant has another one by now: the id means somebody else
 * there, so nothing is read or written by it.
 */
export function formerHris({ connection, row }: Pick<HireContext, 'connection' | 'row'>): string | undefined {
  if (row.employee_id === null || row.connection === null) return undefined;
  return row.connection === connection.tenant.hris.connection ? undefined : row.connection;
}

/** Runs one activity of a hire; see `guarded`. */
export function withHire<T>(deps: ActivityDeps, ref: HireRef, work: (hire: HireContext) => Promise<T>): Promise<T> {
  return guarded(deps, ref.tenantId, async (connection) => work(await read(deps, connection, ref)));
}

/** The same, and a refusal that only a person can cure becomes a hold. */
export function withHireOrHeld<T>(
  deps: ActivityDeps,
  ref: HireRef,
  work: (hire: HireContext) => Promise<T>,
  when?: keyof typeof refusalAnswers,
): Promise<T | Held> {
  return guardedOrHeld(deps, ref.tenantId, async (connection) => work(await read(deps, connection, ref)), when);
}

/** Notes where an open hire stands, unless its row showed that when it was read: each write waits for a disk. */
export async function noteHire({ store, ref, row }: HireContext, change: HireChange): Promise<void> {
  const shown: HireChange = row;
  const differs = (Object.keys(change) as (keyof HireChange)[]).some((key) => change[key] !== shown[key]);
  if (differs) await updateHire(store, ref, change);
}

/** The hire as the store holds it now: asked again before what cannot be undone. */
export function reread({
  deps,
  connection,
  ref,
}: Pick<HireContext, 'deps' | 'connection' | 'ref'>): Promise<HireContext> {
  return read(deps, connection, ref);
}

async function read(deps: ActivityDeps, connection: Connection, given: HireRef): Promise<HireContext> {
  const { store } = deps;
  const { tenantId, jobCandidateId, period } = given;
  const ref = { tenantId, jobCandidateId, period };
  const [row, answers, creation] = await Promise.all([
    readHireRow(store, ref),
    answersOf(store, ref),
    latestIntent(store, ref, CREATE_VERB),
  ]);
  return { deps, store, connection, ref, row, answers, decisions: decide(answers), creation };
}
