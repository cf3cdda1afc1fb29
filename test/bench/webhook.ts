import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { startProcess } from '../harness/run-product.ts';
import { webhookHeaders } from '../harness/send-delivery.ts';
import { type PostgresWorld, withPostgresWorld } from './bench-world.ts';
import { type Bench, type Ledger, openLedger, type Scale } from './measured.ts';

const FLOOR_PROCESS = fileURLToPath(new URL('./floor-receiver-process.ts', import.meta.url));
const SENDERS = 20;
const FLOOR = 'key and insert';

/** Deliveries that never repeat, as many as are answered, at a receiver and at a bare handler. */
export const webhook: Bench = {
  name: 'webhook',
  leavesOut: 'relaying, a store that waits for its disk, senders elsewhere: they share the two cores with all else.',
  measure: (scale) =>
    withPostgresWorld({ temporalAddress: '127.0.0.1:1' }, async (opened) => {
      const ledger = openLedger('webhook');
      await opened.store.query('create table floor_inbox (hash text primary key, body text not null)');
      const floor = await startFloor(opened);
      const out = createWriteStream('/dev/null');
      const { world } = opened;
      const args = [
        'serve',
        '--tenants',
        world.tenantsDir,
        '--data',
        world.dataDir,
        '--port',
        '0',
        '--health-port',
        '0',
      ];
      const receivers = [await startProcess(args, world.env, out), await startProcess(args, world.env, out)];
      const urls = receivers.map(({ facts }) => new URL(`${facts['webhooks'] ?? ''}`).origin);
      try {
        for (let round = 1; round <= scale.rounds; round += 1) {
          play(ledger, scale, FLOOR, await load([floor.url], world, scale));
          play(ledger, scale, 'one receiver', await load(urls.slice(0, 1), world, scale));
          play(ledger, scale, 'two receivers', await load(urls, world, scale));
        }
      } finally {
        await Promise.all(receivers.map((one) => one.stop()));
        floor.stop();
      }
      return { measured: ledger.measured() };
    }),
};

async function startFloor({ store, world }: PostgresWorld): Promise<{ url: string; stop: () => void }> {
  const databaseUrl = `postgres://postgres@${store.host}:${store.port}/${store.database}`;
  const child = fork(FLOOR_PROCESS, [databaseUrl, world.webhookKey]);
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() };
}

interface Load {
  answered: number;
  seconds: number;
  p99: number;
  statuses: Set<number>;
}

function play(ledger: Ledger, { say }: Scale, what: string, { answered, seconds, p99, statuses }: Load): void {
  if (statuses.size !== 1 || !statuses.has(200)) throw new Error(`${what} answered ${[...statuses].join(', ')}.`);
  const isFloor = what === FLOOR;
  ledger.add(what, 'answers/s', answered / seconds, isFloor ? {} : { floor: FLOOR, goal: { least: 0.7 } });
  ledger.add(`p99, ${what}`, 'ms', p99, isFloor ? {} : { floor: `p99, ${FLOOR}`, goal: { most: 2 } });
  say(`${what}: ${(answered / seconds).toFixed(0)} answers/s, p99 ${p99.toFixed(1)} ms`);
}

let deliveries = 0;

async function load(
  origins: readonly string[],
  { webhookKey, webhookUrl, company }: PostgresWorld['world'],
  { quick }: Scale,
): Promise<Load> {
  const pools = origins.map((origin) => new Pool(origin, { connections: SENDERS }));
  const { pathname: path } = new URL(webhookUrl);
  const headers = { ...webhookHeaders('candidate.updated', webhookKey), 'content-type': 'application/json' };
  const took: number[] = [];
  const statuses = new Set<number>();
  const beganAt = performance.now();
  const endsAt = beganAt + (quick ? 3_000 : 15_000);
  const send = async (sender: number): Promise<void> => {
    const pool = pools[sender % pools.length];
    while (pool !== undefined && performance.now() < endsAt) {
      deliveries += 1;
      const data = { candidateIds: [deliveries] };
      const body = JSON.stringify({
        event: 'candidate.updated',
        timestamp: new Date().toISOString(),
        companyId: company,
        data,
      });
      const sentAt = performance.now();
      const answer = await pool.request({ method: 'POST', path, headers, body });
      await answer.body.dump();
      statuses.add(answer.statusCode);
      took.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  const seconds = (performance.now() - beganAt) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  const p99 = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN;
  return { answered: took.length, seconds, p99, statuses };
}
