import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { freshStoreUrl, kinds } from '../store/stores.ts';
import { fillFleet } from './scale/fill-fleet.ts';
import { openPages, scansOf } from './scale/measure-pages.ts';

/** However small the tables are here, Postgres must show whether an index would serve. */
const INDEXES_ONLY = '?options=-c%20enable_seqscan%3Doff';
const MOST_STATEMENTS = 20;

/** At full size, with times: npm run test:console-scale. */
test.each(kinds)('no page goes through a table that grows, or asks many statements, on %s', async (kind) => {
  const url = await freshStoreUrl(kind);
  const store = await openStore(url);
  await fillFleet(store, { tenants: 20, hires: 1_000, audit: 500 });
  await store.close();
  const pages = await openPages(kind === 'postgres' ? url + INDEXES_ONLY : url, scansOf);
  onTestFinished(() => pages.close());
  for (const [name, path] of Object.entries(pages.paths)) {
    const { statements, scans } = await pages.measure(path, 1);
    expect([name, scans]).toEqual([name, []]);
    expect([name, statements]).toEqual([name, expect.toSatisfy((count: number) => count <= MOST_STATEMENTS)]);
  }
});
