import { type KyselyPlugin, sql } from 'kysely';
import { expect, test } from 'vitest';
import { hintOfRecord, readHints } from '../../src/store/hints.ts';
import type { Store } from '../../src/store/open-store.ts';
import { dispatchOf } from '../../src/worker/dispatch.ts';
import { until } from '../harness/world.ts';
import { deliver, freshStore, relayed, relayOver, TENANT_ID } from './relay-over.ts';

/** Counts the statements that write. */
function createCounter(): KyselyPlugin & { writes: number } {
  return {
    writes: 0,
    transformQuery({ node }) {
      if (/^(Insert|Update|Delete)/.test(node.kind)) this.writes += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

async function countStates(store: Store): Promise<Record<string, number>> {
  const rows = await store.kysely.selectFrom('inbox').select('state').execute();
  return Object.fromEntries([...Map.groupBy(rows, ({ state }) => state)].map(([state, all]) => [state, all.length]));
}

test('a thousand deliveries that ask for no hire are relayed in a few statements, and none is lost', async () => {
  const counter = createCounter();
  const store = await freshStore([], [counter]);
  for (let n = 0; n < 600; n += 1) await deliver(store, 'candidate.updated', { candidateId: n % 300, n });
  for (let n = 0; n < 400; n += 1) await deliver(store, 'interview.started', { n });
  counter.writes = 0;
  const { streams } = relayOver(store);
  await until('all handled', async () => ((await countStates(store))['waiting'] ?? 0) === 0);
  expect(counter.writes).toBeLessThan(60);
  expect(await countStates(store)).toEqual({ relayed: 600, ignored: 400 });
  expect(await readHints(store, TENANT_ID, 'candidates')).toHaveLength(300);
  const { streams: all = {}, ifNamed = [] } = dispatchOf('candidate.updated');
  const asked = Object.keys(all).filter((stream) => !(ifNamed as readonly string[]).includes(stream));
  expect(new Set(streams)).toEqual(new Set(asked));
});

test('a hire among hundreds of other deliveries is begun, and once', async () => {
  const store = await freshStore();
  for (let n = 0; n < 100; n += 1) await deliver(store, 'interview.started', { n });
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  for (let n = 100; n < 300; n += 1) await deliver(store, 'interview.started', { n });
  const { hinted } = relayOver(store);
  await relayed(store, 1);
  expect(hinted).toEqual(['7 person']);
  await until('the others ignored', async () => ((await countStates(store))['ignored'] ?? 0) === 300);
});

test('one delivery that cannot be written down keeps none of its neighbours waiting', async () => {
  const store = await freshStore();
  const bad = sql`create trigger bad before insert on hints when new.record_id = '7'
    begin select raise(abort, 'bad'); end`;
  await bad.execute(store.kysely);
  for (let n = 0; n < 30; n += 1) await deliver(store, 'job.updated', { jobId: n });
  relayOver(store);
  await relayed(store, 29);
  expect(await countStates(store)).toEqual({ relayed: 29, waiting: 1 });
  expect(await readHints(store, TENANT_ID, 'jobs')).toHaveLength(29);
});

test('what an event says of a record takes the place of what one before it said', async () => {
  const store = await freshStore();
  await deliver(store, 'candidate.removed_from_job', { jobCandidateIds: [5], candidateIds: [3] });
  relayOver(store);
  await relayed(store, 1);
  // Out of one job, or out of the company: only a read of the candidate tells.
  expect(await readHints(store, TENANT_ID, 'candidates')).toMatchObject([{ recordId: '3', gone: false }]);
  expect(await readHints(store, TENANT_ID, 'applications')).toMatchObject([{ recordId: '5', gone: true }]);
  await deliver(store, 'candidate.applied', { jobCandidateIds: [5], candidateIds: [3] });
  await relayed(store, 2);
  expect(await readHints(store, TENANT_ID, 'applications')).toMatchObject([{ recordId: '5', gone: false }]);
});

test('an event of an interview hints at its assessment, or else at its submission', async () => {
  const store = await freshStore();
  await deliver(store, 'interview.ended', { assessmentId: 'a', submissionId: 's' });
  await deliver(store, 'interview.scoring_completed', { submissionId: 't', externalRef: 'ours' });
  relayOver(store);
  await relayed(store, 2);
  const hints = await readHints(store, TENANT_ID, 'interviews');
  expect(hints.map(({ recordId }) => recordId).toSorted()).toEqual(['a', hintOfRecord('t')]);
});
