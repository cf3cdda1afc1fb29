// What the fleet stands on falls ill: npm run test:drills -- [--only TEXT]... [--most SECONDS] [--writes]
// With --writes a failover in the middle of each kind of write that a fleet at work makes.
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { drills, writeFailovers } from './drills.ts';
import { buildGround, type Ground } from './ground.ts';
import { type Drill, faultsOf, Impossible, type Outcome, playDrill } from './play-drill.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    most: { type: 'string' },
    writes: { type: 'boolean', default: false },
  },
});

const HEAD = [
  'drill',
  'hires',
  'lost',
  'twice',
  'ready',
  'useful',
  'all done',
  'slow',
  'worker',
  'receiver',
  'status',
  '',
];
/** Useful work goes on so soon after the fault has ended, on a machine that has nothing else to do. */
const BOUND_MS = 10_000;

async function main(): Promise<void> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const wanted = Object.entries(drills).filter(
    ([name]) => values.only.length === 0 || values.only.some((text) => name.includes(text)),
  );
  const rows: string[][] = [];
  const note = async (name: string, playing: Promise<string[]>): Promise<void> => {
    const row = await playing.catch((error: unknown) => {
      const why = error instanceof Impossible ? `not played: ${error.message}` : `broke: ${String(error)}`;
      return [...Array.from({ length: 10 }, () => ''), why.slice(0, 4_000)];
    });
    rows.push([name, ...row]);
    process.stderr.write(`${name} | ${row.join(' | ')}\n`);
    if (!/^(?:ok$|not played)/.test(row.at(-1) ?? '')) process.exitCode = 1;
  };
  try {
    if (values.writes) await playWrites(cliPath, note);
    else for (const [name, drill] of wanted) await note(name, play(drill, cliPath));
  } finally {
    process.stdout.write(`${renderTable(HEAD, rows)}\n`);
  }
}

const WATCH_MS = 60_000;
/** A quick fleet hires so many people while a drill waits for its statement. */
const ENOUGH_LEFT = 500;

async function playWrites(cliPath: string, note: (name: string, row: Promise<string[]>) => Promise<void>) {
  const build = (): Promise<Ground> => buildGround({ cliPath, candidates: 1_000 });
  let ground = await build();
  try {
    for (const [name, drill] of Object.entries(await writeFailovers(ground, WATCH_MS))) {
      if (values.only.length > 0 && !values.only.some((text) => name.includes(text))) continue;
      if (ground.traffic.left() < ENOUGH_LEFT) {
        await ground.close();
        ground = await build();
      }
      await note(name, playDrill(drill, ground).then(cellsOf));
    }
  } finally {
    await ground.close();
  }
}

async function play(drill: Drill, cliPath: string): Promise<string[]> {
  const { options = {}, close } = (await drill.ground?.()) ?? {};
  const mostMs = values.most === undefined ? undefined : Number(values.most) * 1_000;
  try {
    const ground = await buildGround({ cliPath, ...options });
    try {
      return cellsOf(await playDrill(drill, ground, mostMs === undefined ? {} : { mostMs }));
    } finally {
      await ground.close();
    }
  } finally {
    await close?.();
  }
}

function cellsOf(outcome: Outcome): string[] {
  const { hires, lost, twice, readyMs, usefulMs, allMs, slow, readyz, status } = outcome;
  const wrong = [...faultsOf(outcome), ...(usefulMs > BOUND_MS * slow ? ['late'] : [])];
  return [
    ...[hires, lost, twice].map(String),
    ...[readyMs, usefulMs, allMs].map((ms) => `${(ms / 1_000).toFixed(1)} s`),
    `${slow.toFixed(1)} x`,
    readyz.worker,
    readyz.receiver,
    status,
    wrong.length === 0 ? 'ok' : wrong.join('; '),
  ];
}

await main();
