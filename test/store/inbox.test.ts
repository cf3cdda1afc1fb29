import { describe, expect, test } from 'vitest';
import {
  countOpenDeliveries,
  type Delivery,
  deferDeliveries,
  failDelivery,
  finishDeliveries,
  insertDelivery,
  leaseDeliveries,
  lookForDue,
} from '../../src/store/inbox.ts';
import { readClock, type Store } from '../../src/store/open-store.ts';
import { changeRateLimit } from '../../src/store/rate-limits.ts';
import { finishBaseline, pauseTenant, readTenantState, resumeTenant } from '../../src/store/tenant-states.ts';
import { addWebhookRefusals, readWebhookFacts } from '../../src/store/webhook-refusals.ts';
import { freshStore, kinds } from './stores.ts';

function delivery(bodyHash: string, tenantId = 'acme'): Delivery {
  return {
    tenantId,
    bodyHash,
    event: 'candidate.hired',
    ids: { jobCandidateId: ['7'] },
    body: '{}',
    state: 'waiting',
  };
}

async function makeDue(store: Store): Promise<void> {
  await store.kysely.updateTable('inbox').set({ due_at: 0 }).execute();
}

async function stateOf(store: Store, bodyHash: string) {
  return store.kysely.selectFrom('inbox').selectAll().where('body_hash', '=', bodyHash).executeTakeFirstOrThrow();
}

