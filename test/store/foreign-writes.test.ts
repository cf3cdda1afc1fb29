import { describe, expect, onTestFinished, test } from 'vitest';
import {
  concludeWrites,
  forgetWrites,
  listWrites,
  type NewWrite,
  readOpenWrites,
  recordWrites,
  settleWrites,
} from '../../src/store/foreign-writes.ts';
import { openStore, type Store, writeFailpoints } from '../../src/store/open-store.ts';
import { freshStore, freshStoreUrl, kinds } from './stores.ts';

const ORIGIN = { tenantId: 'acme', runId: 'r1', mappingHash: null, by: 'test' };

function write(recordId: string, value: unknown): NewWrite {
  const changes = { city: { old: null, new: value }, 'a "name"': { new: [value] } };
  return { target: 'candidates', recordId, kind: 'update', changes, sensitive: ['city'] };
}

test.each(kinds.flatMap((kind) => ['Zürich\n"\\', '\u0000', '\ud83d', '😀', 1e21, null].map((value) => [kind, value])))(
  'what was written down is read as it was (%s, %j)',
  async (kind, value) => {
    const { store } = await freshStore(kind as (typeof kinds)[number]);
    const written = write('1', value);
    await recordWrites(store, ORIGIN, [written, write('2', 'Oslo')]);
    const rows = await listWrites(store, { tenantId: 'acme', recordId: '1' });
    const texts = rows.map(({ fields, sensitive, changes }) => [fields, sensitive, changes]);
    expect(texts).toEqual([
      [Object.keys(written.changes), written.sensitive, written.changes].map((one) => JSON.stringify(one)),
    ]);
  },
);

/** What became of each record's write, as it is shown. */
async function outcomes(store: Store): Promise<Record<string, string>> {
  const rows = await listWrites(store, { tenantId: 'acme' });
  return Object.fromEntries(rows.map((row) => [row.record_id, row.outcome]));
}

async function openIds(store: Store): Promise<string[]> {
  return (await readOpenWrites(store, 'acme', 'candidates')).map((row) => row.record_id).toSorted();
}

describe.each(kinds)('what became of a batch (%s)', (kind) => {
  async function twoWrites() {
    const { store } = await freshStore(kind);
    return { store, batchId: await recordWrites(store, ORIGIN, [write('1', 'Oslo'), write('2', 'Rome')]) };
  }

  test('it is open until somebody hears of it, and its rows need not be written again for that', async () => {
    const { store, batchId } = await twoWrites();
    expect(await outcomes(store)).toEqual({ 1: 'open', 2: 'open' });
    expect(await openIds(store)).toEqual(['1', '2']);
    const before = await store.kysely.selectFrom('foreign_writes').selectAll().orderBy('record_id').execute();
    await settleWrites(store, batchId, 'done');
    expect(await store.kysely.selectFrom('foreign_writes').selectAll().orderBy('record_id').execute()).toEqual(before);
    expect(await outcomes(store)).toEqual({ 1: 'done', 2: 'done' });
    expect(await openIds(store)).toEqual([]);
  });

  test('a write alone in its batch is open by itself', async () => {
    const { store } = await freshStore(kind);
    const batchId = await recordWrites(store, ORIGIN, [write('1', 'Oslo')]);
    expect(await store.kysely.selectFrom('open_batches').selectAll().execute()).toEqual([]);
    expect({ shown: await outcomes(store), open: await openIds(store) }).toEqual({ shown: { 1: 'open' }, open: ['1'] });
    await settleWrites(store, batchId, 'done');
    expect({ shown: await outcomes(store), open: await openIds(store) }).toEqual({ shown: { 1: 'done' }, open: [] });
  });

  test('refused or taken back, it is no longer open', async () => {
    const { store, batchId } = await twoWrites();
    await settleWrites(store, batchId, 'refused');
    expect(await outcomes(store)).toEqual({ 1: 'refused', 2: 'refused' });
    await forgetWrites(store, await recordWrites(store, ORIGIN, [write('3', 'Bern'), write('4', 'Oslo')]));
    expect(await outcomes(store)).toEqual({ 1: 'refused', 2: 'refused' });
    expect(await openIds(store)).toEqual([]);
  });

  test('what was concluded gives way to a late word, and never overrules one', async () => {
    const { store, batchId } = await twoWrites();
    await concludeWrites(store, batchId, ['2']);
    expect(await outcomes(store)).toEqual({ 1: 'done', 2: 'absent' });
    await settleWrites(store, batchId, 'done');
    expect(await outcomes(store)).toEqual({ 1: 'done', 2: 'done' });
    await concludeWrites(store, batchId, ['1', '2']);
    expect(await outcomes(store)).toEqual({ 1: 'done', 2: 'done' });
  });

  test('rows that an earlier version left open are concluded as well', async () => {
    const { store, batchId } = await twoWrites();
    await store.kysely.deleteFrom('open_batches').execute();
    await store.kysely.updateTable('foreign_writes').set({ outcome: 'open' }).execute();
    expect(await openIds(store)).toEqual(['1', '2']);
    await concludeWrites(store, batchId, ['2']);
    expect(await outcomes(store)).toEqual({ 1: 'done', 2: 'absent' });
  });

  test('a batch that was not taken down whole is not taken down at all', async () => {
    const { store } = await freshStore(kind);
    await expect(recordWrites(store, ORIGIN, [write('1', 'Oslo'), write('1', 'Rome')])).rejects.toThrow(/unique/i);
    expect(await store.kysely.selectFrom('open_batches').selectAll().execute()).toEqual([]);
  });

  test.each([1, 2])('a process may be killed before and after it takes down %i', async (records) => {
    const passed: string[] = [];
    const url = await freshStoreUrl(kind);
    const store = await openStore(url, { plugins: [writeFailpoints((point) => void passed.push(point))] });
    onTestFinished(() => store.close());
    passed.splice(0);
    await recordWrites(store, ORIGIN, [write('1', 'Oslo'), write('2', 'Rome')].slice(0, records));
    expect(passed).toEqual(
      expect.arrayContaining(['store.insert.foreign_writes/before', 'store.insert.foreign_writes/after']),
    );
  });
});
