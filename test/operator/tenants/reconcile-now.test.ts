import { ScheduleNotFoundError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { scopeOf } from '../../../activities/reconcile/run.ts';
import { reconcileNow } from '../../../src/operator/follow-stream.ts';
import type { OperatorParts } from '../../../src/operator/open-tenant.ts';
import { readClock, type Store } from '../../../src/store/open-store.ts';
import { finishBaseline, pauseTenant, readTenantState, recordReconcile } from '../../../src/store/tenant-states.ts';
import { freshStore, kinds } from '../../store/stores.ts';

/** A tenant that was compared whole a moment ago, beside another; what was triggered in Temporal. */
async function compared(store: Store, trigger: () => Promise<void> = async () => undefined) {
  for (const tenantId of ['acme', 'globex']) {
    await readTenantState(store, tenantId);
    await finishBaseline(store, tenantId);
    await recordReconcile(store, tenantId, true);
  }
  const triggered: string[] = [];
  const getHandle = (id: string) => ({ trigger: () => trigger().then(() => void triggered.push(id)) });
  const hires = { installationId: 'hb', client: { schedule: { getHandle } } } as unknown as OperatorParts['hires'];
  const parts: OperatorParts = { store, hires, tenants: [{ tenantId: 'acme' }, { tenantId: 'globex' }] };
  const isFull = async (tenantId: string) => scopeOf(await readTenantState(store, tenantId), await readClock(store));
  return { parts, triggered, isFull };
}

describe.each(kinds)('a reconcile that a person asks for, on %s', (kind) => {
  test('with full the next one of this tenant compares everything, once, and no other tenant’s', async () => {
    const { store } = await freshStore(kind);
    const { parts, triggered, isFull } = await compared(store);
    await reconcileNow(parts, { tenantId: 'acme', full: false, by: 'ann' });
    expect(await isFull('acme')).toMatchObject({ isFull: false });
    await reconcileNow(parts, { tenantId: 'acme', full: true, by: 'ann' });
    expect(triggered).toHaveLength(2);
    expect(new Set(triggered).size).toBe(1);
    expect(await isFull('acme')).toEqual({ isFirst: false, isFull: true, isRestored: false });
    expect(await isFull('globex')).toMatchObject({ isFull: false });
    // One that was under way and compared a part alone does not count.
    await recordReconcile(store, 'acme', false);
    expect(await isFull('acme')).toMatchObject({ isFull: true });
    await recordReconcile(store, 'acme', true);
    expect(await isFull('acme')).toMatchObject({ isFull: false });
  });

  test('what looks for losses of a restore goes on to do so', async () => {
    const { store } = await freshStore(kind);
    const { parts, isFull } = await compared(store);
    await store.kysely.updateTable('tenants').set({ fully_reconciled_at: null }).execute();
    await reconcileNow(parts, { tenantId: 'acme', full: true, by: 'ann' });
    expect(await isFull('acme')).toMatchObject({ isRestored: true, isFull: true });
  });

  test('a paused tenant, an unknown one and one without a schedule are refused in words', async () => {
    const { store } = await freshStore(kind);
    const missing = new ScheduleNotFoundError('not found', 'id');
    const { parts } = await compared(store, () => Promise.reject(missing));
    await expect(reconcileNow(parts, { tenantId: 'acme', full: true, by: 'ann' })).rejects.toMatchObject({
      code: 'NOT_SCHEDULED',
    });
    await expect(reconcileNow(parts, { tenantId: 'who', full: true, by: 'ann' })).rejects.toMatchObject({
      code: 'TENANT_UNKNOWN',
    });
    await pauseTenant(store, 'acme', 'UNAUTHORIZED', 'wrong key');
    await expect(reconcileNow(parts, { tenantId: 'acme', full: true, by: 'ann' })).rejects.toThrow(
      /acme is paused.*wrong key/,
    );
  });
});
