// Correct webhooks beside hostile ones: npm run test:hostile -- [--seconds N] [--a-minute N] [--addresses N]
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { renderTable } from '../../src/cli/command.ts';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { webhookHeaders } from '../harness/send-delivery.ts';
import { startHrisSource } from '../harness/start-hris-source.ts';
import { type Process, startWorld, type World } from '../harness/world.ts';
import { signWebhook, webhookPayloads } from '../hris/bamboohr-people.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    'a-minute': { type: 'string', default: '100000' },
    addresses: { type: 'string', default: '50' },
  },
});

const HRIS_KEY = 'bamboo-webhook-0123456789';
/** Correct ones a second, of each kind. */
const CORRECT = 10;
const TURN_MS = 20;
/** So many correct ones have to be taken, and so fast. */
const BOUNDS = { taken: 0.999, p99: 250 } as const;

interface Sent {
  path: string;
  headers: Record<string, string>;
  body: string | Buffer;
}

interface Load {
  taken: number;
  sent: number;
  p50: number;
  p99: number;
  refused: Map<number, number>;
  /** Hostile ones that left. */
  hostile: number;
}

let nth = 0;

/** Each is another delivery. */
function correctOnes({ webhookUrl, webhookKey, company }: World): Record<'partner' | 'HR system', () => Sent> {
  const { pathname } = new URL(webhookUrl);
  return {
    partner() {
      const data = { candidateIds: [(nth += 1)] };
      const timestamp = new Date().toISOString();
      const body = JSON.stringify({ event: 'candidate.updated', timestamp, companyId: company, data });
      return { path: pathname, headers: webhookHeaders('candidate.updated', webhookKey), body };
    },
    'HR system'() {
      const [body = Buffer.alloc(0)] = webhookPayloads([String((nth += 1))]);
      return { path: `${pathname}/hris`, headers: signWebhook(body, HRIS_KEY, Date.now()), body };
    },
  };
}

/** By turns: a wrong key, no signature, a forged one, a tenant that does not exist, a large body under a wrong key. */
function hostileOnes(world: World): (() => Sent)[] {
  const { pathname } = new URL(world.webhookUrl);
  const { partner } = correctOnes(world);
  const large = 'x'.repeat(200_000);
  const wrong = webhookHeaders('candidate.updated', 'whk_of_somebody_else');
  return [
    () => ({ ...partner(), headers: wrong }),
    () => ({ path: `${pathname}/hris`, headers: {}, body: '{}' }),
    () => ({ path: `${pathname}/hris`, headers: signWebhook(Buffer.from('x'), 'guessed', Date.now()), body: '{}' }),
    () => ({ ...partner(), path: '/webhooks/nobody' }),
    () => ({ ...partner(), headers: wrong, ...(nth % 50 === 0 ? { body: large } : {}) }),
  ];
}

async function send(pool: Pool, { path, headers, body }: Sent): Promise<number> {
  const all = { 'content-type': 'application/json', ...headers };
  try {
    const answer = await pool.request({ method: 'POST', path, headers: all, body });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return 0;
  }
}

