import { describe, expect, test } from 'vitest';
import { createDatabase } from '../harness/postgres.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { describe as describeCase, profiles } from '../lost-answers/cases.ts';
import { isAsExpected, playProfile } from '../lost-answers/play-profile.ts';

// Long enough for a person to have answered the hold before the late call arrives; `npm run test:lost-answers` waits
// the full ten seconds.
const LATE_MS = 7_000;

// Each waits for deadlines more than it works.
describe.concurrent('a call whose answer is lost, before execution, after it, or executed late', () => {
  test.each(['strict', 'careless'])(
    'is made once in a %s HR system and at the partner, or a person is asked',
    async (name) => {
      const profile = profiles.find((one) => one.name === name)!;
      const [{ address }, database] = await Promise.all([temporalForTests(), createDatabase()]);
      const places = { temporalAddress: address, databaseUrl: database.url };
      const outcomes = await playProfile({ profile, ...places, lateMs: LATE_MS, timeoutMs: 120_000 });
      const wrong = outcomes.filter((outcome) => !isAsExpected(outcome));
      expect(wrong.map(({ one, seen, struck }) => ({ case: describeCase(one), seen, struck }))).toEqual([]);
    },
  );
});
