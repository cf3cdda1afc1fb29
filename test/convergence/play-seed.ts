import { createRandom } from '../../src/sandbox/random.ts';
import { edit, editSomething, type Play, removeSomebody, valueOf } from './edits.ts';
import { judge, judgeResumed } from './judge.ts';
import { inOwnTime } from './own-time.ts';
import { LIMITS } from './process.ts';
import { run } from './run.ts';
import { createWorld, exchanged } from './world.ts';

/** What a seed came to. */
export interface Played {
  seed: number;
  edits: number;
  /** Values sent to either side. */
  writes: number;
  kills: number;
  /** Processes that stood still and went on beside the next one. */
  freezes: number;
  violations: string[];
  /** What else is counted, by what it is. */
  others?: Record<string, number>;
}

/** Of edits and runs in disorder, then calm. */
const ROUNDS = 3;
const STEPS = 8;

/** Plays one seed: edits on both sides, a network that loses and a process that dies; then calm, and a look. */
export async function playSeed(seed: number, carried = exchanged): Promise<Played> {
  const world = await createWorld(undefined, carried);
  const play: Play = {
    world,
    random: createRandom(seed),
    people: [],
    removed: new Set(),
    edits: new Map(),
    editors: new Map(),
    count: 0,
    kills: 0,
    freezes: 0,
    alive: new Set(),
    runs: 0,
    violations: [],
    calm: false,
    lives: -1,
    hidden: false,
  };
  try {
    await inOwnTime(world.clock, () => playRounds(play));
    const { count: edits, kills, freezes, violations } = play;
    return { seed, edits, writes: world.writes.partner + world.writes.hris, kills, freezes, violations };
  } finally {
    await world.close();
  }
}

async function playRounds(play: Play): Promise<void> {
  for (let n = 0; n < 3; n += 1) await hireOne(play);
  for (let round = 0; round < ROUNDS && play.violations.length === 0; round += 1) {
    await storm(play, round);
    await becomeCalm(play);
    await judge(play, `round ${round + 1}`);
    await judgeResumed(play, `round ${round + 1}`);
  }
}

async function hireOne(play: Play): Promise<void> {
  const person = await play.world.hire();
  play.people.push(person);
  for (const field of play.world.fields) {
    let value = valueOf(play, field);
    // An owner who never had a value wipes nothing out at the first meeting, so the sides may then differ.
    while (field.owner !== 'either' && value === null) value = valueOf(play, field);
    const side = field.owner === 'either' ? (play.random() < 0.5 ? 'partner' : 'hris') : field.owner;
    await edit(play, person, field, side, value);
  }
}

async function storm(play: Play, round: number): Promise<void> {
  const { random } = play;
  play.calm = false;
  play.hidden = false;
  play.editors.clear();
  if (round > 0 && random() < 0.5) await hireOne(play);
  for (let step = 0; step < STEPS; step += 1) {
    for (let n = Math.floor(random() * 4); n > 0; n -= 1) await editSomething(play);
    if (random() < 0.05) removeSomebody(play);
    if (random() < 0.6) await run(play, random() < 0.4 ? { mode: 'incremental' } : {});
    play.world.clock.advance(Math.floor(random() * LIMITS.giveUpMs));
  }
}

/** Nothing goes wrong any more, and everything in doubt is over. */
async function becomeCalm(play: Play): Promise<void> {
  play.calm = true;
  for (let n = 0; n < 4; n += 1) {
    play.world.clock.advance(4 * LIMITS.giveUpMs);
    await run(play);
    if (n === 0) await Promise.all(play.alive);
  }
}
