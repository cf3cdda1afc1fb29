import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SharedRateLimitState } from '../../../src/rate-limit/lease-permits.ts';
import { createControlClient } from '../../../src/sandbox/control/client.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { changeRateLimit } from '../../../src/store/rate-limits.ts';
import type { CallerOrder, CallSeen } from './caller-process.ts';

export interface RateLimitTrial {
  name: string;
  /** As `hirebridge sandbox --limit` takes it. */
  limit: string;
  /** What the limit allows, calls a second. */
  perSecond: number;
  faults?: Fault[];
  processes: number;
  learnSeconds: number;
  seconds: number;
  /** What was learned of this limit before, calls a second. */
  learned?: number;
  storeUrl?: string;
}

export interface RateLimitResult {
  /** Of the sandbox's answers while it was measured. */
  answered: number;
  share429: number;
  /** Of what the limit allows. */
  throughput: number;
  /** Waits of live calls for their permit, ms; pauses after a 429 apart. */
  live: { count: number; apart: number; p50: number; p99: number };
  /** Calls of each process. */
  calls: number[];
}

const MAIN = new URL('../../../src/cli/main.ts', import.meta.url).pathname;
const CALLER = new URL('./caller-process.ts', import.meta.url).pathname;
const KEY = `sk_test_${'a1'.repeat(11)}`;
const BACKLOG = 16;
const LIVE_EVERY_MS = 1_000;

/**
 * Client processes with a saturated backlog before a limited sandbox; the sandbox's ledger is the judge of everything
 * but waits.
 */
export async function tryRateLimit(trial: RateLimitTrial): Promise<RateLimitResult> {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-rate-limit-'));
  const storeUrl = trial.storeUrl ?? `sqlite:${join(dir, 'store.db')}`;
  await prepareStore(storeUrl, trial.learned);
  const args = ['sandbox', '--port', '0', '--control-port', '0', '--key', KEY, '--jobs', '2', '--limit', trial.limit];
  const sandbox = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const callers: ChildProcess[] = [];
  try {
    const ended = once(sandbox, 'exit').then(() => Promise.reject(new Error('the sandbox ended by itself')));
    ended.catch(() => undefined);
    const [{ facts }] = (await Promise.race([once(sandbox, 'message'), ended])) as [
      { facts: { partner: string; control: string } },
    ];
    const control = createControlClient(facts.control);
    if (trial.faults !== undefined) await control.act('setFaults', { seed: 1, faults: trial.faults });
    const order: CallerOrder = {
      storeUrl,
      baseUrl: facts.partner,
      apiKey: KEY,
      backlog: BACKLOG,
      liveEveryMs: LIVE_EVERY_MS,
    };
    for (let n = 0; n < trial.processes; n += 1) callers.push(await startCaller(order));
    await pause(trial.learnSeconds * 1000);
    const since = Date.now();
    await pause(trial.seconds * 1000);
    const until = Date.now();
    const seen = await Promise.all(callers.map(stopCaller));
    const [all, limited] = await Promise.all([
      control.counts({ kind: 'request', since, until }),
      control.counts({ kind: 'request', since, until, status: 429 }),
    ]);
    return conclude(trial, sum(all.request), sum(limited.request), until - since, within(seen, since, until));
  } finally {
    for (const caller of callers) caller.kill('SIGKILL');
    sandbox.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  }
}

async function prepareStore(storeUrl: string, learned: number | undefined): Promise<void> {
  const store = await openStore(storeUrl);
  if (learned !== undefined) {
    const rateLimit: SharedRateLimitState = { rate: learned, limit: learned, noise: 0, limitSeen: true, version: 2 };
    await changeRateLimit(store, { tenantId: 'acme', upstream: 'partner' }, () => ({ rateLimit, result: undefined }));
  }
  await store.close();
}

async function startCaller(order: CallerOrder): Promise<ChildProcess> {
  const caller = fork(CALLER, { serialization: 'advanced' });
  caller.send(order);
  await once(caller, 'message');
  return caller;
}

async function stopCaller(caller: ChildProcess): Promise<CallSeen[]> {
  caller.send('stop');
  const [seen] = (await once(caller, 'message')) as [CallSeen[]];
  return seen;
}

function within(seen: CallSeen[][], since: number, until: number): CallSeen[][] {
  return seen.map((calls) => calls.filter((call) => call.askedAt >= since && call.endedAt <= until));
}

function conclude(
  trial: RateLimitTrial,
  answered: number,
  limited: number,
  ms: number,
  seen: CallSeen[][],
): RateLimitResult {
  const everyone = seen.flat();
  const refused = everyone.filter((call) => call.limited);
  const waits: number[] = [];
  let apart = 0;
  for (const call of everyone.filter((one) => one.priority === 'live')) {
    if (refused.some((one) => isPausedBy(one, call))) apart += 1;
    else waits.push(call.sentAt - call.askedAt);
  }
  waits.sort((a, b) => a - b);
  const at = (part: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? 0;
  return {
    answered,
    share429: limited / answered,
    throughput: ((answered - limited) * 1000) / ms / trial.perSecond,
    live: { count: waits.length, apart, p50: at(0.5), p99: at(0.99) },
    calls: seen.map((calls) => calls.length),
  };
}

/**
 * A 429 stops everybody for as long as its Retry-After says (or for the rate limit's own wait), and then one tries
 * first.
 */
const OWN_WAIT_MS = 1_000;
const TRY_MS = 1_000;

/** Whether the wait of a live call overlaps the pause after a 429. */
function isPausedBy(refused: CallSeen, call: CallSeen): boolean {
  const endsAt = refused.endedAt + Math.max(refused.retryAfterMs, OWN_WAIT_MS) + TRY_MS;
  return refused.sentAt <= call.sentAt && endsAt >= call.askedAt;
}

function sum(counts: Record<string, number> | undefined): number {
  return Object.values(counts ?? {}).reduce((all, one) => all + one, 0);
}
