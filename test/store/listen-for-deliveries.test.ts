import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { readDelivery } from '../../src/receiver/admit.ts';
import { insertDelivery, listenForDeliveries } from '../../src/store/inbox.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { until } from '../harness/until.ts';
import { freshStoreUrl } from './stores.ts';

async function storeOne(store: Store, jobCandidateId: number): Promise<void> {
  const body = Buffer.from(JSON.stringify({ event: 'candidate.hired', data: { jobCandidateIds: [jobCandidateId] } }));
  await insertDelivery(store, readDelivery(body, { tenantId: 'acme', company: undefined, classify: () => 'waiting' }));
}

async function listenTo() {
  const url = await freshStoreUrl('postgres');
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const heard = { times: 0 };
  const listening = listenForDeliveries(url, () => void (heard.times += 1));
  onTestFinished(() => listening.close());
  return { url, store, heard, listening };
}

test('a stored delivery is heard of', async () => {
  const { store, heard, listening } = await listenTo();
  let stored = 0;
  // Until the connection listens nothing is heard.
  await until('the first', async () => {
    await storeOne(store, (stored += 1));
    return heard.times > 0;
  });
  await listening.close();
  const { times } = heard;
  await storeOne(store, (stored += 1));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(heard.times).toBe(times);
});

test('a lost connection is made again', async () => {
  const { url, store, heard } = await listenTo();
  let stored = 0;
  const hear = async (): Promise<boolean> => {
    const { times } = heard;
    await storeOne(store, (stored += 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return heard.times > times;
  };
  await until('the first', hear);
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  const connections = async (): Promise<number[]> => {
    const listening = `select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like 'listen %'`;
    return (await other.query<{ pid: number }>(listening)).rows.map(({ pid }) => pid);
  };
  const [lost, ...others] = await connections();
  expect({ lost, others }).toEqual({ lost: expect.any(Number), others: [] });
  await other.query('select pg_terminate_backend($1)', [lost]);
  await until('another connection', async () => (await connections()).some((pid) => pid !== lost));
  await until('one after it', hear);
});
