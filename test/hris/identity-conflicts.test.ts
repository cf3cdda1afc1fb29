import { expect, test } from 'vitest';
import { playConflicts } from './identity-conflicts.ts';

/** 1,000 of them on two kinds: `npm run test:hris`. */
test('of conflicting identities none is merged wrongly, none made twice; the rest is held with a reason', async () => {
  const hris = 'kind: sql, connection: hr, url: "sqlite:./hr.sqlite", createTable: true, endColumn: last_day';
  const { employed, held, unheard, reasons, ...faults } = await playConflicts(hris, { from: 0, count: 22 });
  expect(faults).toEqual({ wrong: [], twice: [] });
  expect(employed + held).toBe(22);
  for (const count of [employed, held]) expect(count).toBeGreaterThan(4);
  expect(unheard).toBeGreaterThan(0);
  expect([...reasons]).not.toContain('');
}, 300_000);
