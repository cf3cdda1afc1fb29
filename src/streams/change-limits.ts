import type { Side } from '../hire/hire.ts';
import type { RowChange } from '../hris/port.ts';
import { filledIn, type RowFacts } from './read-page.ts';

/**
 * For each field, how many rows had it filled before the run and have it filled now; and how many rows the run changed.
 */
export interface Tally {
  changed: number;
  before: Record<string, number>;
  now: Record<string, number>;
  /** A record may be on no page that was read, so no record counts as missing. */
  isUnsure: boolean;
  /** Records that the list's total counts and no page showed. */
  unshown?: number;
  /** How far the list's total rose from one page to the next. */
  grown?: number;
  /** Pages were read again, or name no total: a record on two pages tells nothing. */
  isLoose?: boolean;
  /** Hash of the mapping that the pass began with. */
  mapping?: string;
}

/** Why a run stops before it writes, in numbers. */
export interface Excess {
  code: LimitCode;
  message: string;
}

export type LimitCode = 'ZERO_ROWS' | 'MASS_DELETE' | 'MASS_CHANGE' | 'FILL_RATE_FELL' | 'PERMISSION_LOST';

/** Up to this many records may always change. */
const FEW = 20;
const MOST_GONE = 0.2;
const MOST_CHANGED = 0.5;
/** A field has collapsed if less than this share of the rows that had it filled still have. */
const LEAST_FILLED = 0.5;

export const EMPTY_TALLY: Tally = { changed: 0, before: {}, now: {}, isUnsure: false };

/** Adds one page. New rows say nothing about what was there before. */
export function tallyPage(tally: Tally, rows: readonly RowFacts[], changes: readonly RowChange[]): Tally {
  const changeOf = new Map(changes.map((change) => [change.row.id, change]));
  const [before, now] = [{ ...tally.before }, { ...tally.now }];
  let { changed } = tally;
  for (const row of rows) {
    const change = changeOf.get(row.id);
    if (change !== undefined && change.before === undefined) continue;
    if (change !== undefined) changed += 1;
    count(now, row.filled);
    count(before, change?.before === undefined ? row.filled : filledIn(change.before.fields));
  }
  return { ...tally, changed, before, now };
}

function count(filled: Record<string, number>, names: readonly string[]): void {
  for (const name of names) filled[name] = (filled[name] ?? 0) + 1;
}

/** `known`: rows on the other side before the run. */
export function judgeChanges(tally: Tally, known: number | null): Excess | undefined {
  const fell = Object.keys(tally.before).find((name) => {
    const [before = 0, now = 0] = [tally.before[name], tally.now[name]];
    return before > FEW && now < before * LEAST_FILLED;
  });
  if (fell !== undefined)
    return {
      code: 'FILL_RATE_FELL',
      message:
        `The field ${fell} had a value in ${tally.before[fell]} of the rows read so far and has one in ` +
        `${tally.now[fell] ?? 0} of them now: the partner may have removed a permission or a field.`,
    };
  if (known === null || tally.changed <= Math.max(FEW, known * MOST_CHANGED)) return undefined;
  return {
    code: 'MASS_CHANGE',
    message: `${tally.changed} of ${known} rows would be changed in one pass, more than ${percent(MOST_CHANGED)}.`,
  };
}

/** `total`: number of records in the list according to its first page. */
export function judgeEmptyList(total: number, known: number | null): Excess | undefined {
  if (total > 0 || known === null || known < FEW) return undefined;
  return {
    code: 'ZERO_ROWS',
    message: `The partner's list is empty, and the HR system holds ${known} of its records.`,
  };
}

/** `side`: the side that no longer shows them. */
export function judgeMissing(missing: number, known: number, side: Side = 'partner'): Excess | undefined {
  if (missing <= Math.max(FEW, known * MOST_GONE)) return undefined;
  const where = side === 'partner' ? 'the partner' : 'the HR system';
  return {
    code: 'MASS_DELETE',
    message: `${missing} of ${known} records are no longer shown by ${where}, more than ${percent(MOST_GONE)}.`,
  };
}

/** The partner lists no jobs at all while `linked` jobs are exchanged. */
export function noJobsListed(linked: number): Excess {
  return {
    code: 'ZERO_ROWS',
    message: `The partner's list of jobs is empty, and ${linked} of its jobs are linked to positions.`,
  };
}

function percent(share: number): string {
  return `${share * 100} %`;
}
