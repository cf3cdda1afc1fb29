import { expect, test } from 'vitest';
import { judgeOptions } from '../../src/plan/plan-options.ts';

const few = { add: [], rename: [], remove: [], waiting: [], passedOn: [] };
const labels = Array.from({ length: 12 }, (_, at) => `Site ${at}`);
const judged = { options: labels, entries: [{ id: '1', label: 'Site 0' }], inUse: new Set<string>(), moved: 0 };
const rename = labels.slice(0, 7).map((from) => ({ from, to: `${from} new` }));

test('every limit that a field meets is told, so that a person allows each', () => {
  const plan = { ...few, rename, waiting: labels.slice(6), passedOn: ['Site 0'] };
  const codes = judgeOptions(plan, { ...judged, inUse: new Set(['Site 0']) }).map(({ code }) => code);
  expect(codes).toEqual(['MASS_DELETE', 'MASS_CHANGE', 'OPTION_PASSED_ON']);
});

test.each([
  [500, []],
  [501, ['MASS_CHANGE']],
])('one new name for %i records', (moved, codes) => {
  const found = judgeOptions({ ...few, rename: rename.slice(0, 1) }, { ...judged, moved });
  expect(found.map(({ code }) => code)).toEqual(codes);
});
