import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EmployeeFields } from '../../src/hire/hire.ts';
import type { FieldDef } from '../../src/hris/port.ts';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import { compileMapping } from '../../src/mapping/load-mapping.ts';
import type { MappingSources } from '../../src/mapping/source-fields.ts';
import { transforms } from '../../src/values/transforms.ts';
import { parseYaml } from '../../src/yaml/yaml-file.ts';

const TYPES = ['text', 'number', 'date', 'boolean', 'list'] as const;
const FIELDS: FieldDef[] = [
  ...TYPES.map((type): FieldDef => ({ key: type, label: type, type, required: false, writable: true })),
  { key: 'choice', label: 'choice', type: 'text', required: false, writable: true, options: ['ENG', 'OPS'] },
];

const custom = (label: string, value: unknown) => ({ label, value, parentSection: 'Personal Details' });

const PERSON: MappingSources = {
  candidate: {
    id: '41',
    firstName: 'Zoë',
    lastName: 'Secretname',
    phone: '0917 123 4567',
    country: 'Philippines',
    skills: ['Go', 'SQL'],
    summary: '',
  },
  job: {
    id: '7',
    title: 'Cook',
    customFields: {
      d1: custom('Department', 'Engineering'),
      d2: custom('Head count', 3),
      d3: custom('Twice', 'a'),
      d4: custom('twice', 'b'),
      d5: custom('Unset', ''),
      d6: custom('Pasted', '\u200b Night\u200cshift\u00a0\ufeff'),
      d7: custom('Invisible', ' \u200b'),
    },
  },
  jobCandidate: {
    id: '9',
    customFields: {
      s1: custom('Start date', '2026-03-01'),
      s2: custom('Tags', '["a, b","c"]'),
      s3: custom('Remote', true),
    },
  },
  onboarding: { onboardingCandidateId: 'oc1', overallStatus: 'completed', metadata: { site: 'MNL' } },
};

/** Evaluates one rule for the field it names over the person above. */
function evaluate(rule: string, sources: MappingSources = PERSON): { fields: EmployeeFields; problems: string[] } {
  const mapping = compileMapping('test', FIELDS, [parseYaml('rule.yaml', `fields:\n  ${rule}\n`)]);
  const { fields, problems } = evaluateMapping(mapping, sources);
  for (const problem of problems) expect(problem.text).not.toMatch(/Secretname|Zoë|0917|41|Engineering/);
  return { fields, problems: problems.map((problem) => `${problem.field} ${problem.code}`) };
}

describe('a value arrives', () => {
  test.each<[string, string, EmployeeFields]>([
    ['from a profile field', 'text: { from: candidate.firstName }', { text: 'Zoë' }],
    ['from an id, as text', 'text: { from: candidate.id }', { text: '41' }],
    ['from an id, as a number', 'number: { from: candidate.id }', { number: 41 }],
    ['from a list', 'list: { from: candidate.skills }', { list: ['Go', 'SQL'] }],
    ['from the job', 'text: { from: job.title }', { text: 'Cook' }],
    ['without invisible blanks around it', 'text: { from: "job.customFields[Pasted]" }', { text: 'Night\u200cshift' }],
    ['not at all from one of invisible blanks', 'text: { from: "job.customFields[Invisible]" }', {}],
    ['from a job custom field by its label', 'text: { from: "job.customFields[Department]" }', { text: 'Engineering' }],
    ['from a label in other case', 'text: { from: "job.customFields[ department ]" }', { text: 'Engineering' }],
    ['from a custom field by its id', 'text: { from: "job.customFields[d1]" }', { text: 'Engineering' }],
    [
      'from a candidate custom field that came with the job candidate',
      'date: { from: "candidate.customFields[Start date]", transform: [date] }',
      { date: '2026-03-01' },
    ],
    ['from a checkbox', 'boolean: { from: "candidate.customFields[Remote]" }', { boolean: true }],
    [
      'from a multi-select, stored as JSON text',
      'list: { from: "candidate.customFields[Tags]", transform: [list] }',
      { list: ['a, b', 'c'] },
    ],
    ['from the onboarding', 'text: { from: onboarding.metadata.site }', { text: 'MNL' }],
    [
      'from several sources, joined',
      'text: { from: [candidate.firstName, candidate.summary, job.title], transform: [join] }',
      { text: 'Zoë Cook' },
    ],
    [
      'from the first source that has one',
      'text: { from: [candidate.summary, job.title], transform: [first] }',
      { text: 'Cook' },
    ],
    ['from a constant', 'number: { constant: 40 }', { number: 40 }],
    [
      'by a lookup',
      'choice: { from: "job.customFields[Department]", lookup: { Engineering: ENG } }',
      { choice: 'ENG' },
    ],
    [
      'by the default, where the lookup does not know the value',
      'choice: { from: job.title, lookup: { Engineering: ENG }, default: OPS }',
      { choice: 'OPS' },
    ],
    [
      'by the default, where the source is empty',
      'text: { from: "job.customFields[Unset]", default: none }',
      { text: 'none' },
    ],
    ['not at all, where an optional source is empty', 'text: { from: "job.customFields[Unset]" }', {}],
    ['not at all, where there is no such custom field', 'text: { from: "job.customFields[Gone]" }', {}],
  ])('%s', (_from, rule, fields) => {
    expect(evaluate(rule)).toEqual({ fields, problems: [] });
  });

  test('not at all from an onboarding that was skipped', () => {
    const { onboarding: _skipped, ...sources } = PERSON;
    expect(evaluate('text: { from: onboarding.metadata.site }', sources)).toEqual({ fields: {}, problems: [] });
  });

  test('from the candidate’s own custom fields before the job candidate’s', () => {
    const sources = { ...PERSON, candidate: { customFields: { s1: custom('Start date', '2026-04-01') } } };
    expect(evaluate('date: { from: "candidate.customFields[Start date]" }', sources).fields).toEqual({
      date: '2026-04-01',
    });
  });
});

