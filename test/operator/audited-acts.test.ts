import { expect, test } from 'vitest';
import { replayOf } from '../../src/cli/deliveries.ts';
import { replayDeliveries, retryDeliveries } from '../../src/operator/deliveries.ts';
import { retryFailed } from '../../src/operator/failed.ts';
import { beginStream, reconcileNow } from '../../src/operator/follow-stream.ts';
import { startHire } from '../../src/operator/hires.ts';
import { answerHold } from '../../src/operator/holds.ts';
import type { OperatorParts } from '../../src/operator/open-tenant.ts';
import { confirmCompany } from '../../src/operator/tenants.ts';
import { readHints } from '../../src/store/hints.ts';
import { openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import { pauseTenant } from '../../src/store/tenant-states.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { sqliteStore } from '../store/stores.ts';

const HOLD = { tenantId: 'acme', jobCandidateId: '7', period: 1, code: 'NO_SHOW', message: '', answers: ['retry'] };

/** A real store of one tenant; a Temporal that takes everything. */
async function openParts(): Promise<OperatorParts> {
  const store = await sqliteStore();
  await store.kysely.insertInto('tenants').values({ tenant_id: 'acme', state: 'active' }).execute();
  const taken = async (): Promise<object> => ({ trigger: async () => undefined });
  const client = {
    workflow: { start: taken, signalWithStart: taken },
    schedule: { getHandle: () => ({ trigger: async () => undefined }) },
  } as unknown as HireClient['client'];
  const timing = { heartbeatMs: 1, attemptMs: 1, retryMs: 1 };
  return { store, hires: { client, installationId: store.installationId, timing }, tenants: [{ tenantId: 'acme' }] };
}

async function lost({ store }: OperatorParts): Promise<void> {
  const delivery = { tenantId: 'acme', bodyHash: 'abcdef0123456789', event: 'x', ids: {}, body: '{}' };
  await insertDelivery(store, { ...delivery, state: 'waiting' });
  await store.kysely.updateTable('inbox').set({ state: 'undeliverable' }).execute();
}

test.each<[string, (parts: OperatorParts) => Promise<unknown>, string]>([
  [
    'hold-answered',
    async (parts) => {
      const { holdId } = await openHold(parts.store, HOLD);
      await answerHold(parts, { holdId, answer: 'retry', arguments: [], by: 'ann' });
    },
    'NO_SHOW of job candidate 7',
  ],
  [
    'hire-started',
    (parts) => startHire(parts, { tenantId: 'acme', jobCandidateId: '7', adopt: false, by: 'ann' }),
    'job candidate 7',
  ],
  ['records-retried', (parts) => retryFailed(parts, { tenantId: 'acme', stream: 'jobs', by: 'ann' }), 'jobs'],
  [
    'deliveries-retried',
    async (parts) => {
      await lost(parts);
      await retryDeliveries(parts.store, { tenantId: 'acme', delivery: 'abcdef012345', by: 'ann' });
    },
    'abcdef012345',
  ],
  [
    'deliveries-replayed',
    async (parts) => {
      await lost(parts);
      await replayDeliveries(parts.store, { tenantId: 'acme', delivery: 'abcdef012345', by: 'ann' });
    },
    'abcdef012345',
  ],
  [
    'events-replayed',
    async ({ store }) => {
      const event = { tenant_id: 'acme', job_candidate_id: '7', type: 'hire.left', facts: '{}', event_id: 'e1' };
      await store.kysely.insertInto('events_out').values(event).execute();
      await replayOf(store, { tenantId: 'acme', eventId: 'e1' }, 'ann');
    },
    'e1',
  ],
  ['reconcile-asked', (parts) => reconcileNow(parts, { tenantId: 'acme', full: true, by: 'ann' }), 'everything'],
  [
    'sync-asked',
    (parts) => beginStream(parts, { tenantId: 'acme', stream: 'jobs', mode: 'incremental', rewrite: false, by: 'ann' }),
    'jobs',
  ],
  [
    'company-confirmed',
    async ({ store }) => {
      await pauseTenant(store, 'acme', 'COMPANY_MISMATCH', '');
      await confirmCompany(store, { tenantId: 'acme', by: 'ann' });
    },
    '',
  ],
])('%s stands in the audit trail once, with who and what', async (act, does, details) => {
  const parts = await openParts();
  await does(parts);
  const rows = await parts.store.kysely.selectFrom('audit').selectAll().execute();
  expect(rows).toEqual([expect.objectContaining({ act, by: 'ann', tenant_id: 'acme' })]);
  expect(rows[0]?.details ?? '').toContain(details);
});

test('what is refused leaves no row', async () => {
  const parts = await openParts();
  const { holdId } = await openHold(parts.store, HOLD);
  const given = { holdId, answer: 'create', arguments: [], by: 'ann' };
  await expect(answerHold(parts, given)).rejects.toMatchObject({ code: 'ANSWER_UNKNOWN' });
  await expect(
    retryDeliveries(parts.store, { tenantId: 'acme', delivery: 'abcdef012345', by: 'ann' }),
  ).rejects.toMatchObject({ code: 'DELIVERY_UNKNOWN' });
  expect(await parts.store.kysely.selectFrom('audit').selectAll().execute()).toEqual([]);
});

test('one record that was left out is read again alone; one that was not is named as such', async () => {
  const parts = await openParts();
  const left = { stream: 'documents', reason: 'as it is', since: 1, page: 1 };
  for (const record of ['7/resume', '8/resume'])
    await parts.store.kysely
      .insertInto('quarantine')
      .values({ tenant_id: 'acme', record_key: record, ...left })
      .execute();
  const retry = (record: string) => retryFailed(parts, { tenantId: 'acme', stream: 'documents', record, by: 'ann' });
  expect(await retry('8/resume')).toMatchObject({ records: { documents: 1 } });
  const hints = await readHints(parts.store, 'acme', 'documents');
  expect(hints.map(({ recordId }) => recordId)).toEqual(['8/resume']);
  await expect(retry('9/resume')).rejects.toMatchObject({ code: 'RECORD_NOT_LEFT_OUT' });
});
