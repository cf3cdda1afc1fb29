import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { quirkNames } from '../../src/sandbox/quirks.ts';
import { plants } from './plants.ts';
import { again, playInProcesses, seedsFrom } from './play-in-processes.ts';
import type { SeedLine } from './play-seeds.ts';
import { drawScenario, extras, withExtras, withQuirks } from './scenario.ts';

const processes = Math.min(2, availableParallelism());

async function play(plays: readonly string[], player?: string): Promise<SeedLine[]> {
  const lines: SeedLine[] = [];
  await playInProcesses({ plays, processes, ...(player === undefined ? {} : { player }) }, (line) => lines.push(line));
  return lines.sort((a, b) => a.seed - b.seed);
}

/** Each showed a bug once, of the product or of the oracle, and shows none any more. */
const REMEMBERED = ['426', '446', '500', '1477', '1649', '1868', '2020', '2371', '4371', '8182'];
/** No change of mind, nothing held: every end is compared with a day without faults. */
const PLAIN = 16;

test('20 seeds of the hire path, and those that once showed a bug, end without a violation', async () => {
  const plays = [...seedsFrom(1, 20), ...REMEMBERED];
  const lines = await play(plays);
  const [failed] = lines.filter((line) => line.violations.length > 0);
  expect(
    failed && `seed ${failed.seed}: ${failed.violations.join('\n')}\nagain: ${again(failed.play)}`,
  ).toBeUndefined();
  expect(lines.map((line) => line.seed)).toEqual(plays.map(Number));
  expect(lines.reduce((sum, line) => sum + line.compared, 0)).toBeGreaterThan(20);
});

test('seeds of a partner with quirks, several of each, end without a violation', async () => {
  const plays = seedsFrom(1, 16, { quirks: true });
  const lines = await play(plays);
  const [failed] = lines.filter((line) => line.violations.length > 0);
  expect(failed && `${failed.play}: ${failed.violations.join('\n')}\nagain: ${again(failed.play)}`).toBeUndefined();
  const shown = lines.flatMap(({ seed }) => withQuirks(drawScenario(seed)).quirks);
  for (const quirk of quirkNames) expect(shown.filter((one) => one === quirk).length).toBeGreaterThan(3);
});

test('seeds of other worlds, some of their extras in each, end without a violation', async () => {
  const plays = seedsFrom(1, 16, { extras });
  const lines = await play(plays);
  const [failed] = lines.filter((line) => line.violations.length > 0);
  expect(failed && `${failed.play}: ${failed.violations.join('\n')}\nagain: ${again(failed.play)}`).toBeUndefined();
  const drawn = lines.flatMap(({ seed }) => withExtras(drawScenario(seed), extras).extras);
  for (const extra of extras) expect(drawn.filter((one) => one === extra).length).toBeGreaterThan(1);
});

/** The newest extra of their time keeps their world: with one more, a seed draws others. */
test.each([
  ['a reconcile that began just before the last look is none that hangs', 1_204_400, 'conditions'],
  ['who named another record than the one shown was asked', 240_001_034, 'merged-candidates'],
  ['hires of one human that wait for each other are all asked about', 240_004_274, 'merged-candidates'],
] as const)('%s', async (_, seed, newest) => {
  const earlier = extras.slice(0, extras.indexOf(newest) + 1);
  const [line] = await play(seedsFrom(seed, 1, { extras: earlier }));
  expect(line?.violations).toEqual([]);
});

test('seeds of a store that is restored from a backup end without a violation', async () => {
  const lines = await play(seedsFrom(1, 12, { extras: ['restored-store'] }));
  const [failed] = lines.filter((line) => line.violations.length > 0);
  expect(failed && `${failed.play}: ${failed.violations.join('\n')}\nagain: ${again(failed.play)}`).toBeUndefined();
});

test('a seed is the same alone and after another', async () => {
  const one = '61:late-roster,shared-company';
  const endsOf = async (plays: readonly string[]): Promise<Omit<SeedLine, 'ms'> | undefined> => {
    const lines: SeedLine[] = [];
    await playInProcesses({ plays, processes: 1 }, (line) => lines.push(line));
    return lines.map(({ ms: _ms, ...end }) => end).at(-1);
  };
  const alone = await endsOf([one]);
  expect(alone?.events).toBeGreaterThan(1_000);
  expect(await endsOf(['59', one])).toEqual(alone);
});

test('the oracle sees a planted violation of each of the ten invariants', async () => {
  const names = Object.keys(plants);
  const lines = await play(names.map((name) => `${PLAIN}:${name}`));
  const seen = lines.map(({ play: planted, violations }) => [
    planted.split(':')[1],
    violations.some((text) => text.startsWith(`${planted.split(':')[1]} `)),
  ]);
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(names.map((name) => [name, true])));
});

test('a process that dies is a failed seed, and the seeds after it are played', async () => {
  const lines = await play(seedsFrom(1, 8), fileURLToPath(new URL('./dying-process.ts', import.meta.url)));
  expect(lines.map(({ seed, violations }) => [seed, violations])).toEqual([
    [1, []],
    [2, []],
    [3, ['its process was ended by SIGKILL in its course']],
    ...[4, 5, 6, 7, 8].map((seed) => [seed, []]),
  ]);
});
