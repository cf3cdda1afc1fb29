import { sql } from 'kysely';
import { batchesOf, put, type Store } from './open-store.ts';
import { ofStream, type StreamKey } from './streams.ts';

/** Pages in one read: the texts of a million ids would take 10 MB. */
const MOST_PAGES = 200;

/** A page as it was last read. */
export interface KeptPage {
  ids: readonly string[];
  known: string | null;
}

export async function keepPages(store: Store, key: StreamKey, pages: ReadonlyMap<number, KeptPage>): Promise<void> {
  const own = { tenant_id: key.tenantId, stream: key.stream };
  const rows = [...pages].map(([page, { ids, known }]) => ({ ...own, page, ids: JSON.stringify(ids), known }));
  await put(store, 'stream_pages', rows, { key: ['tenant_id', 'stream', 'page'], set: ['ids', 'known'] });
}

/** Deletes pages from `from` up to, not including, `to`: the list has become shorter. */
export async function dropPages(store: Store, key: StreamKey, from: number, to: number): Promise<void> {
  await store.kysely
    .deleteFrom('stream_pages')
    .where(ofStream(key))
    .where('page', '>=', from)
    .where('page', '<', to)
    .execute();
}

/** The stored pages among these numbers. */
export async function readKeptPages(
  store: Store,
  key: StreamKey,
  pages: readonly number[],
): Promise<Map<number, KeptPage>> {
  if (pages.length === 0) return new Map();
  const rows = await pagesOf(store, key).select(['page', 'known']).where('page', 'in', pages).execute();
  return new Map(rows.map(({ page, ids, known }) => [page, { ids: JSON.parse(ids) as string[], known }]));
}

/** The ids that were seen. */
export interface SeenIds {
  readonly size: number;
  /** How often a page showed an id that an earlier page of the same part of the list had shown. */
  readonly repeated: number;
  has(id: string): boolean;
}

/** All ids on the pages of a list that was read to its end; each part of it is numbered from a multiple of `part`. */
export async function readSeenIds(store: Store, key: StreamKey, part: number): Promise<SeenIds> {
  const seen = new Set<string | number>();
  // A list in a single part, which may be long, is kept once.
  let own = seen;
  let first = 0;
  let repeated = 0;
  for (let behind: number | undefined = -1; behind !== undefined; ) {
    const some = pagesOf(store, key).select('page').where('page', '>', behind).orderBy('page').limit(MOST_PAGES);
    const pages: { page: number; ids: string }[] = await some.execute();
    for (const { page, ids } of pages) {
      if (page >= first + part) {
        [own, first] = [new Set(), page - (page % part)];
      }
      for (const id of (JSON.parse(ids) as string[]).map(asKept)) {
        if (own.has(id)) repeated += 1;
        own.add(id);
        seen.add(id);
      }
    }
    behind = pages.at(-1)?.page;
  }
  return { size: seen.size, repeated, has: (id) => seen.has(asKept(id)) };
}

/** Ids that are plain numbers are kept as numbers: a million texts would take 30 MB more. */
function asKept(id: string): string | number {
  const number = Number(id);
  return String(number) === id ? number : id;
}

function pagesOf(store: Store, key: StreamKey) {
  return store.kysely.selectFrom('stream_pages').select('ids').where(ofStream(key));
}

interface Missing {
  recordId: string;
  /** The first run that missed it. */
  runId: string;
  /** When that run missed it; milliseconds on the database's clock. */
  since: number;
  isBelieved: boolean;
}

export async function readMissing(store: Store, key: StreamKey): Promise<Missing[]> {
  const columns = ['record_id as recordId', 'run_id as runId', 'since', 'believed_at'] as const;
  const rows = await missingOf(store, key).select(columns).execute();
  return rows.map(({ believed_at: at, ...row }) => ({ ...row, isBelieved: at !== null }));
}

/** Records ids as missing for the first time; with `believed`, both an event and a read missed them. */
export async function addMissing(
  store: Store,
  key: StreamKey,
  { runId, ids, believed }: { runId: string; ids: readonly string[]; believed: boolean },
): Promise<void> {
  const row = { tenant_id: key.tenantId, stream: key.stream, run_id: runId, since: store.now };
  for (const some of batchesOf(ids))
    await store.kysely
      .insertInto('stream_missing')
      .values(some.map((id) => ({ ...row, record_id: id, believed_at: believed ? store.now : null })))
      .onConflict((c) =>
        c
          .columns(['tenant_id', 'stream', 'record_id'])
          .doUpdateSet({ believed_at: sql`coalesce(stream_missing.believed_at, excluded.believed_at)` }),
      )
      .execute();
}

/** Marks ids that were missed a second time. */
export async function believeMissing(store: Store, key: StreamKey, ids: readonly string[]): Promise<void> {
  for (const some of batchesOf(ids))
    await store.kysely
      .updateTable('stream_missing')
      .set({ believed_at: store.now })
      .where(ofStream(key))
      .where('record_id', 'in', some)
      .where('believed_at', 'is', null)
      .execute();
}

/** Forgets ids that were seen again, or were removed on the other side too. */
export async function forgetMissing(store: Store, key: StreamKey, ids: readonly string[]): Promise<void> {
  for (const some of batchesOf(ids))
    await store.kysely.deleteFrom('stream_missing').where(ofStream(key)).where('record_id', 'in', some).execute();
}

function missingOf(store: Store, key: StreamKey) {
  return store.kysely.selectFrom('stream_missing').where(ofStream(key));
}
