import { sql } from 'kysely';
import type { Requisition } from '../port.ts';
import type { Row, SqlDatabase } from './database.ts';
import type { RequisitionTable } from './requisition-options.ts';
import { cellText, toFields } from './values.ts';

/** Every row of the requisitions table, in the order of its ids. */
export async function listRequisitions(
  { kysely }: Pick<SqlDatabase, 'kysely'>,
  table: RequisitionTable,
): Promise<Requisition[]> {
  const fields = Object.values(table.columns).map(({ column }) => column);
  const columns = sql.join([...new Set([table.idColumn, ...fields])].map((name) => sql.ref(name)));
  const { rows } = await sql<Row>`select ${columns} from ${sql.table(table.table)}
    order by ${sql.ref(table.idColumn)}`.execute(kysely);
  return rows.map((row) => ({ id: cellText(row[table.idColumn]), fields: toFields(row, table) }));
}
