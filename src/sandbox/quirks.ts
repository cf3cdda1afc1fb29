import { createRandom, type Random } from './random.ts';

/** Habits that another partner's server may have within the specification: name to description. */
export const QUIRKS = {
  'flat-external-status': 'externalStatus and employeeId are beside the other fields of an enrolment, not nested',
  'unknown-status': 'an enrolment is awaiting_signature for 2 s before it is completed',
  'blank-emails': "people's e-mails have blanks around them (also zero-width, non-breaking) and capitals in the domain",
  'seconds-created-at': 'a createdAt that is a number counts seconds',
  'moving-lists': 'rows arrive in front while a list is read: later pages repeat rows of the page before',
  'invitations-cost':
    'a bulk invitation costs one credit per person, all or nothing; an assignment to a flow costs one',
  'overstated-total': 'lists report more rows than they hold',
} as const;

export type Quirk = keyof typeof QUIRKS;
export const quirkNames = Object.keys(QUIRKS) as [Quirk];

/** Reads `all` or a comma list; an unknown name is returned unchanged. */
export function parseQuirks(text: string): { quirks: Quirk[] } | { unknown: string } {
  if (text === 'all') return { quirks: quirkNames };
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(QUIRKS, name));
  return unknown === undefined ? { quirks: names as Quirk[] } : { unknown };
}

/** A list that nobody has read for this long stands still again. */
const QUIET_MS = 30_000;

interface Movement {
  rows: number;
  at: number;
}

/** The quirks in force, and how far each list has moved. The same seed and the same calls move lists alike. */
export class Quirks {
  readonly #clock: Clock;
  readonly #seed: number;
  #random: Random;
  #on = new Set<Quirk>();
  #movements = new Map<string, Movement>();

  constructor(clock: Clock, seed: number) {
    this.#clock = clock;
    this.#seed = seed;
    this.#random = createRandom(seed);
  }

  get any(): boolean {
    return this.#on.size > 0;
  }

  has(quirk: Quirk): boolean {
    return this.#on.has(quirk);
  }

  list(): Quirk[] {
    return [...this.#on];
  }

  /** Replaces those in force; lists begin to move anew. */
  set(quirks: readonly Quirk[]): void {
    this.#on = new Set(quirks);
    this.#random = createRandom(this.#seed);
    this.#movements = new Map();
  }

  /**
   * How many rows have arrived in front of a list when one of its pages is read: one before the second page, then one
   * every few pages, at most `most`. Never fewer than before, or rows would slip past a reader of page after page.
   */
  movedRows(list: string, isFirstPage: boolean, most: number): number {
    const now = this.#clock.now();
    const known = this.#movements.get(list);
    const before = known === undefined || now - known.at > QUIET_MS ? 0 : known.rows;
    const arrived = isFirstPage || (before > 0 && this.#random() < 0.7) ? 0 : 1;
    const rows = Math.min(before + arrived, most);
    this.#movements.set(list, { rows, at: now });
    return isFirstPage ? 0 : rows;
  }
}

/** The sandbox's own time. Deadlines, retries and time-limited URLs follow it, never the process's clock directly. */
export interface Clock {
  readonly kind: 'real' | 'stepped';
  /** Epoch milliseconds. */
  now(): number;
  /** Runs once at `time` (epoch ms) or as soon as possible after it; the answer cancels it. */
  at(time: number, run: () => void): () => void;
}

/** A clock that moves only on command: tasks due on the way run in order, each at its own time. */
export interface SteppedClock extends Clock {
  readonly kind: 'stepped';
  advance(ms: number): void;
}

/** The machine's clock. */
export function createRealClock(): Clock {
  return {
    kind: 'real',
    now: Date.now,
    at(time, run) {
      const timer = setTimeout(run, Math.min(Math.max(0, time - Date.now()), 2 ** 31 - 1));
      // The servers keep the process alive, pending tasks do not.
      timer.unref();
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/** A stepped clock that stands at `start` (epoch ms). */
export function createSteppedClock(start: number): SteppedClock {
  let time = start;
  let order = 0;
  let waiting: { time: number; order: number; run: () => void }[] = [];
  return {
    kind: 'stepped',
    now: () => time,
    at(due, run) {
      const entry = { time: Math.max(due, time), order: order++, run };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const next = waiting
          .filter((entry) => entry.time <= end)
          .sort((a, b) => a.time - b.time || a.order - b.order)[0];
        if (next === undefined) break;
        waiting = waiting.filter((entry) => entry !== next);
        time = Math.max(time, next.time);
        next.run();
      }
      time = end;
    },
  };
}

/** True for a clock the control plane may advance. */
export function isStepped(clock: Clock): clock is SteppedClock {
  return clock.kind === 'stepped';
}
