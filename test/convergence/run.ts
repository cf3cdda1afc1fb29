import type { ExchangeStep } from '../../src/streams/stream-activities.ts';
import type { Mishap } from './carrier.ts';
import { editSomething, type Play } from './edits.ts';
import { type Asked, type Conditions, LIMITS } from './process.ts';

/** How often each thing goes wrong. */
const CHANCE = { kill: 0.02, freeze: 0.01, mishap: 0.08, editMeanwhile: 0.03 };
/** A process stands still for a moment, or for longer than any of its writes may take. */
const FROZEN_MS = { moment: 2_000, least: LIMITS.giveUpMs, most: 4 * LIMITS.giveUpMs };

/** A run as Temporal would carry it on: an activity that died is begun again by a new process. */
export async function run(play: Play, asked: Asked = {}): Promise<ExchangeStep | undefined> {
  play.runs += 1;
  const runId = `run-${play.runs}`;
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const step = await attemptRun(play, runId, asked);
    if (step !== undefined && step.state !== 'running') return step;
    play.world.clock.advance(1_000);
  }
  return undefined;
}

/** Undefined where it died, stood still or failed: the next one begins, and what stood still goes on beside it. */
async function attemptRun(play: Play, runId: string, asked: Asked): Promise<ExchangeStep | undefined> {
  const { world, random } = play;
  const end = Promise.withResolvers<undefined>();
  const given = Promise.withResolvers<undefined>();
  const conditions: Conditions = {
    pause: createPause(play, { die: () => end.resolve(undefined), freeze: () => given.resolve(undefined) }),
    mishap: (method, path) => mishapOf(play, method, path),
    updateMishap: () => {
      if (play.calm || random() >= CHANCE.mishap) return undefined;
      return random() < 0.5 ? 'lost-before' : 'lost-answer';
    },
    // At the latest when the product says that nothing can arrive any more.
    later: (carryOut) =>
      void world.clock.at(world.clock.now() + Math.floor(random() * 0.8 * LIMITS.giveUpMs), carryOut),
  };
  const work = world.exchange(runId, conditions, asked).catch(() => undefined);
  const ended = Promise.race([work, end.promise]);
  play.alive.add(ended);
  void ended.then(() => play.alive.delete(ended));
  return Promise.race([ended, given.promise]);
}

/** What may happen to a process wherever it waits for anything: an edit meanwhile, its death, or a standstill. */
function createPause(play: Play, { die, freeze }: { die: () => void; freeze: () => void }): () => Promise<void> {
  const { world, random } = play;
  let isDead = false;
  let wasFrozen = false;
  return async () => {
    if (isDead) return new Promise<never>(() => undefined);
    play.lives -= 1;
    if (play.calm && play.lives !== 0) return undefined;
    if (!play.calm && random() < CHANCE.editMeanwhile) await editSomething(play);
    world.clock.advance(1 + Math.floor(random() * 20));
    if (!play.calm && !wasFrozen && random() < CHANCE.freeze) {
      wasFrozen = true;
      play.freezes += 1;
      freeze();
      return thaw(play);
    }
    if (play.lives !== 0 && (play.calm || random() >= CHANCE.kill)) return undefined;
    isDead = true;
    play.kills += 1;
    die();
    return new Promise<never>(() => undefined);
  };
}

function thaw({ world: { clock }, random }: Play): Promise<void> {
  const { moment, least, most } = FROZEN_MS;
  const ms = random() < 0.5 ? random() * moment : least + random() * (most - least);
  return new Promise((resolve) => void clock.at(clock.now() + Math.ceil(ms), resolve));
}

function mishapOf(play: Play, method: string, path: string): Mishap | undefined {
  const { random } = play;
  if (play.calm || random() >= CHANCE.mishap) return undefined;
  if (path.endsWith('/job-candidates/bulk-fetch')) {
    if (play.hidden) return 'lost-before';
    play.hidden = true;
    return 'missing-record';
  }
  if (method === 'GET') return 'lost-answer';
  return (['lost-before', 'lost-answer', 'late'] as const)[Math.floor(random() * 3)];
}
