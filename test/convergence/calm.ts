import type { Conditions } from './process.ts';

/** Nothing happens to anybody. */
export const CALM: Conditions = {
  pause: async () => undefined,
  mishap: () => undefined,
  later: () => undefined,
  updateMishap: () => undefined,
};
