import {
  concurrency,
  fixedWindow,
  type Limit,
  layered,
  lengtheningBan,
  type Scale,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from './limits.ts';

export interface BankServer {
  name: string;
  make: () => Limit;
  /** What it allows, calls a second, before any change. */
  perSecond: number;
  /** A wait so long cannot be avoided where the limit is met. */
  windowMs: number;
  /** Share of 429s that come at any rate, Retry-After one second. */
  noise?: number;
  /** One call in ten goes to an endpoint that takes so many a second. */
  endpointPerSecond?: number;
  change?: { atMs: number; factor: number };
  /** How long it works on a call. */
  serviceMs?: number;
  /** Tells what remains and until when, in seconds from now or as an instant of its own clock. */
  headers?: true | 'epoch';
  /** Whoever calls it does not tell endpoints apart. */
  isPlain?: boolean;
  /** 15 where absent; the first third is for learning. */
  minutes?: number;
}

const CHANGE_MS = 600_000;

export function changed(factor: number): { scale: Scale; change: { atMs: number; factor: number } } {
  return { scale: (at) => (at < CHANGE_MS ? 1 : factor), change: { atMs: CHANGE_MS, factor } };
}

export function token(perSecond: number, burst: number, more: Partial<BankServer> = {}): BankServer {
  return {
    name: `token ${perSecond}/s burst ${burst}`,
    make: () => tokenBucket(perSecond, burst, scaleOf(more)),
    perSecond,
    windowMs: 1000 / perSecond,
    ...more,
  };
}

function scaleOf({ change }: Partial<BankServer>): Scale | undefined {
  return change === undefined ? undefined : changed(change.factor).scale;
}

export function windowed(
  kind: 'fixed' | 'log' | 'counter',
  most: number,
  seconds: number,
  more: Partial<BankServer> = {},
) {
  const make = { fixed: fixedWindow, log: slidingLog, counter: slidingCounter }[kind];
  return {
    name: `${kind} ${most} per ${seconds} s`,
    make: () => make(most, seconds * 1000, scaleOf(more)),
    perSecond: most / seconds,
    windowMs: seconds * 1000,
    ...more,
  };
}

export function parallel(most: number, serviceMs: number): BankServer {
  const perSecond = (most * 1000) / (serviceMs + 110);
  return {
    name: `${most} at once, ${serviceMs} ms`,
    make: () => concurrency(most),
    perSecond,
    windowMs: 1_000,
    serviceMs,
  };
}

export function both(perSecond: number, perMinute: number, more: Partial<BankServer> = {}): BankServer {
  const scale = scaleOf(more);
  return {
    name: `${perSecond}/s and ${perMinute} per minute`,
    make: () => layered(tokenBucket(perSecond, perSecond, scale), fixedWindow(perMinute, 60_000, scale)),
    perSecond: Math.min(perSecond, perMinute / 60),
    windowMs: 60_000,
    ...more,
  };
}

export function banned(server: BankServer, firstMs: number): BankServer {
  const { make } = server;
  return {
    ...server,
    name: `${server.name}, bans from ${firstMs} ms`,
    make: () => lengtheningBan(make(), firstMs),
    windowMs: Math.max(server.windowMs, firstMs),
  };
}

export const halved = changed(0.5).change;
export const doubled = changed(2).change;

/** The numbers of the limiter may be chosen by these. */
export const tuning: readonly BankServer[] = [
  token(5, 10),
  token(40, 40),
  windowed('fixed', 15, 1),
  windowed('fixed', 100, 10),
  windowed('fixed', 900, 60),
  windowed('log', 50, 5),
  token(4, 1),
  windowed('log', 1200, 60),
  windowed('counter', 240, 60),
  both(8, 240),
  windowed('fixed', 900, 3600, { minutes: 360 }),
  windowed('fixed', 300, 60, { name: 'fixed 300 per 60 s, headers', headers: true }),
  banned(token(15, 15), 2_000),
  parallel(4, 200),
  token(30, 30, { name: 'token 30/s burst 30, halved', change: halved }),
  windowed('log', 300, 30, { name: 'log 300 per 30 s, halved', change: halved }),
  windowed('fixed', 100, 10, { name: 'fixed 100 per 10 s, doubled', change: doubled }),
  windowed('counter', 100, 10, { name: 'counter 100 per 10 s, doubled', change: doubled }),
  token(25, 25, { name: 'token 25/s, an endpoint of 0.5/s', endpointPerSecond: 0.5 }),
  token(10, 10, { name: 'token 10/s, 2 % noise', noise: 0.02 }),
  windowed('fixed', 200, 10, { name: 'fixed 200 per 10 s, 8 % noise', noise: 0.08 }),
  token(30, 30, { name: 'token 30/s, 15 % noise', noise: 0.15 }),
];

/** Never looked at while the limiter is changed. */
export const validation: readonly BankServer[] = [
  token(6, 1),
  token(12, 60),
  token(80, 20),
  windowed('fixed', 30, 1),
  windowed('fixed', 60, 10),
  windowed('fixed', 400, 30),
  windowed('log', 200, 10),
  windowed('log', 500, 60),
  windowed('counter', 90, 10),
  windowed('counter', 600, 60),
  both(12, 500),
  windowed('fixed', 3000, 3600, { minutes: 360 }),
  windowed('fixed', 250, 30, { name: 'fixed 250 per 30 s, headers', headers: true }),
  banned(windowed('fixed', 150, 10), 5_000),
  parallel(5, 250),
  parallel(40, 1000),
  windowed('fixed', 200, 10, { name: 'fixed 200 per 10 s, halved', change: halved }),
  windowed('log', 400, 20, { name: 'log 400 per 20 s, halved', change: halved }),
  token(10, 10, { name: 'token 10/s burst 10, doubled', change: doubled }),
  windowed('log', 240, 20, { name: 'log 240 per 20 s, doubled', change: doubled }),
  token(18, 9, { name: 'token 18/s, an endpoint of 1/s', endpointPerSecond: 1 }),
  token(20, 20, { name: 'token 20/s, 1 % noise', noise: 0.01 }),
  windowed('log', 120, 10, { name: 'log 120 per 10 s, 3 % noise', noise: 0.03 }),
  windowed('fixed', 120, 10, { name: 'fixed 120 per 10 s, 10 % noise', noise: 0.1 }),
  token(8, 16, { name: 'token 8/s, 20 % noise', noise: 0.2 }),
];
