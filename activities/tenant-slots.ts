import { ConnectorError } from '../src/errors.ts';

/** A worker's activity slots, shared by its tenants. */
export interface TenantSlots {
  /** Takes a slot and returns how to give it back. Throws SLOTS_TAKEN, with the time to come back, beyond the share. */
  enter(tenantId: string): () => void;
}

interface Holder {
  running: number;
  /** What this tenant's activities take, smoothed, ms. */
  usualMs: number;
  /** When a slot will be free for whoever comes next. */
  freeAt: number;
}

const FIRST_GUESS_MS = 200;
const LONGEST_WAIT_MS = 60_000;

/**
 * A tenant takes at most half of the slots that the others leave, so that one tenant's worst day never takes the last.
 * Whoever comes beyond its share is told when its tenant will have a slot, and does not wait in one.
 */
export function createTenantSlots(slots: number, now: () => number = () => performance.now()): TenantSlots {
  const holders = new Map<string, Holder>();
  const taken = (): number => [...holders.values()].reduce((sum, { running }) => sum + running, 0);

  function leave(holder: Holder, tookMs: number): void {
    holder.running -= 1;
    holder.usualMs += (tookMs - holder.usualMs) / 8;
  }

  return {
    enter(tenantId) {
      const holder = holders.get(tenantId) ?? { running: 0, usualMs: FIRST_GUESS_MS, freeAt: 0 };
      holders.set(tenantId, holder);
      const share = Math.max(1, Math.floor((slots - (taken() - holder.running)) / 2));
      const at = now();
      if (holder.running >= share) {
        // One behind the other, or all of them would be back at once.
        const nextAt = Math.max(at, holder.freeAt) + holder.usualMs / share;
        holder.freeAt = Math.min(nextAt, at + LONGEST_WAIT_MS);
        throw slotsTaken(tenantId, holder.freeAt - at);
      }
      holder.running += 1;
      return () => leave(holder, now() - at);
    },
  };
}

function slotsTaken(tenantId: string, waitMs: number): ConnectorError {
  return new ConnectorError({
    code: 'SLOTS_TAKEN',
    action: 'throttle',
    message: `Tenant ${tenantId} uses its share of this worker. The activity goes on when one of its own has ended.`,
    retryAfterMs: Math.max(100, Math.ceil(waitMs)),
  });
}
