import { afterAll, beforeAll, expect, test } from 'vitest';
import { drills } from '../drills/drills.ts';
import { buildGround, type Ground } from '../drills/ground.ts';
import { faultsOf, playDrill } from '../drills/play-drill.ts';
import { temporalForTests } from '../harness/temporal.ts';

/** Every drill in its full length, with its times: npm run test:drills. */
const SLICE = ['database-black-hole', 'forgotten-transaction', 'failover-silent', 'temporal-emptied-in-onboarding'];

let ground: Ground;
beforeAll(async () => {
  const { cliPath } = await temporalForTests();
  ground = await buildGround({ cliPath, candidates: 80 });
});
afterAll(() => ground?.close());

test.each(SLICE)('%s: nothing is lost, nothing is done twice, and what is said of it is true', async (name) => {
  expect(faultsOf(await playDrill(drills[name]!, ground, { mostMs: 2_000 }))).toEqual([]);
});
