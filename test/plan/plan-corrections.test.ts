import { expect, test } from 'vitest';
import { planCorrections } from '../../src/plan/plan-write-back.ts';

test.each([
  ['a field that stands as it was written is corrected', 'New', 'Old', 'Old', { fields: { title: 'New' }, kept: [] }],
  ['a field changed in the HR system is kept', 'New', 'Old', 'By hand', { fields: {}, kept: ['title'] }],
  ['a field that holds the new value already needs nothing', 'New', 'Old', 'New', { fields: {}, kept: [] }],
  ['a field that the mapping gives as before is nobody’s business', 'Old', 'Old', 'By hand', { fields: {}, kept: [] }],
  ['a field never written and empty there is filled', 'New', undefined, null, { fields: { title: 'New' }, kept: [] }],
  ['a field never written that holds something is kept', 'New', undefined, 'Theirs', { fields: {}, kept: ['title'] }],
])('%s', (_what, wanted, written, current, expected) => {
  expect(planCorrections({ title: wanted }, { title: written }, { title: current })).toEqual(expected);
});
