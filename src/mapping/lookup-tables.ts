import type { EmployeeFields } from '../hire/employee.ts';

const words = (text: string): string[] => text.split(' ');

/** Tables of the hiring platform that rules look values up in, by record id; streams of the same names keep them. */
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

/** Rows by their ids. */
export type TableRows = ReadonlyMap<string, EmployeeFields>;

/** One column of one table, and its rows once they are at hand. */
export interface TableColumn {
  name: TableName;
  field: string;
  rows?: TableRows;
}

/** A column that is not there: the word to blame, and what could stand in its place. */
interface WrongColumn {
  wrong: string;
  word: string;
  known: readonly string[];
}

/** Parses `users.email`. */
export function parseTableColumn(text: string): TableColumn | WrongColumn {
  const [name = '', field = '', ...rest] = text.split('.');
  const table = tableNames.find((one) => one === name);
  if (table === undefined) return { wrong: `"${name}" is not a table to look up in`, word: name, known: tableNames };
  const known: readonly string[] = lookupTables[table];
  if (rest.length === 0 && known.includes(field)) return { name: table, field };
  return { wrong: `"${text}" names no column of ${table}`, word: field, known: known.map((one) => `${table}.${one}`) };
}
