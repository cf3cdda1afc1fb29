import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { createLease } from '../../src/store/processes.ts';
import { freshStore, kinds } from './stores.ts';

describe.each(kinds)('leases on %s', (kind) => {
  test('one process at a time has a lease, and another takes over when it says nothing for long enough', async () => {
    const { store, other } = await freshStore(kind);
    const [one, two] = [createLease(store, 'chores'), createLease(other, 'chores')];
    expect([await one.take(60_000), await two.take(60_000), await one.take(60_000)]).toEqual([true, false, true]);
    expect(await createLease(other, 'schedules').take(60_000)).toBe(true);
    await store.kysely.updateTable('leases').set({ leased_until: 1 }).execute();
    expect([await two.take(60_000), await one.take(60_000)]).toEqual([true, false]);
    await one.end();
    expect(await one.take(60_000)).toBe(false);
    await two.end();
    expect(await one.take(60_000)).toBe(true);
  });

  test('a lease of a dead process is not waited for once the clock was set back by hours', async () => {
    const { store, other } = await freshStore(kind);
    expect(await createLease(store, 'chores').take(60_000)).toBe(true);
    const hours = { leased_until: sql<number>`leased_until + 28800000` };
    await store.kysely.updateTable('leases').set(hours).execute();
    expect(await createLease(other, 'chores').take(60_000)).toBe(true);
    expect(await createLease(store, 'chores').take(60_000)).toBe(false);
  });

  test('of many processes that ask at once one has it', async () => {
    const { store, other } = await freshStore(kind);
    const leases = Array.from({ length: 8 }, (_, n) => createLease(n % 2 === 0 ? store : other, 'chores'));
    const taken = await Promise.all(leases.map((lease) => lease.take(60_000)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });
});
