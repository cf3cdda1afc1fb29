import { expect } from 'vitest';
import { playConflicts } from './identity-conflicts.ts';

const CANDIDATES = 1_000;
/** Each hire looks through every enrolment of the flow, so so many in one company would take four times as long. */
const IN_ONE_COMPANY = 250;
export const LONG_MS = 900_000;

/** 1,000 conflicts of identity are hired, none merged wrongly, none twice, the rest held with a reason. */
export async function expectNoWrongMerge(kind: string, open: () => Promise<string>): Promise<void> {
  const total = { employed: 0, held: 0, unheard: 0 };
  for (let from = 0; from < CANDIDATES; from += IN_ONE_COMPANY) {
    const played = await playConflicts(await open(), { from, count: IN_ONE_COMPANY });
    expect({ wrong: played.wrong, twice: played.twice }).toEqual({ wrong: [], twice: [] });
    expect([...played.reasons]).not.toContain('');
    for (const name of ['employed', 'held', 'unheard'] as const) total[name] += played[name];
  }
  console.log(`${kind}: ${total.employed} employees, ${total.unheard} answers lost, ${total.held} held with a reason`);
  expect(total.employed + total.held).toBe(CANDIDATES);
  for (const count of [total.employed, total.held]) expect(count).toBeGreaterThan(CANDIDATES / 5);
  expect(total.unheard).toBeGreaterThan(CANDIDATES / 50);
}
