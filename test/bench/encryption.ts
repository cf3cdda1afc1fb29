// What encryption costs in CPU, a hire and a landed record, beside the same without keys in the same run:
// npm run bench:encryption -- [--hires 60] [--records 5000] [--rounds 5]
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { addKey } from '../../src/vault/keys.ts';
import { untilBaseline } from '../harness/hiring.ts';
import { type PostgresWorld, withPostgresWorld, withTemporal } from './bench-world.ts';
import { forget, pass } from './pull.ts';

const TREE = fileURLToPath(new URL('../..', import.meta.url));
const PLAYER = fileURLToPath(new URL('../cost/play-hires.ts', import.meta.url));
/** Asked for, in hundredths more. */
const MOST = { 'a hire': 8, 'a landed record': 12 };

const { values } = parseArgs({
  options: {
    hires: { type: 'string', default: '60' },
    records: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '5' },
  },
});
const [hires, records, rounds] = [values.hires, values.records, values.rounds].map(Number) as [number, number, number];

const folder = await mkdtemp(join(tmpdir(), 'hirebridge-bench-keys-'));
const ref = `file:${join(folder, 'keys')}`;
addKey(ref, 'bench');
try {
  tell('a landed record', await landRecords());
  tell('a hire', await playHires());
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** CPU seconds of each round, without keys and with them. */
type Rounds = { clear: number; encrypted: number }[];

async function playHires(): Promise<Rounds> {
  const play = async (env: NodeJS.ProcessEnv): Promise<number> => {
    const options = { cwd: TREE, timeout: 600_000, env: { ...process.env, ...env } };
    const { stdout } = await promisify(execFile)(process.execPath, [PLAYER, TREE, String(hires)], options);
    const run = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { worker: number; temporal: number };
    return (run.worker + run.temporal) / hires;
  };
  return inRounds(
    () => play({}),
    () => play({ HIREBRIDGE_KEYS: ref }),
  );
}

/** First passes: each record is landed, and written down with its values. */
function landRecords(): Promise<Rounds> {
  const withWorld = <T>(temporalAddress: string, env: NodeJS.ProcessEnv, use: (opened: PostgresWorld) => Promise<T>) =>
    withPostgresWorld({ temporalAddress, candidates: records, env }, async (opened) => {
      await opened.world.startWorker();
      await untilBaseline(opened.world);
      // What the worker learns of the partner's rate is in no round.
      await pass(opened);
      return use(opened);
    });
  const land = async (opened: PostgresWorld): Promise<number> => {
    await forget(opened);
    return (await pass(opened)).cpuSeconds / records;
  };
  return withTemporal((address) =>
    withWorld(address, {}, (clear) =>
      withWorld(address, { HIREBRIDGE_KEYS: ref }, (encrypted) =>
        inRounds(
          () => land(clear),
          () => land(encrypted),
        ),
      ),
    ),
  );
}

/** Each goes first in every other round: what else the machine does hits both. */
async function inRounds(clear: () => Promise<number>, encrypted: () => Promise<number>): Promise<Rounds> {
  const all: Rounds = [];
  for (let round = 1; round <= rounds; round += 1) {
    const second = round % 2 === 0 ? await encrypted() : undefined;
    const first = await clear();
    all.push({ clear: first, encrypted: second ?? (await encrypted()) });
    process.stderr.write(`round ${round}: ${JSON.stringify(all.at(-1))}\n`);
  }
  return all;
}

function tell(what: keyof typeof MOST, all: Rounds): void {
  const more = all.map(({ clear, encrypted }) => (encrypted / clear - 1) * 100).toSorted((a, b) => a - b);
  const median = more[Math.floor(more.length / 2)] ?? Number.NaN;
  const spread = `${more[0]?.toFixed(1)} to ${more.at(-1)?.toFixed(1)}`;
  process.stdout.write(`CPU of ${what}: ${median.toFixed(1)} % more (${spread}; asked: at most ${MOST[what]})\n`);
  if (median > MOST[what]) process.exitCode = 1;
}