/** Hostile ones leave when they are due, whether or not those before were answered. */
async function play(world: World, seconds: number, perSecond: number): Promise<Record<string, Load>> {
  const { origin } = new URL(world.webhookUrl);
  const pools = Array.from({ length: Number(values.addresses) }, (_, n) => {
    return new Pool(origin, { connections: 4, connect: { localAddress: `127.0.1.${n + 1}` } });
  });
  const own = new Pool(origin, { connections: 8 });
  const kinds = hostileOnes(world);
  const loads: Record<string, Load & { took: number[] }> = {};
  const underWay = new Set<Promise<unknown>>();
  const track = (work: Promise<unknown>): void => {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };
  const begin = performance.now();
  const since = (): number => (performance.now() - begin) / 1_000;
  let [hostile, correct] = [0, 0];
  for (; since() < seconds; await pause(TURN_MS)) {
    for (; hostile < since() * perSecond; hostile += 1) {
      const pool = pools[hostile % pools.length];
      const one = kinds[Math.floor(hostile / pools.length) % kinds.length];
      if (pool !== undefined && one !== undefined) track(send(pool, one()));
    }
    for (; correct < since() * CORRECT; correct += 1)
      for (const [kind, make] of Object.entries(correctOnes(world))) {
        const load = (loads[kind] ??= { taken: 0, sent: 0, p50: 0, p99: 0, refused: new Map(), hostile: 0, took: [] });
        const sentAt = performance.now();
        load.sent += 1;
        track(
          send(own, make()).then((status) => {
            load.took.push(performance.now() - sentAt);
            if (status === 200) load.taken += 1;
            else load.refused.set(status, (load.refused.get(status) ?? 0) + 1);
          }),
        );
      }
  }
  await Promise.all(underWay);
  await Promise.all([...pools, own].map((pool) => pool.close()));
  const at = (took: number[], share: number): number =>
    took.toSorted((a, b) => a - b)[Math.floor(took.length * share)] ?? 0;
  return Object.fromEntries(
    Object.entries(loads).map(([kind, { took, ...load }]) => [
      kind,
      { ...load, hostile, p50: at(took, 0.5), p99: at(took, 0.99) },
    ]),
  );
}

async function megabytes({ child }: Process): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
}

/** Seconds of a core that a process has used so far; the kernel counts in hundredths. */
async function cpuOf({ child }: Process): Promise<number> {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
  // The name of a program may hold spaces: what follows stands behind the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function linesOf({ logFile }: World): Promise<number> {
  return (await readFile(logFile, 'utf8')).split('\n').length;
}

async function main(): Promise<void> {
  const seconds = Number(values.seconds);
  const perSecond = Number(values['a-minute']) / 60;
  const [postgres, source] = await Promise.all([startPostgres(), startHrisSource('bamboohr')]);
  const hris = await source?.open();
  if (hris === undefined) throw new Error('the double of BambooHR did not start');
  const otherHris = { ...hris, settings: { ...hris.settings, webhookKey: 'env:HOSTILE_HRIS_KEY' } };
  const world = await startWorld({
    temporalAddress: '127.0.0.1:1',
    storeUrl: await newDatabase(postgres.url),
    otherHris: { ...otherHris, env: { ...hris.env, HOSTILE_HRIS_KEY: HRIS_KEY } },
  });
  try {
    const receiver = await world.startReceiver();
    await play(world, 5, 0);
    const rows: string[][] = [];
    let isShort = false;
    for (const rate of [0, perSecond]) {
      const before = { lines: await linesOf(world), cpu: await cpuOf(receiver) };
      const loads = await play(world, rate === 0 ? Math.min(15, seconds) : seconds, rate);
      const peak = await megabytes(receiver);
      const lines = (await linesOf(world)) - before.lines;
      const cpu = (await cpuOf(receiver)) - before.cpu;
      for (const [kind, { taken, sent, p50, p99, refused, hostile }] of Object.entries(loads)) {
        isShort ||= taken < sent * BOUNDS.taken || p99 > BOUNDS.p99;
        const others = [...refused].map(([status, count]) => `${count} ${status || 'unanswered'}`).join(', ');
        const times = [p50, p99].map((ms) => `${ms.toFixed(1)} ms`);
        rows.push([
          kind,
          `${hostile}`,
          `${taken} of ${sent}`,
          others,
          ...times,
          `${peak.toFixed(0)} MB`,
          `${lines}`,
          `${cpu.toFixed(1)} s`,
        ]);
      }
    }
    const head = [
      'correct ones of',
      'hostile ones',
      'taken',
      'else',
      'p50',
      'p99',
      'highest memory',
      'log lines',
      'CPU',
    ];
    process.stdout.write(`${renderTable(head, rows)}\n`);
    process.exitCode = isShort ? 1 : 0;
  } finally {
    await world.close();
    await hris.close();
    await source?.stop();
    await postgres.stop();
  }
}

await main();
