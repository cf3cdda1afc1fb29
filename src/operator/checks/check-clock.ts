import { type RateLimitKeeper, unlimited } from '../../rate-limit/rate-limit.ts';
import type { Store } from '../../store/open-store.ts';
import { readClock } from '../../store/tenant-states.ts';
import type { Found } from './check-line.ts';

/** A second is what the header shows; a little more is no trouble. */
const MOST_SKEW_MS = 5_000;

/** How far the partner's clock is from this machine's, by the answers of one client; 0 while none told. */
export function watchClock(): { rateLimit: RateLimitKeeper; skewMs: () => number } {
  let skewMs = 0;
  return {
    rateLimit: {
      ...unlimited,
      answered: ({ sentAt, headers }) => {
        const shown = Date.parse(String(headers?.['date']));
        if (!Number.isNaN(shown)) skewMs = outside(shown, sentAt - 1_000, Date.now());
      },
    },
    skewMs: () => skewMs,
  };
}

/** The partner's clock and the store's against this machine's. */
export async function checkClock(partnerSkewMs: number, store: Store | undefined): Promise<Found> {
  const before = Date.now();
  const storeSkewMs = store === undefined ? 0 : outside(await readClock(store), before, Date.now());
  const skews = { partner: partnerSkewMs, store: storeSkewMs };
  const far = Object.entries(skews).filter(([, ms]) => Math.abs(ms) > MOST_SKEW_MS);
  if (far.length === 0)
    return { state: 'ok', message: 'This machine, the store and the partner agree about the time.' };
  const told = far.map(
    ([whose, ms]) => `${Math.round(Math.abs(ms) / 1000)} s ${ms > 0 ? 'behind' : 'ahead of'} ${whose}`,
  );
  const message = `This machine's clock is ${told.join(' and ')}. Set it by NTP: logs and digests carry its time.`;
  return { state: 'warn', message };
}

/** How far a time lies outside a span; 0 within it. */
function outside(time: number, from: number, to: number): number {
  return time < from ? time - from : Math.max(0, time - to);
}
