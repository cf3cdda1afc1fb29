import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { NamedThings } from '../../../src/operator/write-ids.ts';
import { fillIds } from '../../../src/operator/write-ids.ts';
import { parseYaml } from '../../../src/yaml/yaml-file.ts';

const THINGS: NamedThings = {
  flow: [
    { id: 'f-1', label: 'Standard', about: 'ACTIVE' },
    { id: 'f-2', label: 'Interns # "short"', about: 'INACTIVE' },
  ],
  stage: [
    { id: '501', label: 'Offer accepted', about: 'Sales' },
    { id: '502', label: 'Contract', about: 'Sales' },
    { id: '602', label: 'Contract', about: 'Kitchen' },
  ],
  candidateField: [
    { id: 'cf_1', label: 'Cost centre', about: 'text' },
    { id: 'cf_2', label: 'Employee ID', about: 'text' },
  ],
  jobField: [{ id: 'cf_9', label: 'Division', about: 'select' }],
  team: [{ id: 't-1', label: 'Berlin', about: '' }],
  job: [{ id: '77', label: 'Cook', about: 'ACTIVE' }],
};

function fill(text: string, things: Partial<NamedThings> = {}) {
  return fillIds(parseYaml('acme.yaml', text), { ...THINGS, ...things });
}

const flow = (text: string) => `policies:\n  onboarding: ${text}`;

test.each([
  ['a label, in a flow map', flow('{ flow: Standard }\n'), flow('{ flow: "f-1" } # "Standard"\n')],
  ['a label, quoted, in a block', flow("\n    flow: 'Standard'\n"), flow('\n    flow: "f-1" # "Standard"\n')],
  ['a label in other case, blanks around it', flow('{ flow: " sTandard " }\n'), flow('{ flow: "f-1" } # "Standard"\n')],
  ['a file without a line end', flow('{ flow: Standard }'), flow('{ flow: "f-1" } # "Standard"')],
  ['blanks at the line end', flow('{ flow: f-1 }  \n'), flow('{ flow: f-1 }  # "Standard"\n')],
  ['an id alone gets its label, its quotes stay', flow("{ flow: 'f-1' }\n"), flow('{ flow: \'f-1\' } # "Standard"\n')],
  ['an old label is refreshed', flow('{ flow: f-1 } # "Norm"\n'), flow('{ flow: f-1 } # "Standard"\n')],
  [
    'the author’s comment stays',
    flow('{ flow: Standard }  #by Ann\n'),
    flow('{ flow: "f-1" }  # "Standard" - by Ann\n'),
  ],
  ['so it does at a refresh', flow('{ flow: f-1 } # "Norm" - by Ann\n'), flow('{ flow: f-1 } # "Standard" - by Ann\n')],
  [
    'a comment that begins with a quotation is the author’s',
    flow('{ flow: f-1 } # "best" so far\n'),
    flow('{ flow: f-1 } # "Standard" - "best" so far\n'),
  ],
  [
    'a label with quotes and a hash',
    flow('{ flow: \'interns # "short"\' }\n'),
    flow('{ flow: "f-2" } # "Interns # \\"short\\""\n'),
  ],
  [
    'CRLF',
    'policies:\r\n  onboarding:\r\n    flow: Standard\r\n    deadline: 3d\r\n',
    'policies:\r\n  onboarding:\r\n    flow: "f-1" # "Standard"\r\n    deadline: 3d\r\n',
  ],
  ['a byte order mark', `\ufeff${flow('{ flow: Standard }\n')}`, `\ufeff${flow('{ flow: "f-1" } # "Standard"\n')}`],
  [
    'a list on one line has one comment; stage types stay',
    'policies: { enrolAt: [HIRED, offer accepted, 602], createAt: [hired] }\n',
    'policies: { enrolAt: [HIRED, "501", 602], createAt: [hired] } # "Offer accepted", "Contract"\n',
  ],
  [
    'lists of several lines, block and flow',
    'policies:\n  enrolAt:\n    # why\n    - Offer accepted # soon\n    - HIRED\n' +
      '  createAt: [\n    502,\n    HIRED\n  ]\n',
    'policies:\n  enrolAt:\n    # why\n    - "501" # "Offer accepted" - soon\n    - HIRED\n' +
      '  createAt: [\n    502, # "Contract"\n    HIRED\n  ]\n',
  ],
  [
    'custom fields of the write-back',
    'writeBack:\n  customField: Employee ID\n  values:\n    - { customFieldId: Cost centre, field: cost }\n',
    'writeBack:\n  customField: "cf_2" # "Employee ID"\n  values:\n' +
      '    - { customFieldId: "cf_1", field: cost } # "Cost centre"\n',
  ],
  ['teams of the scope', 'scope: { teams: [Berlin] }\n', 'scope: { teams: ["t-1"] } # "Berlin"\n'],
  ['jobs of the scope', 'scope: { jobs: [Cook, "77"] }\n', 'scope: { jobs: ["77", "77"] } # "Cook"\n'],
  [
    'a custom field of the scope may stay a label',
    'scope: { customField: { name: division, values: [Bar] } }\n',
    'scope: { customField: { name: division, values: [Bar] } }\n',
  ],
  [
    'no comment goes into a text that goes on in the next line',
    '{ policies: { onboarding: { flow: Standard, readyAt: "a\n b" } } }\n',
    '{ policies: { onboarding: { flow: "f-1", readyAt: "a\n b" } } }\n',
  ],
  ['a file that names nothing', 'policies: { onboarding: skip } # "x"\n', 'policies: { onboarding: skip } # "x"\n'],
])('%s', (_name, before, after) => {
  expect(fill(before)).toEqual({ text: after });
  expect(fill(after)).toEqual({ text: after });
  expect(() => parse(after)).not.toThrow();
});

