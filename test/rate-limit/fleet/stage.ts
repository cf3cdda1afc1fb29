import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import type { SharedRateLimitState } from '../../../src/rate-limit/lease-permits.ts';
import { createControlClient } from '../../../src/sandbox/control/client.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { changeRateLimit } from '../../../src/store/rate-limits.ts';
import type { CallerOrder, CallerTenant, CallSeen } from './caller-process.ts';

/** A sandbox with a limit; its ledger is the judge of everything but waits. */
export interface LimitedPartner {
  access: { baseUrl: string; apiKey: string };
  setFaults(faults: Fault[]): Promise<void>;
  /** Of its answers between two moments. */
  count(since: number, until: number): Promise<{ answered: number; limited: number }>;
}

/** A client process. */
export interface Caller {
  /** How many of its calls have ended so far. */
  count(): Promise<number>;
  /** Ends it in good order, and gives what it saw. */
  stop(): Promise<CallSeen[]>;
  kill(): void;
}

/** The processes of one trial and their store; they end with it. */
export interface Stage {
  /** As if this had been learned of the tenant's limit before, calls a second. */
  learn(tenantId: string, rate: number): Promise<void>;
  limited(limit: string): Promise<LimitedPartner>;
  caller(tenants: readonly CallerTenant[], options?: { hasShiftedClock?: boolean }): Promise<Caller>;
  /** Rows of rate limits written so far, as Postgres counts them. */
  writes(): Promise<number>;
}

const MAIN = new URL('../../../src/cli/main.ts', import.meta.url).pathname;
const CALLER = new URL('./caller-process.ts', import.meta.url).pathname;
const SHIFT_CLOCK = new URL('./shift-clock-process.ts', import.meta.url).href;
const KEY = `sk_test_${'a1'.repeat(11)}`;

export async function onStage<T>(storeUrl: string, play: (stage: Stage) => Promise<T>): Promise<T> {
  await (await openStore(storeUrl)).close();
  const children: ChildProcess[] = [];
  const keep = <C extends ChildProcess>(child: C): C => {
    children.push(child);
    return child;
  };
  try {
    return await play({
      learn: (tenantId, rate) => saveLearned(storeUrl, tenantId, rate),
      limited: (limit) => startLimited(limit, keep),
      caller: (tenants, { hasShiftedClock = false } = {}) => startCaller({ storeUrl, tenants }, hasShiftedClock, keep),
      writes: () => countWrites(storeUrl),
    });
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}

async function saveLearned(storeUrl: string, tenantId: string, rate: number): Promise<void> {
  const store = await openStore(storeUrl);
  const rateLimit: SharedRateLimitState = { rate, limit: rate, noise: 0, limitSeen: true, version: 2 };
  await changeRateLimit(store, { tenantId, upstream: 'partner' }, () => ({ rateLimit, result: undefined }));
  await store.close();
}

async function startLimited(limit: string, keep: (child: ChildProcess) => ChildProcess): Promise<LimitedPartner> {
  const args = ['sandbox', '--port', '0', '--control-port', '0', '--key', KEY, '--jobs', '2', '--limit', limit];
  const sandbox = keep(
    spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, LOG_LEVEL: 'error' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  const ended = once(sandbox, 'exit').then(() => Promise.reject(new Error('the sandbox ended by itself')));
  ended.catch(() => undefined);
  const [{ facts }] = (await Promise.race([once(sandbox, 'message'), ended])) as [
    { facts: { partner: string; control: string } },
  ];
  const control = createControlClient(facts.control);
  const requests = async (filter: { since: number; until: number; status?: number }): Promise<number> => {
    const { request = {} } = await control.counts({ kind: 'request', ...filter });
    return Object.values(request).reduce((all, one) => all + one, 0);
  };
  return {
    access: { baseUrl: facts.partner, apiKey: KEY },
    setFaults: async (faults) => void (await control.act('setFaults', { seed: 1, faults })),
    count: async (since, until) => ({
      answered: await requests({ since, until }),
      limited: await requests({ since, until, status: 429 }),
    }),
  };
}

async function startCaller(
  order: CallerOrder,
  hasShiftedClock: boolean,
  keep: (child: ChildProcess) => ChildProcess,
): Promise<Caller> {
  const execArgv = [...process.execArgv, ...(hasShiftedClock ? ['--import', SHIFT_CLOCK] : [])];
  const caller = keep(fork(CALLER, { serialization: 'advanced', execArgv }));
  caller.send(order);
  await once(caller, 'message');
  return {
    count: async () => {
      caller.send('count');
      const [count] = (await once(caller, 'message')) as [number];
      return count;
    },
    stop: async () => {
      caller.send('stop');
      const [seen] = (await once(caller, 'message')) as [CallSeen[]];
      return seen;
    },
    kill: () => void caller.kill('SIGKILL'),
  };
}

async function countWrites(storeUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: storeUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ writes: string }>(
      "select n_tup_ins + n_tup_upd + n_tup_del as writes from pg_stat_user_tables where relname = 'rate_limits'",
    );
    return Number(rows[0]?.writes ?? 0);
  } finally {
    await client.end();
  }
}
