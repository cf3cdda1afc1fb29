import { describe, expect, test } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { takeReconcile } from '../../../src/store/reconciles.ts';
import { type Asked, openTenant, withPages } from './open-tenant.ts';

const STAGE = 'jobCandidates.listByStageType';

type Tenant = Awaited<ReturnType<typeof openTenant>>;

/** Reconciles until it ends, as Temporal would; how many attempts it took. */
async function untilOver({ attempt }: Tenant): Promise<number> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      await attempt();
      return attempts;
    } catch (error) {
      if (!(error instanceof ConnectorError) || attempts > 500) throw error;
    }
  }
}

/** Every page is lost as often as not after it was answered: what a killed process leaves behind. */
function losingPages(partner: PartnerClient): PartnerClient {
  let asked = 0;
  return withPages(partner, (_list, page) => {
    asked += 1;
    if (asked % 2 === 0) return page;
    throw new ConnectorError({ code: 'ABORTED', action: 'retry', message: 'killed' });
  });
}

describe('a baseline', () => {
  test('asks for the people of the company, not of each job', async () => {
    const { reconcile, callsOf, hiresIn } = await openTenant(250, { jobs: 25 });
    const calls = await callsOf(reconcile);
    expect(calls).toMatchObject({ 'jobs.list': 1, [STAGE]: 6, 'onboarding.listCandidates': 1 });
    expect(await hiresIn('before-go-live')).toHaveLength(250);
  });

  test('goes on where it was interrupted: each page that is lost costs one more call', async () => {
    const undisturbed = await openTenant(250, { jobs: 25 });
    const once = await undisturbed.callsOf(undisturbed.reconcile);
    const tenant = await openTenant(250, { jobs: 25 });
    tenant.changePartner(losingPages);
    const calls = await tenant.callsOf(async () => expect(await untilOver(tenant)).toBeGreaterThan(5));
    expect(await tenant.hiresIn('before-go-live')).toEqual(await undisturbed.hiresIn('before-go-live'));
    expect(calls['jobs.list']).toBe(2 * (once['jobs.list'] ?? 0));
    expect(calls[STAGE]).toBe(2 * (once[STAGE] ?? 0));
    expect(tenant.started).toEqual([]);
  });

  test('asks job by job where the partner refuses to list a stage of the whole company', async () => {
    const tenant = await openTenant(30, { jobs: 3 });
    tenant.changePartner((partner) => withPages(partner, refuseWide));
    expect(await untilOver(tenant)).toBe(1);
    expect(await tenant.hiresIn('before-go-live')).toHaveLength(30);
  });

  test('asks again for the jobs of which the list of the company shows too few', async () => {
    const tenant = await openTenant(30, { jobs: 3 });
    tenant.changePartner((partner) => withPages(partner, hideFirst));
    await tenant.reconcile();
    expect(await tenant.hiresIn('before-go-live')).toHaveLength(30);
    await tenant.reconcile();
    expect(tenant.started).toEqual([]);
  });

  test('is refused by a partner that ignores the page number, instead of missing people', async () => {
    const tenant = await openTenant(250);
    tenant.changePartner((partner) => {
      const again = ((list: never, input: never, options: object) =>
        partner.pages(list, input, { ...options, from: 1 } as never)) as unknown as PartnerClient['pages'];
      return { ...partner, pages: again };
    });
    await expect(tenant.reconcile()).rejects.toMatchObject({ code: 'PAGE_REPEATED' });
    expect(await tenant.hiresIn('before-go-live')).toEqual([]);
  });
});

describe('a reconcile', () => {
  test('that finds nothing moved reads the jobs list once and writes no record', async () => {
    const { reconcile, callsOf, store } = await openTenant(3, { jobs: 120 });
    await reconcile();
    const stored = () => store.kysely.selectFrom('jobs').selectAll().orderBy('job_id').execute();
    const before = await stored();
    expect(await callsOf(reconcile)).toEqual({ 'jobs.list': 2 });
    expect(await stored()).toEqual(before);
    for (const table of ['reconciles', 'seen_people', 'hints'] as const)
      expect(await store.kysely.selectFrom(table).selectAll().execute()).toEqual([]);
  });

  test('of a day finds people whose job’s totals stayed the same, by the list of the company', async () => {
    const tenant = await openTenant(30, { jobs: 3 });
    await tenant.reconcile();
    const hired = await tenant.hireOneMore();
    await tenant.store.kysely.updateTable('tenants').set({ fully_reconciled_at: 0 }).execute();
    const calls = await tenant.callsOf(tenant.reconcile);
    expect(tenant.started).toEqual([hired]);
    expect(calls).toMatchObject({ 'jobs.list': 1, [STAGE]: 1 });
  });

  test('gives its slot back after a while and goes on at the next attempt', async () => {
    const tenant = await openTenant(110, { jobs: 110 });
    tenant.changePartner((partner) => withPages(partner, refuseWide));
    const calls = await tenant.callsOf(async () => {
      await expect(tenant.attempt()).rejects.toMatchObject({ code: 'RECONCILE_GOES_ON', action: 'throttle' });
      expect(await tenant.hiresIn('before-go-live')).toEqual([]);
      await untilOver(tenant);
    });
    // One list of the company was refused; the first attempt's lists are not read again.
    expect(calls[STAGE]).toBe(1 + 110);
    expect(await tenant.hiresIn('before-go-live')).toHaveLength(110);
  });

  test('that was taken over by another attempt saves nothing more', async () => {
    const tenant = await openTenant(30, { jobs: 3 });
    tenant.changePartner((partner) =>
      withPages(partner, (list, page) => {
        // Another worker's attempt begins while this one waits for an answer.
        if (list.id === STAGE) void takeReconcile(tenant.store, 'acme', 'another');
        return page;
      }),
    );
    await expect(tenant.reconcile()).rejects.toMatchObject({ code: 'RECONCILE_TAKEN_OVER' });
    tenant.changePartner((partner) => partner);
    await tenant.reconcile();
    expect(await tenant.hiresIn('before-go-live')).toHaveLength(30);
  });

  test('looks a second time for two hundred leavers, remembers the others and looks for them next time', async () => {
    const tenant = await openTenant(260);
    await tenant.reconcile();
    const ids = (await tenant.hiresIn('before-go-live')).map(Number);
    for (let from = 0; from < ids.length; from += 100)
      await tenant.sandbox.control.act('move', {
        jobCandidateIds: ids.slice(from, from + 100),
        stageType: 'SCREEN',
      });
    await tenant.reconcile();
    expect(await tenant.hiresIn('left')).toHaveLength(200);
    const calls = await tenant.callsOf(tenant.reconcile);
    expect(await tenant.hiresIn('left')).toHaveLength(260);
    expect(calls).toEqual({ 'jobs.list': 1, 'jobCandidates.bulkFetch': 1, [STAGE]: 1 });
  });
});

function refuseWide<Page>({ id }: { id: string }, page: Page, { query }: Asked): Page {
  if (id !== STAGE || query?.jobId !== undefined) return page;
  const message = 'jobId is required';
  throw new ConnectorError({ code: 'INVALID_REQUEST', action: 'reject', status: 400, message });
}

/** As a company would be shown by a key that does not see all of its jobs. */
function hideFirst<Shown extends { items: unknown[]; total?: number }>(
  { id }: { id: string },
  page: Shown,
  { query }: Asked,
): Shown {
  if (id !== STAGE || query?.jobId !== undefined) return page;
  return { ...page, items: page.items.slice(1), total: (page.total ?? 1) - 1 };
}
