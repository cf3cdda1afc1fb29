// hirebridge beside dlt and the Singer SDK, same sandbox, same Postgres: npm run bench:peers -- [--candidates 20000]
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTable } from '../../../src/cli/table.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { readStatus } from '../../harness/hiring.ts';
import { until } from '../../harness/until.ts';
import { type PostgresWorld, withPostgresWorld, withTemporal } from '../bench-world.ts';
import { median } from '../measured.ts';
import { openOwn } from './open-own.ts';
import { openDlt, openSinger, type Peer } from './peer.ts';

const PAGE = 100;

const { values } = parseArgs({
  options: {
    candidates: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    /** As the sandbox takes it, for a run of its own beside those without a limit. */
    limit: { type: 'string', default: 'fixed:20' },
  },
});
const [rounds, candidates] = [Number(values.rounds), Number(values.candidates)];
const pages = Math.ceil(candidates / PAGE);

interface Pull {
  seconds: number;
  calls: number;
}

const pulls = new Map<string, Pull[]>();
/** What the partner shows: the same in every world, by the sandbox's seed. */
let expected: string | undefined;

await withTemporal(async (address) => {
  await playWorld(address, [], async (opened, peers) => {
    for (let round = 1; round <= rounds; round += 1)
      for (const ms of [0, 100]) {
        const faults = ms === 0 ? [] : [{ kind: 'latency', on: 'candidates.list', ms } as const];
        await opened.world.control.act('setFaults', { faults });
        for (const peer of peers) await play(opened, peer, `${ms} ms a page`);
      }
    await opened.world.control.act('setFaults', { faults: [] });
    for (const peer of peers) await play(opened, peer, 'killed in the middle', true);
  });
  await playWorld(address, ['--limit', values.limit], async (opened, peers) => {
    for (const peer of peers) await play(opened, peer, `limit ${values.limit}`);
  });
});
show();

async function playWorld(
  temporalAddress: string,
  sandbox: string[],
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

/** One pull from nothing, its rows compared with what the partner itself shows. */
async function play(opened: PostgresWorld, peer: Peer, where: string, isKilled = false): Promise<void> {
  await peer.forget();
  const before = await listCalls(opened);
  const seconds = await (isKilled ? pullKilled(opened, peer) : (await peer.start()).ended);
  const calls = (await listCalls(opened)) - before;
  await assertComplete(opened, peer);
  const key = `${where}|${peer.name}`;
  pulls.set(key, [...(pulls.get(key) ?? []), { seconds, calls }]);
  process.stderr.write(`${where}, ${peer.name}: ${seconds.toFixed(2)} s, ${calls} calls\n`);
}

/** A second start goes on with what the first has left, if it can; who goes on by itself needs none. */
async function pullKilled(opened: PostgresWorld, peer: Peer): Promise<number> {
  const before = await listCalls(opened);
  const beganAt = performance.now();
  const first = await peer.start();
  await until('half of the pages are asked for', async () => (await listCalls(opened)) - before >= pages / 2);
  await first.kill();
  if (peer.name === 'hirebridge') await first.ended;
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

function show(): void {
  const rows = [...pulls].map(([key, own]) => {
    const [where = '', name = ''] = key.split('|');
    const ours = pulls.get(`${where}|hirebridge`) ?? [];
    const times = median(own.map(({ seconds }, round) => seconds / (ours[round]?.seconds ?? Number.NaN)));
    const seconds = own.map((one) => one.seconds);
    const spread = `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)}`;
    return [where, name, median(seconds).toFixed(2), spread, times.toFixed(2), median(own.map(({ calls }) => calls))];
  });
  process.stdout.write(`${renderTable(['', 'peer', 's', 'spread', 'x hirebridge', `calls of ${pages}`], rows)}\n`);
  process.stdout.write(
    'Every pull was compared with the partner by count and hash. Not measured: start and imports of dlt, the command ' +
      'of hirebridge; the start of Singer is in its seconds, and so is the restart of whoever was killed.\n',
  );
}
