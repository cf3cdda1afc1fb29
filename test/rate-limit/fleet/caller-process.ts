import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../src/log.ts';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { unlimited } from '../../../src/rate-limit/rate-limit.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { openRateLimit } from '../../../src/store/rate-limits.ts';

export interface CallerOrder {
  storeUrl: string;
  tenants: readonly CallerTenant[];
}

export interface CallerTenant {
  tenantId: string;
  baseUrl: string;
  apiKey: string;
  /** Calls that always wait in the bulk priority. */
  backlog: number;
  /** A live call every so many ms; none where absent. */
  liveEveryMs?: number | undefined;
  /** Asks no rate limit: what a client at this many calls at once reaches. */
  isUnlimited?: boolean | undefined;
}

/** One call, times in epoch ms by a clock that nobody sets: asked for, sent, answered. */
export interface CallSeen {
  tenantId: string;
  priority: 'live' | 'bulk';
  askedAt: number;
  sentAt: number;
  endedAt: number;
  limited: boolean;
  /** What a 429 asked for. */
  retryAfterMs: number;
}

interface Calling {
  tenantId: string;
  partner: PartnerClient;
  seen: CallSeen[];
  stop: AbortSignal;
}

/** One client process. Tells how many calls ended when asked, and what it saw when it is told to stop. */
async function main(): Promise<void> {
  const [order] = (await once(process, 'message')) as [CallerOrder];
  const store = await openStore(order.storeUrl, { relaxed: true, poolSize: 2 });
  const stop = new AbortController();
  const seen: CallSeen[] = [];
  const opened = order.tenants.map((tenant) => {
    const { tenantId, baseUrl, apiKey, backlog, isUnlimited = false } = tenant;
    const rateLimit = openRateLimit(store, { tenantId, upstream: 'partner' }, createLogger('command'));
    const partner = createPartnerClient({
      baseUrl,
      apiKey,
      environment: 'sandbox',
      allowPrivate: true,
      rateLimit: isUnlimited ? unlimited : rateLimit,
      concurrency: backlog + 4,
    });
    const loops = callAll(tenant, { tenantId, partner, seen, stop: stop.signal });
    return { rateLimit, partner, loops };
  });
  process.send?.('calling');
  while ((await once(process, 'message'))[0] === 'count') process.send?.(seen.length);
  stop.abort();
  await Promise.all(opened.flatMap(({ loops }) => loops));
  await Promise.all(opened.map(({ rateLimit }) => rateLimit.close()));
  await Promise.all(opened.map(({ partner }) => partner.close()));
  await store.close();
  process.send?.(seen, () => process.disconnect());
}

function callAll({ backlog, liveEveryMs }: CallerTenant, calling: Calling): Promise<void>[] {
  const loops = Array.from({ length: backlog }, () => callOn(calling));
  if (liveEveryMs !== undefined) loops.push(callNowAndThen(calling, liveEveryMs));
  return loops;
}

async function callOn(calling: Calling): Promise<void> {
  while (!calling.stop.aborted) await callOnce(calling, 'bulk');
}

async function callNowAndThen(calling: Calling, everyMs: number): Promise<void> {
  const calls: Promise<void>[] = [];
  while (!calling.stop.aborted) {
    calls.push(callOnce(calling, 'live'));
    await pause(everyMs * (0.5 + Math.random()), undefined, { signal: calling.stop }).catch(() => undefined);
  }
  await Promise.all(calls);
}

async function callOnce({ tenantId, partner, seen, stop }: Calling, priority: CallSeen['priority']): Promise<void> {
  const askedAt = steadyNow();
  let sentAt = Number.NaN;
  const refused = await partner.jobs
    .list({ query: { perPage: 10 } }, { priority, signal: stop, beforeSend: () => void (sentAt = steadyNow()) })
    .then(
      () => undefined,
      (error: { status?: number; retryAfterMs?: number }) => error,
    );
  if (Number.isNaN(sentAt)) return;
  const limited = refused?.status === 429;
  const retryAfterMs = refused?.retryAfterMs ?? 0;
  seen.push({ tenantId, priority, askedAt, sentAt, endedAt: steadyNow(), limited, retryAfterMs });
}

function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

await main();
