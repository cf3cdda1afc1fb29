import { describe, expect, test } from 'vitest';
import type { FieldDef } from '../../src/hris/port.ts';
import type { TableName, TableRows } from '../../src/mapping/compile-rule.ts';
import { evaluateField, evaluateMapping, type Step } from '../../src/mapping/evaluate.ts';
import { bindTables, compileMapping, type Mapping } from '../../src/mapping/load-mapping.ts';
import { parseYaml } from '../../src/yaml/yaml-file.ts';
import { textField } from './text-field.ts';

const FIELDS: FieldDef[] = [textField('managerEmail'), { ...textField('site'), required: true }];
const TABLES = new Map<TableName, TableRows>([
  [
    'users',
    new Map([
      ['u-1', { email: 'grace@acme.example', role: null, teamId: 't-1', lastName: 'Li' }],
      ['u-2', { email: 'ada@acme.example', role: null, teamId: null, lastName: 'Li' }],
    ]),
  ],
  ['pipelines', new Map([['7', { name: 'Warehouse' }]])],
]);

const compiled = (rule: string): Mapping =>
  compileMapping('test', FIELDS, [parseYaml('rule.yaml', `fields:\n  site: { constant: BER }\n  ${rule}\n`)]);

function evaluate(rule: string, manager: unknown): { value: unknown; codes: string[] } {
  const job = { id: '1', pipelineId: '7', customFields: { f1: { label: 'Manager', value: manager } } };
  const { fields, problems } = evaluateMapping(bindTables(compiled(rule), TABLES), { job });
  for (const { text } of problems) expect(text).not.toContain('u-9');
  return { value: fields['managerEmail'], codes: problems.map(({ code }) => code) };
}

const rule = (more = '', table = 'users.email'): string =>
  `managerEmail: { from: "job.customFields[Manager]", table: "${table}"${more} }`;

describe('a rule that looks a value up in a table of the hiring platform', () => {
  test.each([
    ['gives what the table says of the record', rule(), 'u-1', 'grace@acme.example', []],
    ['leaves the field out where the source is empty', rule(), '', undefined, []],
    ['takes its default where the source is empty', rule(', default: nobody'), '', 'nobody', []],
    ['takes its default where the table says nothing', rule(', default: none', 'users.role'), 'u-1', 'none', []],
    ['never leaves a record out that the table lacks', rule(), 'u-9', undefined, ['NOT_IN_TABLE']],
    ['has no default for a record that the table lacks', rule(', default: x'), 'u-9', undefined, ['NOT_IN_TABLE']],
    ['is required like any other', rule(', required: true', 'users.role'), 'u-1', undefined, ['MISSING']],
    ['looks up after the transforms', rule(', transform: [lower]'), 'U-1', 'grace@acme.example', []],
    ['looks the found value up in its own lookup', rule(', lookup: { grace@acme.example: G }'), 'u-1', 'G', []],
    ['finds a user by e-mail, whatever its capitals', rule('', 'users[email].id'), ' Grace@Acme.example', 'u-1', []],
    ['gives the team of the user with an e-mail', rule('', 'users[email].teamId'), 'grace@acme.example', 't-1', []],
    [
      'leaves the field out where that user has none',
      rule('', 'users[email].teamId'),
      'ada@acme.example',
      undefined,
      [],
    ],
    ['never takes one of two', rule('', 'users[lastName].id'), 'Li', undefined, ['TWICE_IN_TABLE']],
    ['leaves nobody out whom no user is', rule('', 'users[email].id'), 'eve@x.org', undefined, ['NOT_IN_TABLE']],
    [
      'finds ids that are numbers',
      'managerEmail: { from: job.pipelineId, table: pipelines.name }',
      '',
      'Warehouse',
      [],
    ],
  ])('%s', (_, text, manager, value, codes) => {
    expect(evaluate(text, manager)).toEqual({ value, codes });
  });

  test('shows the step to whoever asks where a value comes from', () => {
    const [, field] = bindTables(compiled(rule()), TABLES).fields;
    const steps: Step[] = [];
    if (field !== undefined)
      evaluateField(field, { job: { customFields: { f1: { label: 'Manager', value: 'u-1' } } } }, steps);
    expect(steps).toContainEqual({ step: 'table', value: 'grace@acme.example' });
  });

  test.each([
    [rule('', 'user.email'), '"user" is not a table to look up in. Did you mean "users"?'],
    [rule('', 'users.mail'), '"users.mail" names no column of users. Did you mean "users.email"?'],
    [rule('', 'users[mail].id'), '"users[mail].id" names no column of users. Did you mean "users[email].id"?'],
    [rule('', 'users[email]id'), '"users[email]id" names no column of users. Did you mean "users[email].id"?'],
    [
      rule('', 'users[email].team'),
      '"users[email].team" names no column of users. Did you mean "users[email].teamId"?',
    ],
    [rule('', 'users.id'), '"users.id" names no column of users'],
    ['managerEmail: { constant: x, table: users.email }', 'transform, table, lookup and default do nothing here'],
  ])('is rejected when it names nothing: %s', (text, message) => {
    expect(() => compiled(text)).toThrow(message);
  });
});