describe.each(kinds)('the inbox on %s', (kind) => {
  test('keeps a repeated delivery once and says so', async () => {
    const { store, other } = await freshStore(kind);
    expect(await insertDelivery(store, delivery('a'))).toEqual({ fresh: true });
    expect(await insertDelivery(other, delivery('a'))).toEqual({ fresh: false });
  });

  test('gives a relay the ids that were stored with the delivery', async () => {
    const { store } = await freshStore(kind);
    await insertDelivery(store, delivery('a'));
    expect(await leaseDeliveries(store, 'acme', 1)).toMatchObject([{ failures: 0, ids: { jobCandidateId: ['7'] } }]);
  });

  test('gives each row to one relay', async () => {
    const { store, other } = await freshStore(kind);
    for (let n = 0; n < 40; n += 1) await insertDelivery(store, delivery(`d${n}`));
    const leased = await Promise.all([leaseDeliveries(store, 'acme', 25), leaseDeliveries(other, 'acme', 25)]);
    const hashes = leased.flat().map((row) => row.bodyHash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes).toHaveLength(40);
    expect(await leaseDeliveries(store, 'acme', 25)).toEqual([]);
  });

  test('who has waited longest is leased first', async () => {
    const { store } = await freshStore(kind);
    for (const hash of ['a', 'b', 'c']) await insertDelivery(store, delivery(hash));
    const longAgo = (ms: number, hash: string) =>
      store.kysely.updateTable('inbox').set({ due_at: ms }).where('body_hash', '=', hash).execute();
    await longAgo(2, 'c');
    await longAgo(1, 'b');
    const leased = [await leaseDeliveries(store, 'acme', 1), await leaseDeliveries(store, 'acme', 1)];
    expect(leased.flat().map((row) => row.bodyHash)).toEqual(['b', 'c']);
  });

  test('hears nothing from a relay whose lease another one has by now', async () => {
    const { store, other } = await freshStore(kind);
    await insertDelivery(store, delivery('a'));
    const [late] = await leaseDeliveries(store, 'acme', 1);
    await makeDue(store);
    const [current] = await leaseDeliveries(other, 'acme', 1);
    if (late === undefined || current === undefined) throw new Error('not leased');
    // Both leases may be of one millisecond.
    const stale = { ...late, leasedUntil: late.leasedUntil - 1 };
    await deferDeliveries(store, [stale], 0);
    expect(await leaseDeliveries(store, 'acme', 1)).toEqual([]);
    await finishDeliveries(other, [current], 'relayed');
    await failDelivery(store, { ...stale, failures: 9 }, 'late');
    expect(await stateOf(store, 'a')).toMatchObject({ state: 'relayed', last_error: null });
  });

  test('gives a failed row again later, and after ten failures to a person only', async () => {
    const { store } = await freshStore(kind);
    await insertDelivery(store, delivery('bad'));
    for (let failures = 1; failures <= 10; failures += 1) {
      const [row] = await leaseDeliveries(store, 'acme', 1);
      expect(row?.failures).toBe(failures - 1);
      if (row !== undefined) await failDelivery(store, row, 'BROKEN');
      if (failures < 10) {
        expect(await leaseDeliveries(store, 'acme', 1)).toEqual([]);
        await makeDue(store);
      }
    }
    expect(await stateOf(store, 'bad')).toMatchObject({ state: 'undeliverable', last_error: 'BROKEN', failures: 10 });
  });

  test('a row that fails does not hold up the next', async () => {
    const { store } = await freshStore(kind);
    await insertDelivery(store, delivery('bad'));
    await insertDelivery(store, delivery('good'));
    const [bad] = await leaseDeliveries(store, 'acme', 1);
    if (bad !== undefined) await failDelivery(store, bad, 'BROKEN');
    expect((await leaseDeliveries(store, 'acme', 5)).map((row) => row.bodyHash)).toEqual(['good']);
  });

  test('a deferred row has no failure', async () => {
    const { store } = await freshStore(kind);
    await insertDelivery(store, delivery('early'));
    const [row] = await leaseDeliveries(store, 'acme', 1);
    if (row !== undefined) await deferDeliveries(store, [row], 60_000);
    expect(await stateOf(store, 'early')).toMatchObject({ state: 'waiting', failures: 0 });
  });

  test('a relayed row is never leased again', async () => {
    const { store } = await freshStore(kind);
    await insertDelivery(store, delivery('done'));
    const [row] = await leaseDeliveries(store, 'acme', 1);
    if (row !== undefined) await finishDeliveries(store, [row], 'relayed');
    await makeDue(store);
    expect(await leaseDeliveries(store, 'acme', 5)).toEqual([]);
  });

  test('is counted by what waits and what was left, with the oldest of each, and not by what is over', async () => {
    const { store } = await freshStore(kind);
    const states = { a: 'waiting', b: 'waiting', c: 'other-company', d: 'unknown', e: 'ignored' } as const;
    for (const [hash, state] of Object.entries(states)) await insertDelivery(store, { ...delivery(hash), state });
    await insertDelivery(store, delivery('over'));
    await store.kysely.updateTable('inbox').set({ received_at: 5 }).where('body_hash', '=', 'b').execute();
    await makeDue(store);
    for (const row of await leaseDeliveries(store, 'acme', 9))
      if (row.bodyHash === 'over') await finishDeliveries(store, [row], 'relayed');
    const counts = await countOpenDeliveries(store);
    expect(counts.map(({ state, count }) => [state, count]).toSorted()).toEqual([
      ['other-company', 1],
      ['unknown', 1],
      ['waiting', 2],
    ]);
    expect(counts.find(({ state }) => state === 'waiting')).toMatchObject({ tenantId: 'acme', oldestAt: 5 });
  });

  test('tells of each tenant when its last delivery came, and apart from it one of another company', async () => {
    const { store } = await freshStore(kind);
    for (const tenantId of ['acme', 'globex', 'silent']) await readTenantState(store, tenantId);
    await insertDelivery(store, delivery('a'));
    await insertDelivery(store, { ...delivery('b'), state: 'ignored' });
    await insertDelivery(store, { ...delivery('c', 'globex'), state: 'other-company' });
    for (const [hash, at] of [
      ['a', 3],
      ['b', 5],
      ['c', 7],
    ] as const)
      await store.kysely.updateTable('inbox').set({ received_at: at }).where('body_hash', '=', hash).execute();
    await addWebhookRefusals(store, [{ tenantId: 'globex', reason: 'WEBHOOK_KEY_WRONG', count: 2 }]);
    const facts = await readWebhookFacts(store);
    expect(facts.get('acme')).toEqual({ tenantId: 'acme', acceptedAt: 5, refused: [] });
    expect(facts.get('globex')).toMatchObject({ otherCompanyAt: 7, refused: [{ count: 2 }] });
    expect(facts.get('globex')).not.toHaveProperty('acceptedAt');
    expect(facts.get('silent')).toEqual({ tenantId: 'silent', refused: [] });
  });

  test('a tenant is due with a baseline, active, and not told to wait; who waits longest comes first', async () => {
    const { store } = await freshStore(kind);
    for (const tenantId of ['late', 'early', 'new', 'paused', 'throttled', 'idle']) {
      await readTenantState(store, tenantId);
      if (tenantId !== 'new') await finishBaseline(store, tenantId);
      if (tenantId !== 'idle') await insertDelivery(store, delivery('a', tenantId));
    }
    await store.kysely.updateTable('inbox').set({ due_at: 1 }).where('tenant_id', '=', 'early').execute();
    await pauseTenant(store, 'paused', 'UNAUTHORIZED', 'wrong key');
    const pausedUntil = (await readClock(store)) + 60_000;
    await changeRateLimit(store, { tenantId: 'throttled', upstream: 'partner' }, () => ({
      rateLimit: {},
      pausedUntil,
      result: undefined,
    }));
    const { due, nextInMs } = await lookForDue(store);
    expect(due).toEqual(['early', 'late']);
    expect(Math.abs((nextInMs ?? 0) - 60_000)).toBeLessThan(5_000);
    await resumeTenant(store, 'paused');
    expect((await lookForDue(store)).due).toEqual(['early', 'late', 'paused']);
    await store.kysely.updateTable('inbox').set({ state: 'relayed' }).execute();
    expect(await lookForDue(store)).toEqual({ due: [] });
  });
});
