import { firstPageOf, type RecordPage, readPage } from '../../src/streams/read-page.ts';
import { landByIds } from './drain-hints.ts';
import { landWithinLimits } from './land-within-limits.ts';
import { commit, type Reading } from './reading.ts';

/** Lands a single record. Where the partner reads none by its id, its list is searched. */
export async function readOne(reading: Reading, id: string): Promise<boolean> {
  if (reading.stream.fetch !== undefined) return landByIds(reading, [id]);
  const found = await findInList(reading, id);
  const { unchanged, created, updated, quarantined } = await landWithinLimits(reading, found);
  const counts = { unchanged, created, updated, quarantined: quarantined.length, skipped: found === undefined ? 1 : 0 };
  const { page, total } = reading.run;
  return commit(reading, { next: page, records: found === undefined ? 0 : 1, total, counts, state: 'running' });
}

async function findInList({ connection, stream }: Reading, id: string): Promise<RecordPage | undefined> {
  const { segments = [{}] } = stream;
  for (const segment of segments.keys())
    for (let at = firstPageOf(stream); ; at += 1) {
      const page = await readPage(connection.partner, stream, at, segment);
      if (page === undefined) break;
      const items = page.items.filter((item) => String(item['id']) === id);
      const unreadable = page.unreadable.filter((item) => item.id === id);
      if (items.length + unreadable.length > 0) return { ...page, items, unreadable };
    }
  return undefined;
}
