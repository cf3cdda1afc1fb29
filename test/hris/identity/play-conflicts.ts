import { createRandom } from '../../../src/sandbox/random.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { inRounds, type PlayedHire, wayOf } from './in-rounds.ts';
import { type Judged, judgeRows } from './judge-rows.ts';
import type { OwnHris } from './kinds.ts';
import { drawStories } from './situations.ts';
import { type Cast, type Entrance, openWorld } from './world.ts';

export interface Conflicts {
  count: number;
  seed: number;
  /** Told how many are over. */
  progress?: (done: number) => void;
}

/** Stories that are played at once. */
const AT_ONCE = 8;

/**
 * Hires the people of so many stories, from the hiring stage to the verified write-back, by the activities themselves.
 * Some answers of the HR system are lost, and some requests never arrive there.
 */
export async function playConflicts(hris: OwnHris, { count, seed, progress }: Conflicts): Promise<Judged> {
  const world = await openWorld(hris, drawStories(createRandom(seed), count, hris.birthDates), seed);
  const hires: PlayedHire[] = [];
  const play = async (cast: readonly Entrance[]) => {
    const begun: PlayedHire[] = [];
    for (const one of cast) begun.push(await world.begin(one));
    hires.push(...begun);
    await inRounds(
      world.clock,
      begun.map((one) => wayOf(world, one)),
    );
  };
  for (let at = 0; at < count; at += AT_ONCE) {
    const some = world.cast.slice(at, at + AT_ONCE);
    await play(some.flatMap(firstAct));
    for (const one of some) await world.between(one);
    await play(await Promise.all(some.filter(({ story }) => story.as !== 'at once').map(world.secondAct)));
    progress?.(at + some.length);
  }
  return judgeRows({ before: world.before, hires, rows: await hris.rows(), holds: await listHolds(world.store) });
}

function firstAct({ story, first, hired }: Cast): Entrance[] {
  if (story.first === undefined || first === undefined) return [];
  const one = { story: story.name, human: story.first, jobCandidateId: first.jobCandidateId };
  if (story.as !== 'at once') return [one];
  return [one, { story: story.name, human: story.hired, jobCandidateId: hired.jobCandidateId }];
}
