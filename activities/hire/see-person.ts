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

export async function seePerson(store: Store, connection: Connection, jobCandidateId: string): Promise<Seen> {
  const sinceRead = startClock();
  const presence = await readPresence(store, connection, jobCandidateId, hiringStagesOf(connection.tenant));
  return { presence, sinceRead };
}
