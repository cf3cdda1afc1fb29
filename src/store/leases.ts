import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { within } from '../within.ts';
import type { Store } from './open-store.ts';

/**
 * chores: what is done for the whole fleet on a timer. schedules: the server's schedules are kept. events: a tenant's
 * events are told. erasures: a tenant's erasures are carried out, one at a time. news: HR systems are asked who was
 * edited there.
 */
export type LeaseName = 'chores' | 'schedules' | 'news' | `erasures ${string}` | `events ${string}`;

export interface Lease {
  /** Whether this process does it from now on, for so long unless it asks again. */
  take(forMs: number): Promise<boolean>;
  /** Another may do it at once. */
  end(): Promise<void>;
  /** The same where a process ends, in so long at most: what cannot be written ends by itself. */
  leave(mostMs: number): Promise<void>;
}

/** What one process of the fleet does for all: whoever holds it keeps it as long as it asks in time. */
export function createLease({ kysely, now }: Store, name: LeaseName): Lease {
  const holder = randomUUID();
  const end = async (): Promise<void> => {
    await kysely.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
  };
  return {
    async take(forMs) {
      const taken = await kysely
        .insertInto('leases')
        .values({ name, holder, leased_until: sql<number>`${now} + ${sql.lit(forMs)}` })
        .onConflict((c) =>
          c
            .column('name')
            .doUpdateSet((eb) => ({ holder, leased_until: eb.ref('excluded.leased_until') }))
            .where((eb) => eb.or([eb('leases.holder', '=', holder), eb('leases.leased_until', '<=', now)])),
        )
        .returning('name')
        .executeTakeFirst();
      return taken !== undefined;
    },
    end,
    async leave(mostMs) {
      await within(
        mostMs,
        end().catch(() => undefined),
      );
    },
  };
}
