import { expect, inject, test } from 'vitest';
import { renderTable } from '../../../src/cli/command.ts';
import { addTo, type Judged } from './judge-rows.ts';
import { ownKinds } from './kinds.ts';
import { playConflicts } from './play-conflicts.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** So many on each kind. */
    conflicts: number;
  }
}

/** One of each situation; `npm run test:identity` plays 1,000. */
const count = inject('conflicts') ?? 17;
/** A search of SCIM reads everybody: in one company, each of 1,000 conflicts would cost four times as much. */
const IN_ONE_COMPANY = 250;
const seed = Number(process.env['HIREBRIDGE_SEED'] ?? 14);

test.each(Object.entries(ownKinds))(
  '%s: of conflicting identities none is merged wrongly, none made twice; the rest is held with a reason',
  async (kind, open) => {
    const say = (text: string): boolean => count > 100 && process.stderr.write(`${kind}: ${text}\n`);
    const all: Judged = { wrong: [], twice: [], unexplained: [], outcomes: new Map() };
    for (let from = 0; from < count; from += IN_ONE_COMPANY) {
      const hris = await open();
      const progress = (done: number) => done % 40 === 0 && say(`${from + done} of ${count}`);
      const some = { count: Math.min(IN_ONE_COMPANY, count - from), seed: seed + from };
      addTo(all, await playConflicts(hris, { ...some, progress }));
    }
    const { outcomes, ...faults } = all;
    say(`HIREBRIDGE_SEED=${seed}\n${tableOf(outcomes)}`);
    expect(faults).toEqual({ wrong: [], twice: [], unexplained: [] });
    for (const story of ['another person', 'a rehire']) expect(outcomes.get(story)).toMatchObject({ held: 0 });
    for (const story of ['the same person', 'a second job']) expect(outcomes.get(story)?.held).toBeGreaterThan(0);
  },
  3_600_000,
);

function tableOf(outcomes: Judged['outcomes']): string {
  const rows = [...outcomes].map(([story, { employed, held, reasons }]) => [
    story,
    employed,
    held,
    [...reasons].join(', '),
  ]);
  return renderTable(['situation', 'employed', 'held', 'for'], rows);
}
