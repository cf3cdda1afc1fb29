import { LearnedRateLimit, type LimiterClock } from './learned-rate-limit.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import type { Learned, SavedEndpoint, SavedEndpoints, SavedRateLimit } from './saved-rate-limit.ts';

export interface RateLimiter {
  /**
   * Returns 0 if one request may be sent now, and counts it; otherwise the ms after which to ask again. `endpoint`
   * names the target in any way; requests to other endpoints need not wait for it.
   */
  ask(priority: Priority, endpoint?: string): number;
  /** Learns from an answer. `sentAt` is by the same clock as `now`. */
  answered(answer: RateLimitAnswer): void;
  /** Most requests that may be in flight; undefined means as many as the rate allows. */
  mostInFlight(): number | undefined;
  /** Returns permits whose requests will not be sent. */
  giveBack(permits: number): void;
  save(): Learned;
}

const FIRST_RATE = 10;

/** Learns the rate of an unknown limit from 429s. Pure: no timers, no I/O. README.md says how to drive it. */
export function createRateLimiter(clock: LimiterClock, saved?: SavedRateLimit): RateLimiter {
  const { endpoints, ...learned } = readable(saved);
  const company = new LearnedRateLimit(clock, learned);
  const limits = createEndpointLimits(clock, endpoints);
  return {
    ask: (priority, endpoint) => {
      const own = limits.ask(priority, endpoint);
      if (own > 0) return own;
      const wait = company.ask(priority);
      if (wait > 0) limits.giveBack(endpoint);
      return wait;
    },
    answered: (answer) => {
      const judged = limits.judge(answer, () => company.save().rate);
      if (judged === 'company') return company.answered(answer);
      if (judged === 'found') company.forget();
      company.isNotOurs(answer);
    },
    mostInFlight: () => company.mostInFlight(),
    giveBack: (permits) => company.giveBack(permits),
    save: () => {
      const own = limits.save();
      return own === undefined ? company.save() : { ...company.save(), endpoints: own };
    },
  };
}

const MEMORY = 1_000;
const MOST_ENDPOINTS = 64;
const evidence = { least: -3, own: 9 };
/** After this many answers in a row from one endpoint, its 429s may just as well be the company's. */
const MOST_IN_ROW = 8;
/** Share of the 429s that come from the endpoint if the limit is its own. */
const ITS_OWN = 0.95;

/** Saved data that cannot be read is learned again. */
function readable(saved: SavedRateLimit | undefined): SavedRateLimit {
  const isRead = saved !== undefined && saved.rate > 0 && Number.isFinite(saved.rate);
  return isRead ? saved : { rate: FIRST_RATE, limit: 0, noise: 0, limitSeen: false };
}

/** Finds endpoints that refuse while others work: they have a limit of their own, learned like the company's. */
function createEndpointLimits(clock: LimiterClock, saved: SavedEndpoints = { answers: 0, each: {} }) {
  const endpoints = structuredClone(saved);
  const limiters = new Map<string, LearnedRateLimit>();
  for (const [name, { own }] of Object.entries(endpoints.each))
    if (own !== undefined) limiters.set(name, new LearnedRateLimit(clock, readable(own)));
  const limiterOf = (name: string | undefined) => (name === undefined ? undefined : limiters.get(name));

  return {
    /** 0: the endpoint's own limit, if any, lets one request go and counts it. Otherwise: ms to wait. */
    ask: (priority: Priority, endpoint: string | undefined): number => limiterOf(endpoint)?.ask(priority) ?? 0,
    giveBack: (endpoint: string | undefined): void => limiterOf(endpoint)?.giveBack(1),
    /**
     * `own`: a 429 of the endpoint's own limit, which says nothing about the company's. `found`: the same, but its
     * earlier 429s were taken for the company's. `perSecond` is the rate of all endpoints.
     */
    judge(answer: RateLimitAnswer, perSecond: () => number): 'own' | 'found' | 'company' {
      const { endpoint, status } = answer;
      if (endpoint === undefined) return 'company';
      const limiter = limiters.get(endpoint);
      limiter?.answered(answer);
      if (limiter !== undefined) return status === 429 ? 'own' : 'company';
      if (!isShownOwn(endpoints, endpoint, status === 429)) return 'company';
      const share = counted(endpoints, endpoint).answers / endpoints.answers;
      const found = new LearnedRateLimit(clock, { rate: share * perSecond(), limit: 0, noise: 0, limitSeen: false });
      limiters.set(endpoint, found);
      found.answered(answer);
      return 'found';
    },
    save(): SavedEndpoints | undefined {
      for (const [name, limiter] of limiters)
        endpoints.each[name] = { ...counted(endpoints, name), own: limiter.save() };
      return Object.keys(endpoints.each).length === 0 ? undefined : structuredClone(endpoints);
    },
  };
}

/** Counts an answer. Returns true once it is clear that this endpoint refuses and the others do not. */
function isShownOwn(saved: SavedEndpoints, name: string, limited: boolean): boolean {
  const own = counted(saved, name);
  own.answers += 1;
  saved.answers += 1;
  if (saved.answers > MEMORY) fade(saved);
  if (noteRow(saved, name, limited) > MOST_IN_ROW || !limited) return false;
  for (const [other, endpoint] of Object.entries(saved.each)) {
    const share = Math.min(Math.max(endpoint.answers / saved.answers, 0.001), 0.999);
    const told = other === name ? Math.log(ITS_OWN / share) : Math.log((1 - ITS_OWN) / (1 - share));
    endpoint.evidence = Math.max(evidence.least, endpoint.evidence + told);
  }
  return own.evidence > evidence.own;
}

/** Answers of this endpoint since another one had a success, including this answer. */
function noteRow(saved: SavedEndpoints, name: string, limited: boolean): number {
  const { row } = saved;
  if (row?.endpoint === name) return (row.answers += 1);
  if (!limited) saved.row = { endpoint: name, answers: 1 };
  return 1;
}

function counted(saved: SavedEndpoints, name: string): SavedEndpoint {
  const known = saved.each[name];
  if (known !== undefined) return known;
  const names = Object.keys(saved.each);
  if (names.length >= MOST_ENDPOINTS) delete saved.each[rarestOf(saved, names)];
  const fresh = { answers: 0, evidence: 0 };
  saved.each[name] = fresh;
  return fresh;
}

function rarestOf({ each }: SavedEndpoints, names: readonly string[]): string {
  const plain = names.filter((name) => each[name]?.own === undefined);
  return plain.reduce((rarest, name) => ((each[name]?.answers ?? 0) < (each[rarest]?.answers ?? 0) ? name : rarest));
}

function fade(saved: SavedEndpoints): void {
  saved.answers /= 2;
  for (const endpoint of Object.values(saved.each)) endpoint.answers /= 2;
}
