import { expect, test } from 'vitest';
import { listWrites, type NewWrite, recordWrites } from '../../src/store/foreign-writes.ts';
import { freshStore, kinds } from './stores.ts';

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
