import { expect, test } from 'vitest';
import { replacedValues, restore } from '../../../src/operator/apply-plan.ts';

const write = (
  changes: Record<string, { old?: unknown; new: unknown }>,
  more: { kind?: string; purged?: number } = {},
) => ({
  kind: more.kind ?? 'update',
  purged_at: more.purged ?? null,
  changes,
});

test('several writes of one version go back to what stood before the first of them', () => {
  const replaced = replacedValues([write({ city: { old: null, new: 'A' } }), write({ city: { old: 'A', new: 'B' } })]);
  expect(replaced.fields).toEqual({ city: { old: null, new: 'B' } });
  expect(restore(replaced, { city: 'B' })).toEqual({ values: { city: null }, kept: [] });
});

test('a field that somebody changed since stays, and the others of its record come back', () => {
  const replaced = replacedValues([write({ city: { old: 'Ulm', new: 'X' }, skills: { old: ['a'], new: ['b'] } })]);
  expect(restore(replaced, { city: 'By hand', skills: ['b'] })).toEqual({
    values: { skills: ['a'] },
    kept: ['changed since: city'],
  });
});

test('a field that is back already is neither written nor listed', () => {
  const replaced = replacedValues([write({ city: { old: 'Ulm', new: 'X' } })]);
  expect(restore(replaced, { city: 'Ulm' })).toEqual({ values: {}, kept: [] });
});

test.each([
  ['a row that is gone', write({ city: { old: 'Ulm', new: 'X' } }), undefined, 'its row is gone'],
  ['purged values', write({}, { purged: 1 }), { city: 'X' }, 'its earlier values were purged'],
  ['a row that the version made', write({ city: { new: 'X' } }, { kind: 'create' }), { city: 'X' }, 'made the row'],
])('%s is left, with the reason', (_what, one, current, reason) => {
  const { values, kept } = restore(replacedValues([one]), current);
  expect([values, kept]).toEqual([{}, [expect.stringContaining(reason)]]);
});
