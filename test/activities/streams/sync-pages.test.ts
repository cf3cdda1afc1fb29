import { expect, onTestFinished, test } from 'vitest';
import type { ActivityDeps, Connection } from '../../../activities/connections.ts';
import { syncPages } from '../../../activities/streams/pull-pages.ts';
import type { LandingRow } from '../../../src/hris/port.ts';
import { createLogger } from '../../../src/log.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { defaultOverrides } from '../../../src/partner/contract/assumptions.ts';
import { readHints } from '../../../src/store/hints.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { readMissing } from '../../../src/store/stream-missing.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore } from '../../store/stores.ts';

const KEY = { tenantId: 'acme', stream: 'candidates' };
const PEOPLE = 460;

/** A tenant whose candidates land in memory: a real partner, a real store. */
async function tenant(wrap: (partner: PartnerClient) => PartnerClient = (partner) => partner) {
  const sandbox = await openSandbox({ jobs: 1, candidates: PEOPLE });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { store } = await freshStore('sqlite');
  const landed = new Map<string, string>();
  const land = async (_stream: string, rows: readonly LandingRow[]) => {
    const fresh = rows.filter(({ id }) => !landed.has(id));
    for (const { id, hash } of rows) landed.set(id, hash);
    return { created: fresh.length, updated: 0, unchanged: rows.length - fresh.length };
  };
  const connection = {
    tenant: {
      tenant: 'acme',
      hris: { kind: 'memory' },
      streams: { candidates: {}, consents: {} },
      policies: { privacy: { gone: 'mark' } },
    },
    overrides: defaultOverrides,
    exchanges: {},
    partner: wrap(sandbox.partner),
    hris: { landing: { land, read: async () => [], hashes: async () => landed, ids: async () => [...landed.keys()] } },
    keyFingerprint: 'one',
    landings: { candidates: { fields: [], hash: 'h', files: {} } },
  } as unknown as Connection;
  const deps = {
    store,
    log: createLogger('test'),
    limits: { pausedMs: 1000 },
    connections: { of: async () => connection },
  } as unknown as ActivityDeps;
  let runs = 0;
  return {
    sandbox,
    store,
    landed,
    sync: () => {
      runs += 1;
      return syncPages(deps, { tenantId: 'acme', stream: 'candidates', runId: `r${runs}`, full: false, begun: false });
    },
  };
}

/** One page of a list as it stands at this moment. */
function pageOf(people: readonly { id: string }[], page: number) {
  const shown = people.slice(page * 100, page * 100 + 100);
  if (shown.length === 0) return undefined;
  return { page, raw: shown.map((one) => Buffer.from(JSON.stringify(one))), total: people.length };
}

/**
 * A list that gets a row in front whenever one was answered. Of pages asked for together the last is answered first.
 */
function growing(partner: PartnerClient): PartnerClient {
  const people = Array.from({ length: PEOPLE }, (_, id) => ({ id: String(id) }));
  const answered = new Map(Array.from({ length: 5 }, (_, page) => [page, Promise.withResolvers<void>()]));
  async function rawPage(...[, , { page: at }]: Parameters<PartnerClient['rawPage']>) {
    if (at > 0 && at < 4) await answered.get(at + 1)?.promise;
    const page = pageOf(people, at);
    people.unshift({ id: String(10_000 + people.length) });
    answered.get(at)?.resolve();
    return page;
  }
  return { ...partner, rawPage: rawPage as PartnerClient['rawPage'] };
}

test('a list that grows while pages fetched ahead are answered out of order loses nobody', async () => {
  const { landed, sync } = await tenant(growing);
  await expect(sync()).resolves.toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  const missing = Array.from({ length: PEOPLE }, (_, id) => String(id)).filter((id) => !landed.has(id));
  expect(missing).toEqual([]);
});

/** A list of which the first three are deleted as soon as the page before the last was read. */
function shrinking(partner: PartnerClient): PartnerClient {
  const people = Array.from({ length: PEOPLE }, (_, id) => ({ id: String(id) }));
  let deleted = false;
  async function rawPage(...[, , { page: at }]: Parameters<PartnerClient['rawPage']>) {
    const page = pageOf(people, at);
    if (at === 3 && !deleted) deleted = people.splice(0, 3).length > 0;
    return page;
  }
  return { ...partner, rawPage: rawPage as PartnerClient['rawPage'] };
}

test('whoever slips to a page read before, because others were deleted, is read in the same run', async () => {
  const { landed, sync } = await tenant(shrinking);
  await expect(sync()).resolves.toMatchObject({ state: 'done', counts: { created: PEOPLE } });
  expect(landed.size).toBe(PEOPLE);
});

test('a total that is too high makes the first pass partial and none after it', async () => {
  const { sandbox, store, landed, sync } = await tenant();
  await sandbox.control.act('setQuirks', { quirks: ['overstated-total'] });
  await expect(sync()).resolves.toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(landed.size).toBe(PEOPLE);
  const [row] = await readQuarantine(store, KEY);
  expect(row?.reason).toMatch(/ended with an empty page, \d+ records before its total/);
  await expect(sync()).resolves.toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  expect(await readQuarantine(store, KEY)).toEqual([]);
});

test('beside a total that is always too high, a deleted record is missed and then gone', async () => {
  const { sandbox, store, landed, sync } = await tenant();
  await sandbox.control.act('setQuirks', { quirks: ['overstated-total'] });
  await sync();
  const [gone = ''] = landed.keys();
  await sandbox.control.act('deleteCandidate', { candidateIds: [Number(gone)] });
  await expect(sync()).resolves.toMatchObject({ state: 'done' });
  expect(await readMissing(store, KEY)).toMatchObject([{ recordId: gone, isBelieved: false }]);
  await expect(sync()).resolves.toMatchObject({ state: 'done' });
  expect(await readMissing(store, KEY)).toMatchObject([{ recordId: gone, isBelieved: true }]);
});

