import type { EmployeeFields } from '../hire/hire.ts';

const words = (text: string): string[] => text.split(' ');

/** Tables of the hiring platform in which rules look values up by record id; streams of the same names store them. */
export const lookupTables = {
  users: words('email firstName lastName status role teamId reportingManagerId'),
  teams: words('name createdBy'),
  pipelines: words('name'),
  stages: words('name type pipelineId order'),
  flows: words('name status'),
  assessments: words('testName jobId status assessmentType hiringForRole'),
  schedules: words('name timezone durationMinutes bookingMode scheduleProfile'),
} as const satisfies Record<string, readonly string[]>;

export type TableName = keyof typeof lookupTables;

export const tableNames = Object.keys(lookupTables) as TableName[];

/** Rows by id. */
export type TableRows = ReadonlyMap<string, EmployeeFields>;

/** One column of one table, with its rows once they are loaded. */
export interface TableColumn {
  name: TableName;
  field: string;
  /** The column in which to search for the value; the record's id if absent. */
  by?: string;
  rows?: TableRows;
}

/** A column that does not exist: the word to blame, and possible corrections. */
interface WrongColumn {
  wrong: string;
  word: string;
  known: readonly string[];
}

/** Parses `users.email`, and the reverse look-up `users[email].id`. */
export function parseTableColumn(text: string): TableColumn | WrongColumn {
  const [, name = '', by, dot, field = ''] = /^([^.[]*)(?:\[([^\]]*)\])?(\.?)(.*)$/.exec(text) ?? [];
  const table = tableNames.find((one) => one === name);
  if (table === undefined) return { wrong: `"${name}" is not a table to look up in`, word: name, known: tableNames };
  const known: readonly string[] = lookupTables[table];
  const isKey = by === undefined || known.includes(by);
  if (isKey && dot === '.' && (known.includes(field) || (by !== undefined && field === 'id')))
    return { name: table, field, ...(by === undefined ? {} : { by }) };
  const start = by === undefined ? table : `${table}[${by}]`;
  const fields = by === undefined ? known : ['id', ...known];
  const columns = isKey
    ? fields.map((one) => `${start}.${one}`)
    : known.map((one) => `${table}[${one}].${field || 'id'}`);
  return { wrong: `"${text}" names no column of ${table}`, word: text, known: columns };
}
