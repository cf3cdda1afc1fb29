import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** A row of the HRIS's own table, without anything personal. */
export interface EmployeeRow {
  id: number;
  number: string;
  /** The reference the connector left in the record: `<partner company>:<candidate id>`. */
  reference: string | null;
}

/** Reads the HRIS's table directly: the demo counts what stands there, not what the connector says it did. */
export function readEmployees(file: string): EmployeeRow[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  try {
    const table = database.prepare("select 1 from sqlite_master where type = 'table' and name = 'employees'").get();
    if (table === undefined) return [];
    const rows = database
      .prepare('select id, employee_number as number, external_ref as reference from employees order by id')
      .all();
    return rows as unknown as EmployeeRow[];
  } finally {
    database.close();
  }
}
