import type { Client } from '@temporalio/client';
import { Pool } from 'undici';
import { contract } from '../../src/partner/contract/index.ts';
import { untilBaseline } from '../harness/hiring.ts';
import { webhookHeaders } from '../harness/send-delivery.ts';
import { until } from '../harness/until.ts';
import type { World } from '../harness/world.ts';
import { type PostgresWorld, transactionsOf, withClient, withPostgresWorld, withTemporal } from './bench-world.ts';
import { type Bench, openLedger, type Scale } from './measured.ts';
import { costOf, difference } from './temporal-cost.ts';

const WEBHOOKS = 1_000;
const SENDERS = 10;

/** What a thousand deliveries that ask for no hire lead to. */
export const cost: Bench = {
  name: 'cost',
  leavesOut:
    'records of a whole pass, which are in the bench pull, and hires, which are in the bench hire. Transactions are ' +
    'of everything that the processes did meanwhile, their chores included.',
  measure: (scale) =>
    withTemporal((temporalAddress) =>
      withPostgresWorld({ temporalAddress, candidates: scale.quick ? 200 : 1_000 }, async (opened) => {
        await Promise.all([opened.world.startReceiver(), opened.world.startWorker()]);
        await untilBaseline(opened.world);
        return withClient(temporalAddress, (client) => measure(opened, client, scale));
      }),
    ),
};

async function measure(opened: PostgresWorld, client: Client, { rounds, say }: Scale) {
  const ledger = openLedger('cost');
  const { items } = await opened.world.partner.readAll(contract.candidates.list);
  const ids = items.map(({ id }) => id);
  await untilRest(opened, client);
  for (let round = 1; round <= rounds; round += 1) {
    const before = { temporal: await costOf(client, () => true), transactions: await transactionsOf(opened.store) };
    await deliver(opened.world, ids);
    await untilRest(opened, client);
    const { actions, historyBytes } = difference(await costOf(client, () => true), before.temporal);
    const transactions = (await transactionsOf(opened.store)) - before.transactions;
    ledger.add('actions', '/1,000 webhooks', actions, { goal: { most: 25 } });
    ledger.add('history', 'KB/1,000 webhooks', historyBytes / 1024);
    ledger.add('store transactions', '/1,000 webhooks', transactions);
    say(`round ${round}: ${actions} actions, ${transactions} transactions`);
  }
  return { measured: ledger.measured() };
}

/** Each about one candidate who is there. */
async function deliver({ webhookUrl, webhookKey, company }: World, ids: readonly unknown[]): Promise<void> {
  const { origin, pathname: path } = new URL(webhookUrl);
  const pool = new Pool(origin, { connections: SENDERS });
  const headers = { ...webhookHeaders('candidate.updated', webhookKey), 'content-type': 'application/json' };
  const send = async (from: number): Promise<void> => {
    for (let nth = from; nth < WEBHOOKS; nth += SENDERS) {
      const data = { candidateIds: [ids[nth % ids.length]] };
      const timestamp = new Date(Date.now() + nth).toISOString();
      const body = JSON.stringify({ event: 'candidate.updated', timestamp, companyId: company, data });
      const answer = await pool.request({ method: 'POST', path, headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`A delivery was answered ${answer.statusCode}.`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, from) => send(from)));
  await pool.close();
}

/** Nothing waits in the store, and no workflow runs. */
async function untilRest({ store }: PostgresWorld, client: Client): Promise<void> {
  const waiting = "select (select count(*) from inbox where state = 'waiting') + (select count(*) from hints) as n";
  await until(
    'what was delivered has been acted upon',
    async () => {
      const { rows } = await store.query<{ n: string }>(waiting);
      return Number(rows[0]?.n) === 0 && (await client.workflow.count("ExecutionStatus = 'Running'")).count === 0;
    },
    { timeoutMs: 180_000, everyMs: 500 },
  );
}
