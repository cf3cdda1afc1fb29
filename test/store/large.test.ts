import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { oldestHints } from '../../src/store/hints.ts';
import type { Store } from '../../src/store/open-store.ts';
import { recordingStore, rowsRead } from './recording-store.ts';
import { kinds } from './stores.ts';

/** A million of them: npm run test:size. */
const MANY = 200_000;
const PART = 10_000;

/** Many hints of a hundred tenants, of two streams each; the oldest came at 1. */
async function insertHints({ kysely }: Store): Promise<void> {
  // In parts: no statement may take longer than the store's bound.
  for (let from = 1; from < MANY; from += PART)
    await sql`insert into hints (tenant_id, stream, record_id, hinted_at)
      with recursive numbers (n) as (
        select ${sql.lit(from)} union all select n + 1 from numbers where n < ${sql.lit(from + PART - 1)}
      )
      select 'tenant-' || (n % 100), case when n % 200 < 100 then 'jobs' else 'people' end, 'record-' || n, n
      from numbers`.execute(kysely);
  await sql`analyze hints`.execute(kysely);
}

describe.each(kinds)('a large store, on %s', (kind) => {
  test('of many hints the oldest of each stream are found without reading the others', async () => {
    const { store, asked } = await recordingStore(kind);
    await insertHints(store);
    asked.splice(0);
    const found = await oldestHints(store);
    const ask = asked.splice(0);
    expect(found).toHaveLength(200);
    expect(found.toSorted((one, other) => one.hintedAt - other.hintedAt)[0]).toEqual({
      tenantId: 'tenant-1',
      stream: 'jobs',
      hintedAt: 1,
    });
    expect(await rowsRead(store, ask)).toBeLessThan(5_000);
  });
});
