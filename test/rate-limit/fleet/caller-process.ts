import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import type { SharedRateLimitState } from '../../../src/rate-limit/lease-permits.ts';
import { createSharedRateLimit } from '../../../src/rate-limit/shared-rate-limit.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { changeRateLimit } from '../../../src/store/rate-limits.ts';

export interface CallerOrder {
  storeUrl: string;
  baseUrl: string;
  apiKey: string;
  /** Calls that always wait in the bulk priority. */
  backlog: number;
  /** A live call every so many ms; none where absent. */
  liveEveryMs?: number;
}

/** One call, times in epoch ms: asked for, sent, answered. */
export interface CallSeen {
  priority: 'live' | 'bulk';
  askedAt: number;
  sentAt: number;
  endedAt: number;
  limited: boolean;
  /** What a 429 asked for. */
  retryAfterMs: number;
}

/** One client process with a saturated bulk priority. Ends with the message that it shall, and tells what it saw. */
async function main(): Promise<void> {
  const [order] = (await once(process, 'message')) as [CallerOrder];
  const store = await openStore(order.storeUrl, { relaxed: true });
  const rateLimit = createSharedRateLimit((change) =>
    changeRateLimit(store, { tenantId: 'acme', upstream: 'partner' }, (saved, now) =>
      change((saved ?? {}) as Partial<SharedRateLimitState>, now),
    ),
  );
  const { baseUrl, apiKey, backlog } = order;
  const concurrency = backlog + 4;
  const partner = createPartnerClient({
    baseUrl,
    apiKey,
    environment: 'sandbox',
    allowPrivate: true,
    rateLimit,
    concurrency,
  });
  const seen: CallSeen[] = [];
  const stop = new AbortController();
  const loops = Array.from({ length: backlog }, () => callOn(partner, 'bulk', seen, stop.signal));
  if (order.liveEveryMs !== undefined) loops.push(callNowAndThen(partner, order.liveEveryMs, seen, stop.signal));
  process.send?.('calling');
  await once(process, 'message');
  stop.abort();
  await Promise.all(loops);
  await rateLimit.close();
  await partner.close();
  await store.close();
  process.send?.(seen, () => process.disconnect());
}

async function callOn(partner: PartnerClient, priority: CallSeen['priority'], seen: CallSeen[], stop: AbortSignal) {
  while (!stop.aborted) await callOnce(partner, priority, seen, stop);
}

async function callNowAndThen(partner: PartnerClient, everyMs: number, seen: CallSeen[], stop: AbortSignal) {
  const calls: Promise<void>[] = [];
  while (!stop.aborted) {
    calls.push(callOnce(partner, 'live', seen, stop));
    await pause(everyMs * (0.5 + Math.random()), undefined, { signal: stop }).catch(() => undefined);
  }
  await Promise.all(calls);
}

async function callOnce(partner: PartnerClient, priority: CallSeen['priority'], seen: CallSeen[], signal: AbortSignal) {
  const askedAt = Date.now();
  let sentAt = Number.NaN;
  const refused = await partner.jobs
    .list({ query: { perPage: 10 } }, { priority, signal, beforeSend: () => void (sentAt = Date.now()) })
    .then(
      () => undefined,
      (error: { status?: number; retryAfterMs?: number }) => error,
    );
  if (Number.isNaN(sentAt)) return;
  const limited = refused?.status === 429;
  seen.push({ priority, askedAt, sentAt, endedAt: Date.now(), limited, retryAfterMs: refused?.retryAfterMs ?? 0 });
}

await main();
