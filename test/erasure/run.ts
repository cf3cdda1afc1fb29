// Erasing a person among many: npm run test:erasure -- [--rows N] [--people N] [--erased N] [--seed N] [--only sqlite]
// Erasures killed at each of their failpoints instead: npm run test:erasure -- --kills [--only sqlite]
// Beside hires, streams, dying workers and a restore: npm run test:erasure -- --beside [--only sqlite]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Kysely, type KyselyPlugin, type QueryId, type RootOperationNode, sql } from 'kysely';
import { renderTable } from '../../src/cli/command.ts';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { plansOf } from '../store/recording-store.ts';
import { eraseBeside } from './beside.ts';
import { copyModel, countCrowd } from './crowd.ts';
import { openGround } from './ground.ts';
import { type Urls, type Walk, walkPersonKills, walkTenantKills } from './kills.ts';
import { eraseAmong, randomOf, randomPeople } from './others.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    people: { type: 'string', default: '10000' },
    erased: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    kills: { type: 'boolean', default: false },
    beside: { type: 'boolean', default: false },
  },
});
const ROWS = Number(values.rows);
/** What a person may wait for, who asked to be erased. */
const BOUND_S = 60;
const SHOWN = 8;
/** Streams that land here. */
const LANDED_TABLES = 3;

/** How long each kind of statement took, while `isOn`. */
function stopwatch() {
  const asked = new Map<QueryId, { node: RootOperationNode; began: number }>();
  const took = new Map<string, { ms: number; times: number; node: RootOperationNode; queryId: QueryId }>();
  const watch = { isOn: false, took };
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      if (watch.isOn) asked.set(queryId, { node, began: performance.now() });
      return node;
    },
    async transformResult({ result, queryId }) {
      const one = asked.get(queryId);
      if (one === undefined) return result;
      const text = JSON.stringify(one.node, (key, value: unknown) => (key === 'value' ? undefined : value));
      const { ms, times } = took.get(text) ?? { ms: 0, times: 0 };
      took.set(text, { ms: ms + performance.now() - one.began, times: times + 1, node: one.node, queryId });
      return result;
    },
  };
  return { watch, plugin };
}

/** A tenant with as many rows in the store, and as many again in its landing tables; one person is erased. */
async function eraseAtSize(urls: Urls, kind: string): Promise<boolean> {
  const { watch, plugin } = stopwatch();
  const store = await openStore(urls.store, { relaxed: true, plugins: [plugin] });
  const ground = await openGround(store, urls.hris);
  try {
    const { hr, model } = ground;
    const our = { kysely: store.kysely as unknown as Kysely<never>, kind: store.kind };
    const rowsEach = [...model.store.values()].flat().length;
    const count = Math.ceil(ROWS / rowsEach);
    const filled = performance.now();
    await countCrowd(our, 'large', count);
    await copyModel(our, model.store);
    await countCrowd(hr, 'large', Math.ceil(ROWS / LANDED_TABLES));
    await copyModel(hr, model.landing);
    for (const { kysely } of [our, hr]) await sql`analyze`.execute(kysely);
    const fillS = (performance.now() - filled) / 1_000;
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    watch.isOn = true;
    const some = { tenant: 'large', candidate: String(Math.ceil(count / 2)) };
    const { erased, left } = await ground.erase(some);
    watch.isOn = false;
    const seconds = (performance.now() - began) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    const gone = Object.values(erased).reduce((all, one) => all + one, 0);
    process.stdout.write(
      `${kind}: ${count * rowsEach} rows in the store, ${Math.ceil(ROWS / LANDED_TABLES) * LANDED_TABLES} landed ` +
        `(made in ${fillS.toFixed(0)} s); one person, ${gone} rows in ${Object.keys(erased).length} places, gone in ` +
        `${seconds.toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of CPU here ${left.join(' ')}\n`,
    );
    const slowest = [...watch.took.values()].toSorted((one, other) => other.ms - one.ms).slice(0, SHOWN);
    const plans = await plansOf(store, slowest);
    const rows = slowest.map(({ ms, times }, nth) => [
      `${ms.toFixed(0)} ms`,
      String(times),
      (plans[nth]?.sql ?? '').replaceAll(/\s+/g, ' ').slice(0, 60),
      (plans[nth]?.lines.map((line) => line.trim()) ?? []).join(' | ').slice(0, 90),
    ]);
    process.stdout.write(`${renderTable(['all of it', 'times', 'statement', 'by plan'], rows)}\n`);
    return seconds < BOUND_S && left.length === 0 && gone >= rowsEach;
  } finally {
    await ground.close();
    await store.close();
  }
}

