import type { RawPage } from '../../src/partner/client/types.ts';
import { fetchAhead } from '../../src/streams/fetch-ahead.ts';
import { countJoinable } from '../../src/streams/join-pages.ts';
import { NOTHING_LANDED } from '../../src/streams/land-page.ts';
import { fallAt, lastPageOf } from '../../src/streams/page-outcome.ts';
import { firstPageOf, PAGE_SIZE, readRawPage } from '../../src/streams/read-page.ts';
import { createHeapRoom } from '../heap-growth.ts';
import { drainBetweenPages } from './drain-hints.ts';
import type { Beat } from './in-run.ts';
import { commit, type Reading } from './reading.ts';
import { type Fetched, keepSettled, landPages, settlePages, settleQuarantine } from './settle-pages.ts';

/**
 * One activity reads for so long: few events of history, and a deploy need not wait. Not so many pages: each end
 * empties the row of pages asked for ahead, and filling it again costs a round trip.
 */
const BATCH_MS = 30_000;
/** So often a batch reads again what may have slipped; a list that moves on is left to the next run. */
const MOST_REREADS = 5;
/** So many pages that have come are settled as one, in the statements of one. */
const TOGETHER = 4;
/** Records from which on a pass is long, and is given room for its garbage: most tenants at rest have fewer. */
const LONG_PASS = 2_000;

/** Reads and lands some pages from the run's cursor on. */
export async function readList(reading: Reading, beat: Beat): Promise<'over' | 'superseded'> {
  const end = performance.now() + BATCH_MS;
  const room = createHeapRoom();
  const settled: Beat = (details) => {
    if (reading.run.seen >= LONG_PASS) room.take();
    beat(details);
  };
  try {
    for (;;) {
      const ended = await readSegment(reading, end, settled);
      if (ended !== 'next') return ended;
    }
  } finally {
    room.giveBack();
  }
}

async function readSegment(reading: Reading, end: number, beat: Beat): Promise<'over' | 'superseded' | 'next'> {
  const { segment } = reading.run;
  const isWanted = (page: number): boolean =>
    reading.run.state === 'running' &&
    reading.run.segment === segment &&
    performance.now() < end &&
    page <= lastPageOf(reading.run);
  for (;;) {
    const ended = await readInto(reading, isWanted, beat);
    if (ended === 'superseded') return 'superseded';
    if (ended === 'over') break;
    // From here on in order: no answer is older than the one before it.
    reading.ahead = 1;
    if (!(await readAgain(reading, ended.pages))) return 'superseded';
  }
  if (reading.run.segment === segment || reading.run.state !== 'running') return 'over';
  return performance.now() < end ? 'next' : 'over';
}

/** Settles pages until none is wanted, or until records may have slipped to so many pages before. */
async function readInto(
  reading: Reading,
  isWanted: (page: number) => boolean,
  beat: Beat,
): Promise<'over' | 'superseded' | { pages: number }> {
  const { segment } = reading.run;
  const isOn = (): boolean => reading.run.state === 'running' && reading.run.segment === segment;
  const fetching = { ahead: reading.ahead, together: TOGETHER };
  for await (const due of fetchAhead(reading.run.page, fetching, isWanted, (at) => fetchPage(reading, at))) {
    for (let rest = due; rest.length > 0 && isOn(); ) {
      const slipped = reading.rereads < MOST_REREADS ? await slippedOver(reading, rest[0]?.page) : 0;
      if (slipped > 0) return { pages: slipped };
      const some = rest.slice(0, joinable(reading, rest));
      if (!(await settlePages(reading, some)) || !(await drainBetweenPages(reading))) return 'superseded';
      const { page: next, seen, total } = reading.run;
      beat({ page: next, seen, total });
      rest = rest.slice(some.length);
    }
    if (!isOn()) break;
  }
  return 'over';
}

/** Where an entry of the list may be several records, only a page that was read tells whether it is the last. */
function joinable({ run, stream }: Reading, pages: readonly Fetched[]): number {
  if (stream.toRecords !== undefined) return 1;
  return countJoinable(
    run,
    pages.map(({ page }) => page),
  );
}

async function fetchPage(reading: Reading, page: number): Promise<Fetched> {
  reading.reads += 1;
  const read = reading.reads;
  return { read, page: await readRawPage(reading.connection.partner, reading.stream, page, reading.run.segment) };
}

/** Over how many pages before this one records may have slipped. */
async function slippedOver(reading: Reading, page: RawPage | undefined): Promise<number> {
  const { run } = reading;
  const before = run.page - firstPageOf(reading.stream);
  if (page !== undefined) return Math.min(before, Math.ceil(fallAt(run, page) / PAGE_SIZE));
  if (run.total === null || run.seen - run.seen_before >= run.total) return 0;
  // Nothing here although the total promised more: it is too high, unless it has fallen meanwhile.
  for (let back = 1; back <= before; back += 1) {
    const { page: last } = await fetchPage(reading, run.page - back);
    if (last !== undefined) return Math.min(before, Math.max(back - 1, Math.ceil(fallAt(run, last) / PAGE_SIZE)));
  }
  return 0;
}

/** Lands what has come to the pages before. The cursor stays, and so does the place in the list that it counts. */
async function readAgain(reading: Reading, pages: number): Promise<boolean> {
  reading.rereads += 1;
  reading.before = undefined;
  for (let at = reading.run.page - pages; at < reading.run.page; at += 1) {
    const fetched = await fetchPage(reading, at);
    const settled = await landPages(reading, [fetched], at);
    const landed = settled[0]?.landed ?? NOTHING_LANDED;
    const outcome = { isLast: false, quarantined: landed.quarantined };
    const quarantined = await settleQuarantine(reading, { at, outcome, landed });
    await keepSettled(reading, settled, at, true);
    const { run } = reading;
    const { created, updated } = landed;
    const counts = { unchanged: 0, created, updated, quarantined, skipped: 0 };
    const total = fetched.page?.total ?? run.total;
    if (!(await commit(reading, { next: run.page, records: 0, total, counts, state: run.state }))) return false;
  }
  return true;
}
