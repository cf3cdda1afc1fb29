import { expect, test } from 'vitest';
import { replayDeliveries } from '../../../src/operator/deliveries.ts';
import { readFailed } from '../../../src/operator/failed.ts';
import { readDelivery } from '../../../src/receiver/admit.ts';
import { savePair } from '../../../src/store/exchange-pairs.ts';
import { settleConflicts } from '../../../src/store/field-conflicts.ts';
import { failDelivery, finishDeliveries, insertDelivery, leaseDeliveries } from '../../../src/store/inbox.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { changeQuarantine } from '../../../src/store/quarantine.ts';
import { beginRun, holdStream } from '../../../src/store/streams.ts';
import { finishBaseline, readTenantState } from '../../../src/store/tenant-states.ts';
import { sqliteStore } from '../../store/stores.ts';

const KEY = { tenantId: 'acme', stream: 'candidates' };
const HOUR = 3_600_000;

async function freshStore(): Promise<Store> {
  const store = await sqliteStore();
  await readTenantState(store, 'acme');
  await finishBaseline(store, 'acme');
  return store;
}

async function deliver(store: Store, candidateId: number): Promise<void> {
  const body = Buffer.from(JSON.stringify({ event: 'candidate.updated', data: { candidateId } }));
  const facts = { tenantId: 'acme', company: undefined, classify: () => 'waiting' as const };
  await insertDelivery(store, readDelivery(body, facts));
}

const waiting = async (store: Store): Promise<number> => (await leaseDeliveries(store, 'acme', 100)).length;

test('failed names the stream that stands still, the records left out and the deliveries given up', async () => {
  const store = await freshStore();
  await beginRun(store, KEY, { runId: 'r1', full: false, firstPage: 0 });
  await changeQuarantine(store, KEY, 'r1', { page: 1, over: [], news: [{ key: '17', reason: 'email: no text' }] });
  await holdStream(store, KEY, { code: 'MASS_DELETE', message: '90 of 100 are gone.' });
  await deliver(store, 1);
  for (let n = 0; n < 10; n += 1) {
    await store.kysely.updateTable('inbox').set({ due_at: 0 }).execute();
    const [delivery] = await leaseDeliveries(store, 'acme', 1);
    await failDelivery(store, delivery!, 'BROKEN');
  }
  const failed = await readFailed(store, 'acme');
  expect(failed.map(({ where, what, reason }) => `${where} ${what}: ${reason}`)).toEqual([
    'candidates (stream): 90 of 100 are gone. [MASS_DELETE]',
    'candidates 17: email: no text',
    expect.stringMatching(/^inbox [0-9a-f]{12}: candidate\.updated: BROKEN$/) as string,
  ]);
  expect(await readFailed(store, 'other')).toEqual([]);
});

test('failed counts the pairs that an exchange leaves out, reason by reason', async () => {
  const store = await freshStore();
  const employees = { tenantId: 'acme', stream: 'employees' };
  const missing = { side: 'partner', runId: 'r1' } as const;
  for (const pairId of ['1', '2']) await savePair(store, employees, { pairId, version: 0, missing });
  await savePair(store, employees, { pairId: '3', version: 0, missing: { side: 'hris', runId: 'r1' } });
  await savePair(store, employees, { pairId: '4', version: 0, missing, isGone: true });
  await savePair(store, employees, { pairId: '5', version: 0, sent: { city: { to: 'hris', form: 'f' } } });
  const finding = { kind: 'quarantined', code: 'VALUE_MISFIT', forms: { partner: 'a', hris: 'b' } } as const;
  const level = { ...finding, field: 'level', values: { partner: 'Junior', hris: 'Intern' }, isSensitive: false };
  for (const pairId of ['6', '7', '8']) await settleConflicts(store, { ...employees, pairId }, { open: [] }, [level]);
  const desk = { ...level, code: 'INVALID_REQUEST', field: 'desk' };
  await settleConflicts(store, { ...employees, pairId: '9' }, { open: [] }, [desk]);
  const failed = await readFailed(store, 'acme');
  expect(failed.map(({ where, what, reason }) => `${where} ${what}: ${reason}`).toSorted()).toEqual([
    'employees (1 pair): desk: the write was refused; if the hiring platform refuses every custom field value, it ' +
      'may want them under a key: set partner.overrides.valuesBulkKey; INVALID_REQUEST; ' +
      'each is listed by hirebridge conflicts',
    'employees (1 pair): it is unknown whether a write arrived: hirebridge looks, and repeats it if it is missing',
    'employees (1 pair): the HR system shows no employee any more: believed once a second run confirms it',
    'employees (2 pairs): the hiring platform shows no application any more: believed once a second run confirms it',
    'employees (3 pairs): level: the field of the hiring platform does not take this value; VALUE_MISFIT; ' +
      'each is listed by hirebridge conflicts',
  ]);
  expect(JSON.stringify(failed)).not.toContain('Intern');
});

test('a window of deliveries is replayed, and what waits or came before it is left alone', async () => {
  const store = await freshStore();
  for (const id of [1, 2, 3]) await deliver(store, id);
  for (const delivery of await leaseDeliveries(store, 'acme', 100))
    await finishDeliveries(store, [delivery], 'relayed');
  const [old] = await store.kysely.selectFrom('inbox').select('body_hash').execute();
  await store.kysely
    .updateTable('inbox')
    .set((eb) => ({ received_at: eb('received_at', '-', 5 * HOUR) }))
    .where('body_hash', '=', old!.body_hash)
    .execute();
  expect(await replayDeliveries(store, { tenantId: 'acme', by: 'ann', window: { sinceMs: HOUR, untilMs: 0 } })).toBe(2);
  expect(await waiting(store)).toBe(2);
  expect(await replayDeliveries(store, { tenantId: 'acme', by: 'ann', delivery: old!.body_hash.slice(0, 12) })).toBe(1);
  expect(await waiting(store)).toBe(1);
});

test('a delivery that nobody has is refused by its id', async () => {
  const store = await freshStore();
  const unknown = replayDeliveries(store, { tenantId: 'acme', by: 'ann', delivery: 'abc' });
  await expect(unknown).rejects.toMatchObject({ code: 'DELIVERY_UNKNOWN' });
});
