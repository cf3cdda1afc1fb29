import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { Store } from '../../src/store/open-store.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import type { Connection } from '../connections.ts';
import { type Presence, readPresence } from '../presence/read-presence.ts';
import { type Elapsed, startClock } from './write-once.ts';

/** Whether a person is in a hiring stage, and the time since the reading began. */
export interface Seen {
  presence: Presence;
  sinceRead: Elapsed;
}

export async function seePerson(
  store: Store,
  connection: Connection,
  jobCandidateId: string,
  stages: readonly string[] = hiringStagesOf(connection.tenant),
): Promise<Seen> {
  const sinceRead = startClock();
  const presence = await readPresence(store, connection, jobCandidateId, stages);
  return { presence, sinceRead };
}

/** A reading serves the next activity of its hire for so long: much less than what is read may count before a write. */
const KEPT_MS = 10_000;
/** By open connection and hire: whoever was seen as their hire was opened. */
const opened = new WeakMap<Connection, Map<string, Seen>>();

/** Keeps what the opening read for the step after it, where that would read the same in the next moment. */
export function keepSeen(connection: Connection, ref: HireRef, seen: Seen): void {
  const { onboarding, createAt } = connection.tenant.policies;
  const stages = hiringStagesOf(connection.tenant);
  if (onboarding !== 'skip' || !stages.every((stage) => createAt.includes(stage))) return;
  const kept = opened.get(connection) ?? new Map<string, Seen>();
  opened.set(connection, kept);
  const key = keyOf(ref);
  kept.set(key, seen);
  const forget = (): void => void (kept.get(key) === seen && kept.delete(key));
  setTimeout(forget, KEPT_MS).unref();
}

/** What the opening read a moment ago, once: a further attempt reads anew. */
export function takeSeen(connection: Connection, ref: HireRef): Seen | undefined {
  const kept = opened.get(connection);
  const seen = kept?.get(keyOf(ref));
  kept?.delete(keyOf(ref));
  return seen !== undefined && seen.sinceRead() <= KEPT_MS ? seen : undefined;
}

function keyOf({ jobCandidateId, period }: HireRef): string {
  return `${jobCandidateId} ${period}`;
}