/** A list whose last page may come empty, under the total of all its records. */
function emptyEnd(ends: { empty: boolean; looks: number }): (partner: PartnerClient) => PartnerClient {
  return (partner) => {
    async function rawPage(...asked: Parameters<PartnerClient['rawPage']>) {
      if (asked[2].page < 4) return partner.rawPage(...asked);
      ends.looks += 1;
      return ends.empty ? undefined : partner.rawPage(...asked);
    }
    return { ...partner, rawPage: rawPage as PartnerClient['rawPage'] };
  };
}

test('a last page that comes empty under a total that says more costs nobody their record', async () => {
  const ends = { empty: false, looks: 0 };
  const { sandbox, store, landed, sync } = await tenant(emptyEnd(ends));
  await expect(sync()).resolves.toMatchObject({ state: 'done', counts: { created: PEOPLE } });
  const [gone = ''] = landed.keys();
  ends.empty = true;
  for (let pass = 0; pass < 3; pass += 1) {
    await expect(sync()).resolves.toMatchObject({ state: 'partial', counts: { read: 400, quarantined: 1 } });
    expect(await readMissing(store, KEY)).toEqual([]);
  }
  // Whom the partner denies by id too is gone all the same.
  await sandbox.control.act('deleteCandidate', { candidateIds: [Number(gone)] });
  ends.empty = false;
  await expect(sync()).resolves.toMatchObject({ state: 'done' });
  expect(await readMissing(store, KEY)).toMatchObject([{ recordId: gone, isBelieved: false }]);
  expect(await readQuarantine(store, KEY)).toEqual([]);
});

test('a page that comes empty once is read at the second look', async () => {
  const ends = { empty: true, looks: 0 };
  const { landed, sync } = await tenant((partner) => {
    const flaky = emptyEnd(ends)(partner);
    const rawPage = async (...asked: Parameters<PartnerClient['rawPage']>) => {
      const page = await flaky.rawPage(...asked);
      ends.empty = ends.looks === 0;
      return page;
    };
    return { ...flaky, rawPage: rawPage as PartnerClient['rawPage'] };
  });
  await expect(sync()).resolves.toMatchObject({ state: 'done', counts: { created: PEOPLE, quarantined: 0 } });
  expect(landed.size).toBe(PEOPLE);
  expect(ends.looks).toBe(2);
});

/**
 * Rows that share their time stand in another order for every page: from then on the second page shows one of the first
 * page again, and another record is on no page.
 */
function tied(ties: { isOn: boolean }): (partner: PartnerClient) => PartnerClient {
  return (partner) => {
    async function rawPage(...[list, input, paging]: Parameters<PartnerClient['rawPage']>) {
      const page = await partner.rawPage(list, input, paging);
      if (!ties.isOn || paging.page !== 1 || page === undefined) return page;
      const before = await partner.rawPage(list, input, { ...paging, page: 0 });
      return { ...page, raw: [...(before?.raw.slice(-1) ?? []), ...page.raw.slice(1)] };
    }
    return { ...partner, rawPage: rawPage as PartnerClient['rawPage'] };
  };
}

test('a record that stands on no page of a list in no order is told of, pass after pass', async () => {
  const { store, landed, sync } = await tenant(tied({ isOn: true }));
  for (let pass = 0; pass < 3; pass += 1) {
    await expect(sync()).resolves.toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
    const rows = await readQuarantine(store, KEY);
    expect(rows.map(({ reason }) => reason)).toEqual([expect.stringContaining('1 record stands on two pages')]);
  }
  expect(landed.size).toBe(PEOPLE - 1);
});

test('a landed record that two passes find on no page is not gone while the partner shows it by id', async () => {
  const ties = { isOn: false };
  const { sandbox, store, landed, sync } = await tenant(tied(ties));
  await expect(sync()).resolves.toMatchObject({ state: 'done', counts: { created: PEOPLE } });
  ties.isOn = true;
  await sync();
  const recordId = (await readMissing(store, KEY))[0]?.recordId ?? '';
  await sync();
  expect(await readMissing(store, KEY)).toEqual([]);
  expect(await readHints(store, KEY.tenantId, KEY.stream)).toMatchObject([{ recordId, gone: false }]);
  // The next run reads it by its id.
  landed.set(recordId, 'of before');
  await sync();
  expect(landed.get(recordId)).not.toBe('of before');
  // Whom the partner denies by id too is gone.
  ties.isOn = false;
  await sandbox.control.act('deleteCandidate', { candidateIds: [Number(recordId)] });
  await sync();
  await sync();
  expect(await readMissing(store, KEY)).toMatchObject([{ recordId, isBelieved: true }]);
});

/** A list that gets a row in front once its first page was answered. */
function grown(partner: PartnerClient): PartnerClient {
  const people = Array.from({ length: PEOPLE }, (_, id) => ({ id: String(id) }));
  async function rawPage(...[, , { page: at }]: Parameters<PartnerClient['rawPage']>) {
    const page = pageOf(people, at);
    if (at === 0 && people.length === PEOPLE) people.unshift({ id: '10000' });
    return page;
  }
  return { ...partner, rawPage: rawPage as PartnerClient['rawPage'] };
}

test('a list that grows in front repeats a record, and hides none that was there before', async () => {
  const { landed, sync } = await tenant(grown);
  await expect(sync()).resolves.toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  expect(landed.size).toBe(PEOPLE);
});
