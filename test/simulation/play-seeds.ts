import { check } from './oracle/check.ts';
import { compareEnds, type Ends, gatherEnds } from './oracle/same-end.ts';
import { takeOverTime } from './own-time.ts';
import { plants } from './plants.ts';
import { closeWorld, prepareSeeds, runSeed } from './run-seed.ts';
import {
  drawScenario,
  extras,
  isComparable,
  type Scenario,
  withExtras,
  withoutFaults,
  withQuirks,
} from './scenario.ts';
import type { World } from './world.ts';

/** What one seed ended with, as a line on stdout. */
export interface SeedLine {
  play: string;
  seed: number;
  ms: number;
  violations: string[];
  holds: Record<string, number>;
  hires: number;
  /** How many things happened: the same seed has as many each time. */
  events: number;
  /** Applications whose end was compared with that of a day without faults: I5. */
  compared: number;
}

/** Plays these, each a seed, `<seed>:<plant>` or `<seed>:quirks,<extra>...`, and prints one line of JSON each. */
export async function playSeeds(plays: readonly string[]): Promise<void> {
  const clock = process.hrtime.bigint;
  await prepareSeeds();
  takeOverTime();
  for (const play of plays) {
    const began = clock();
    const line = await playSeed(play);
    line.ms = Number(clock() - began) / 1e6;
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  process.exit(0);
}

async function playSeed(play: string): Promise<SeedLine> {
  const seed = Number.parseInt(play, 10);
  const [, how = ''] = play.split(':');
  const plant = plants[how];
  const violations: string[] = [];
  const line: SeedLine = { play, seed, ms: 0, violations, holds: {}, hires: 0, events: 0, compared: 0 };
  try {
    const drawn = drawScenario(seed);
    const scenario = changed(drawn, how.split(','));
    let ends: Ends | undefined;
    const world = await runSeed(scenario, {
      isQuiet,
      check(at, when) {
        if (when === 'calm') plant?.(at);
        if (violations.length === 0) violations.push(...check(at, when).map((text) => `${text} (${when})`));
        if (when === 'calm' && isComparable(scenario)) ends = gatherEnds(at);
        return undefined;
      },
    });
    if (ends !== undefined) {
      const { compared, violations: differences } = compareEnds(ends, await endWithoutFaults(scenario));
      line.compared = compared;
      violations.push(...differences);
    }
    for (const { code } of world.store.all<{ code: string }>('select code from holds'))
      line.holds[code] = (line.holds[code] ?? 0) + 1;
    line.events = world.timeline.count();
    line.hires = world.store.all('select 1 from hires').length;
    if (process.env['SIMULATION_TRACE'] !== undefined) trace(world);
    closeWorld(world);
  } catch (error) {
    violations.push(`the simulation itself failed: ${error instanceof Error ? error.stack : String(error)}`);
  }
  return line;
}

/** Words behind a seed: `quirks`, and what its world has besides. */
function changed(drawn: Scenario, words: readonly string[]): Scenario {
  const scenario = words.includes('quirks') ? withQuirks(drawn) : drawn;
  const allowed = extras.filter((extra) => words.includes(extra));
  return allowed.length === 0 ? scenario : withExtras(scenario, allowed);
}

function isQuiet(world: World): boolean {
  return check(world, 'soon').length === 0;
}

/** The same people and nothing that breaks. */
async function endWithoutFaults(scenario: Scenario): Promise<Ends> {
  let ends: Ends | undefined;
  const world = await runSeed(withoutFaults(scenario), {
    isQuiet,
    check(at, when) {
      if (when !== 'calm') return undefined;
      ends = gatherEnds(at);
      return 'enough';
    },
  });
  closeWorld(world);
  return ends!;
}

function endOf({ value, error }: { value?: unknown; error?: unknown }): string {
  return error === undefined ? JSON.stringify(value) : `ERROR ${String((error as Error).message)}`;
}

function trace(world: World): void {
  const start = Date.UTC(2026, 0, 5, 9);
  const print = (at: number, text: string): void =>
    void process.stderr.write(`${((at - start) / 1000).toFixed(2).padStart(9)} ${text}\n`);
  const ledger = world.state.all<{
    at: number;
    kind: string;
    name: string;
    status: number;
    subject: string;
    detail: string;
    fault: string;
  }>(
    "select at, kind, name, status, subject, detail, fault from ledger where kind in ('effect', 'request', " +
      "'control') order by seq",
  );
  const lines: Array<[number, string]> = [
    ...ledger.map((row): [number, string] => [
      row.at,
      `${row.kind} ${row.name} ${row.status ?? ''} ${row.subject ?? ''} ${row.fault ?? ''} ${row.detail}`,
    ]),
    ...world.temporal.attempts.map((one): [number, string] => [
      one.at,
      `ACTIVITY ${one.name} #${one.attempt} ${JSON.stringify(one.input)} -> ${endOf(one)}`,
    ]),
    ...world.given.map((one): [number, string] => [start, `ANSWER ${JSON.stringify(one)}`]),
  ];
  for (const [at, text] of lines.sort((a, b) => a[0] - b[0])) print(at, text);
  for (const row of world.store.all('select * from hires')) print(world.timeline.now(), `HIRE ${JSON.stringify(row)}`);
  for (const row of world.store.all('select * from intents'))
    print(world.timeline.now(), `INTENT ${JSON.stringify(row)}`);
  for (const row of world.store.all('select hold_id, job_candidate_id, period, code, answer, closed_at from holds'))
    print(world.timeline.now(), `HOLD ${JSON.stringify(row)}`);
  print(world.timeline.now(), JSON.stringify(world.scenario));
}
