import type { HoldRow } from '../../../src/store/schema.ts';
import type { PlayedHire } from './in-rounds.ts';
import type { OwnRow } from './kinds.ts';
import type { Human } from './situations.ts';
import { markOf } from './world.ts';

/** What became of the hires, by the HR system's own rows. */
export interface Judged {
  /** Hires that have the employee of somebody else, and employees who became somebody else. */
  wrong: string[];
  /** Humans who have two employees. */
  twice: string[];
  /** Held hires without a word on why. */
  unexplained: string[];
  outcomes: Map<string, Outcomes>;
}

export interface Outcomes {
  employed: number;
  held: number;
  /** Codes of holds. */
  reasons: Set<string>;
}

interface Played {
  /** Who was employed before, by the HR system's id. */
  before: ReadonlyMap<string, Human>;
  hires: readonly PlayedHire[];
  rows: readonly OwnRow[];
  holds: readonly Pick<HoldRow, 'job_candidate_id' | 'code' | 'message'>[];
}

export function judgeRows({ before, hires, rows, holds }: Played): Judged {
  const judged: Judged = { wrong: [], twice: [], unexplained: [], outcomes: new Map() };
  const byId = new Map(rows.map((row) => [row.id, row.phone]));
  for (const [id, human] of before)
    if (byId.get(id) !== markOf(human)) judged.wrong.push(`employee ${id} was human ${human.id}`);
  for (const { story, human, jobCandidateId, employeeId } of hires) {
    const outcome = judged.outcomes.get(story) ?? { employed: 0, held: 0, reasons: new Set() };
    judged.outcomes.set(story, outcome);
    outcome[employeeId === undefined ? 'held' : 'employed'] += 1;
    const what = `${story}: human ${human.id}, hire ${jobCandidateId}`;
    if (employeeId !== undefined && byId.get(employeeId) !== markOf(human)) judged.wrong.push(what);
    const hold = holds.find((one) => one.job_candidate_id === jobCandidateId);
    if (hold !== undefined) outcome.reasons.add(hold.code);
    if (employeeId === undefined && !hold?.message) judged.unexplained.push(what);
  }
  const stories = new Map(hires.map(({ human, story }) => [markOf(human), story]));
  for (const [mark, own] of Map.groupBy(rows, ({ phone }) => phone))
    if (own.length > 1) judged.twice.push(`${stories.get(mark ?? '')}: ${own.map(({ id }) => id).join(' and ')}`);
  return judged;
}

/** Adds what was judged in another company. */
export function addTo(all: Judged, { wrong, twice, unexplained, outcomes }: Judged): void {
  all.wrong.push(...wrong);
  all.twice.push(...twice);
  all.unexplained.push(...unexplained);
  for (const [story, { employed, held, reasons }] of outcomes) {
    const { employed: others = 0, held: besides = 0, reasons: known = [] } = all.outcomes.get(story) ?? {};
    const told = new Set([...known, ...reasons]);
    all.outcomes.set(story, { employed: others + employed, held: besides + held, reasons: told });
  }
}
