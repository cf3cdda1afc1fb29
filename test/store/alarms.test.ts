import { describe, expect, test } from 'vitest';
import {
  alignAlarms,
  clearTrouble,
  forgetTrouble,
  listAlarms,
  noteTrouble,
  postponeTrouble,
} from '../../src/store/alarms.ts';
import { freshStore, kinds } from './stores.ts';

const key = { tenantId: 'acme', kind: 'activity-failing', subject: '5012 enrol' } as const;
const trouble = { ...key, reason: 'FLOW_INACTIVE', message: 'Flow 7 is not active.' };

describe.each(kinds)('alarms on %s', (kind) => {
  test('trouble becomes an alarm once it has lasted long enough, and is raised once', async () => {
    const { store, other } = await freshStore(kind);
    expect(await noteTrouble(store, trouble, 60_000)).toEqual({ raised: false, times: 1 });
    expect(await listAlarms(store)).toEqual([]);
    const raised = await Promise.all([noteTrouble(store, trouble, 0), noteTrouble(other, trouble, 0)]);
    expect(raised.map((one) => one.raised).toSorted()).toEqual([false, true]);
    expect(raised.map((one) => one.times).toSorted()).toEqual([2, 3]);
    expect(await listAlarms(other, 'acme')).toMatchObject([{ subject: '5012 enrol', times: 3 }]);
    expect(await listAlarms(other, 'globex')).toEqual([]);
  });

  test('an alarm keeps since when, and shows the latest reason', async () => {
    const { store } = await freshStore(kind);
    await noteTrouble(store, trouble, 0);
    const [first] = await listAlarms(store);
    await noteTrouble(store, { ...trouble, reason: 'HTTP_502' }, 0);
    expect(await listAlarms(store)).toMatchObject([{ since: first?.since, reason: 'HTTP_502' }]);
  });

  test('an alarm that lasts has the latest message, and another reason is told anew', async () => {
    const { store } = await freshStore(kind);
    const held = {
      tenantId: 'acme',
      kind: 'stream-stale',
      subject: 'options',
      reason: 'ONE',
      message: 'City.',
    } as const;
    expect((await alignAlarms(store, [held])).raised).toHaveLength(1);
    await store.kysely.updateTable('alarms').set({ notified_at: 7 }).execute();
    expect((await alignAlarms(store, [{ ...held, message: 'City and grade.' }])).raised).toEqual([]);
    expect(await listAlarms(store)).toMatchObject([{ message: 'City and grade.', notified_at: expect.anything() }]);
    await alignAlarms(store, [{ ...held, reason: 'TWO' }]);
    expect(await listAlarms(store)).toMatchObject([{ reason: 'TWO', message: 'City.', notified_at: null }]);
    expect((await alignAlarms(store, [])).over).toHaveLength(1);
  });

  test('trouble that is over is gone, and begins anew', async () => {
    const { store } = await freshStore(kind);
    expect(await clearTrouble(store, key)).toBe(false);
    await noteTrouble(store, trouble, 60_000);
    expect(await clearTrouble(store, key)).toBe(false);
    await noteTrouble(store, trouble, 0);
    expect(await clearTrouble(store, key)).toBe(true);
    expect(await noteTrouble(store, trouble, 60_000)).toEqual({ raised: false, times: 1 });
  });

  test('the time that work waits does not make its trouble last', async () => {
    const { store } = await freshStore(kind);
    await noteTrouble(store, trouble, 60_000);
    await store.kysely
      .updateTable('alarms')
      .set((eb) => ({ since: eb('since', '-', 50_000) }))
      .execute();
    await postponeTrouble(store, key, 30_000);
    expect(await noteTrouble(store, trouble, 30_000)).toEqual({ raised: false, times: 2 });
    expect(await noteTrouble(store, trouble, 15_000)).toEqual({ raised: true, times: 3 });
  });

  test('trouble that nobody meets any more is forgotten', async () => {
    const { store } = await freshStore(kind);
    await noteTrouble(store, trouble, 0);
    await forgetTrouble(store, 'activity-failing', 60_000);
    expect(await listAlarms(store)).toHaveLength(1);
    await forgetTrouble(store, 'unknown-value', 0);
    expect(await listAlarms(store)).toHaveLength(1);
    await forgetTrouble(store, 'activity-failing', 0);
    expect(await listAlarms(store)).toEqual([]);
  });
});
