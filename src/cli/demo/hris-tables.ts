import type { OwnEmployee } from '../../counterparts/hris-sources.ts';
import { openSqlDatabase } from '../../hris/sql/open-database.ts';

/** A record of the HRIS's own, without anything personal. */
export type EmployeeRow = Omit<OwnEmployee, 'email'>;

/** The HRIS's own tables, read and edited as somebody over there would. */
export interface HrisTables {
  employees(): Promise<EmployeeRow[]>;
  count(table: string): Promise<number>;
  readCity(id: string): Promise<unknown>;
  /** HR corrects a number, and the city with it. */
  edit(id: string, values: { number: string; city: string }): Promise<void>;
  close(): Promise<void>;
}

export function openTables(url: string): HrisTables {
  const database = openSqlDatabase(url, { create: true });
  const known = new Set<string>();
  /** The connector makes them when it first connects. */
  const isMade = async (table: string): Promise<boolean> => {
    if (!known.has(table)) for (const { name } of await database.kysely.introspection.getTables()) known.add(name);
    return known.has(table);
  };
  return {
    async employees() {
      if (!(await isMade('employees'))) return [];
      const { kysely } = database;
      const columns = ['id', 'employee_number', 'external_ref'];
      const rows = await kysely.selectFrom('employees').select(columns).orderBy('id').execute();
      return rows.map(({ id, employee_number: number, external_ref: reference }) => ({
        id: String(id),
        number: String(number),
        reference: typeof reference === 'string' ? reference : null,
      }));
    },
    async count(table) {
      if (!(await isMade(table))) return 0;
      const count = database.kysely.fn.countAll().as('n');
      return Number((await database.kysely.selectFrom(table).select(count).executeTakeFirst())?.['n']);
    },
    async readCity(id) {
      const query = database.kysely.selectFrom('employees').select('city').where('id', '=', id);
      return (await query.executeTakeFirst())?.['city'];
    },
    async edit(id, { number, city }) {
      // SQLite makes the number of the id, so another one has a column of its own.
      const column = database.dialect === 'sqlite' ? 'corrected_number' : 'employee_number';
      await database.kysely
        .updateTable('employees')
        .set({ [column]: number, city })
        .where('id', '=', id)
        .execute();
    },
    close: () => database.close(),
  };
}