test('a placeholder that only one flow can fill is filled', () => {
  const only = { flow: THINGS.flow.slice(0, 1) };
  expect(fill(flow('{ flow: "<flowId>" }\n'), only)).toEqual({ text: flow('{ flow: "f-1" } # "Standard"\n') });
});

test.each([
  [
    'several flows for a placeholder',
    flow('{ flow: "<flowId>" }'),
    '2:23 .*f-1 \\("Standard", ACTIVE\\), f-2 .*; write',
  ],
  ['a misspelt label', flow('{ flow: Standrad }'), '2:23 .*no onboarding flow .*Did you mean "Standard"\\?'],
  ['a label like none', flow('{ flow: Completely else }'), '2:23 .*no onboarding flow .*There are: f-1'],
  ['a label that two have', 'policies:\n  enrolAt: [Contract]', '2:13 .*502 \\("Contract", Sales\\), 602 .*Kitchen'],
  ['a placeholder for a field', 'writeBack: { customField: <id> }', '1:27 .*still to be filled in: cf_1'],
  ['a job’s field is no candidate’s', 'writeBack: { customField: Division }', '1:27 .*no candidate custom field'],
  ['an alias', 'a: &f Standard\npolicies: { onboarding: { flow: *f } }', '2:\\d+ .*is an alias'],
  ['a block scalar', 'writeBack:\n  customField: |\n    Employee ID\n', '2:16 .*several lines'],
])('%s is rejected with its place, and nothing is filled', (_name, text, said) => {
  const filled = fill(`${text}\n`);
  const problems = 'problems' in filled ? filled.problems : [];
  expect(problems.map((one) => `${one.file}:${one.line}:${one.column} ${one.text}`)).toEqual([
    expect.stringMatching(new RegExp(`^acme.yaml:${said}`)),
  ]);
});

test('every unclear place is listed in the order of the file', () => {
  const filled = fill('writeBack: { customField: Nope }\npolicies: { onboarding: { flow: Nope }, enrolAt: [Nope] }\n');
  expect('problems' in filled && filled.problems.map(({ line, column }) => [line, column])).toEqual([
    [1, 27],
    [2, 33],
    [2, 51],
  ]);
});

test('where the hiring platform has nothing of the kind, it says so', () => {
  const filled = fill('scope: { teams: [Berlin] }\n', { team: [] });
  expect('problems' in filled && filled.problems[0]?.text).toMatch(/no team at all\. Create it there first\.$/);
});
