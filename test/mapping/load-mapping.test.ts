import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { mappingJsonSchema } from '../../src/cli/mapping.ts';
import { isConnectorError } from '../../src/errors.ts';
import type { FieldDef } from '../../src/hris/port.ts';
import { compileMapping, loadMapping } from '../../src/mapping/load-mapping.ts';
import { sourceRecords } from '../../src/mapping/source-fields.ts';
import { Candidate } from '../../src/partner/contract/candidates.ts';
import { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import { Job } from '../../src/partner/contract/jobs.ts';
import { OnboardingCandidate } from '../../src/partner/contract/onboarding.ts';
import { parseYaml } from '../../src/yaml/yaml-file.ts';
import { textField } from './text-field.ts';

const FIELDS: FieldDef[] = [
  textField('givenName', { required: true }),
  textField('title'),
  textField('department', { options: ['ENG', 'OPS'] }),
  textField('startDate', { type: 'date', required: true }),
  textField('tags', { type: 'list' }),
  textField('grade', { type: 'number' }),
  textField('employeeNumber', { writable: false }),
  textField('userName', { isLookedUp: true }),
];

const GOOD = `fields:
  givenName: { from: candidate.firstName }
  startDate: { from: "candidate.customFields[Start date]", transform: [date] }
`;

/** Every problem of one mapping file as `line:column text`. */
function problemsOf(...files: string[]): string[] {
  try {
    compileMapping(
      'test',
      FIELDS,
      files.map((content, i) => parseYaml(`${i}.yaml`, content)),
    );
    return [];
  } catch (error) {
    if (!isConnectorError(error, 'MAPPING_INVALID') || error.action !== 'reject') throw error;
    return error.message.split('\n').map((line) => line.replace(/^\d\.yaml:/, ''));
  }
}

test('two fields that a tenant points at one place of the HR system are refused: one value would be lost', () => {
  const fields = [textField('email', { place: 'mail' }), textField('workEmail', { place: 'mail' })];
  const compiled = (text: string) => compileMapping('test', fields, [parseYaml('acme.yaml', text)]);
  const both = 'fields:\n  email: { from: candidate.email }\n  workEmail: { from: candidate.email }\n';
  expect(() => compiled(both)).toThrow('acme.yaml:3:3 "email" writes mail of the HR system too');
  const back = both.replace('workEmail: {', 'workEmail: { direction: toPartner, ');
  expect(() => compiled(back)).not.toThrow(/writes mail of the HR system/);
  expect(compiled(both.replace(/ {2}email.*\n/, '')).fields.map(({ target }) => target)).toEqual(['workEmail']);
});

const rule = (line: string): string => `${GOOD}  ${line}\n`;

describe('a mapping is refused at load', () => {
  test.each<[string, string, string]>([
    [
      'for a source that does not exist',
      rule('title: { from: job.titel }'),
      '4:18 "titel" is not a field of job. Did you mean "title"?',
    ],
    [
      'for a name that the HR system cannot be asked about',
      rule('title: { from: job.title, transform: [login], unique: true }'),
      '4:57 this HR system cannot be asked whether somebody has "title": it can search userName. Remove unique.',
    ],
    [
      'for one name for everybody',
      rule('userName: { constant: ana, unique: true }'),
      '4:38 "userName" must be made from the person, and flow only to the HR system. Remove unique.',
    ],
    [
      'for a record that does not exist',
      rule('title: { from: jobs.title }'),
      '4:18 "jobs" is not a record of the hiring platform. Did you mean "job"?',
    ],
    [
      'for custom fields where there are none',
      rule('title: { from: "onboarding.customFields[X]" }'),
      '4:18 "onboarding" has no custom fields',
    ],
    [
      'for metadata without a key',
      rule('title: { from: onboarding.metadata }'),
      '4:18 "onboarding.metadata" needs one key',
    ],
    [
      'for a path below a plain field',
      rule('title: { from: candidate.city.name }'),
      '4:18 "candidate.city" has nothing below it',
    ],
    [
      'for a target that does not exist',
      rule('titel: { from: job.title }'),
      '4:3 "titel" is not a field of the HR system. Did you mean "title"?',
    ],
    [
      'for a target the HR system fills itself',
      rule('employeeNumber: { constant: "1" }'),
      '4:3 "employeeNumber" is filled by the HR system itself',
    ],
    [
      'for the previous job as the new title',
      rule('title: { from: candidate.currentJobTitle }'),
      '4:18 candidate.currentJobTitle is the title of the job the person is leaving',
    ],
    [
      'for neither from nor constant',
      rule('title: { required: true }'),
      '4:3 "title" needs one of from, constant and template',
    ],
    [
      'for both from and constant',
      rule('title: { from: job.title, constant: Cook }'),
      '4:3 "title" needs one of from, constant and template',
    ],
    ['for an empty constant', rule('title: { constant: " " }'), '4:22 "title" is an empty constant'],
    [
      'for a date format whose month is minutes',
      rule('title: { from: job.title, transform: [date: { formats: [dd.mm.yyyy] }] }'),
      '4:59 "fields.title.transform.0.date.formats.0" is not right: expected Luxon tokens for day, month and year',
    ],
    [
      'for a number whose zeros would go',
      rule('title: { constant: 0815 }'),
      '4:22 0815 without quotes is read as 815. Write it in quotes: "0815"',
    ],
    [
      'for such a number in a lookup',
      rule('title: { from: job.title, lookup: { 010: a, Cook: 1.10 } }'),
      '4:39 010 without quotes is read as 10',
    ],
    [
      'for such a number in a condition',
      rule('title: { constant: a, when: [{ path: job.title, in: [b, 1.0] }] }'),
      '4:59 1.0 without quotes is read as 1',
    ],
    ['for an empty default', rule('title: { from: job.title, default: "" }'), '4:38 is empty'],
    ['for an empty value of a lookup', rule('title: { from: job.title, lookup: { a: "" } }'), '4:42 is empty'],
    ['for a constant with a lookup', rule('title: { constant: Cook, default: Chef }'), '4:3 "title" is a constant'],
    [
      'for several sources that nothing joins',
      rule('title: { from: [job.title, job.city] }'),
      '4:18 "title" reads several sources',
    ],
    [
      'for a constant the HR system does not know',
      rule('department: { constant: ENGG }'),
      '4:27 "ENGG" is not one of the values of "department". Did you mean "ENG"?',
    ],
    [
      'for a lookup result the HR system does not know',
      rule('department: { from: job.title, lookup: { Cook: KIT } }'),
      '4:50 "KIT" is not one of the values of "department"',
    ],
    [
      'for an unknown transform',
      rule('title: { from: job.title, transform: [tirm] }'),
      '4:41 "fields.title.transform.0" is not right: expected one of trim, lower',
    ],
    [
      'for an unknown key of a rule',
      rule('title: { form: job.title }'),
      '4:12 "fields.title.form" is not a known key. Did you mean "from"?',
    ],
    [
      'for an unknown key of the file',
      `${GOOD}feilds: {}\n`,
      '4:1 "feilds" is not a known key. Did you mean "fields"?',
    ],
    [
      'for a country that phone does not know',
      rule('title: { from: candidate.phone, transform: [phone: { country: XX }] }'),
      '4:65 "fields.title.transform.0.phone.country" is not right: expected an ISO 3166-1 alpha-2 country',
    ],
    [
      'for a required field that nothing fills',
      'fields:\n  givenName: { from: candidate.firstName }\n',
      '1:1 "startDate" (startDate) is required by the HR system and nothing fills it',
    ],
    ['for bad YAML', 'fields:\n  givenName: { from: [\n', ' is not valid YAML'],
    ['for a key given twice', rule('givenName: { constant: Ana }'), '4:3 is not valid YAML (this key is here twice)'],
  ])('%s', (_why, content, expected) => {
    expect(problemsOf(content)).toEqual(expect.arrayContaining([expect.stringContaining(expected)]));
  });

  test.each([
    ['title: { from: job.title, transform: [date: { formats: [DD.MM.YYYY] }] }', '4:59 .* expected Luxon tokens'],
    ['title: { constant: a, when: [{ path: job.title, equals: "" }] }', '4:59 is empty, and an empty value equals no'],
    [
      'title: { constant: a, when: [{ path: job.title, in: [b, " "] }] }',
      '4:55 is empty, and an empty value equals no',
    ],
    ['title: { from: job.title, lookup: {} }', '4:29 "fields.title.lookup" is not right: expected at least one value'],
    ['title: { from: job.title, lookup: { 1: a, "1": b } }', '4:45 is not valid YAML .this key is here twice'],
    ['title: { from: job.title, lookup: { ~: a } }', '4:39 ~ without quotes is read as nothing.'],
    ['titel: null', '4:3 "titel" is not a field of the HR system. Did you mean "title"?'],
    ['tags: { constant: a }', '4:21 "a" is not a list, which "tags" takes. Correct it.'],
    [
      'grade: { from: job.title, lookup: { a: 1, b: x } }',
      '4:48 "x" is not a number, which "grade" takes. Correct it.',
    ],
  ])('because it could never work: %s', (line, expected) => {
    expect(problemsOf(rule(line))).toEqual([expect.stringMatching(expected)]);
  });

  test('with all problems at once, each at its place', () => {
    const problems = problemsOf(
      rule('title: { from: job.titel }\n  departmant: { constant: 1 }\n  department: { constant: ENGG }'),
    );
    expect(problems.map((line) => line.split(' ')[0])).toEqual(['4:18', '5:3', '6:27']);
  });

  test('with a file that is not there', async () => {
    await expect(loadMapping({ kind: 'sql', file: '/nowhere/acme.yaml', fields: FIELDS })).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      action: 'reject',
      message: expect.stringContaining('/nowhere/acme.yaml: there is no such file'),
    });
  });
});

