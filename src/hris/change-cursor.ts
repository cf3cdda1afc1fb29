import { z } from 'zod';
import { rejected } from '../errors.ts';

/**
 * A position among changes that an HRIS stamps with its own time. A stamp is taken before the change is committed, so
 * continuing from the latest stamp read could miss changes: each pass begins after a stamp that had been the latest for
 * at least the overlap. Stamps are compared only with each other; the overlap is measured by `clock`.
 */
const changeCursor = z.object({
  /** All changes up to it have been read. Absent: nothing is certain yet. */
  settled: z.string().optional(),
  /** The latest stamp that an earlier pass found, and when it found it. */
  end: z.object({ at: z.string(), seenAt: z.number() }).optional(),
  /** Within a pass: where it continues, the latest stamp so far, and when it began. */
  pass: z.object({ after: z.string(), latest: z.string(), beganAt: z.number() }).optional(),
});
type ChangeCursor = z.output<typeof changeCursor>;

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)$/;

/**
 * What stamps sort by: as text, `12:00:00.5Z` would come before `12:00:00Z`, and a time in one zone before an earlier
 * one in another. Whatever is no instant of ISO 8601 sorts as it stands.
 */
export function orderOf(stamp: string): string {
  const [, second, digits = '', zone = ''] = INSTANT.exec(stamp) ?? [];
  const at = Date.parse(`${second}${zone}`);
  return Number.isNaN(at) ? stamp : `${new Date(at).toISOString().slice(0, 19)}.${digits.padEnd(9, '0')}Z`;
}

/** One page of a pass. */
interface ChangePage {
  /** Where the next page begins; undefined if the pass is over. */
  after: string | undefined;
  /** The latest stamp of this page; empty if it has none. */
  latest: string;
  /** When the answer was given, ms by the HRIS's clock. */
  clock: number;
  overlapMs: number;
}

export function readChangeCursor(text: string | undefined): ChangeCursor {
  return readCursor(changeCursor, text);
}

/**
 * Parses an adapter's saved cursor; without one, starts at the beginning.
 * @throws ConnectorError HRIS_CURSOR_INVALID
 */
export function readCursor<Cursor>(schema: z.ZodType<Cursor>, text = '{}'): Cursor {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw rejected(
      'HRIS_CURSOR_INVALID',
      'The saved position in the list of changed employees cannot be read. Run the stream with --full to start ' +
        'over.',
    );
  }
}

/** The cursor that follows a page. */
export function nextChangeCursor(before: ChangeCursor, { after, latest, clock, overlapMs }: ChangePage): string {
  const { settled, end } = before;
  const { beganAt = clock, latest: sofar = '' } = before.pass ?? {};
  const high = orderOf(latest) > orderOf(sofar) ? latest : sofar;
  if (after !== undefined) return JSON.stringify({ settled, end, pass: { after, latest: high, beganAt } });
  // A late-committed change from before that end may still appear.
  if (end !== undefined && beganAt < end.seenAt + overlapMs) return JSON.stringify({ settled, end });
  const from = end?.at ?? settled;
  const isNew = high !== '' && high !== from;
  return JSON.stringify({ settled: from, ...(isNew ? { end: { at: high, seenAt: clock } } : {}) });
}

/** A record that changed, and when; `gone`: it was deleted. */
export interface Change {
  id: string;
  at: string;
  gone: boolean;
}

/**
 * The next page of all changes since a cursor, ordered by stamp, and by id among equal stamps; `width` is that of the
 * longest id.
 */
export function pageOfChanges<One extends Change>(
  before: ChangeCursor,
  changes: readonly One[],
  { size, width, ...when }: { size: number; width: number } & Pick<ChangePage, 'clock' | 'overlapMs'>,
): { page: One[]; next: string; more: boolean } {
  const placeOf = ({ at, id }: Change): string => `${orderOf(at)} ${id.padStart(width, '0')}`;
  const since = before.settled;
  const reached = (before.pass?.after ?? '').replace(/^\S+/, orderOf);
  const waiting = changes
    .filter(({ at }) => since === undefined || orderOf(at) > orderOf(since))
    .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    .filter((change) => placeOf(change) > reached);
  const page = waiting.slice(0, size);
  const last = page.at(-1);
  const more = waiting.length > size;
  const after = more && last !== undefined ? placeOf(last) : undefined;
  const stamps = page.map(({ at }) => at);
  return { page, next: nextChangeCursor(before, { after, latest: latestOf(stamps, when.clock), ...when }), more };
}

/** Clocks and time zones differ by hours; a stamp further ahead says nothing about when its change happened. */
const MOST_AHEAD_MS = 24 * 3_600_000;

/** The latest of some stamps in their order, without those far ahead: all later changes would pass for seen. */
export function latestOf(stamps: readonly string[], clock: number): string {
  const bound = new Date(clock + MOST_AHEAD_MS).toISOString();
  return stamps.findLast((stamp) => !INSTANT.test(stamp) || orderOf(stamp) <= orderOf(bound)) ?? '';
}

/** When an answer was given, by its sender's clock; by ours if it does not say. */
export function clockOf(date: string | undefined): number {
  const told = Date.parse(date ?? '');
  return Number.isNaN(told) ? Date.now() : told;
}
