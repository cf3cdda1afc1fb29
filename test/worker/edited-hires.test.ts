import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { readDelivery } from '../../src/receiver/admit.ts';
import { readHints } from '../../src/store/hints.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires, type NewHire } from '../../src/store/hires.ts';
import { insertDeliveries } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { until } from '../harness/world.ts';
import { deliver, freshStore, relayed, relayOver, TENANT_ID } from './relay-over.ts';

const key = (jobCandidateId: string) => ({ tenantId: TENANT_ID, jobCandidateId, period: 1 });

function hire(store: Store, jobCandidateId: string, more: Partial<NewHire> = {}): Promise<number> {
  return insertHires(store, [
    { ...key(jobCandidateId), state: 'open', candidateId: `c${jobCandidateId}`, jobId: `j${jobCandidateId}`, ...more },
  ]);
}

/** An edited application as section 6 shows it: it names its candidate and its job, too. */
function edited(jobCandidateId: string, candidateId = `c${jobCandidateId}`) {
  const jobId = `j${jobCandidateId}`;
  return { candidateId, updatedFields: ['evaluationStatus'], scope: 'application', jobCandidateId, jobId };
}

test('an edited application hints its hire, with or without an employee, and no other of the person', async () => {
  const store = await freshStore();
  for (const id of ['1', '2']) await hire(store, id, { candidateId: 'c1' });
  await hire(store, '3');
  await endHire(store, key('3'), 'done');
  const { hinted, reconciles } = relayOver(store);
  await deliver(store, 'candidate.updated', edited('1'));
  await deliver(store, 'candidate.updated', edited('3'));
  await relayed(store, 2);
  expect({ hinted, reconciles }).toEqual({ hinted: ['1 person', '3 person'], reconciles: [] });
  expect(await readHints(store, TENANT_ID, 'people')).toEqual([]);
});

test('an edited application of a hire that nobody follows has its job listed by the next reconcile', async () => {
  const store = await freshStore();
  for (const id of ['1', '2', '3', '4']) await hire(store, id);
  await hire(store, '5', { state: 'before-go-live' });
  await endHire(store, key('2'), 'done');
  await endHire(store, key('3'), 'left');
  await endHire(store, key('4'), 'kept');
  const asked: string[] = [];
  const { reconciles } = relayOver(store, {
    signalHire: async ({ jobCandidateId }) => asked.push(jobCandidateId) < 0,
  });
  for (const id of ['1', '2', '3', '4', '5', 'never hired']) await deliver(store, 'candidate.updated', edited(id));
  await relayed(store, 6);
  expect({ asked, reconciles }).toEqual({ asked: ['1', '2'], reconciles: [] });
  const hints = await readHints(store, TENANT_ID, 'people');
  expect(hints.map(({ recordId }) => recordId).toSorted()).toEqual(['j1', 'j2', 'j3']);
});

test('an edited profile hints the hires of the person that have no employee yet, and no other', async () => {
  const store = await freshStore();
  for (const id of ['1', '2', '3']) await hire(store, id, { candidateId: 'c' });
  await hire(store, '4');
  await store.kysely.updateTable('hires').set({ employee_id: '7' }).where('job_candidate_id', '=', '2').execute();
  await endHire(store, key('3'), 'left');
  const { hinted } = relayOver(store);
  await deliver(store, 'candidate.updated', { candidateId: 'c', updatedFields: ['city'], scope: 'profile' });
  await relayed(store, 1);
  expect(hinted).toEqual(['1 person']);
});

/** Counts the statements that name the tables of hires and of hints. */
function createCounter(): KyselyPlugin & { statements: number } {
  return {
    statements: 0,
    transformQuery({ node }) {
      if (/"name":"(hires|hints)"/.test(JSON.stringify(node))) this.statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

test('10,000 edits of people without hires signal nobody, ask for no reconcile and cost 100 reads', async () => {
  const counter = createCounter();
  const store = await freshStore([], [counter]);
  await hire(store, 'somebody else');
  for (let n = 0; n < 10_000; n += 500) {
    const some = Array.from({ length: 500 }, (_, at) => {
      const id = String(n + at);
      const data = at % 2 === 0 ? edited(id) : { candidateId: `c${id}`, scope: 'profile' };
      const body = Buffer.from(JSON.stringify({ event: 'candidate.updated', data }));
      return readDelivery(body, { tenantId: TENANT_ID, company: undefined, classify: () => 'waiting' });
    });
    await insertDeliveries(store, some);
  }
  counter.statements = 0;
  const { hinted, reconciles } = relayOver(store, { runsByItself: () => false });
  await until('all handled', async () => {
    const waiting = store.kysely.selectFrom('inbox').select('event').where('state', '=', 'waiting').limit(1);
    return (await waiting.execute()).length === 0;
  });
  expect({ hinted, reconciles }).toEqual({ hinted: [], reconciles: [] });
  // Two statements for each 200 deliveries.
  expect(counter.statements).toBeLessThanOrEqual(100);
});
