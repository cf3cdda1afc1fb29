import { cpuSecondsOf } from '../cost/process-cpu.ts';
import { untilBaseline } from '../harness/hiring.ts';
import { type PostgresWorld, transactionsOf, withClient, withPostgresWorld, withTemporal } from './bench-world.ts';
import { floorModes, floorPull, type Spent } from './floor-pull.ts';
import { type Bench, type Ledger, openLedger, type Scale } from './measured.ts';

const PAGE = 100;
/** As many as a stream asks for ahead. */
const CONCURRENCY = 8;

/** A pass over the partner's list through Temporal, beside bare loops over the same list into the same database. */
export const pull: Bench = {
  name: 'pull',
  leavesOut:
    'the first pass of a worker that knows no rate yet, the CPU of Postgres, Temporal and sandbox (but their time ' +
    'is in the seconds: all share the machine), and a network.',
  measure: (scale) =>
    withTemporal((temporalAddress) => {
      const candidates = scale.quick ? 2_000 : 20_000;
      return withPostgresWorld({ temporalAddress, candidates }, async (opened) => {
        const ledger = openLedger('pull');
        await opened.hris.query('create table floor_candidates (id text primary key, record jsonb not null)');
        await opened.world.startWorker();
        await untilBaseline(opened.world);
        await pass(opened);
        for (let round = 1; round <= scale.rounds; round += 1)
          for (const ms of [0, 100]) await playRound({ opened, ledger, candidates, temporalAddress, scale }, ms, round);
        return { measured: ledger.measured() };
      });
    }),
};

interface Play {
  opened: PostgresWorld;
  ledger: Ledger;
  candidates: number;
  temporalAddress: string;
  scale: Scale;
}

async function playRound(play: Play, ms: number, round: number): Promise<void> {
  const { opened, ledger, candidates, scale } = play;
  const faults = ms === 0 ? [] : [{ kind: 'latency', on: 'candidates.list', ms } as const];
  await opened.world.control.act('setFaults', { faults });
  const add = (what: string, { seconds, cpuSeconds }: Spent, goals: Goals = {}): void => {
    const bytes = `bytes, ${ms} ms a page`;
    const isFloor = what === 'bytes';
    ledger.add(
      `${what}, ${ms} ms a page`,
      'records/s',
      candidates / seconds,
      isFloor ? {} : { floor: bytes, ...goals.rate },
    );
    ledger.add(`CPU of ${what}, ${ms} ms`, 'us/record', (cpuSeconds * 1e6) / candidates, goals.cpu);
    scale.say(`round ${round}, ${ms} ms a page, ${what}: ${seconds.toFixed(2)} s, CPU ${cpuSeconds.toFixed(2)} s`);
  };
  for (const mode of floorModes) {
    await opened.hris.query('truncate floor_candidates');
    add(mode, await floorPull({ mode, pages: candidates / PAGE, concurrency: CONCURRENCY, ...ends(opened) }));
  }
  await forget(opened);
  const cold = await pass(opened);
  add('first pass', cold, {
    rate: ms === 100 ? { goal: { least: 0.75 } } : {},
    cpu: { floor: `CPU of upsert, ${ms} ms`, goal: { most: 2 } },
  });
  const again = await pass(opened);
  add('second pass', again, { cpu: { floor: `CPU of first pass, ${ms} ms`, goal: { most: 0.35 } } });
  if (ms === 0) await addCounts(play, cold, again);
}

type Against = Parameters<Ledger['add']>[3];

interface Goals {
  rate?: Against;
  cpu?: Against;
}

async function addCounts(
  { ledger, candidates, temporalAddress, opened }: Play,
  cold: Pass,
  again: Pass,
): Promise<void> {
  const thousands = candidates / 1000;
  ledger.add('WAL of the first pass', 'bytes/record', cold.walBytes / candidates);
  ledger.add('WAL of the second', 'bytes/record', again.walBytes / candidates, { floor: 'WAL of the first pass' });
  ledger.add('record rows written by the second', 'rows', again.rowsWritten, { goal: { most: 0 } });
  ledger.add('store transactions, first pass', '/1,000 records', cold.transactions / thousands);
  ledger.add('store transactions, second pass', '/1,000 records', again.transactions / thousands);
  const { events, bytes } = await historyOf(temporalAddress, opened);
  ledger.add('events of history', '/1,000 records', events / thousands);
  ledger.add('history', 'KB/1,000 records', bytes / 1024 / thousands, { goal: { most: 20 } });
}

function ends({ world, hris }: PostgresWorld) {
  const { origin, pathname } = new URL(world.sandbox.url);
  const databaseUrl = `postgres://postgres@${hris.host}:${hris.port}/${hris.database}`;
  return { origin, path: `${pathname}/candidates/list`, key: world.apiKey, databaseUrl };
}

/** As before the first pass; what the worker has learned of the partner's rate stays. */
export async function forget({ store, hris }: PostgresWorld): Promise<void> {
  await hris.query('truncate partner_candidates');
  await store.query('truncate stream_pages, stream_states, foreign_writes');
}

interface Pass extends Spent {
  walBytes: number;
  rowsWritten: number;
  transactions: number;
}

/** One whole pass, by the store's clock; `hirebridge sync` itself does not count. */
export async function pass({ world, store, hris }: PostgresWorld): Promise<Pass> {
  const before = await countersOf({ store, hris });
  const cpu = cpuSecondsOf(/main\.ts worker/);
  const { code, stderr } = await world.cli(['sync', 'acme', 'candidates', '--full']);
  if (code !== 0) throw new Error(`sync ended with ${code}: ${stderr}`);
  const cpuSeconds = cpuSecondsOf(/main\.ts worker/) - cpu;
  const after = await countersOf({ store, hris });
  const { rows } = await store.query<{ ms: string }>(
    "select ended_at - started_at as ms from streams where stream = 'candidates'",
  );
  const written = await hris.query<{ n: string }>(
    'select count(*) as n from partner_candidates where xmin::text::bigint >= $1::bigint',
    [before.xid],
  );
  return {
    seconds: Number(rows[0]?.ms) / 1000,
    cpuSeconds,
    walBytes: after.wal - before.wal,
    rowsWritten: Number(written.rows[0]?.n),
    transactions: after.transactions - before.transactions,
  };
}

async function countersOf({ store, hris }: Pick<PostgresWorld, 'store' | 'hris'>) {
  const { rows: own } = await hris.query<{ xid: string; wal: string }>(
    `select pg_current_xact_id()::text as xid, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal`,
  );
  return { xid: own[0]?.xid, wal: Number(own[0]?.wal), transactions: await transactionsOf(store) };
}

/** Of the latest run of the stream. */
async function historyOf(address: string, { store }: PostgresWorld): Promise<{ events: number; bytes: number }> {
  return withClient(address, async (client) => {
    const { rows } = await store.query<{ id: string }>('select id from installation');
    const handle = client.workflow.getHandle(`${rows[0]?.id}/sync/acme/candidates`);
    const { historyLength, historySize } = await handle.describe();
    return { events: historyLength, bytes: historySize ?? 0 };
  });
}
