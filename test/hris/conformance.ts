import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { readCapabilities } from './capability-table.ts';
import { employment } from './cases/employment.ts';
import { finding } from './cases/finding.ts';
import { pending } from './cases/pending.ts';
import { trouble } from './cases/trouble.ts';
import { webhooks } from './cases/webhooks.ts';
import { writing } from './cases/writing.ts';
import { type HrisCase, type HrisUnderTest, type Need, offers, placeOf } from './hris-case.ts';

/** What every kind owes, in the order of the matrix. */
export const hrisCases: readonly HrisCase[] = [
  ...finding,
  ...writing,
  ...employment,
  ...trouble,
  ...webhooks,
  ...pending,
];

/**
 * Runs every case for one kind on a fresh HRIS. A case is passed, or impossible for the reason that the counterpart
 * gives under `lacks`: what is neither offered nor excused fails.
 */
export function describeHris(kind: string, start: () => Promise<HrisUnderTest>): void {
  describe(`${kind} keeps the port's promises`, () => {
    let hris: HrisUnderTest;
    /** Needs of the cases that passed, and those that made a case impossible. */
    const [shown, missed] = [new Set<Need>(), new Set<Need>()];
    beforeAll(async () => {
      hris = await start();
    });
    afterAll(() => hris?.stop());

    test.for(hrisCases)('$name', async (one, context) => {
      Object.assign(context.task.meta, { hris: { kind, case: one.name } });
      const missing = one.needs?.find((need) => !offers(hris, need));
      if (missing !== undefined) missed.add(missing);
      skipImpossible(hris, missing, context);
      await expect(one.run(hris)).resolves.toBeUndefined();
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
      const needs = Object.keys(hris.lacks ?? {}) as Need[];
      expect(needs.filter((need) => offers(hris, need))).toEqual([]);
    });
  });
}

function skipImpossible(hris: HrisUnderTest, missing: Need | undefined, context: TestContext): void {
  if (missing === undefined) return;
  const reason = hris.lacks?.[missing];
  if (reason === undefined) throw new Error(`Offer ${placeOf(missing)}, or say under lacks.${missing} why not.`);
  context.skip(reason);
}
