/** Meetings with a limit that followed one another. */
export interface SavedRow {
  /** That came much too early. */
  early: number;
  /** That came at once: the window is still full. */
  full: number;
  /** That were waited for until a window ended. */
  long: number;
  /** Meetings until the first estimate counts as settled. */
  settling: number;
  /** The highest rate that was fine for long. */
  sound: number;
  /** In a row that came only far above the limit. */
  far?: number;
  /** When the last of them began, and the successes until then. */
  refused?: { at: number; ok: number };
  /** The average of the best long cycle, lately. */
  known?: number;
  /** When one 429 before any limit was known was not believed, in answers. */
  doubtedAt?: number;
  /** The limit remembers for so long at least: the longest pause, lately. */
  memoryMs?: number;
}

export const freshRow: Readonly<SavedRow> = { early: 0, full: 0, long: 0, settling: 0, sound: 0 };

/** What makes noise likely: the limit is met early again and again, although the rate has fallen. */
export interface SavedSuspicion {
  /** The highest limit, lately. */
  peak: number;
  /** Meetings with a limit, and answers meanwhile, fading. */
  met: number;
  answers: number;
  /** Of these meetings, those with one 429 alone. */
  lone?: number;
  calmUntil: number;
  underWay?: UnderWayWhenMet;
}

/** Of the requests under way when the limit was met, the last times in a row that it was early. */
interface UnderWayWhenMet {
  refused: number;
  passed: number;
}

export const freshUnderWay: Readonly<UnderWayWhenMet> = { refused: 0, passed: 0 };

export const freshSuspicion: Readonly<SavedSuspicion> = { peak: 0, met: 0, answers: 0, calmUntil: 0 };
