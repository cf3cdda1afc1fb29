import { vi } from 'vitest';
import type { SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import {
  type ChangeRateLimit,
  createSharedRateLimit,
  type SharedRateLimit,
} from '../../src/rate-limit/shared-rate-limit.ts';
import { type Limit, seeded } from './limited-server.ts';
import { type StallingProcesses, type Stalls, stallProcesses } from './stalls.ts';

export interface FleetRun {
  processes: number;
  limit: Limit;
  /** Counting starts after `from`. */
  seconds: number;
  from: number;
  seed?: number;
  share?: number;
  /** Calls of each process that always wait in the bulk priority; 16 where absent. */
  backlog?: readonly number[];
  /** Calls of each process that always wait in the live priority; none where absent. */
  liveBacklog?: readonly number[];
  /** Each process makes a live call every so many ms, about. */
  liveEveryMs?: number;
  /** It is the first of so many, one after the other, as of one hire; 1 where absent. */
  callsOfHire?: number;
  saved?: Partial<SharedRateLimitState>;
  /** A round trip to the store, about; a few ms where absent. */
  storeMs?: number;
  /** A round trip to the server, at least and at most; 40 to 120 ms where absent. */
  roundTripMs?: readonly [least: number, most: number];
  /** None where absent. */
  stalls?: Stalls;
  /** What the server takes for a call that it admits; nothing where absent. */
  serviceMs?: number;
}

export interface FleetSeen {
  /** Admitted calls of each process. */
  ok: number[];
  limited: number;
  /** Waits of live calls that met no pause, ms. */
  liveWaits: number[];
  /** Of each live call, bulk calls that left while it waited; by hire. */
  overtaken: number[][];
  /** Writes of the store by each process. */
  writes: number[];
  /** Looks of each process at the store that ask for no permits. */
  looks: number[];
  /** Admitted calls a second, of all together. */
  perSecond: number;
  share429: number;
  saved: Partial<SharedRateLimitState>;
}

const STORE_MS = 2;
/** Timers that are due at once. */
const MOST_AT_ONCE = 1_000;
/** Its clock is its own. */
const DATABASE_BEGAN = 1_700_000_000_000;

/** Processes that share one rate limit before a limited server, all on one virtual clock. Needs fake timers. */
export async function runFleet(run: FleetRun): Promise<FleetSeen> {
  const fleet = new VirtualFleet(run);
  await fleet.run();
  return fleet.seen();
}

/** Invariant: the clock moves only when everything that was due has happened. */
class VirtualFleet {
  readonly #run: FleetRun;
  readonly #random: () => number;
  readonly #processes: StallingProcesses;
  readonly #ok: number[];
  readonly #writes: number[];
  readonly #looks: number[];
  readonly #began = performance.now();
  #limited = 0;
  readonly #lives: { askedAt: number; sentAt: number }[] = [];
  readonly #overtaken: number[][] = [];
  #bulkSent = 0;
  readonly #pauses: { from: number; until: number }[] = [];
  #saved: Partial<SharedRateLimitState>;
  #stopped = false;

  constructor(run: FleetRun) {
    this.#run = run;
    this.#random = seeded(run.seed ?? 1);
    this.#processes = stallProcesses(run.stalls, this.#random);
    this.#saved = run.saved ?? {};
    this.#ok = Array.from({ length: run.processes }, () => 0);
    this.#writes = [...this.#ok];
    this.#looks = [...this.#ok];
  }

  async run(): Promise<void> {
    const members = this.#ok.map((_, n) =>
      createSharedRateLimit(this.#store(n), { random: this.#random, share: this.#run.share }),
    );
    const loops = members.flatMap((member, n) => this.#processes.run(n, () => this.#calls(member, n)));
    await this.#until(this.#run.seconds * 1000);
    this.#stopped = true;
    const closed = Promise.all(members.map((member) => member.close()));
    await this.#until(Number.POSITIVE_INFINITY);
    await closed;
    await Promise.all(loops);
    this.#processes.end();
  }

  seen(): FleetSeen {
    const ok = this.#ok.reduce((sum, n) => sum + n, 0);
    const isPaused = (at: number): boolean => this.#pauses.some(({ from, until }) => at >= from && at < until);
    return {
      ok: this.#ok,
      limited: this.#limited,
      liveWaits: this.#lives.filter(({ askedAt, sentAt }) => !isPaused(askedAt) && !isPaused(sentAt)).map(waitOf),
      overtaken: this.#overtaken,
      writes: this.#writes,
      looks: this.#looks,
      perSecond: ok / (this.#run.seconds - this.#run.from),
      share429: this.#limited / Math.max(1, ok + this.#limited),
      saved: this.#saved,
    };
  }

  async #until(ms: number): Promise<void> {
    await new Promise(setImmediate);
    let [at, timers] = [this.#now(), 0];
    while (this.#now() < ms && vi.getTimerCount() > 0) {
      vi.advanceTimersToNextTimer();
      [at, timers] = [this.#now(), this.#now() > at ? 0 : timers + 1];
      if (timers > MOST_AT_ONCE) throw new Error(`${timers} timers at ${at} ms: somebody waits in a loop`);
      await new Promise(setImmediate);
    }
  }

  #now(): number {
    return performance.now() - this.#began;
  }

  #isCounted(): boolean {
    return !this.#stopped && this.#now() >= this.#run.from * 1000;
  }

  /** Written where nobody else wrote since it was read. */
  #store(n: number): ChangeRateLimit {
    const { storeMs = STORE_MS } = this.#run;
    return async (change) => {
      const oneWay = (): Promise<void> => pause(storeMs * this.#random());
      for (;;) {
        const { read, now } = await this.#processes.elsewhere(async () => {
          await oneWay();
          return { read: this.#saved, now: DATABASE_BEGAN + this.#now() };
        });
        await oneWay();
        const { rateLimit, result } = change(read, now);
        if (this.#isCounted() && !isExchange(result)) this.#looks[n]! += 1;
        if (rateLimit === undefined) return result;
        const isWritten = await this.#processes.elsewhere(async () => {
          await oneWay();
          if (this.#saved !== read) return false;
          this.#saved = JSON.parse(JSON.stringify(rateLimit)) as SharedRateLimitState;
          if (this.#isCounted()) this.#writes[n]! += 1;
          return true;
        });
        await oneWay();
        if (isWritten) return result;
      }
    };
  }

  async #callOn(member: SharedRateLimit, n: number, priority: Priority): Promise<void> {
    while (!this.#stopped) await this.#call(member, n, priority);
  }

  async #callNowAndThen(member: SharedRateLimit, n: number): Promise<void> {
    const { liveEveryMs } = this.#run;
    const calls: Promise<void>[] = [];
    while (!this.#stopped && liveEveryMs !== undefined) {
      await pause(-Math.log(1 - this.#random()) * liveEveryMs);
      if (!this.#stopped) calls.push(this.#hire(member, n));
    }
    await Promise.all(calls);
  }

  async #hire(member: SharedRateLimit, n: number): Promise<void> {
    const overtaken: number[] = [];
    if (this.#isCounted()) this.#overtaken.push(overtaken);
    for (let call = 0; call < (this.#run.callsOfHire ?? 1) && !this.#stopped; call += 1)
      overtaken.push(await this.#call(member, n, 'live'));
  }

  #calls(member: SharedRateLimit, n: number): Promise<void>[] {
    return [
      ...Array.from({ length: this.#run.backlog?.[n] ?? 16 }, () => this.#callOn(member, n, 'bulk')),
      ...Array.from({ length: this.#run.liveBacklog?.[n] ?? 0 }, () => this.#callOn(member, n, 'live')),
      this.#callNowAndThen(member, n),
    ];
  }

  #halfTripMs(): number {
    const [least, most] = this.#run.roundTripMs ?? [40, 120];
    return (least + (most - least) * this.#random()) / 2;
  }

  /** The server's, whatever becomes of the process meanwhile. */
  async #answer(): Promise<ReturnType<Limit>> {
    await pause(this.#halfTripMs());
    const { ok, retryAfterMs } = this.#run.limit(this.#now());
    if (ok) await pause(this.#run.serviceMs ?? 0);
    if (!ok) this.#pauses.push({ from: this.#now() - 100, until: this.#now() + retryAfterMs + 1_000 });
    return { ok, retryAfterMs };
  }

  /** Gives how many bulk calls left while it waited. */
  async #call(member: SharedRateLimit, n: number, priority: Priority): Promise<number> {
    const askedAt = this.#now();
    const before = this.#bulkSent;
    const hasPermit = await member.acquire(priority).then(
      () => true,
      () => false,
    );
    const overtaken = this.#bulkSent - before;
    if (!hasPermit) return overtaken;
    if (priority === 'bulk') this.#bulkSent += 1;
    const sentAt = Date.now();
    const isCounted = this.#isCounted();
    if (isCounted && priority === 'live') this.#lives.push({ askedAt, sentAt: this.#now() });
    const { ok, retryAfterMs } = await this.#processes.elsewhere(() => this.#answer());
    await pause(this.#halfTripMs());
    member.answered(ok ? { sentAt, status: 200 } : { sentAt, status: 429, retryAfterMs });
    if (isCounted && ok) this.#ok[n]! += 1;
    else if (isCounted) this.#limited += 1;
    return overtaken;
  }
}

function isExchange(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'permits' in result;
}

function waitOf({ askedAt, sentAt }: { askedAt: number; sentAt: number }): number {
  return sentAt - askedAt;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
