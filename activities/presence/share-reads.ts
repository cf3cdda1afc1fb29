import { AsyncLocalStorage } from 'node:async_hooks';
import { isConnectorError } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { isOnlyActivity, noteCall } from '../activity-scope.ts';

/** How long looks gather before a read: hires of one job come within moments of each other, and calls are scarce. */
const GATHER_MS = 25;

/** Reads the answers to looks that were asked together, in their order. */
type ReadTogether<Look, Answer> = (looks: readonly Look[]) => Promise<readonly Answer[]>;

interface Waiting<Look, Answer> {
  look: Look;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  /** The activity that asks. The read runs in the context of the first activity and counts as a call of each. */
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/**
 * Answers looks that wait at the same moment with one read, at most `most` looks with the same key. Only a read that
 * began after a look was asked may answer it: during a read, looks gather for the next one. A failed read fails all of
 * its looks. No caller's signal reaches the read, so a caller that leaves does not disturb the others. A tenant's only
 * activity does not wait to gather.
 */
export function shareReads<Look, Answer>(
  keyOf: (look: Look) => unknown,
  read: ReadTogether<Look, Answer>,
  most = Number.POSITIVE_INFINITY,
): (look: Look) => Promise<Answer> {
  /** Waiting looks by key, while that key is being read. */
  const gathering = new Map<unknown, Waiting<Look, Answer>[]>();

  async function readOn(key: unknown, waiting: Waiting<Look, Answer>[]): Promise<void> {
    for (let mayGather = !isOnlyActivity(); waiting.length > 0; mayGather = true) {
      if (mayGather) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      await answer(waiting.splice(0, most), read);
    }
    gathering.delete(key);
  }

  return (look) =>
    new Promise((resolve, reject) => {
      const key = keyOf(look);
      const one = { look, resolve, reject, inContext: AsyncLocalStorage.snapshot() };
      const others = gathering.get(key);
      if (others !== undefined) return void others.push(one);
      const waiting = [one];
      gathering.set(key, waiting);
      void readOn(key, waiting);
    });
}

/** Repeat a read whose answer was lost, so that its looks need not fail and retry one by one. */
const REPEAT_AFTER_MS = [50, 250];

async function repeated<T>(read: () => Promise<T>): Promise<T> {
  for (const waitMs of REPEAT_AFTER_MS)
    try {
      return await read();
    } catch (error) {
      if (!isConnectorError(error) || error.action !== 'retry' || error.retryAfterMs !== undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  return read();
}

async function answer<Look, Answer>(
  together: readonly Waiting<Look, Answer>[],
  read: ReadTogether<Look, Answer>,
): Promise<void> {
  const looks = together.map((one) => one.look);
  try {
    // Chance decides which look came first, so the failpoints of a read belong to no single activity.
    const answers = await together[0]?.inContext(() => inActivity('sharedRead', () => repeated(() => read(looks))));
    for (const [index, one] of together.entries()) {
      one.inContext(noteCall);
      one.resolve(answers?.[index] as Answer);
    }
  } catch (error) {
    for (const one of together) one.reject(error);
  }
}
