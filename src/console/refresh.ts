import type { KyselyPlugin } from 'kysely';
import type { Store } from '../store/open-store.ts';
import type { Asked, ConsoleApp } from './acts.ts';

/** What all pages that refresh themselves may cost the store together, in statements a second. */
const STATEMENTS_PER_SECOND = 15;
/** So many at once, after a while without any. */
const BURST = 60;

/** A page that fetches itself again says so. */
const HEADER = 'x-hirebridge-refresh';

export function isRefresh(c: Asked): boolean {
  return c.req.header(HEADER) !== undefined;
}

/**
 * Gives each request a store that counts its statements, and lets pages refresh themselves only as long as all of them
 * together stay within the bound: more pages that are open refresh less often, and the store never notices how many
 * there are. What a person asks for is counted and never refused.
 */
export function addBoundedStore(app: ConsoleApp, store: Store, clock = () => performance.now()): void {
  let left = BURST;
  let filledAt = clock();
  app.use(async (c, next) => {
    left = Math.min(BURST, left + ((clock() - filledAt) / 1_000) * STATEMENTS_PER_SECOND);
    filledAt = clock();
    if (isRefresh(c) && left <= 0) {
      const seconds = Math.ceil(-left / STATEMENTS_PER_SECOND) + 1;
      return c.text('Many pages are open. Later.\n', 429, { 'retry-after': String(seconds) });
    }
    const counted = { statements: 0 };
    c.set('store', { ...store, kysely: store.kysely.withPlugin(countStatements(counted)) });
    await next();
    if (isRefresh(c)) left -= counted.statements;
    c.res.headers.set('server-timing', `statements;desc="${counted.statements}"`);
    return undefined;
  });
}

function countStatements(counted: { statements: number }): KyselyPlugin {
  return {
    transformQuery({ node }) {
      counted.statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
}

/** Reads something once for everybody who asks within so many milliseconds. */
export function shared<T>(keepMs: number, read: (store: Store) => Promise<T>): (store: Store) => Promise<T> {
  let kept: { value: Promise<T>; until: number } | undefined;
  return (store) => {
    if (kept !== undefined && performance.now() < kept.until) return kept.value;
    const value = read(store);
    const mine = { value, until: performance.now() + keepMs };
    kept = mine;
    // Kept from when it came; a failure is nobody else's.
    value.then(
      () => (mine.until = performance.now() + keepMs),
      () => {
        if (kept === mine) kept = undefined;
      },
    );
    return value;
  };
}
