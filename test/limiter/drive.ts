import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import type { BankServer } from './bank.ts';
import { type Limit, tokenBucket, type Verdict } from './limits.ts';

/** Retry-After `exact`: in ms; `seconds`: rounded up, as HTTP has it; `too long`: twice that; `none`: no header. */
export type Told = 'exact' | 'seconds' | 'too long' | 'none';

/** What became of the calls of one run; times in virtual ms. */
export interface Driven {
  endMs: number;
  /** When each success was admitted. */
  admitted: number[];
  /** When each refusal was made. */
  refused: number[];
  live: { at: number; waitMs: number }[];
}

const ENDPOINTS = ['most', 'slow'] as const;
/** Of the calls, those to the endpoint that may have a limit of its own. */
const SLOW_SHARE = 0.1;

type Endpoint = 'most' | 'slow';

interface Flight {
  step: 'arrives' | 'is done' | 'is answered';
  at: number;
  sentAt: number;
  inFlight: number;
  endpoint: Endpoint;
  verdict?: Verdict;
}

const WORKERS = 16;
const RTT = { least: 20, most: 200 };
const LIVE_SHARE = 0.05;
/** It is not ours. */
const SERVER_CLOCK_MS = 1_900_000_000_000;

/** A saturated backlog and a trickle of live calls before one server of the bank, in virtual time. */
export function drive(server: BankServer, told: Told, seed: number): Driven {
  return new Drive(server, told, createRandom(seed)).run();
}

/** Invariant: events happen in the order of their times. */
class Drive {
  #now = 0;
  readonly #server: BankServer;
  readonly #told: Told;
  readonly #random: Random;
  readonly #limit: Limit;
  readonly #endpoint: Limit | undefined;
  readonly #limiter;
  readonly #flights: Flight[] = [];
  readonly #liveSince: Record<Endpoint, number[]> = { most: [], slow: [] };
  #underWay = 0;
  #inFlight = 0;
  #liveAt = 0;
  readonly #askAt = { live: { most: 0, slow: 0 }, bulk: { most: 0, slow: 0 } };
  /** Bulk calls that wait for the slow endpoint while others go on. */
  #slowBulk = 0;
  #next: Endpoint = 'most';
  readonly #seen: Driven;

  constructor(server: BankServer, told: Told, random: Random) {
    this.#server = server;
    this.#told = told;
    this.#random = random;
    this.#limit = server.make();
    const own = server.endpointPerSecond;
    this.#endpoint = own === undefined ? undefined : tokenBucket(own, 1);
    this.#limiter = createRateLimiter({ now: () => this.#now, random });
    this.#seen = { endMs: (server.minutes ?? 15) * 60_000, admitted: [], refused: [], live: [] };
  }