describe('a problem is named by field and code, without the value', () => {
  test.each<[string, string, string]>([
    ['a required source is empty', 'text: { from: "job.customFields[Unset]", required: true }', 'text MISSING'],
    ['two custom fields have the label', 'text: { from: "job.customFields[Twice]" }', 'text AMBIGUOUS_LABEL'],
    [
      'the lookup does not know the value',
      'choice: { from: "job.customFields[Department]", lookup: { Other: ENG } }',
      'choice NOT_IN_LOOKUP',
    ],
    [
      'the HR system does not know the value',
      'choice: { from: "job.customFields[Department]" }',
      'choice NOT_AN_OPTION',
    ],
    ['text is not a number', 'number: { from: candidate.lastName, transform: [number] }', 'number NOT_A_NUMBER'],
    ['text is not a date', 'date: { from: candidate.lastName, transform: [date] }', 'date NOT_A_DATE'],
    ['text reaches a date field unchecked', 'date: { from: candidate.lastName }', 'date WRONG_TYPE'],
    ['a list reaches a text field', 'text: { from: candidate.skills }', 'text WRONG_TYPE'],
    ['a phone number has no country', 'text: { from: candidate.phone, transform: [phone] }', 'text NOT_A_PHONE'],
  ])('%s', (_what, rule, problem) => {
    expect(evaluate(rule)).toEqual({ fields: {}, problems: [problem] });
  });
});

test('all problems come at once, beside the fields that are well', () => {
  const rules =
    'number: { from: candidate.lastName, transform: [number] }\n  choice: { from: job.title }\n  text: { from: ' +
    'job.title }';
  expect(evaluate(rules)).toEqual({
    fields: { text: 'Cook' },
    problems: ['number NOT_A_NUMBER', 'choice NOT_AN_OPTION'],
  });
});

test('whatever a custom field holds becomes a value of the right type, or a problem that does not repeat it', () => {
  const named = Object.keys(transforms).filter((name) => name !== 'money' && name !== 'option');
  const chains = [...named, 'money: { currency: EUR }', 'split, first', 'list, join', 'trim, date'];
  const rules = TYPES.flatMap((type) =>
    chains.map((chain) => `${type}: { from: "job.customFields[c]", transform: [${chain}] }`),
  );
  const mappings = rules.map((rule) =>
    compileMapping('test', FIELDS, [parseYaml('rule.yaml', `fields:\n  ${rule}\n`)]),
  );
  const right = { text: 'string', number: 'number', date: 'string', boolean: 'boolean', list: 'object' };
  const marked = fc.string({ unit: 'binary' }).map((text) => `${text}§mark`);
  const value = fc.oneof(
    fc.jsonValue(),
    marked,
    fc.array(marked),
    fc.double(),
    fc.date({ noInvalidDate: true }).map((day) => day.toISOString()),
  );
  fc.assert(
    fc.property(value, fc.constantFrom(...mappings), (held, mapping) => {
      const job = { customFields: { c: custom('c', held) } };
      const { fields, problems } = evaluateMapping(mapping, { candidate: {}, job, jobCandidate: {} });
      for (const [key, given] of Object.entries(fields))
        if (!isExactNumber(key, given)) expect(typeof given).toBe(right[key as keyof typeof right]);
      expect(JSON.stringify(problems)).not.toContain('§mark');
    }),
    { numRuns: 2_000 },
  );
});

/** A number that JavaScript's own would change, or spell otherwise, stays decimal text. */
function isExactNumber(type: string, given: unknown): boolean {
  if (type !== 'number' || typeof given !== 'string') return false;
  const number = Number(given);
  return /^-?\d+(\.\d+)?$/.test(given) && (String(number) !== given || Math.abs(number) > Number.MAX_SAFE_INTEGER);
}

