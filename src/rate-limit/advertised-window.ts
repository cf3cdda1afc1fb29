import type { AdvertisedBudget } from './advertised-budget.ts';

/** A window that the server tells of: so much remains until it ends. Believed once its end has stood still. */
export interface SavedWindow {
  endsAt: number;
  remaining: number;
  /** When it was first told of, and how often since. */
  since: number;
  seen: number;
  /** From then to its end. */
  lengthMs?: number;
}

/** Resets are whole seconds. */
const ROUNDING_MS = 1_500;
const believed = { answers: 4, ms: 2_500 };
/** Whole seconds say too little of a shorter one. */
export const LEAST_WINDOW_MS = 3_000;
/** Of what remains, for live requests alone. */
const RESERVE = 0.01;
const MARGIN_MS = 60;

export function noteWindow(saved: SavedWindow | null, budget: AdvertisedBudget, now: number): SavedWindow {
  const endsAt = now + budget.resetMs;
  const fresh = { endsAt, remaining: budget.remaining, since: now, seen: 1, lengthMs: budget.resetMs };
  if (saved === null) return fresh;
  const isNext = now >= saved.endsAt - ROUNDING_MS && endsAt > saved.endsAt + ROUNDING_MS;
  // A window that follows a believed one is believed.
  if (isNext) return isBelieved(saved, now) ? { ...fresh, since: now - believed.ms, seen: believed.answers } : fresh;
  // An end that moves is of a sliding window, whose numbers say less.
  if (endsAt > saved.endsAt + ROUNDING_MS) return fresh;
  return {
    ...saved,
    endsAt: Math.min(saved.endsAt, endsAt),
    remaining: Math.min(saved.remaining, budget.remaining),
    seen: saved.seen + 1,
  };
}

/** What remains, spread over the rest of the window, calls a second; and for how long nothing remains. */
export function paceOf(saved: SavedWindow | null, now: number): { rate: number; spentForMs: number } | undefined {
  if (saved === null || now >= saved.endsAt || !isBelieved(saved, now)) return undefined;
  const left = Math.max(saved.endsAt + MARGIN_MS - now, 1);
  const reserve = saved.remaining * RESERVE;
  return {
    rate: Math.max(((saved.remaining - reserve) * 1000) / left, 1000 / left),
    spentForMs: saved.remaining < 1 ? left : 0,
  };
}

function isBelieved(saved: SavedWindow, now: number): boolean {
  if ((saved.lengthMs ?? LEAST_WINDOW_MS) < LEAST_WINDOW_MS) return false;
  return saved.seen >= believed.answers && now - saved.since >= believed.ms;
}
