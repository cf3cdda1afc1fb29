import { type ChangeRateLimit, validFromOf } from './lease-permits.ts';
import type { StoreClock } from './store-clock.ts';

/** Learns before the next exchange that another process met the limit, or that live requests of its went first. */
export interface LeadWatch {
  /** Whether bulk may go on; a look begins in the background before what was seen grows stale. */
  mayGo(): boolean;
  /** Nothing may go before the look that is under way returns. */
  isAwaited(): boolean;
  /** What an exchange with the shared rate limit said; see `SavedLeads`. */
  saw(said: { movedMs: number; sharers: number }): void;
  /** Resolves when no look is under way. */
  end(): Promise<void>;
}

const LOOK_MS = 25;
/** What was seen holds for so many looks: bulk goes on meanwhile, however slow the store. */
const LOOKS = 4;
/** Whoever met no other process for so long does not look: most run alone, and hires may be far apart. */
const ALONE_MS = 3_600_000;

export interface LeadWatchOptions {
  storeClock: StoreClock;
  /** By so much since it was last seen, ms. */
  onMoved: (ms: number) => void;
  /** After each look. Permits for before this moment of the own clock are void. */
  onLooked: (validFrom: number) => void;
}

export function createLeadWatch(
  changeRateLimit: ChangeRateLimit,
  { storeClock, onMoved, onLooked }: LeadWatchOptions,
): LeadWatch {
  let known = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  let lookMs = 0;
  let othersAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  function note(movedMs: number): void {
    onMoved(movedMs - known);
    // A look and an exchange overlap: what was read first may come last.
    known = Math.max(known, movedMs);
    seenAt = performance.now();
  }
  const ageMs = (): number => performance.now() - seenAt;
  const isStale = (): boolean => ageMs() > Math.max(LOOK_MS, LOOKS * lookMs);
  async function look(): Promise<void> {
    const began = performance.now();
    // An outage is noticed, and told of, where permits are asked for.
    const seen = await changeRateLimit(({ leads, underWay }, now) => {
      const validFrom = validFromOf(underWay, now, now - storeClock.ownTimeOf(now));
      return { result: { movedMs: leads?.movedMs ?? known, validFrom } };
    }).catch(() => ({ movedMs: known, validFrom: 0 }));
    looking = undefined;
    lookMs = performance.now() - began;
    note(seen.movedMs);
    onLooked(seen.validFrom);
  }
  return {
    mayGo() {
      if (performance.now() - othersAt > ALONE_MS) return true;
      if (ageMs() > LOOK_MS) looking ??= look();
      return !isStale();
    },
    isAwaited: () => looking !== undefined && isStale(),
    saw({ movedMs, sharers }) {
      note(movedMs);
      if (sharers > 1) othersAt = seenAt;
    },
    end: async () => await looking,
  };
}