test('all of a record is one text, the same whenever it holds the same, and opens no file of a person', () => {
  const of = { name: 'candidates', reads: { candidate: { fields: [], whole: { without: ['stageType'] } } } };
  const mapping = compileMapping(
    'test',
    FIELDS,
    [parseYaml('rule.yaml', 'fields:\n  text: { from: "candidate.*" }\n')],
    {
      of,
    },
  );
  const textOf = (candidate: Record<string, unknown>) => evaluateMapping(mapping, { candidate }).fields['text'];
  const signed = 'https://files.example/cv.pdf?X-Amz-Date=1&X-Amz-Signature=abc#page';
  const record = { lastName: 'Silva', resume: signed, list: [{ b: 1, a: 'http://e.example/?q=x&sig=1' }], none: null };
  expect(textOf({ ...record, stageType: 'APPLIED' })).toBe(
    '{"lastName":"Silva","list":[{"a":"http://e.example/","b":1}],"none":null,"resume":"https://files.example/cv.pdf"}',
  );
  expect(textOf(Object.fromEntries(Object.entries(record).toReversed()))).toBe(textOf(record));
  const plain = 'https://example.com/in/silva?trk=1#top Signature=none';
  expect(textOf({ linkedin: plain })).toBe(JSON.stringify({ linkedin: plain }));
  expect(mapping.fields[0]?.sensitive).toBe(true);
});

test('all of a record is nothing for an employee', () => {
  expect(() => evaluate('text: { from: "candidate.*" }')).toThrow(
    /rule\.yaml:2:\d+ only the mapping of a stream that lands can read all of a candidate/,
  );
});

describe('a value that cannot be read is never taken for none', () => {
  test.each([
    ['present: true', 'AMBIGUOUS_LABEL'],
    ['present: false', 'AMBIGUOUS_LABEL'],
    ['equals: a', 'AMBIGUOUS_LABEL'],
  ])('by the condition %s', (asked, code) => {
    const when = `when: [{ path: "job.customFields[Twice]", ${asked} }]`;
    expect(evaluate(`text: { constant: x, ${when} }`)).toEqual({ fields: {}, problems: [`text ${code}`] });
  });

  test.each([
    ['a list of objects', { skills: [{ name: 'Go' }] }, 'candidate.skills'],
    ['an object', { category: { id: 1 } }, 'candidate.category'],
    ['an object in metadata', {}, 'onboarding.metadata.site'],
  ])('by a rule, where the partner shows %s', (_what, fields, path) => {
    const sources = { candidate: { ...PERSON['candidate'], ...fields }, onboarding: { metadata: { site: { id: 1 } } } };
    expect(evaluate(`text: { from: ${path} }`, sources)).toEqual({ fields: {}, problems: ['text WRONG_TYPE'] });
    const when = `when: [{ path: ${path}, present: false }]`;
    expect(evaluate(`text: { constant: x, ${when} }`, sources).problems).toEqual(['text WRONG_TYPE']);
  });

  test('but a condition that is false decides beside it', () => {
    const when = 'when: [{ path: job.title, equals: Nurse }, { path: "job.customFields[Twice]", equals: a }]';
    expect(evaluate(`text: { constant: x, ${when} }`)).toEqual({ fields: {}, problems: [] });
  });
});

describe('a lookup takes a list item by item', () => {
  const sources = (tags: unknown): MappingSources => ({
    candidate: { customFields: { s2: custom('Tags', tags) } },
  });
  const rule = (rest = '') =>
    `list: { from: "candidate.customFields[Tags]", lookup: { Early: E, Late: L, 3: T }${rest} }`;
  test.each([
    ['two known items', ['Late', 'Early'], '', { fields: { list: ['L', 'E'] }, problems: [] }],
    ['one', ['Late'], '', { fields: { list: ['L'] }, problems: [] }],
    ['an unknown one', ['Late', 'Night'], '', { fields: {}, problems: ['list NOT_IN_LOOKUP'] }],
    [
      'an unknown one with a default',
      ['Late', 'Night'],
      ', default: X',
      { fields: { list: ['L', 'X'] }, problems: [] },
    ],
    ['none', [], '', { fields: {}, problems: [] }],
  ])('%s', (_what, tags, rest, expected) => {
    expect(evaluate(rule(rest), sources(tags))).toEqual(expected);
  });
});

test('letters are the same letters however the two sides encode them', () => {
  const city = 'Ko\u0308ln';
  const sources = { candidate: { city } };
  expect(evaluate('text: { from: candidate.city, lookup: { Köln: CGN }, default: OTHER }', sources).fields).toEqual({
    text: 'CGN',
  });
  expect(evaluate('text: { constant: x, when: [{ path: candidate.city, equals: Köln }] }', sources).fields).toEqual({
    text: 'x',
  });
});