  run(): Driven {
    this.#liveAt = this.#untilLive();
    while (this.#now < this.#seen.endMs) {
      while ((this.#flights[0]?.at ?? Number.POSITIVE_INFINITY) <= this.#now) this.#land(this.#flights.shift()!);
      while (this.#liveAt <= this.#now) {
        const endpoint = this.#draw();
        this.#liveSince[endpoint].push(this.#liveAt);
        this.#liveAt += this.#untilLive();
        this.#askAt.live[endpoint] = this.#now;
      }
      this.#sendAll();
      this.#now = Math.min(this.#flights[0]?.at ?? Number.POSITIVE_INFINITY, this.#liveAt, this.#asksAt());
    }
    return this.#seen;
  }

  /** When somebody who waits asks again. */
  #asksAt(): number {
    const { live, bulk } = this.#askAt;
    const lives = ENDPOINTS.filter((endpoint) => this.#liveSince[endpoint].length > 0);
    return Math.min(
      bulk.most,
      this.#slowBulk > 0 ? bulk.slow : Number.POSITIVE_INFINITY,
      ...lives.map((endpoint) => live[endpoint]),
    );
  }

  #draw(): Endpoint {
    return this.#random() < SLOW_SHARE ? 'slow' : 'most';
  }

  #untilLive(): number {
    return (-Math.log(1 - this.#random()) * 1000) / (LIVE_SHARE * this.#server.perSecond);
  }

  #sendAll(): void {
    for (const endpoint of ENDPOINTS) {
      const since = this.#liveSince[endpoint];
      while (since.length > 0 && this.#send('live', endpoint)) {
        const at = since.shift() ?? 0;
        this.#seen.live.push({ at, waitMs: this.#now - at });
      }
    }
    while (this.#sendBulk());
  }

  #sendBulk(): boolean {
    if (this.#slowBulk > 0 && this.#send('bulk', 'slow')) {
      this.#slowBulk -= 1;
      return true;
    }
    for (; this.#next === 'slow'; this.#next = this.#draw()) this.#slowBulk = Math.min(this.#slowBulk + 1, WORKERS);
    if (!this.#send('bulk', 'most')) return false;
    this.#next = this.#draw();
    return true;
  }

  /** Full in flight: the next answer lets them ask again. */
  #send(priority: Priority, endpoint: Endpoint): boolean {
    if (this.#askAt[priority][endpoint] > this.#now) return false;
    const most = Math.min(
      WORKERS * (this.#server.serviceMs === undefined ? 1 : 4),
      this.#limiter.mostInFlight() ?? 1e9,
    );
    const wait = this.#inFlight >= most ? Number.POSITIVE_INFINITY : this.#limiter.ask(priority, this.#named(endpoint));
    this.#askAt[priority][endpoint] = this.#now + (wait === 0 ? 0 : Math.max(1, wait));
    if (wait > 0) return false;
    this.#inFlight += 1;
    this.#fly({ step: 'arrives', at: this.#now + this.#way(), sentAt: this.#now, inFlight: this.#inFlight, endpoint });
    return true;
  }

  #named(endpoint: Endpoint): Endpoint | undefined {
    return this.#server.isPlain === true ? undefined : endpoint;
  }

  /** One way, half of a round trip. */
  #way(): number {
    return (RTT.least + (RTT.most - RTT.least) * this.#random()) / 2;
  }

  #fly(flight: Flight): void {
    const place = this.#flights.findLastIndex((other) => other.at <= flight.at);
    this.#flights.splice(place + 1, 0, flight);
  }

  #land(flight: Flight): void {
    if (flight.step === 'arrives') return this.#arrive(flight);
    if (flight.step === 'is done') return this.#leave(flight);
    this.#inFlight -= 1;
    const { ok = true } = flight.verdict ?? {};
    for (const asks of Object.values(this.#askAt))
      for (const endpoint of ENDPOINTS) asks[endpoint] = Math.min(asks[endpoint], this.#now);
    this.#limiter.answered({
      sentAt: flight.sentAt,
      endpoint: this.#named(flight.endpoint),
      inFlight: flight.inFlight,
      status: ok ? 200 : 429,
      retryAfterMs: ok ? undefined : this.#retryAfter(flight.verdict),
      headers: this.#headers(flight.verdict),
    });
  }

  #arrive(flight: Flight): void {
    const verdict = this.#judge(flight.endpoint);
    this.#seen[verdict.ok ? 'admitted' : 'refused'].push(this.#now);
    if (!verdict.ok) return this.#fly({ ...flight, verdict, step: 'is answered', at: this.#now + this.#way() });
    this.#underWay += 1;
    this.#fly({ ...flight, verdict, step: 'is done', at: this.#now + (this.#server.serviceMs ?? 0) });
  }

  #leave(flight: Flight): void {
    this.#underWay -= 1;
    this.#fly({ ...flight, step: 'is answered', at: this.#now + this.#way() });
  }

  #judge(endpoint: Endpoint): Verdict {
    if (this.#random() < (this.#server.noise ?? 0)) return { ok: false, retryAfterMs: 1_000 };
    if (this.#endpoint === undefined || endpoint === 'most') return this.#limit(this.#now, this.#underWay);
    const own = this.#endpoint(this.#now, this.#underWay);
    return own.ok ? this.#limit(this.#now, this.#underWay) : own;
  }

  #retryAfter(verdict: Verdict | undefined): number | undefined {
    if (verdict === undefined || this.#told === 'none') return undefined;
    if (this.#told === 'exact') return verdict.retryAfterMs;
    return Math.ceil(verdict.retryAfterMs / 1000) * (this.#told === 'too long' ? 2_000 : 1_000);
  }

  #headers(verdict: Verdict | undefined): Record<string, string> {
    const { remaining, resetMs } = verdict ?? {};
    const { headers } = this.#server;
    if (headers === undefined || this.#told === 'none') return {};
    if (remaining === undefined || resetMs === undefined) return {};
    const serverNow = SERVER_CLOCK_MS + this.#now;
    const reset = headers === 'epoch' ? (serverNow + resetMs) / 1000 : resetMs / 1000;
    const date = headers === 'epoch' ? { date: new Date(serverNow).toUTCString() } : {};
    return { 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': String(Math.ceil(reset)), ...date };
  }
}
