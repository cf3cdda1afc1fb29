import { type KyselyPlugin, sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listWrites, readOpenWrites, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires } from '../../src/store/hires.ts';
import { keepRefusal } from '../../src/store/holds.ts';
import { insertDeliveries, insertDelivery } from '../../src/store/inbox.ts';
import { decideIntent, openIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { findPlan, insertPlan, latestPlan, savePlan } from '../../src/store/plans.ts';
import {
  listOverdue,
  purgeBodies,
  purgeDeliveries,
  purgePlans,
  purgeRemoved,
  purgeWriteLog,
  purgeWrites,
} from '../../src/store/retention.ts';
import type { ForeignWriteRow } from '../../src/store/schema.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { freshStore, kinds, sqliteStore } from './stores.ts';

const DAY_MS = 86_400_000;

describe.each(kinds)('what is kept for a time, on %s', (kind) => {
  test('the bodies of old deliveries are cleared, their ids stay, and newer ones are whole', async () => {
    const { store } = await freshStore(kind);
    const delivery = { tenantId: 'acme', event: 'candidate.hired', ids: { jobCandidateId: ['7'] }, body: '{"a":1}' };
    for (const bodyHash of ['old', 'new']) await insertDelivery(store, { ...delivery, bodyHash, state: 'unknown' });
    await store.kysely.updateTable('inbox').set({ received_at: 1 }).where('body_hash', '=', 'old').execute();
    expect(await purgeBodies(store, 7 * DAY_MS)).toBe(1);
    const rows = await store.kysely.selectFrom('inbox').select(['body_hash', 'ids', 'body']).execute();
    expect(rows.toSorted((a, b) => a.body_hash.localeCompare(b.body_hash))).toEqual([
      { body_hash: 'new', ids: '{"jobCandidateId":["7"]}', body: '{"a":1}' },
      { body_hash: 'old', ids: '{"jobCandidateId":["7"]}', body: '' },
    ]);
    expect(await purgeBodies(store, 7 * DAY_MS)).toBe(0);
  });

  test('a day’s deliveries are cleared by one call, in statements of bounded size', async () => {
    let statements = 0;
    const count: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => ((statements += 1), result),
    };
    const { store } = await freshStore(kind, { plugins: [count] });
    const delivery = {
      tenantId: 'acme',
      event: 'candidate.hired',
      ids: {},
      body: '{"a":1}',
      state: 'ignored',
    } as const;
    const many = Array.from({ length: 4_500 }, (_, n) => ({ ...delivery, bodyHash: `hash-${n}` }));
    for (let from = 0; from < many.length; from += 1_500) await insertDeliveries(store, many.slice(from, from + 1_500));
    const fresh = { bodiesMs: DAY_MS, deliveriesMs: DAY_MS };
    expect(await listOverdue(store, fresh)).toEqual([]);
    await store.kysely.updateTable('inbox').set({ received_at: 1 }).execute();
    expect(await listOverdue(store, fresh)).toEqual([{ what: 'bodies', tenantId: 'acme', receivedAt: 1 }]);
    statements = 0;
    // Time stands still, or a slow machine would end a call before it is through.
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    expect(await purgeBodies(store, DAY_MS)).toBe(4_500);
    expect(await listOverdue(store, fresh)).toEqual([{ what: 'deliveries', tenantId: 'acme', receivedAt: 1 }]);
    expect(await purgeDeliveries(store, DAY_MS)).toBe(4_500);
    expect(statements).toBeGreaterThanOrEqual(10);
    expect(await listOverdue(store, fresh)).toEqual([]);
  });

  test('what is told to stop ends after the statement under way', async () => {
    const { store } = await freshStore(kind);
    const delivery = {
      tenantId: 'acme',
      event: 'candidate.hired',
      ids: {},
      body: '{"a":1}',
      state: 'ignored',
    } as const;
    const many = Array.from({ length: 1_500 }, (_, n) => ({ ...delivery, bodyHash: `hash-${n}` }));
    await insertDeliveries(store, many);
    await store.kysely.updateTable('inbox').set({ received_at: 1 }).execute();
    expect(await purgeBodies(store, DAY_MS, AbortSignal.abort())).toBe(1_000);
  });

  test('rows of old deliveries end once their bodies are cleared; what waits stays, however long', async () => {
    const { store } = await freshStore(kind);
    const delivery = { tenantId: 'acme', event: 'candidate.hired', ids: {}, body: '{"a":1}' };
    for (const bodyHash of ['old', 'new']) await insertDelivery(store, { ...delivery, bodyHash, state: 'unknown' });
    await insertDelivery(store, { ...delivery, bodyHash: 'waits', state: 'waiting' });
    await store.kysely.updateTable('inbox').set({ received_at: 1 }).where('body_hash', '!=', 'new').execute();
    expect(await purgeDeliveries(store, 90 * DAY_MS)).toBe(0);
    await purgeBodies(store, 7 * DAY_MS);
    expect(await purgeDeliveries(store, 90 * DAY_MS)).toBe(1);
    const left = await store.kysely.selectFrom('inbox').select('body_hash').orderBy('body_hash').execute();
    expect(left).toEqual([{ body_hash: 'new' }, { body_hash: 'waits' }]);
    expect(await insertDelivery(store, { ...delivery, bodyHash: 'waits', state: 'waiting' })).toEqual({ fresh: false });
  });

  test('plans and enrolment requests are cleared once their hire has been over for long enough', async () => {
    const { store } = await freshStore(kind);
    const keyOf = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, period: 1 });
    for (const jobCandidateId of ['over', 'open']) {
      const key = keyOf(jobCandidateId);
      await insertHires(store, [{ ...key, state: 'open' }]);
      await insertPlan(store, key, { mappingHash: 'm', change: { givenName: 'Ada' } });
      const pinned = { email: 'ada@example.com' };
      const intent = await openIntent(store, { ...key, verb: 'enrol:1', attempt: 1, pinned, budgetMs: 1_000 });
      if (intent !== undefined) await decideIntent(store, intent, 'done', null);
      const employee = { ...key, verb: 'create-employee', attempt: 1, pinned: { reference: '17:88' }, budgetMs: 1_000 };
      await openIntent(store, employee);
    }
    await endHire(store, keyOf('over'), 'done');
    expect(await purgePlans(store, 'acme', DAY_MS)).toBe(0);
    await store.kysely.updateTable('hires').set({ ended_at: 1 }).where('job_candidate_id', '=', 'over').execute();
    await keepRefusal(store, keyOf('open'), { code: 'REFUSED', message: 'Ada is known' });
    expect(await purgePlans(store, 'globex', DAY_MS)).toBe(0);
    expect(await purgePlans(store, 'acme', DAY_MS)).toBe(2);
    await store.kysely.updateTable('refusals').set({ refused_at: 1 }).execute();
    expect(await purgePlans(store, 'acme', DAY_MS)).toBe(1);
    const changes = await Promise.all(['over', 'open'].map(async (id) => (await latestPlan(store, keyOf(id)))?.change));
    expect(changes).toEqual(['purged', { givenName: 'Ada' }]);
    const pinned = await store.kysely.selectFrom('intents').select(['job_candidate_id', 'verb', 'pinned']).execute();
    expect(pinned.map((row) => `${row.job_candidate_id} ${row.verb} ${row.pinned}`).toSorted()).toEqual([
      'open create-employee {"reference":"17:88"}',
      'open enrol:1 {"email":"ada@example.com"}',
      'over create-employee {"reference":"17:88"}',
      'over enrol:1 {}',
    ]);
  });

  test('of a tenant that was removed long ago nothing is left that its hires were made of', async () => {
    const { store } = await freshStore(kind);
    for (const tenantId of ['acme', 'globex']) {
      await readTenantState(store, tenantId);
      const key = { tenantId, jobCandidateId: 'open', period: 1 };
      await insertHires(store, [{ ...key, state: 'open' }]);
      await insertPlan(store, key, { mappingHash: 'm', change: { givenName: 'Ada' } });
      await openIntent(store, { ...key, verb: 'enrol:1', attempt: 1, pinned: { email: 'a@b.c' }, budgetMs: 1_000 });
      await keepRefusal(store, key, { code: 'REFUSED', message: 'Ada is known' });
      const job = { tenant_id: tenantId, job_id: '1', record: '{"recruiter":"Ada"}', seen_at: 1 };
      await store.kysely.insertInto('jobs').values(job).execute();
    }
    expect(await purgeRemoved(store, 'acme', 0)).toBe(0);
    await store.kysely
      .updateTable('tenants')
      .set({ state: 'removed', removed_at: Date.now() - 2 * DAY_MS })
      .where('tenant_id', '=', 'acme')
      .execute();
    expect(await purgeRemoved(store, 'acme', 3 * DAY_MS)).toBe(0);
    expect(await purgeRemoved(store, 'acme', DAY_MS)).toBe(4);
    const { kysely } = store;
    const plans = await kysely.selectFrom('plans').select(['tenant_id', 'change']).orderBy('tenant_id').execute();
    expect(plans.map(({ change }) => change)).toEqual(['{}', '{"givenName":"Ada"}']);
    expect(await kysely.selectFrom('jobs').select('tenant_id').execute()).toEqual([{ tenant_id: 'globex' }]);
  });

  test('a plan that a person made is unknown once it is purged, and not one with nothing to write', async () => {
    const { store } = await freshStore(kind);
    const plan = { tenantId: 'acme', subject: 'jobs', source: 'records', mappingHash: 'm', by: 'ada' } as const;
    const hash = await savePlan(store, { ...plan, records: [{ id: '7', change: { title: 'Cook' } }] });
    await purgeWrites(store, 'acme', DAY_MS);
    expect(await findPlan(store, hash)).toMatchObject({ hash });
    await store.kysely.updateTable('saved_plans').set({ planned_at: 1 }).execute();
    await purgeWrites(store, 'acme', DAY_MS);
    await expect(findPlan(store, hash)).rejects.toMatchObject({ code: 'PLAN_UNKNOWN' });
    expect(await store.kysely.selectFrom('saved_plan_records').selectAll().execute()).toEqual([]);
  });

  test('values of old foreign writes are cleared; who wrote which field, and when, stays', async () => {
    const { store } = await freshStore(kind);
    const origin = { tenantId: 'acme', runId: 'r1', mappingHash: 'm', by: 'hirebridge' };
    const change = { kind: 'update', changes: { title: { old: 'Cook', new: 'Chef' } }, sensitive: [] } as const;
    for (const recordId of ['old', 'new']) await recordWrites(store, origin, [{ target: 'jobs', recordId, ...change }]);
    await store.kysely.updateTable('foreign_writes').set({ sent_at: 1 }).where('record_id', '=', 'old').execute();
    expect(await purgeWrites(store, 'globex', DAY_MS)).toBe(0);
    expect(await purgeWrites(store, 'acme', DAY_MS)).toBe(1);
    expect(await listWrites(store, { tenantId: 'acme' })).toMatchObject([
      { record_id: 'new', changes: JSON.stringify(change.changes), purged_at: null },
      { record_id: 'old', fields: '["title"]', changes: '{}', purged_at: expect.any(Number) as number },
    ]);
    expect(await purgeWrites(store, 'acme', DAY_MS)).toBe(0);
  });

  test('after its own time nobody is in the write log who became no employee', async () => {
    const { store } = await freshStore(kind);
    const origin = { tenantId: 'acme', runId: 'r1', mappingHash: 'm', by: 'hirebridge' };
    const change = { kind: 'update', changes: { title: { old: 'Cook', new: 'Chef' } }, sensitive: [] } as const;
    const landed = [{ target: 'candidates', recordId: 'applied', ...change }];
    await settleWrites(store, await recordWrites(store, origin, landed), 'done');
    for (const [jobCandidateId, employeeId] of [
      ['refused', null],
      ['employed', '31'],
    ] as const) {
      await insertHires(store, [{ tenantId: 'acme', jobCandidateId, period: 1, state: 'open' }]);
      const written = { target: 'enrolment', recordId: jobCandidateId, period: 1, verb: 'enrol:1', attempt: 1 };
      await recordWrites(store, { ...origin, runId: 'hire' }, [{ ...written, ...change }]);
      await store.kysely
        .updateTable('hires')
        .set({ employee_id: employeeId, ended_at: 1 })
        .where('job_candidate_id', '=', jobCandidateId)
        .execute();
    }
    await store.kysely.updateTable('foreign_writes').set({ sent_at: 1 }).execute();
    const ids = async () =>
      (await listWrites(store, { tenantId: 'acme' })).map(({ record_id: recordId }) => recordId).toSorted();
    // Not before their values are gone, and not of another tenant.
    expect(await purgeWriteLog(store, 'acme', DAY_MS)).toBe(0);
    expect(await purgeWrites(store, 'acme', DAY_MS)).toBe(3);
    expect(await purgeWriteLog(store, 'globex', DAY_MS)).toBe(0);
    expect(await ids()).toEqual(['applied', 'employed', 'refused']);
    expect(await purgeWriteLog(store, 'acme', DAY_MS)).toBe(2);
    expect(await ids()).toEqual(['employed']);
    expect(await purgeWriteLog(store, 'acme', 0)).toBe(0);
  });

  test('landed records whose values were purged take 60 bytes each, and are listed as before', async () => {
    const { store } = await freshStore(kind);
    const names = ['title', 'department', 'location', 'manager', 'start_date'];
    const values = names.map((name) => [name, { old: `the ${name} of before`, new: `the ${name} of now` }] as const);
    const changes = Object.fromEntries(values);
    const origin = { tenantId: 'acme', runId: 'r1', mappingHash: 'a'.repeat(64), by: 'hirebridge' };
    for (let page = 0; page < 50; page += 1) {
      const ids = Array.from({ length: 100 }, (_, n) => String(7_000_000 + page * 100 + n));
      const writes = ids.map((recordId) => {
        const kind = recordId.endsWith('3') ? ('update' as const) : ('create' as const);
        return { target: 'candidates', recordId, kind, changes, sensitive: ['title'], rowHash: 'b'.repeat(64) };
      });
      await settleWrites(store, await recordWrites(store, { ...origin, runId: `r${page % 2}` }, writes), 'done');
    }
    const open = await recordWrites(store, origin, [
      { target: 'candidates', recordId: 'open', kind: 'update', changes, sensitive: [] },
      { target: 'candidates', recordId: 'open too', kind: 'update', changes, sensitive: [] },
    ]);
    const at = 1_000;
    await store.kysely.updateTable('foreign_writes').set({ sent_at: at }).execute();
    const seen = ({ record_id, run_id, kind, fields, outcome, mapping_hash, sent_at }: ForeignWriteRow) =>
      JSON.stringify([record_id, run_id, kind, fields, outcome, mapping_hash, Number(sent_at)]);
    const before = (await listWrites(store, { tenantId: 'acme' })).map(seen).sort();
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    expect(await purgeWrites(store, 'acme', DAY_MS)).toBe(5_002);
    const after = await listWrites(store, { tenantId: 'acme' });
    expect(after.map(seen).sort()).toEqual(before);
    expect(new Set(after.map((row) => row.changes))).toEqual(new Set(['{}']));
    expect(await listWrites(store, { tenantId: 'acme', runId: 'r1', recordId: '7000103' })).toMatchObject([
      { record_id: '7000103', run_id: 'r1', kind: 'update', purged_at: expect.any(Number) as number },
    ]);
    expect(await listWrites(store, { tenantId: 'acme', runId: 'r1', limit: 7 })).toHaveLength(7);
    expect((await readOpenWrites(store, 'acme', 'candidates')).map((row) => row.batch_id)).toEqual([open, open]);
    vi.useRealTimers();
    // A snapshot of autovacuum keeps dead rows alive for a moment.
    await expect.poll(async () => (await bytesOf(store)) / 5_000).toBeLessThan(60);
  });
});

