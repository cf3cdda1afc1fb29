import { expect, test } from 'vitest';
import { openReading, type Reading } from '../../../activities/streams/reading.ts';
import { settlePages } from '../../../activities/streams/settle-pages.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { beginRun, readStreamState } from '../../../src/store/streams.ts';
import { firstPageOf, readRawPage } from '../../../src/streams/read-page.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

const KEY = { tenantId: 'acme', stream: 'candidates' } as const;

/** A run whose first two pages came together. */
async function withTwoPages(
  { world, store }: PullWorld,
  work: (reading: Reading, settle: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const places = { tenantsDir: world.tenantsDir, dataDir: world.dataDir };
  await withTenant({ store, places, tenantId: 'acme' }, async ({ deps, connection }) => {
    const run = await beginRun(store, KEY, { runId: 'two pages', full: false, firstPage: 0 });
    if (run === undefined) throw new Error('another run is under way');
    const reading = await openReading(deps, connection, KEY, run);
    const first = firstPageOf(reading.stream);
    const fetch = async (page: number) => ({
      read: 1,
      page: await readRawPage(connection.partner, reading.stream, page, 0),
    });
    const pages = await Promise.all([fetch(first), fetch(first + 1)]);
    await work(reading, () => settlePages(reading, pages));
  });
}

test('of two pages that came together the first lands where the second would change too much', async () => {
  const played = await openPullWorld('{ candidates: {} }', { candidates: 200 });
  const { world, store, pull, rows } = played;
  await pull('full');
  const ids = (await world.partner.readAll(contract.candidates.list)).items.map(({ id }) => Number(id));
  const [some, most] = [ids.slice(0, 10), ids.slice(100)];
  for (const candidateId of [...some, ...most])
    await world.control.act('editCandidate', { candidateId, fields: { city: 'Rome' } });
  await withTwoPages(played, async (_reading, settle) => {
    await expect(settle()).rejects.toMatchObject({ code: 'MASS_CHANGE' });
  });
  const inRome = [...rows()].filter(([, row]) => row['city'] === 'Rome').map(([id]) => Number(id));
  expect(inRome.toSorted((a, b) => a - b)).toEqual(some.toSorted((a, b) => a - b));
  expect(await readStreamState(store, KEY)).toMatchObject({ held_code: 'MASS_CHANGE' });
});

test.each(['HRIS_BUSY', 'LANDING_BUSY', 'STOPPED'])(
  'where two pages are too much for the HR system (%s) each lands by itself',
  async (code) => {
    const played = await openPullWorld('{ candidates: {} }', { candidates: 200 });
    await withTwoPages(played, async (reading, settle) => {
      const landed: number[] = [];
      const { landing } = reading.destination;
      const land: typeof landing.land = (stream, rows, options) => {
        landed.push(rows.length);
        if (rows.length > 100) throw new ConnectorError({ code, action: 'retry', message: 'It took too long.' });
        return landing.land(stream, rows, options);
      };
      reading.destination = { ...reading.destination, landing: { ...landing, land } };
      expect(await settle()).toBe(true);
      expect(landed).toEqual([200, 100, 100]);
      expect(reading).toMatchObject({ isSingly: true, run: { state: 'done', seen: 200, created: 200 } });
    });
    expect(played.rows().size).toBe(200);
  },
);
