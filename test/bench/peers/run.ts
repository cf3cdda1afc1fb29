// hirebridge beside dlt and the Singer SDK, same sandbox, same Postgres: npm run bench:peers -- [--candidates 20000]
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contract } from '../../../src/partner/contract/index.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { readStatus } from '../../harness/hiring.ts';
import { until } from '../../harness/until.ts';
import { type PostgresWorld, withPostgresWorld, withTemporal } from '../bench-world.ts';
import { openLedger } from '../measured.ts';
import { openReport } from '../report.ts';
import { openOwn } from './open-own.ts';
import { openDlt, openSinger, type Peer } from './peer.ts';

const PAGE = 100;
const OWN = 'hirebridge';

const { values } = parseArgs({
  options: {
    candidates: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    /** As the sandbox takes it, for a run of its own beside those without a limit. */
    limit: { type: 'string', default: 'fixed:20' },
    out: { type: 'string', default: 'bench-results' },
  },
});
const [rounds, candidates] = [Number(values.rounds), Number(values.candidates)];
const pages = Math.ceil(candidates / PAGE);

/** How many times longer they are asked to take, by the milliseconds that a page takes. */
const GOALS: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  dlt: { 0: 4, 100: 7 },
  Singer: { 0: 10, 100: 8 },
};

const ledger = openLedger('peers');
/** What the partner shows: the same in every world, by the sandbox's seed. */
let expected: string | undefined;

const report = await openReport(values.out, 'peers.jsonl');
await withTemporal(async (address) => {
  await playWorld(address, {}, async (opened, peers) => {
    for (let round = 1; round <= rounds; round += 1)
      for (const ms of [0, 100]) {
        const faults = ms === 0 ? [] : [{ kind: 'latency', on: 'candidates.list', ms } as const];
        await opened.world.control.act('setFaults', { faults });
        for (const peer of peers) await play(opened, peer, { where: `${ms} ms a page`, least: GOALS[peer.name]?.[ms] });
      }
    await opened.world.control.act('setFaults', { faults: [] });
    for (const peer of peers) await play(opened, peer, { where: 'killed in the middle', isKilled: true });
  });
  await playWorld(address, { limit: values.limit }, async (opened, peers) => {
    for (const peer of peers) await play(opened, peer, { where: `limit ${values.limit}` });
  });
});
await report(
  {
    name: 'peers',
    leavesOut:
      'start and imports of dlt, the command of hirebridge; the start of Singer is in its seconds, and so is the ' +
      'restart of whoever was killed. Every pull was compared with the partner by count and hash.',
  },
  { measured: ledger.measured() },
);

async function playWorld(
  temporalAddress: string,
  sandbox: SandboxOptions,
  work: (opened: PostgresWorld, peers: Peer[]) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-peers-'));
  await withPostgresWorld({ temporalAddress, candidates, sandbox, env: { LOG_LEVEL: 'warn' } }, async (opened) => {
    const worker = await opened.world.startWorker();
    await until('the baseline is complete', async () => (await readStatus(opened.world)).baseline === 'done');
    const place = { opened, pages, folder };
    await work(opened, [openOwn(place, worker), await openDlt(place), await openSinger(place)]);
  });
  await rm(folder, { recursive: true, force: true });
}

interface Playing {
  where: string;
  /** Times the seconds of hirebridge. */
  least?: number | undefined;
  isKilled?: boolean;
}

/** One pull from nothing, its rows compared with what the partner itself shows. */
async function play(opened: PostgresWorld, peer: Peer, { where, least, isKilled = false }: Playing): Promise<void> {
  await peer.forget();
  const before = await listCalls(opened);
  const seconds = await (isKilled ? pullKilled(opened, peer) : (await peer.start()).ended);
  const calls = (await listCalls(opened)) - before;
  await assertComplete(opened, peer);
  const floor = peer.name === OWN ? {} : { floor: `${OWN}, ${where}` };
  const goal = least === undefined ? {} : { goal: { least } };
  ledger.add(`${peer.name}, ${where}`, 's', seconds, { ...floor, ...goal });
  ledger.add(`calls of ${peer.name}, ${where}`, `calls of ${pages}`, calls);
  process.stderr.write(`${where}, ${peer.name}: ${seconds.toFixed(2)} s, ${calls} calls\n`);
}

/** A second start goes on with what the first has left, if it can; who goes on by itself needs none. */
async function pullKilled(opened: PostgresWorld, peer: Peer): Promise<number> {
  const before = await listCalls(opened);
  const beganAt = performance.now();
  const first = await peer.start();
  await until('half of the pages are asked for', async () => (await listCalls(opened)) - before >= pages / 2);
  await first.kill();
  if (peer.name === OWN) await first.ended;
  else await (await peer.start()).ended;
  return (performance.now() - beganAt) / 1000;
}

async function listCalls({ world }: PostgresWorld): Promise<number> {
  return (await world.control.counts({ kind: 'request', name: 'candidates.list' })).request?.['candidates.list'] ?? 0;
}

async function assertComplete({ world, hris }: PostgresWorld, { name, table, id }: Peer): Promise<void> {
  expected ??= digest((await world.partner.readAll(contract.candidates.list)).items);
  const { rows } = await hris.query<{ id: string; email: string }>(`select ${id} as id, email from ${table}`);
  if (digest(rows) !== expected) throw new Error(`${name} landed ${rows.length} rows that are not the partner's.`);
}

function digest(rows: readonly { id: string; email?: string | null | undefined }[]): string {
  const lines = rows.map(({ id, email }) => `${id} ${email}`).toSorted();
  return `${rows.length} ${createHash('sha256').update(lines.join('\n')).digest('hex')}`;
}