/** Random people of random tenants: whoever is not erased stands as before, byte by byte. */
async function eraseAmongMany(urls: Urls, kind: string): Promise<boolean> {
  const store = await openStore(urls.store, { relaxed: true });
  const ground = await openGround(store, urls.hris);
  try {
    const random = randomOf(Number(values.seed));
    const people = randomPeople(Number(values.people), random);
    const chosen = new Set<number>();
    while (chosen.size < Number(values.erased)) chosen.add(random(people.length));
    const began = performance.now();
    const { erased, others, rows, faults } = await eraseAmong(
      ground,
      people,
      people.filter((_, nth) => chosen.has(nth)),
    );
    const tenants = new Set(people.map(({ tenant }) => tenant)).size;
    process.stdout.write(
      `${kind}: ${erased} of ${people.length} people of ${tenants} tenants erased; ${rows} rows of ${others} others ` +
        `and of all together compared byte by byte in ${((performance.now() - began) / 1_000).toFixed(0)} s: ` +
        `${faults.length === 0 ? 'none differs' : ''}\n${faults.map((fault) => `  ${fault}\n`).join('')}`,
    );
    return faults.length === 0;
  } finally {
    await ground.close();
    await store.close();
  }
}

/** One erasure for each of its failpoints, killed there, by a walk of these. */
function killing(what: string, walk: (urls: Urls) => Promise<Walk>) {
  return async (urls: Urls, kind: string): Promise<boolean> => {
    const began = performance.now();
    const { points, killed, rows, faults } = await walk(urls);
    process.stdout.write(
      `${kind}: ${killed} erasures of ${what}, each killed by SIGKILL at another of ${points} points and carried on: ` +
        `${faults.length === 0 ? 'complete, once, with the receipt of one that was not killed' : 'wrong'}; ` +
        `${rows} rows of others compared byte by byte, in ${((performance.now() - began) / 1_000).toFixed(0)} s\n` +
        faults.map((fault) => `  ${fault.slice(0, 600)}\n`).join(''),
    );
    return faults.length === 0 && killed === points;
  };
}

const KILLS = [killing('a person', walkPersonKills), killing('a tenant', walkTenantKills)];

/** Real processes on a real Temporal, on each kind of store at once: most of the time they wait. */
async function playBeside(): Promise<boolean> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath, headless: true });
  const each = (['sqlite', 'postgres'] as const).map(async (kind) => {
    if (!kind.startsWith(values.only)) return true;
    const began = performance.now();
    const { erased, kills, others, faults } = await eraseBeside({ temporalAddress: temporal.address, kind });
    const counts = [...Map.groupBy(kills, (one) => one)].map(([one, all]) => `${all.length} ${one}`);
    process.stdout.write(
      `${kind}: ${erased} people erased one after the other beside ${others} hires of others, streams and a restore; ` +
        `killed: ${counts.join(', ')}; ${faults.length === 0 ? 'complete, once, nobody came back' : 'wrong'}, in ` +
        `${((performance.now() - began) / 1_000).toFixed(0)} s\n${faults.map((fault) => `  ${fault}\n`).join('')}`,
    );
    return faults.length === 0;
  });
  const played = await Promise.allSettled(each);
  await temporal.stop();
  for (const one of played) if (one.status === 'rejected') process.stderr.write(`${String(one.reason)}\n`);
  return played.every((one) => one.status === 'fulfilled' && one.value);
}

async function main(): Promise<void> {
  if (values.beside) {
    if (!(await playBeside())) process.exitCode = 1;
    return;
  }
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-erasures-'));
  const server = values.only === 'sqlite' ? undefined : await startPostgres({ settings: { max_wal_size: '4GB' } });
  let isGood = true;
  try {
    for (const kind of ['sqlite', 'postgres'] as const) {
      if (!kind.startsWith(values.only)) continue;
      for (const [nth, play] of (values.kills ? KILLS : [eraseAtSize, eraseAmongMany]).entries()) {
        const fresh = async (name: string): Promise<string> =>
          kind === 'sqlite' ? `sqlite:${join(dir, `${name}-${nth}.db`)}` : newDatabase(server?.url ?? '');
        const urls = { store: await fresh('store'), hris: await fresh('hr') };
        // Filling takes longer than any statement of the product may.
        if (kind === 'postgres') urls.store += '?statement_timeout=600000';
        isGood = (await play(urls, kind)) && isGood;
      }
    }
  } finally {
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  }
  if (!isGood) process.exitCode = 1;
}

await main();
