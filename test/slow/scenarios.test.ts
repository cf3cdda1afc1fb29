import { describe, expect, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { changingMinds } from '../scenarios/minds.ts';
import { onboarding } from '../scenarios/onboarding.ts';
import { people } from '../scenarios/people.ts';
import { play } from '../scenarios/scenario.ts';

/** One of each kind; `npm run test:scenarios` plays all. */
const slice = [
  'out and back during the create call, by reconcile alone',
  'rejected, then enrolled anew by answer',
  'one candidate hired on two jobs in the same second',
];

// Each waits more than it works.
describe.concurrent('human situations, judged by the partner’s ledger and the HRIS', () => {
  test.each(slice)('%s', async (name) => {
    const scenario = [...changingMinds, ...onboarding, ...people].find((one) => one.name === name);
    if (scenario === undefined) throw new Error(`no scenario has this name`);
    const { address } = await temporalForTests();
    const stage = { temporalAddress: address, quirks: [] };
    const { seen, expected, error } = await play(scenario, stage);
    expect({ seen, error }).toEqual({ seen: expected, error: undefined });
  });
});
