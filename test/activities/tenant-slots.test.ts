import { expect, test } from 'vitest';
import { createTenantSlots } from '../../activities/tenant-slots.ts';
import { isConnectorError } from '../../src/errors.ts';

/** Slots over a clock of our own. */
function slotsOf(count: number) {
  const clock = { now: 0 };
  return { clock, slots: createTenantSlots(count, () => clock.now) };
}

function fill(
  slots: ReturnType<typeof createTenantSlots>,
  tenantId: string,
): { taken: (() => void)[]; waitMs: number } {
  const taken: (() => void)[] = [];
  for (;;) {
    try {
      taken.push(slots.enter(tenantId));
    } catch (error) {
      if (!isConnectorError(error, 'SLOTS_TAKEN')) throw error;
      return { taken, waitMs: error.retryAfterMs ?? 0 };
    }
  }
}

test('each tenant gets at most half of what the others left, and there is always some for the next', () => {
  const { slots } = slotsOf(50);
  const counts = ['a', 'b', 'c', 'd', 'e'].map((tenantId) => fill(slots, tenantId).taken.length);
  expect(counts).toEqual([25, 12, 6, 3, 2]);
});

test('a slot given back is free again', () => {
  const { slots } = slotsOf(4);
  const { taken } = fill(slots, 'a');
  taken[0]?.();
  expect(fill(slots, 'a').taken).toHaveLength(1);
});

test('those beyond the share are told to come back one behind the other, as fast as slots usually free', () => {
  const { clock, slots } = slotsOf(4);
  const leave = slots.enter('a');
  clock.now = 8_200;
  // One activity took 8.2 s: the guess of 0.2 s moves an eighth of the way.
  leave();
  const waits = [fill(slots, 'a').waitMs, fill(slots, 'a').waitMs, fill(slots, 'a').waitMs];
  expect(waits).toEqual([600, 1_200, 1_800]);
});
