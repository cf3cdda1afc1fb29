import { expect, test } from 'vitest';
import type { DescribedField } from '../../src/hris/port.ts';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import { fitMapping, optionGaps } from '../../src/mapping/fit-mapping.ts';
import { compileMapping } from '../../src/mapping/load-mapping.ts';
import { parseYaml } from '../../src/yaml/yaml-file.ts';
import { textField } from './text-field.ts';

const there = (key: string, more: Partial<DescribedField> = {}): DescribedField => ({
  key,
  label: key,
  isField: true,
  type: 'text',
  required: false,
  ...more,
});
const load = (rules: string) =>
  compileMapping(
    'test',
    [textField('title'), textField('site'), textField('pay', { type: 'number' })],
    [parseYaml('acme.yaml', `fields:\n${rules}`)],
  );
const misfits = (rules: string, described: DescribedField[]): string[] =>
  fitMapping(load(rules), described).misfits.map(({ text }) => text);

const TITLE = '  title: { from: job.title }\n';

test.each<[string, string, DescribedField[], string]>([
  [
    'a text for a number, which would lose leading zeros',
    TITLE,
    [there('title', { type: 'number' })],
    'acme.yaml:2:3 "title" is of type text, and title of the HR system is of type number, which would change its ' +
      'values. Write its type there (number) under hris.fields, or name another column.',
  ],
  [
    'a constant that is too long',
    '  title: { constant: Head of everything }\n',
    [there('title', { maxLength: 10 })],
    'acme.yaml:2:3 "Head of everything" gives 18 characters, and "title" holds 10 in the HR system. Shorten it in ' +
      'the hiring platform, or widen the field there. [TOO_LONG]',
  ],
  [
    'a lookup to a value that is not there',
    '  site: { from: job.city, lookup: { Berlin: BER, Munich: MUN } }\n',
    [there('site', { options: ['BER', 'MUC'] })],
    'acme.yaml:2:3 "MUN" gives a value that "site" does not accept in the HR system. Add a lookup to the mapping. ' +
      '[NOT_AN_OPTION]',
  ],
  [
    'a required field that nothing fills',
    TITLE,
    [there('title'), there('cost_centre', { isField: false, required: true })],
    'cost_centre is required by the HR system, and nothing fills it. Name it under hris.fields, and add a rule to ' +
      'the mapping.',
  ],
])('a mapping does not fit: %s', (_what, rules, described, expected) => {
  expect(misfits(rules, described)).toEqual([expected]);
});

test('a mapping fits an HR system that describes nothing, and one that takes all it gives', () => {
  expect(misfits(TITLE, [])).toEqual([]);
  expect(misfits(TITLE, [there('title', { maxLength: 3, required: true })])).toEqual([]);
});

test('a record beyond the bounds of the HR system is refused by name, never cut or rounded', () => {
  const mapping = load(`${TITLE}  pay: { from: job.salaryRangeFrom }\n  site: { from: job.city }\n`);
  const fitted = fitMapping(mapping, [
    there('title', { maxLength: 3 }),
    there('pay', { type: 'number', decimals: 2 }),
    there('site', { required: true }),
  ]).mapping;
  const codes = (job: Record<string, unknown>) =>
    evaluateMapping(fitted, { job }).problems.map(({ field, code }) => `${field} ${code}`);
  expect(codes({ title: 'Coo', salaryRangeFrom: 12.25, city: 'Berlin' })).toEqual([]);
  expect(codes({ title: 'Cook', salaryRangeFrom: 12.255 })).toEqual([
    'title TOO_LONG',
    'pay TOO_PRECISE',
    'site MISSING',
  ]);
});

test('each option of a select that the mapping cannot carry over is named', () => {
  const mapping = load('  site: { from: "job.customFields[Site]", lookup: { Berlin: BER, Munich: MUC } }\n');
  const site = { id: 'cf_1', entity: 'job', label: 'Site', type: 'select' };
  expect(optionGaps(mapping, [{ ...site, options: ['Berlin', 'Munich'] }])).toEqual([]);
  const gaps = optionGaps(mapping, [{ ...site, options: ['Berlin', 'Hamburg'] }]);
  expect(gaps).toEqual([expect.stringContaining('option "Hamburg": ')]);
});
