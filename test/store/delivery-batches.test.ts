import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDeliveryBatches, type Delivery } from '../../src/store/inbox.ts';
import { openStore, type Store, writeFailpoints } from '../../src/store/open-store.ts';
import { until } from '../harness/until.ts';
import { freshStore, freshStoreUrl, kinds } from './stores.ts';

function delivery(bodyHash: string, body = '{}', tenantId = 'acme'): Delivery {
  const ids = { candidateId: [bodyHash] };
  return { tenantId, bodyHash, event: 'candidate.updated', ids, body, state: 'waiting' };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `hash-${n}`);

describe.each(kinds)('deliveries that come together, in %s', (kind) => {
  test('share statements, and each body is stored once and told from its repetitions', async () => {
    const passed: string[] = [];
    const { store } = await freshStore(kind, { plugins: [writeFailpoints((point) => passed.push(point))] });
    const commit = createDeliveryBatches(store);
    const twice = [...names(120), ...names(120)];
    const outcomes = await Promise.all(twice.map((name) => commit(delivery(name, `{"n":"${name} '\\" 😀"}`))));
    const fresh = twice.filter((_, place) => outcomes[place]?.fresh === true);
    expect(fresh.toSorted()).toEqual(names(120).toSorted());
    expect(await commit(delivery('hash-7'))).toEqual({ fresh: false });
    const rows = await store.kysely.selectFrom('inbox').selectAll().execute();
    expect(rows).toHaveLength(120);
    expect(rows.find((row) => row.body_hash === 'hash-7')).toMatchObject({
      ids: '{"candidateId":["hash-7"]}',
      body: `{"n":"hash-7 '\\" 😀"}`,
      state: 'waiting',
      failures: 0,
      last_error: null,
      done_at: null,
    });
    // A hundred at a time, and the late one.
    expect(passed.filter((point) => point === 'store.insert.inbox/before')).toHaveLength(3 + 1);
  });

  test('that are large are stored all the same', async () => {
    const { store } = await freshStore(kind);
    const commit = createDeliveryBatches(store);
    const large = 'x'.repeat(700_000);
    const all = await Promise.all(names(6).map((name) => commit(delivery(name, large))));
    expect(all).toEqual(names(6).map(() => ({ fresh: true })));
  });
});

test('one that the store refuses fails no other', async () => {
  const { store } = await freshStore('postgres');
  const commit = createDeliveryBatches(store);
  const some = [...names(5), 'bad', 'last'].map((name) => commit(delivery(name, name === 'bad' ? 'a\0b' : '{}')));
  const outcomes = await Promise.allSettled(some);
  expect(outcomes.map(({ status }) => status)).toEqual([...names(5).map(() => 'fulfilled'), 'rejected', 'fulfilled']);
});

test('one whose sender has its answer already is forgotten while the database stands still', async () => {
  const { store } = await freshStore('postgres');
  const commit = createDeliveryBatches(store);
  const done = new AbortController();
  const begun: Promise<unknown>[] = [];
  const left = await store.kysely.transaction().execute(async (locked) => {
    await sql`lock table inbox in access exclusive mode`.execute(locked);
    begun.push(commit(delivery('first')), commit(delivery('second')));
    const late = names(3).map((name) => commit(delivery(name), done.signal));
    done.abort(new Error('answered'));
    return Promise.allSettled(late);
  });
  expect(left.map(({ status }) => status)).toEqual(names(3).map(() => 'rejected'));
  await Promise.all(begun);
  const rows = await store.kysely.selectFrom('inbox').select('body_hash').execute();
  expect(rows.map(({ body_hash }) => body_hash).toSorted()).toEqual(['first', 'second']);
});

/** Holds the table for as long as `work` takes: every statement on it waits. */
async function whileLocked<T>(store: Store, work: () => Promise<T>): Promise<T> {
  return store.kysely.transaction().execute(async (locked) => {
    await sql`lock table inbox in access exclusive mode`.execute(locked);
    return work();
  });
}

test('one tenant that sends hundreds has no other one wait for all of them, and they share a statement', async () => {
  const passed: string[] = [];
  const { store } = await freshStore('postgres', { plugins: [writeFailpoints((point) => passed.push(point))] });
  const commit = createDeliveryBatches(store);
  const send = (name: string, tenantId: string) => commit(delivery(name, '{}', tenantId));
  const begun = () => passed.filter((point) => point === 'store.insert.inbox/before').length;
  const all = await whileLocked(store, async () => {
    const first = names(2).map((name) => send(name, 'first'));
    await until('statements wait', async () => begun() > 0);
    return [...first, ...names(500).map((name) => send(name, 'flood')), ...names(3).map((name) => send(name, 'quiet'))];
  });
  await Promise.all(all);
  // The rows of one statement have one `xmin`. The late tenant's go with the first of the flood, not behind its last.
  const { rows } = await sql<{ tenant_id: string; body_hash: string }>`
    select tenant_id, body_hash from inbox where xmin in (select xmin from inbox where tenant_id = 'quiet')
  `.execute(store.kysely);
  const hashesOf = (tenantId: string) => rows.flatMap((row) => (row.tenant_id === tenantId ? [row.body_hash] : []));
  expect(hashesOf('quiet').toSorted()).toEqual(names(3));
  expect(hashesOf('flood').toSorted()).toEqual(names(97).toSorted());
  // A hundred in each, whoever's they are.
  expect(begun()).toBeLessThanOrEqual(2 + 6);
});

test('deliveries whose senders have their answer are not stored one by one after a statement that failed', async () => {
  const passed: string[] = [];
  const store = await openStore(`${await freshStoreUrl('postgres')}?lock_timeout=2000`, {
    plugins: [writeFailpoints((point) => passed.push(point))],
  });
  onTestFinished(() => store.close());
  const commit = createDeliveryBatches(store);
  const answered = new AbortController();
  await whileLocked(store, async () => {
    const all = names(20).map((name) => commit(delivery(name), answered.signal));
    await until('the statement waits', async () => passed.includes('store.insert.inbox/before'));
    answered.abort(new Error('answered'));
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(names(20).map(() => 'rejected'));
  });
  expect(passed.filter((point) => point === 'store.insert.inbox/before')).toHaveLength(1);
});
