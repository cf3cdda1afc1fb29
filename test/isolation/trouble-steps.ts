import { setTimeout } from 'node:timers/promises';
import { openHold } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { FaultProxy } from '../harness/fault-proxy.ts';
import { NEIGHBOUR, type Neighbour } from './neighbour.ts';
import type { NeighbourHris } from './neighbour-hris.ts';

/** Where a trouble is played. */
export interface Scene {
  neighbour: Neighbour;
  store: Store;
  /** How large the trouble is, from 0 to 1: a slice in CI plays a small one. */
  scale: number;
  /** The HR system of a trouble that asks for one. */
  hris?: NeighbourHris;
  /** Before the address that is told of holds. */
  notified: FaultProxy;
  /** Applies the tenant files as they are in their folder. */
  apply(): Promise<void>;
  /** One verb of `hirebridge tenant` for the tenant in trouble. */
  tenant(verb: 'pause' | 'resume' | 'remove'): Promise<void>;
  /** Starts receiver and worker anew. */
  restart(): Promise<void>;
}

/** People whom the tenant in trouble hires at once. */
export const HIRES = 50;
const ROWS_AT_ONCE = 500;

export async function hireMany({ control, applicants }: Neighbour): Promise<void> {
  const jobCandidateIds = applicants.slice(0, HIRES).map((one) => one.jobCandidateId);
  await control.act('move', { jobCandidateIds, stageType: 'HIRED' });
}

/** Some have been enrolled, the others are on their way. */
export async function untilHiresAreUnderWay(scene: Scene): Promise<void> {
  while ((await countEnrolments(scene)) < HIRES / 10) await setTimeout(50);
}

export async function hireOneMore({ neighbour: { control, applicants } }: Scene): Promise<void> {
  const jobCandidateIds = applicants.slice(HIRES, HIRES + 1).map((one) => one.jobCandidateId);
  await control.act('move', { jobCandidateIds, stageType: 'HIRED' });
}

export async function fillInbox(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n += ROWS_AT_ONCE)
    await store.kysely
      .insertInto('inbox')
      .values(Array.from({ length: Math.min(ROWS_AT_ONCE, count - n) }, (_, i) => waitingRow(store, n + i)))
      .execute();
}

function waitingRow({ now }: Store, n: number) {
  return {
    tenant_id: NEIGHBOUR,
    body_hash: `waiting-${n}`,
    event: 'candidate.updated',
    ids: '{}',
    body: '{}',
    state: 'waiting' as const,
    received_at: now,
    failures: 0,
    due_at: now,
    last_error: null,
    done_at: null,
  };
}

export async function openHolds(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const hire = { tenantId: NEIGHBOUR, jobCandidateId: `${n}`, period: 1 };
    await openHold(store, { ...hire, code: 'TEST', message: 'A test.', answers: ['retry'] });
  }
}

/** As a file that another version wrote, or a hand in the store: it is read again with the next start. */
export async function breakDefinition({ kysely }: Store): Promise<void> {
  const row = await kysely
    .selectFrom('tenants')
    .select('files')
    .where('tenant_id', '=', NEIGHBOUR)
    .executeTakeFirstOrThrow();
  const files = JSON.parse(row.files ?? '{}') as Record<string, string>;
  const broken = Object.fromEntries(Object.keys(files).map((path) => [path, 'tenant: [globex\n  partner: {']));
  await kysely
    .updateTable('tenants')
    .set({ files: JSON.stringify(broken) })
    .where('tenant_id', '=', NEIGHBOUR)
    .execute();
}

export async function hasBaseline({ store }: Scene): Promise<boolean> {
  const row = await store.kysely
    .selectFrom('tenants')
    .select('baseline_done_at')
    .where('tenant_id', '=', NEIGHBOUR)
    .executeTakeFirst();
  // Postgres gives a bigint as text.
  return (row?.baseline_done_at ?? null) !== null;
}

export async function isRelayed({ store }: Scene): Promise<boolean> {
  const waiting = store.kysely.selectFrom('inbox').select('body_hash').where('tenant_id', '=', NEIGHBOUR);
  return (await waiting.where('state', '=', 'waiting').limit(1).execute()).length === 0;
}

export async function areEnrolled(scene: Scene): Promise<boolean> {
  return (await countEnrolments(scene)) >= HIRES;
}

export async function newcomerIsEnrolled(scene: Scene): Promise<boolean> {
  return (await countEnrolments(scene)) >= 1;
}

async function countEnrolments({ neighbour }: Scene): Promise<number> {
  return (await neighbour.control.ledger({ kind: 'effect', name: 'enrolment', limit: 1_000 })).length;
}

export async function areEmployed({ hris }: Scene): Promise<boolean> {
  return (await hris?.countEmployees()) === HIRES;
}

export async function isTold({ store }: Scene): Promise<boolean> {
  const untold = store.kysely.selectFrom('holds').select('hold_id').where('tenant_id', '=', NEIGHBOUR);
  return (await untold.where('notified_at', 'is', null).limit(1).execute()).length === 0;
}

/** Its schedules and workflows have ended. */
export async function isRemoved({ store }: Scene): Promise<boolean> {
  const row = await store.kysely
    .selectFrom('tenants')
    .select('ended_at')
    .where('tenant_id', '=', NEIGHBOUR)
    .executeTakeFirst();
  return (row?.ended_at ?? null) !== null;
}
