import type { KyselyPlugin } from 'kysely';
import type { Store } from '../store/open-store.ts';
import type { Asked, ConsoleApp } from './acts.ts';

/** Limit for the store's cost of all refreshing pages together, in statements per second. */
const STATEMENTS_PER_SECOND = 15;
/** This many at once, after a pause. */
const BURST = 60;

/** A page that refreshes itself sends this header. */
const HEADER = 'x-hirebridge-refresh';

export function isRefresh(c: Asked): boolean {
  return c.req.header(HEADER) !== undefined;
}

/**
 * Gives each request a store that counts its statements, and lets pages refresh only while all of them together stay
 * within the limit: if more pages are open, each refreshes less often, and the store's load stays the same. A person's
 * own requests are counted but never refused.
 */
export function addBoundedStore(app: ConsoleApp, store: Store, clock = () => performance.now()): void {
  let left = BURST;
  let filledAt = clock();
  app.use(async (c, next) => {
    left = Math.min(BURST, left + ((clock() - filledAt) / 1_000) * STATEMENTS_PER_SECOND);
    filledAt = clock();
    if (isRefresh(c) && left <= 0) {
      const seconds = Math.ceil(-left / STATEMENTS_PER_SECOND) + 1;
      return c.text('Too many pages are open. Try again later.\n', 429, { 'retry-after': String(seconds) });
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
