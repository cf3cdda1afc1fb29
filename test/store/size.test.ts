import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { purgeEvents } from '../../src/store/events-out.ts';
import { purgeConflicts } from '../../src/store/field-conflicts.ts';
import { listWrites, recordWrites } from '../../src/store/foreign-writes.ts';
import { addHints, oldestHints } from '../../src/store/hints.ts';
import { documentsToTell } from '../../src/store/hire-documents.ts';
import { everHeld } from '../../src/store/holds.ts';
import { insertDeliveries, leaseDeliveries, lookForDue } from '../../src/store/inbox.ts';
import { hasWriteUnderWay } from '../../src/store/intents.ts';
import { batchesOf, type Store } from '../../src/store/open-store.ts';
import { lapseCreating } from '../../src/store/people.ts';
import { listOverdue, purgeBodies, purgeDeliveries } from '../../src/store/retention.ts';
import { pauseTenant } from '../../src/store/tenant-states.ts';
import { plansOf, recordingStore, rowsRead } from './recording-store.ts';
import { kinds } from './stores.ts';

const MANY = 2_000;
const DAY_MS = 86_400_000;
const EVENT = { tenant_id: 'acme', type: 'hire', facts: '{}', tries: 1 };

/** Tenants at work, each of which was told to wait at some time. */
async function insertTenants({ kysely }: Store, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  for (let from = 0; from < count; from += 500) {
    const some = numbers.slice(from, from + 500).map((n) => `tenant-${n}`);
    const states = some.map((tenant_id) => ({ tenant_id, state: 'active' as const, baseline_done_at: 1 }));
    await kysely.insertInto('tenants').values(states).execute();
    const limit = { upstream: 'partner' as const, version: 1, state: '{}', paused_until: 1 };
    await kysely
      .insertInto('rate_limits')
      .values(some.map((tenant_id) => ({ tenant_id, ...limit })))
      .execute();
  }
  await sql`analyze`.execute(kysely);
}

const delivery = { event: 'candidate.hired', ids: {}, body: '{}', state: 'waiting' } as const;

describe.each(kinds)('what is asked of the store grows with what is there to do, on %s', (kind) => {
  test('deliveries that wait at one paused tenant are looked at without asking about the others', async () => {
    const { store, asked } = await recordingStore(kind);
    await insertTenants(store, MANY);
    await pauseTenant(store, 'tenant-7', 'UNAUTHORIZED', 'wrong key');
    const waiting = Array.from({ length: 5_000 }, (_, n) => ({ ...delivery, tenantId: 'tenant-7', bodyHash: `${n}` }));
    await insertDeliveries(store, waiting);
    asked.splice(0);
    await lookForDue(store);
    expect(await rowsRead(store, asked.splice(0))).toBeLessThan(50);
  });

  test('what is to be cleared, and what is due, is found without reading what is not', async () => {
    const { store, asked } = await recordingStore(kind);
    const some = (state: 'waiting' | 'ignored', body: string) =>
      Array.from({ length: 2_000 }, (_, n) => ({
        ...delivery,
        tenantId: 'acme',
        bodyHash: `${state} ${body}${n}`,
        state,
        body,
      }));
    for (const many of [some('waiting', '{}'), some('ignored', '{}'), some('ignored', '')])
      await insertDeliveries(store, many);
    await store.kysely.updateTable('inbox').set({ due_at: 9e15 }).where('body_hash', '!=', 'waiting {}7').execute();
    await sql`analyze inbox`.execute(store.kysely);
    asked.splice(0);
    await listOverdue(store, { bodiesMs: DAY_MS, deliveriesMs: DAY_MS });
    await purgeBodies(store, DAY_MS);
    await purgeDeliveries(store, DAY_MS);
    expect(await leaseDeliveries(store, 'acme', 10)).toHaveLength(1);
    expect(await rowsRead(store, asked.splice(0))).toBeLessThan(50);
  });

  test('the oldest hint of each stream is found without reading the others', async () => {
    const { store, asked } = await recordingStore(kind);
    const ids = Array.from({ length: 5_000 }, (_, n) => `record-${n}`);
    for (const tenantId of ['acme', 'globex']) {
      for (const stream of ['jobs', 'people']) await addHints(store, tenantId, stream, ids);
      await store.kysely.updateTable('hints').set({ hinted_at: 7 }).where('record_id', '=', 'record-9').execute();
    }
    await sql`analyze`.execute(store.kysely);
    asked.splice(0);
    expect(await oldestHints(store)).toHaveLength(4);
    expect(await rowsRead(store, asked.splice(0))).toBeLessThan(100);
    const oldest = await oldestHints(store);
    expect(oldest).toContainEqual({ tenantId: 'globex', stream: 'jobs', hintedAt: 7 });
  });

  test('the writes of one run are found without reading those of others', async () => {
    const { store, asked } = await recordingStore(kind);
    for (const [runId, count] of Object.entries({ large: 3_000, small: 5 })) {
      const ids = Array.from({ length: count }, (_, n) => `${runId}-${n}`);
      const write = { target: 'jobs', kind: 'update', changes: { a: { new: 1 } }, sensitive: [] } as const;
      const origin = { tenantId: 'acme', runId, mappingHash: 'm', by: 'hirebridge' };
      await recordWrites(
        store,
        origin,
        ids.map((recordId) => ({ ...write, recordId })),
      );
    }
    await sql`analyze`.execute(store.kysely);
    asked.splice(0);
    expect(await listWrites(store, { tenantId: 'acme', runId: 'small' })).toHaveLength(5);
    const ask = asked.splice(0);
    const [plan] = await plansOf(store, ask);
    expect(plan?.lines.join()).toContain('foreign_writes_of_run');
    expect(await rowsRead(store, ask)).toBeLessThan(100);
  });
});