/** What is left of the writes, indexes included, once the database has given up what it no longer needs. */
async function bytesOf({ kysely, kind }: Store): Promise<number> {
  const tables = ['foreign_writes', 'purged_writes'];
  if (kind === 'sqlite') {
    await sql`vacuum`.execute(kysely);
    const { rows } = await sql<{ bytes: number }>`
      select sum(pgsize) as bytes from dbstat
      where name in (select name from sqlite_master where tbl_name in (${sql.join(tables)}))`.execute(kysely);
    return Number(rows[0]?.bytes);
  }
  let bytes = 0;
  for (const table of tables) {
    await sql`vacuum full ${sql.table(table)}`.execute(kysely);
    const { rows } = await sql<{ bytes: number }>`select pg_total_relation_size(${table}) as bytes`.execute(kysely);
    bytes += Number(rows[0]?.bytes);
  }
  return bytes;
}

test('a plan goes with all of its records or not at all, whenever it gets old in a purge', async () => {
  let now = 1_700_000_000_000;
  // The clock goes on with each statement that reads it.
  const store = await sqliteStore({ now: () => (now += 1) });
  const plan = { tenantId: 'acme', subject: 'jobs', source: 'records', mappingHash: 'm', by: 'ada' } as const;
  const left: unknown[] = [];
  for (const read of [1, 2, 3, 4, 5, 6]) {
    const hash = await savePlan(store, { ...plan, records: [{ id: '7', change: { read } }] });
    await store.kysely
      .updateTable('saved_plans')
      .set({ planned_at: now + read - DAY_MS })
      .execute();
    await purgeWrites(store, 'acme', DAY_MS);
    const count = async (table: 'saved_plans' | 'saved_plan_records') =>
      (await store.kysely.selectFrom(table).select('plan_hash').where('plan_hash', '=', hash).execute()).length;
    left.push([await count('saved_plans'), await count('saved_plan_records')].join(' '));
  }
  expect([...new Set(left)].toSorted()).toEqual(['0 0', '1 1']);
});
