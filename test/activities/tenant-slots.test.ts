import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTenantSlots, type TenantSlots } from '../../activities/create-activities.ts';
import { isConnectorError } from '../../src/errors.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Slots over a clock of our own. */
function slotsOf(count: number, isShared = () => true) {
  const clock = { now: 0 };
  return { clock, slots: createTenantSlots(count, isShared, () => clock.now) };
}

interface Entered {
  leave?: () => void;
  /** For one that was sent back: when it may come again. */
  waitMs?: number;
}

/** Enters without waiting for a turn; what became of it stands in the object, now or later. */
async function enter(slots: TenantSlots, tenantId: string): Promise<Entered> {
  const entered: Entered = {};
  void slots.enter(tenantId).then(
    (leave) => (entered.leave = leave),
    (error: unknown) => {
      if (!isConnectorError(error, 'SLOTS_TAKEN')) throw error;
      entered.waitMs = error.retryAfterMs ?? 0;
    },
  );
  await settle();
  return entered;
}

const settle = () => vi.advanceTimersByTimeAsync(0);

/** Enters until one is sent back. */
async function fill(slots: TenantSlots, tenantId: string): Promise<{ inside: Entered[]; waitMs: number }> {
  const inside: Entered[] = [];
  for (;;) {
    const entered = await enter(slots, tenantId);
    if (entered.waitMs !== undefined) return { inside, waitMs: entered.waitMs };
    inside.push(entered);
  }
}

test('each tenant gets at most half of what the others left, and there is always some for the next', async () => {
  const { slots } = slotsOf(50);
  const counts: number[] = [];
  for (const tenantId of ['a', 'b', 'c', 'd', 'e']) counts.push((await fill(slots, tenantId)).inside.length);
  expect(counts).toEqual([25, 12, 6, 3, 2]);
});

test('a slot given back is free again', async () => {
  const { slots } = slotsOf(4);
  const { inside } = await fill(slots, 'a');
  inside[0]?.leave?.();
  expect((await fill(slots, 'a')).inside).toHaveLength(1);
});

test('those beyond the share are told to come back one behind the other, as fast as slots usually free', async () => {
  const { clock, slots } = slotsOf(4);
  const { leave } = await enter(slots, 'a');
  clock.now = 8_200;
  // One activity took 8.2 s: the guess of 0.2 s moves an eighth of the way.
  leave?.();
  const waits = [await fill(slots, 'a'), await fill(slots, 'a'), await fill(slots, 'a')];
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([600, 1_200, 1_800]);
});

test('a few activities of a tenant work at once, the others have their turn in the order of coming', async () => {
  const { slots } = slotsOf(100);
  const { inside } = await fill(slots, 'a');
  const working = () => inside.flatMap(({ leave }, index) => (leave === undefined ? [] : [index]));
  const first = working();
  expect(first.length).toBeLessThan(10);
  inside[0]?.leave?.();
  await settle();
  expect(working()).toEqual([...first, first.length]);
  expect((await enter(slots, 'b')).leave).toBeDefined();
});

test('whoever gets no turn within five seconds goes back, and its slot is free', async () => {
  const { slots } = slotsOf(100);
  const { inside } = await fill(slots, 'a');
  await vi.advanceTimersByTimeAsync(4_999);
  expect(inside.filter(({ waitMs }) => waitMs !== undefined)).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  const sentBack = inside.filter(({ waitMs }) => waitMs !== undefined);
  const working = inside.filter(({ leave }) => leave !== undefined);
  expect(sentBack).toHaveLength(inside.length - working.length);
  for (const { leave } of working) leave?.();
  expect((await fill(slots, 'a')).inside).toHaveLength(50);
});

test('many activities of the only tenant work at once, and few again once another comes', async () => {
  let isShared = false;
  const { slots } = slotsOf(200, () => isShared);
  const first = await Promise.all(Array.from({ length: 40 }, () => enter(slots, 'acme')));
  const working = (): Entered[] => first.filter(({ leave }) => leave !== undefined);
  expect(working()).toHaveLength(32);
  isShared = true;
  for (const { leave } of working()) leave?.();
  await settle();
  expect(working()).toHaveLength(36);
});
