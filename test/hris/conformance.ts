import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cellOf, type HrisUnderTest, type Need, offers } from '../../src/hris-kit/hris-under-test.ts';
import { hrisCases } from '../../src/hris-kit/suite.ts';
import { readCapabilities } from './capability-table.ts';

/**
 * Runs every case for one kind on a fresh HRIS. A case is passed, or impossible for the reason under `lacks`. `start`
 * gives a reason where this machine cannot have the HRIS: then all are skipped for it.
 */
export function describeHris(kind: string, start: () => Promise<HrisUnderTest | string>): void {
  describe(`${kind} keeps the port's promises`, () => {
    let hris: HrisUnderTest;
    /** Needs of the cases that passed, and those that made a case impossible. */
    const [shown, missed] = [new Set<Need>(), new Set<Need>()];
    let reason: string | undefined;
    beforeAll(async () => {
      const started = await start();
      if (typeof started === 'string') reason = started;
      else hris = started;
    });
    beforeEach(({ skip }) => skip(reason !== undefined, reason));
    afterAll(() => hris?.stop());

    test.for(hrisCases)('$name', async (one, context) => {
      Object.assign(context.task.meta, { hris: { kind, case: one.name } });
      const cell = cellOf(one, hris);
      const missing = one.needs?.find((need) => !offers(hris, need));
      if (missing !== undefined) missed.add(missing);
      if (cell.impossible !== undefined) context.skip(cell.impossible);
      await expect(cell.run()).resolves.toBeUndefined();
      for (const need of one.needs ?? []) shown.add(need);
    });

    test('docs/hris.md says of it what was played', async () => {
      const told = await readCapabilities(kind.split(':')[0] ?? '');
      // A variant of a kind may lack what another has, and has nothing that the kind lacks.
      const isVariant = kind.includes(':');
      const wrong = [...(told ?? [])].filter(([need, yes]) => (yes ? missed.has(need) && !isVariant : shown.has(need)));
      expect(wrong).toEqual([]);
    });

    test('nothing is excused that it offers', () => {
      const excused = Object.keys(hris.lacks ?? {}) as Need[];
      expect(excused.filter((need) => offers(hris, need))).toEqual([]);
    });
  });
}