describe('a mapping is accepted', () => {
  test('when it is complete', () => {
    expect(problemsOf(GOOD)).toEqual([]);
  });

  test('with the previous job, when the tenant says that it is meant', () => {
    expect(problemsOf(rule('title: { from: candidate.currentJobTitle, acknowledge: previousJob }'))).toEqual([]);
  });

  test('in layers: a later file replaces single fields and takes others away', () => {
    const tenant = 'fields:\n  title: null\n  givenName: { constant: Ana }\n';
    const mapping = compileMapping('test', FIELDS, [
      parseYaml('a.yaml', rule('title: { from: job.title }')),
      parseYaml('b.yaml', tenant),
    ]);
    expect(mapping.fields.map((field) => [field.target, field.constant])).toEqual([
      ['givenName', 'Ana'],
      ['startDate', undefined],
    ]);
  });

  test('and its hash changes with its meaning, not with its comments, its order or its split into files', () => {
    const hash = (...contents: string[]): string =>
      compileMapping(
        'test',
        FIELDS,
        contents.map((content, i) => parseYaml(`${i}.yaml`, content)),
      ).hash;
    expect(hash(`# a comment\n${GOOD}`)).toBe(hash(GOOD));
    const [head = '', givenName = '', startDate = ''] = GOOD.split('\n');
    expect(hash([head, startDate, givenName].join('\n'))).toBe(hash(GOOD));
    expect(hash([head, givenName].join('\n'), [head, startDate].join('\n'))).toBe(hash(GOOD));
    expect(hash(rule('title: { from: job.title }'))).not.toBe(hash(GOOD));
  });
});

test('the fields a mapping may read are fields of the partner’s records', () => {
  const records = { candidate: Candidate, job: Job, jobCandidate: JobCandidate, onboarding: OnboardingCandidate };
  for (const [source, record] of Object.entries(records)) {
    expect(Object.keys(record.shape)).toEqual(
      expect.arrayContaining([...sourceRecords[source as keyof typeof sourceRecords].fields]),
    );
  }
});

/** Written with `hirebridge mapping schema > mappings/mapping.schema.json`. */
test('the JSON Schema for editors is up to date', async () => {
  const kept = await readFile(new URL('../../mappings/mapping.schema.json', import.meta.url), 'utf8');
  expect(JSON.parse(kept)).toEqual(JSON.parse(mappingJsonSchema()));
});
