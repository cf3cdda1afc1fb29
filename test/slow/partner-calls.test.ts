import { afterAll, expect, test } from 'vitest';
import { noteFigures } from '../docs/figures.ts';
import { addNewcomer, countCalls, startCountedWorld, sumOf } from '../harness/count-calls.ts';
import { takeApplicants } from '../harness/hiring.ts';
import { temporalForTests } from '../harness/temporal.ts';

const rows: Record<string, unknown>[] = [];

afterAll(() => console.table(rows));

async function callsOf(onboarding: 'skip' | 'played', hires: number, others: number): Promise<number> {
  const { address } = await temporalForTests();
  const world = await startCountedWorld(onboarding, {
    temporalAddress: address,
    jobs: 1,
    candidates: hires + 2,
    hired: others,
  });
  try {
    const calls = await countCalls(
      world,
      hires === 1 ? [await addNewcomer(world)] : await takeApplicants(world, hires),
    );
    const each = (sumOf(calls) - (hires === 1 ? secondLook(calls) : 0)) / hires;
    rows.push({ onboarding, hires, 'others in the stage': others, 'calls a hire': each, ...Object.fromEntries(calls) });
    noteFigures('calls of a hire', [
      { what: `onboarding ${onboarding}, ${hires} at once, ${others} others`, value: each },
    ]);
    return each;
  } finally {
    await world.close();
  }
}

/**
 * The partner tells twice of one move. Where the second event comes after the hire has read its person, they are read
 * once more, by two calls: whether it does depends on the machine.
 */
function secondLook(calls: ReadonlyMap<string, number>): number {
  return (calls.get('jobCandidates.bulkFetch') ?? 0) === 2 ? 2 : 0;
}

let measured: Promise<number> | undefined;
/** What a hire alone costs without onboarding, measured once. */
const callsAlone = (): Promise<number> => (measured ??= callsOf('skip', 1, 0));

test('a hire alone makes at most 8 partner calls without onboarding and 16 with it', async () => {
  expect(await callsAlone()).toBeLessThanOrEqual(8);
  expect(await callsOf('played', 1, 0)).toBeLessThanOrEqual(16);
});

test('100 hires of one job at once make at most 6 calls each without onboarding and 11 with it', async () => {
  const [skipped, played] = await Promise.all([callsOf('skip', 100, 0), callsOf('played', 100, 0)]);
  expect(skipped).toBeLessThanOrEqual(6);
  expect(played).toBeLessThanOrEqual(11);
});

test('5,000 others in the stage cost a hire at most one more call', async () => {
  expect(await callsOf('skip', 1, 5_000)).toBeLessThanOrEqual((await callsAlone()) + 1);
});
