import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { within } from '../within.ts';
import type { Store } from './open-store.ts';

/**
 * chores: timed work for the whole fleet. schedules: maintains Temporal's schedules. events: sends a tenant's events.
 * erasures: carries out a tenant's erasures, one at a time. news: asks HR systems whose records were edited.
 */
export type LeaseName = 'chores' | 'schedules' | 'news' | `erasures ${string}` | `events ${string}`;

export interface Lease {
  /** Whether this process has the lease, for `forMs` unless it takes it again. */
  take(forMs: number): Promise<boolean>;
  /** Releases the lease, so that another process can take it at once. */
  end(): Promise<void>;
  /** Releases the lease at a process's end, within `mostMs`: a lease that cannot be released expires by itself. */
  leave(mostMs: number): Promise<void>;
}

/** A lease on work that one process does for the whole fleet. Its holder keeps it as long as it renews it in time. */
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
