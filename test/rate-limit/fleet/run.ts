// Real processes before limited sandboxes, their store in a Postgres of their own:
// npm run test:rate-limit -- [--only TEXT]... [--learn SECONDS] [--seconds SECONDS] [--parallel N]
import { parseArgs } from 'node:util';
import { renderTable } from '../../../src/cli/command.ts';
import { newDatabase, startPostgres } from '../../../src/counterparts/start-postgres.ts';
import { compareAtOnce } from './at-once.ts';
import { killAll, shiftClock } from './disturbed.ts';
import { measureManyTenants } from './many-tenants.ts';
import type { Durations, Finding, Measured } from './measure.ts';
import { measureNeighbour } from './neighbour.ts';
import { compareOneAndThree, compareShares, type LimitKind } from './one-and-three.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '180' },
    learn: { type: 'string', default: '60' },
    only: { type: 'string', multiple: true, default: [''] },
    parallel: { type: 'string', default: '1' },
  },
});

const durations: Durations = { learnMs: Number(values.learn) * 1_000, ms: Number(values.seconds) * 1_000 };

const NOISE = { kind: 'throttle', probability: 0.1, retryAfter: 1 } as const;

const kinds: readonly LimitKind[] = [
  { name: 'token bucket', limit: 'token:20:20', perSecond: 20 },
  { name: 'fixed window', limit: 'fixed:20', perSecond: 20 },
  { name: 'sliding window', limit: 'sliding:20', perSecond: 20 },
  { name: 'slow token bucket', limit: 'token:2:4', perSecond: 2 },
  { name: '10 % random 429s', limit: 'token:20:20', perSecond: 20, noise: [NOISE] },
];

type Case = (newStore: () => Promise<string>) => Promise<Finding[]>;

const pairs: { one: Measured; three: Measured }[] = [];

const cases: Record<string, Case> = {
  ...Object.fromEntries(
    kinds.map((kind): [string, Case] => [
      kind.name,
      async (newStore) => {
        const { findings, ...pair } = await compareOneAndThree(kind, newStore, durations);
        if (kind.noise === undefined) pairs.push(pair);
        return findings;
      },
    ]),
  ),
  neighbour: async (newStore) => measureNeighbour(await newStore(), durations),
  killed: async (newStore) => killAll(await newStore(), durations),
  clock: async (newStore) => shiftClock(await newStore(), durations),
  'at once, 5': (newStore) => compareAtOnce({ most: 5, serviceMs: 250 }, 1, newStore, durations),
  'at once, 5, three processes': (newStore) => compareAtOnce({ most: 5, serviceMs: 250 }, 3, newStore, durations),
  'at once, 40': (newStore) => compareAtOnce({ most: 40, serviceMs: 1_000 }, 1, newStore, durations),
  'many tenants': async (newStore) => measureManyTenants(await newStore(), durations.learnMs),
};

/** Each case after a minute of learning (`--learn`) for three more (`--seconds`). */
async function main(): Promise<void> {
  const postgres = await startPostgres();
  const newStore = (): Promise<string> => newDatabase(postgres.url);
  const left = Object.entries(cases).filter(([name]) => values.only.some((text) => name.includes(text)));
  const findings: Finding[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [name, find] = next;
      const found = await find(newStore);
      findings.push(...found);
      process.stderr.write(`${name}\n${found.map((one) => `  ${Object.values(one).join(' | ')}\n`).join('')}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: Number(values.parallel) }, work));
  } finally {
    await postgres.stop();
  }
  if (pairs.length > 0) findings.push(compareShares(pairs));
  report(findings);
}

function report(findings: readonly Finding[]): void {
  const rows = findings.map(({ what, measured, goal, holds }) => [what, measured, goal, holds ? '' : 'FALLS SHORT']);
  const short = findings.filter(({ holds }) => !holds).length;
  process.stdout.write(`${renderTable(['', 'measured', 'goal', ''], rows)}\n`);
  process.stdout.write(`${short === 0 ? 'all hold' : `${short} FALL SHORT`}\n`);
  process.exitCode = short === 0 ? 0 : 1;
}

await main();
