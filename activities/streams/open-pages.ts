import type { RawPage } from '../../src/partner/client/types.ts';
import { type KeptPage, keepPage, readKeptPage } from '../../src/store/stream-missing.ts';
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
}

/** Reads the records of a page but for those that came the same before and whose rows still stand. */
export async function openPage(
  reading: Reading,
  page: RawPage | undefined,
  at: number,
): Promise<OpenedPage | undefined> {
  if (page === undefined) return undefined;
  const { deps, key, stream, recognition } = reading;
  const kept = await readKeptPage(deps.store, key, at);
  if (recognition === undefined) return { ...readRecords(stream, page, reading.run.segment), prints: new Map(), kept };
  const prints = page.raw.map((record) => fingerprintOf(record, recognition));
  const unchanged = await standing(reading, prints, decodeKnown(recognition, kept?.known));
  const rest = [...prints.keys()].filter((index) => !unchanged.has(prints[index] ?? ''));
  const read = readRecords(stream, { ...page, raw: rest.map((index) => page.raw[index]) }, reading.run.segment);
  const unreadable = read.unreadable.map((one) => ({ ...one, index: rest[one.index] ?? one.index }));
  const left = new Set(unreadable.map(({ index }) => index));
  const readable = rest.filter((index) => !left.has(index));
  const byId = new Map([...unchanged].map(([print, { id }]) => [id, print]));
  for (const [n, item] of read.items.entries()) byId.set(String(item['id']), prints[readable[n] ?? -1] ?? '');
  return { ...read, unreadable, unchanged: [...unchanged.values()], prints: byId, kept };
}

/** The known ones of these records whose rows are as they should be, by their fingerprints. */
async function standing(
  { destination, key }: Reading,
  prints: readonly string[],
  known: KnownRecords,
): Promise<Map<string, RowFacts>> {
  const found = prints.flatMap((print) => {
    const facts = known.get(print);
    return facts === undefined ? [] : [{ print, facts }];
  });
  if (found.length === 0 || destination.force) return new Map();
  const ids = found.map(({ facts }) => facts.id);
  const options = { tenant: key.tenantId, signal: AbortSignal.timeout(HRIS_MS) };
  const hashes = await destination.landing.hashes(key.stream, ids, options);
  const same = found.filter(({ facts }) => isRow(facts, hashes.get(facts.id)));
  return new Map(same.map(({ print, facts }) => [print, facts]));
}

/**
 * Keeps who stands on which page, to tell at the end who stands on none, and what they came as; `also` were there when
 * it was read before. A page that is as it was costs no write.
 */
export async function keepOpened(
  { deps, key, recognition }: Reading,
  at: number,
  page: OpenedPage,
  { rows, also = [] }: { rows: readonly RowFacts[]; also?: readonly string[] },
): Promise<void> {
  const shown = [...readableIds(page), ...page.unreadable.flatMap(({ id }) => id ?? [])];
  const ids = [...new Set([...also, ...shown])].toSorted();
  const known = recognition === undefined ? null : encodeKnown(recognition, knownOf(page, rows));
  if (page.kept?.known === known && page.kept.ids.join() === ids.join()) return;
  await keepPage(deps.store, key, at, { ids, known });
}

function knownOf({ prints }: OpenedPage, rows: readonly RowFacts[]): KnownRecords {
  const known = rows.map((row) => [prints.get(row.id) ?? '', row] as const);
  return new Map(known.filter(([print]) => print !== '').toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
