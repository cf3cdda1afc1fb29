/**
 * before-go-live: hired before the tenant went live; never worked on by itself. open: a workflow follows it. done:
 * the Employee ID was written back and verified. left: over, and the person has left the stage, so coming back is a
 * new period. cancelled, kept: ended by the answer of the same name; the person may still be in the stage, and
 * nothing starts again by itself.
 */
export const hireStates = ['before-go-live', 'open', 'done', 'left', 'cancelled', 'kept'] as const;
export type HireState = (typeof hireStates)[number];

/** States that a hire ends in; its row never changes by itself again. */
export type EndState = 'done' | 'left' | 'cancelled' | 'kept';

/**
 * Over, with nobody following: only `--adopt` opens it again, and once the person is seen to have left it becomes
 * `left`.
 */
export const restingStates = ['before-go-live', 'cancelled', 'kept'] as const satisfies readonly HireState[];

/** A workflow follows an open hire and may be started again for a done one whose person has left. */
export const followedStates = ['open', 'done'] as const satisfies readonly HireState[];

export function isResting(state: HireState): boolean {
  return (restingStates as readonly HireState[]).includes(state);
}
