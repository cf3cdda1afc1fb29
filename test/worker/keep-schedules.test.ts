import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type KeeperParts, keepSchedules } from '../../src/worker/keep-schedules.ts';
import { sqliteStore } from '../store/stores.ts';

/** A Temporal whose list of schedules fails so many times before it is empty. */
async function keeperParts(failures: number): Promise<{ parts: KeeperParts; asked: () => number }> {
  const store = await sqliteStore();
  let asked = 0;
  const list = (): never[] => {
    asked += 1;
    if (asked <= failures) throw new Error('Failed to list schedules');
    return [];
  };
  const parts = {
    hires: { client: { schedule: { list } }, installationId: 'hb' },
    store,
    tenants: { all: () => [], leaving: () => [], unreadable: () => [], isPaused: () => false },
    refresh: async () => undefined,
    log: pino({ level: 'silent' }),
  } as unknown as KeeperParts;
  return { parts, asked: () => asked };
}

test('a worker that starts while Temporal fails twice compares schedules and goes on', async () => {
  const { parts, asked } = await keeperParts(2);
  const keeper = await keepSchedules(parts);
  expect(asked()).toBe(3);
  await keeper.close();
});

test('of two workers one compares schedules, and the other does once that one has ended', async () => {
  const { parts, asked } = await keeperParts(0);
  const other = await keeperParts(0);
  const first = await keepSchedules({ ...parts, everyMs: 10 });
  const second = await keepSchedules({ ...other.parts, store: parts.store, everyMs: 10 });
  onTestFinished(() => second.close());
  await expect.poll(asked).toBeGreaterThan(3);
  expect(other.asked()).toBe(0);
  await first.close();
  await expect.poll(other.asked).toBeGreaterThan(0);
});
