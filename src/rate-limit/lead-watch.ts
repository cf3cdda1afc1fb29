import type { ChangeRateLimit } from './lease-permits.ts';

/** Learns that live requests of another process went first: this one's permits move back. */
export interface LeadWatch {
  /** Whether bulk may go on; where nobody looked lately, a look begins. */
  isFresh(): boolean;
  isLooking(): boolean;
  /** What an exchange with the shared rate limit said; see `SavedLeads`. */
  saw(movedMs: number): void;
  /** Resolves when no look is under way. */
  end(): Promise<void>;
}

const LOOK_MS = 25;

/** Calls `onMoved` with what was moved since it was last seen, and `onLooked` after each look. */
export function createLeadWatch(
  changeRateLimit: ChangeRateLimit,
  { onMoved, onLooked }: { onMoved: (ms: number) => void; onLooked: () => void },
): LeadWatch {
  let known = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  function saw(movedMs: number): void {
    onMoved(movedMs - known);
    known = movedMs;
    seenAt = performance.now();
  }
  async function look(): Promise<void> {
    // An outage is noticed, and told of, where permits are asked for.
    const moved = await changeRateLimit((saved) => ({ result: saved.leads?.movedMs })).catch(() => undefined);
    looking = undefined;
    saw(moved ?? known);
    onLooked();
  }
  return {
    isFresh() {
      if (seenAt > performance.now() - LOOK_MS) return true;
      looking ??= look();
      return false;
    },
    isLooking: () => looking !== undefined,
    saw,
    end: async () => await looking,
  };
}
