import type { RawPage } from '../../src/partner/client/types.ts';
import { type KeptPage, keepPages, readKeptPages } from '../../src/store/stream-missing.ts';
import { decodeKnown, encodeKnown, fingerprintOf, isRow, type KnownRecords } from '../../src/streams/known-records.ts';
import { type RecordPage, readableIds, readRecords } from '../../src/streams/read-page.ts';
import type { RowFacts } from '../../src/streams/row-facts.ts';
import type { Reading } from './reading.ts';

const HRIS_MS = 30_000;

/** A page of the list, as far as its records had to be read. */
export interface OpenedPage extends RecordPage {
  /** What the readable records came as, by their ids. */
  prints: ReadonlyMap<string, string>;
  /** The page as it was kept before. */
  kept: KeptPage | undefined;
  /** It shows whom it showed then and nobody else, each the same. */
  isAsKept: boolean;
}

/** Reads the records of pages but for those that came the same before and whose rows still stand. */
export async function openPages(
  reading: Reading,
  pages: readonly (RawPage | undefined)[],
  first: number,
): Promise<(OpenedPage | undefined)[]> {
  const { deps, key, recognition } = reading;
  const numbers = pages.flatMap((page, n) => (page === undefined ? [] : [first + n]));
  const kept = await readKeptPages(deps.store, key, numbers);
  const printed = pages.map((page, n): PrintedPage | undefined => {
    if (page === undefined) return undefined;
    const before = kept.get(first + n);
    if (recognition === undefined) return { page, kept: before, prints: undefined, known: new Map() };
    const prints = page.raw.map((record) => fingerprintOf(record, recognition));
    return { page, kept: before, prints, known: decodeKnown(recognition, before?.known) };
  });
  const standing = await readStanding(reading, printed);
  return printed.map((page) => (page === undefined ? undefined : openPage(reading, page, standing)));
}

/** A page, and by what its records may be known again. */
interface PrintedPage {
  page: RawPage;
  kept: KeptPage | undefined;
  /** What each record came as; undefined where every record has to be read. */
  prints: string[] | undefined;
  known: KnownRecords;
}

function openPage(
  { stream, run }: Reading,
  { page, kept, prints, known }: PrintedPage,
  standing: ReadonlyMap<string, string>,
): OpenedPage {
  if (prints === undefined) {
    const read = readRecords(stream, page, run.segment);
    const items = stream.toRecords === undefined ? firstOfEach(read.items) : read.items;
    return { ...read, items, prints: new Map(), kept, isAsKept: false };
  }
  const unchanged = new Map<string, RowFacts>();
  const byId = new Map<string, string>();
  const rest: number[] = [];
  for (const [index, print] of prints.entries()) {
    const facts = known.get(print);
    if (facts === undefined || !isRow(facts, standing.get(facts.id))) rest.push(index);
    else {
      unchanged.set(print, facts);
      byId.set(facts.id, print);
    }
  }
  const isAsKept = rest.length === 0 && unchanged.size === known.size && kept?.ids.length === known.size;
  const raw = rest.flatMap((index) => page.raw[index] ?? []);
  const read = readRecords(stream, { ...page, raw }, run.segment);
  const unreadable = read.unreadable.map((one) => ({ ...one, index: rest[one.index] ?? one.index }));
  const left = new Set(unreadable.map(({ index }) => index));
  const readable = rest.filter((index) => !left.has(index));
  const items = read.items.filter(({ id }, n) => {
    const isFirst = !byId.has(String(id));
    if (isFirst) byId.set(String(id), prints[readable[n] ?? -1] ?? '');
    return isFirst;
  });
  return { ...read, items, unreadable, unchanged: [...unchanged.values()], prints: byId, kept, isAsKept };
}

/** Where a record stands on a page twice, the first counts; so it does in `openPage`. */
function firstOfEach(items: RecordPage['items']): RecordPage['items'] {
  return [...new Map(items.toReversed().map((item) => [item['id'], item])).values()].toReversed();
}

/** The hashes of the rows of those records that are known, by their ids. */
async function readStanding(
  { destination, key }: Reading,
  pages: readonly (PrintedPage | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = pages.flatMap((page) => page?.prints?.flatMap((print) => page.known.get(print)?.id ?? []) ?? []);
  if (ids.length === 0 || destination.force) return new Map();
  const options = { tenant: key.tenantId, signal: AbortSignal.timeout(HRIS_MS) };
  return destination.landing.hashes(key.stream, ids, options);
}

/** A page as it is to be kept; `rows` stand there now, `also` were on it when it was read before. */
export interface PageToKeep {
  number: number;
  page: OpenedPage;
  rows: readonly RowFacts[];
  also?: readonly string[];
}

/**
 * Keeps who stands on which page, to tell at the end who stands on none, and what they came as. A page that is as it
 * was costs no write.
 */
export async function keepOpened({ deps, key, recognition }: Reading, pages: readonly PageToKeep[]): Promise<void> {
  const changed = pages.flatMap(({ number, page, rows, also = [] }): [number, KeptPage][] => {
    if (page.isAsKept && rows.length === page.unchanged?.length) return [];
    const shown = [...readableIds(page), ...page.unreadable.flatMap(({ id }) => id ?? [])];
    const ids = [...new Set([...also, ...shown])].toSorted();
    const known = recognition === undefined ? null : encodeKnown(recognition, knownOf(page, rows));
    return page.kept?.known === known && page.kept.ids.join() === ids.join() ? [] : [[number, { ids, known }]];
  });
  await keepPages(deps.store, key, new Map(changed));
}

function knownOf({ prints }: OpenedPage, rows: readonly RowFacts[]): KnownRecords {
  const known = rows.map((row) => [prints.get(row.id) ?? '', row] as const);
  return new Map(known.filter(([print]) => print !== '').toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
