import { AsyncLocalStorage } from 'node:async_hooks';
import { isConnectorError } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { isOnlyActivity, noteCall } from '../activity-scope.ts';

/** Looks gather for so long before a read: hires of one job come within moments of each other, and calls are scarce. */
const GATHER_MS = 25;

/** What one read answers to looks asked together, in their order. */
type ReadTogether<Look, Answer> = (looks: readonly Look[]) => Promise<readonly Answer[]>;

interface Waiting<Look, Answer> {
  look: Look;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  /** The activity that asks: a read runs in that of the first, and is a call of each. */
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/**
 * Answers looks that wait at the same moment by one read, at most `most` of one key. A look is answered only by a read
 * that began after it was asked for: while one runs, looks gather for the next. A failed read fails each of its looks.
 * A caller who leaves takes nothing from the others, because no caller's signal reaches the read. The only activity of
 * a tenant waits for nobody.
 */
export function shareReads<Look, Answer>(
  keyOf: (look: Look) => unknown,
  read: ReadTogether<Look, Answer>,
  most = Number.POSITIVE_INFINITY,
): (look: Look) => Promise<Answer> {
  /** By key, as long as that key is being read. */
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

/** A read whose answer was lost is repeated before each of its looks fails and waits by itself. */
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
    // Whichever look came first is chance: failpoints of the read are those of no single activity.
    const answers = await together[0]?.inContext(() => inActivity('sharedRead', () => repeated(() => read(looks))));
    for (const [index, one] of together.entries()) {
      one.inContext(noteCall);
      one.resolve(answers?.[index] as Answer);
    }
  } catch (error) {
    for (const one of together) one.reject(error);
  }
}
