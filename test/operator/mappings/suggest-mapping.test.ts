import { describe, expect, test } from 'vitest';
import type { OwnColumn } from '../../../src/hris/sql/describe.ts';
import { type Source, suggestMapping } from '../../../src/operator/suggest-mapping.ts';

const column = (name: string, more: Partial<OwnColumn> = {}): OwnColumn => ({
  name,
  type: 'text',
  required: false,
  isKey: false,
  samples: [],
  ...more,
});

const source = (path: string, meaning: string, more: Partial<Source> = {}): Source => ({
  path,
  meaning,
  type: 'text',
  options: [],
  samples: [],
  ...more,
});

const START = 'candidate.customFields[Start date]';
const SOURCES: Source[] = [
  source('candidate.firstName', 'givenName', { samples: ['Ana'] }),
  source('candidate.lastName', 'familyName', { samples: ['Reyes'] }),
  source('candidate.email', 'email', { samples: ['ana@example.org'] }),
  source('candidate.phone', 'phone', { samples: ['+34 600 000 000'] }),
  source('candidate.country', 'country', { samples: ['Spain'] }),
  source('candidate.dateOfBirth', 'birthDate', { type: 'date', samples: ['1990-01-02'] }),
  source('job.title', 'title', { samples: ['Engineer'] }),
  source('job.customFields[Cost centre]', 'costCentre', { samples: ['4711'] }),
  source('candidate.customFields[Contract]', 'contract', { options: ['Permanent', 'Fixed term'] }),
  source('candidate.customFields[Shifts]', 'shifts', { type: 'list', options: ['Early', 'Late'] }),
  source(START, 'startdate', { type: 'date', samples: ['2026-01-01'] }),
];

const KEY = column('id', { isKey: true });

/** What fills a column, and how. */
function filled(columns: OwnColumn[]) {
  const { lines } = suggestMapping({ name: 'people', columns: [KEY, ...columns] }, SOURCES, START);
  return Object.fromEntries(
    lines.map(({ column: { name }, from, transform }) => [name, [from, ...transform].join(' ')]),
  );
}

test.each([
  ['English', ['first_name', 'Last Name', 'emp_email', 'mobile', 'hire_date', 'jobTitle', 'cost_center']],
  ['German', ['vorname', 'nachname', 'mail', 'telefon', 'eintritt', 'stelle', 'kostenstelle']],
  ['French', ['prenom', 'nom', 'courriel', 'tel', 'date_entree', 'poste', 'centre_de_cout']],
  ['Italian', ['nome', 'cognome', 'mail', 'cellulare', 'data_assunzione', 'mansione', 'cost_center']],
  ['Spanish', ['nombre', 'apellidos', 'correo', 'telefono', 'fecha_ingreso', 'puesto', 'centro_de_costo']],
])('columns are known by their names in %s', (_language, names) => {
  const lines = filled(names.map((name) => column(name)));
  expect(Object.values(lines)).toEqual([
    'candidate.firstName trim',
    'candidate.lastName trim',
    'candidate.email trim',
    'candidate.phone',
    `${START} date`,
    'job.title',
    'job.customFields[Cost centre]',
  ]);
});

describe('types and values decide where a name does not', () => {
  test.each<[string, OwnColumn, string]>([
    ['a date column takes no text', column('title', { type: 'date' }), ''],
    [
      'a column of numbers takes what is one',
      column('cost_centre', { type: 'number' }),
      'job.customFields[Cost centre] number',
    ],
    ['a column of text takes several choices as one text', column('shifts'), 'candidate.customFields[Shifts] join'],
    ['a column of numbers takes no name', column('first_name', { type: 'number' }), ''],
    ['dates in another form than ours are not suggested', column('dob', { samples: ['02.01.1990'] }), ''],
    [
      'a column of codes gets the code of a country',
      column('country', { samples: ['DE'] }),
      'candidate.country country',
    ],
    ['a column of names gets the name of a country', column('country', { samples: ['Germany'] }), 'candidate.country'],
    [
      'addresses are known whatever the column is called',
      column('x1', { samples: ['a@b.example'] }),
      'candidate.email trim',
    ],
    [
      'values that a field allows are its values',
      column('x2', { samples: ['permanent'] }),
      'candidate.customFields[Contract]',
    ],
    ['stamps of the HR system are its own', column('created_at'), ''],
    ['an unknown name gets nothing', column('x3'), ''],
  ])('%s', (_what, one, from) => {
    expect(filled([one])).toEqual({ [one.name]: from });
  });
});

test('a source fills one column, and of two with one meaning the filled one has its name', () => {
  const columns = [KEY, column('surname', { type: 'date' }), column('last_name'), column('family_name')];
  const { lines } = suggestMapping({ name: 'people', columns }, SOURCES, START);
  expect(lines.map(({ field, from }) => [field, from])).toEqual([
    ['surname', undefined],
    ['familyName', 'candidate.lastName'],
    ['familyName2', undefined],
  ]);
});

test('the key, the number, our reference and the last day are no values of a person', () => {
  const named = ['pnr', 'external_ref', 'austritt'].map((name) => column(name, { isKey: name === 'pnr' }));
  expect(suggestMapping({ name: 'people', columns: named }, SOURCES, START)).toEqual({
    roles: { idColumn: 'pnr', numberColumn: 'pnr', referenceColumn: 'external_ref', endColumn: 'austritt' },
    lines: [],
  });
  const bare = suggestMapping({ name: 'people', columns: [KEY, column('empno')] }, SOURCES, START);
  expect(bare.roles).toEqual({ idColumn: 'id', numberColumn: 'empno', referenceColumn: 'none' });
});
