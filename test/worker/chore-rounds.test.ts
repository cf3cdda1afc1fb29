import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { createRootLogger } from '../../src/log.ts';
import { answerHold, openHold } from '../../src/store/holds.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { startChores } from '../../src/worker/chores.ts';
import { createChoreRunner } from '../../src/worker/run-chores.ts';
import { sqliteStore } from '../store/stores.ts';

test('no round of chores begins before the last one has ended', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await sqliteStore();
  let rounds = 0;
  const tenants = () => {
    rounds += 1;
    return [];
  };
  const deps = { store, log: createRootLogger(undefined, 'silent') } as unknown as ActivityDeps;
  const chores = startChores(deps, tenants, 1_000);
  // Nothing that a round awaits is answered while only this clock moves.
  vi.advanceTimersByTime(5_000);
  expect(rounds).toBe(1);
  while (rounds === 1) {
    await setImmediate();
    vi.advanceTimersByTime(1_000);
  }
  expect(rounds).toBe(2);
  await chores.close();
});

test('an answer that Temporal does not take delays no round', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await sqliteStore();
  const asked = {
    tenantId: 'acme',
    jobCandidateId: '1',
    period: 1,
    code: 'MAPPING_INCOMPLETE',
    message: 'Fill it in.',
  };
  const { holdId } = await openHold(store, { ...asked, answers: ['retry'] });
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ann' });
  await store.kysely.updateTable('holds').set({ answered_at: 1 }).execute();
  let [signals, rounds] = [0, 0];
  const signalHire = () => {
    signals += 1;
    return new Promise<never>(() => undefined);
  };
  const tenants = () => {
    rounds += 1;
    return [];
  };
  const log = createRootLogger(undefined, 'silent');
  const deps = { store, signalHire, pausedHris: new Set(), log } as unknown as ActivityDeps;
  const chores = startChores(deps, tenants, 1_000);
  await vi.waitFor(() => {
    vi.advanceTimersByTime(1_000);
    expect([signals, rounds]).toEqual([1, expect.toSatisfy((count: number) => count > 3)]);
  });
  await chores.close();
});

test('a tenant’s chore that hangs is not begun again', async () => {
  const { signal: stop } = new AbortController();
  const log = createRootLogger(undefined, 'silent');
  const runner = createChoreRunner({ log, everyMs: 1_000, stop, fingerprintOf: () => 'the same' });
  let begun = 0;
  const hangs = () => {
    begun += 1;
    return new Promise<never>(() => undefined);
  };
  for (const _round of [1, 2, 3]) {
    runner.begin('notify', hangs, { tenant: 'acme' } as Tenant);
    await setImmediate();
  }
  expect(begun).toBe(1);
});