describe.each(kinds)('what is over, on %s', (kind) => {
  test('what rounds look for in tables whose old rows stay is found without reading those', async () => {
    const { store, asked } = await recordingStore(kind);
    await insertOver(store);
    asked.splice(0);
    await hasWriteUnderWay(store, 'acme');
    await purgeConflicts(store, 'acme', DAY_MS);
    await documentsToTell(store, 'acme', 'run');
    await lapseCreating(store, 'acme');
    await purgeEvents(store, DAY_MS);
    await everHeld(store, { tenantId: 'acme', code: 'JOB_LEFT_SCOPE' }, ['7']);
    const ask = asked.splice(0);
    expect(await rowsRead(store, ask)).toBeLessThan(10);
    const steps = (await plansOf(store, ask)).flatMap(({ lines }) => lines).join('\n');
    for (const index of ['intents_open', 'field_conflicts_kept', 'hire_documents_open', 'person_keys_creating'])
      expect(steps).toContain(index);
  });
});

/** So many rows of one tenant in each of these tables, none of which a round has to do with any more. */
async function insertOver({ kysely }: Store): Promise<void> {
  const ids = Array.from({ length: MANY }, (_, n) => `${n}`);
  const at = Date.now();
  const hire = { tenant_id: 'acme', period: 1 };
  const over = { opened_at: at, closed_at: at, answered_at: at, notified_at: at, answers: '[]', details: '{}' };
  const sides = { partner_form: null, hris_form: null, partner_value: null, hris_value: null };
  const conflict = { ...sides, tenant_id: 'acme', stream: 'people', kind: 'conflict' as const, field: 'a', times: 1 };
  for (const some of batchesOf(ids, 500)) {
    const hires = some.map((id) => ({ ...hire, job_candidate_id: id }));
    const done = { verb: 'create-employee', attempt: 1, pinned: '{}', sent_at: at, give_up_at: at + DAY_MS };
    await kysely
      .insertInto('intents')
      .values(hires.map((one) => ({ ...one, ...done, outcome: 'done' })))
      .execute();
    await kysely
      .insertInto('field_conflicts')
      .values(
        some.map((id) => ({ ...conflict, conflict_id: id, pair_id: id, is_sensitive: 0, since: 1, closed_at: at })),
      )
      .execute();
    await kysely
      .insertInto('hire_documents')
      .values(
        hires.map((one) => ({
          ...one,
          document: 'cv',
          state: 'delivered',
          attempt: 1,
          run_id: `run-${one.job_candidate_id}`,
        })),
      )
      .execute();
    await kysely
      .insertInto('person_keys')
      .values(
        hires.map((one) => ({ ...one, scope: 'hris', kind: 'employee', value: one.job_candidate_id, person_id: 'p' })),
      )
      .execute();
    await kysely
      .insertInto('events_out')
      .values(some.map((id) => ({ ...EVENT, event_id: id, job_candidate_id: id, at, due_at: at, taken_at: at })))
      .execute();
    await kysely
      .insertInto('holds')
      .values(
        hires.map((one) => ({ ...one, ...over, hold_id: one.job_candidate_id, code: 'JOB_LEFT_SCOPE', message: '' })),
      )
      .execute();
  }
  await sql`analyze`.execute(kysely);
}
