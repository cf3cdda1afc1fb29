import type { DescribedField, FieldDef } from '../port.ts';
import { readCsv, unreadable } from './csv.ts';
import type { Sftp } from './sftp-hris.ts';

/** What the customer says of its columns, if it does: column, type, required, options, max_length. */
const COLUMNS = 'columns.csv';
const MOST_BYTES = 1_000_000;
const TYPES: readonly string[] = ['text', 'number', 'date', 'boolean', 'list'] satisfies FieldDef['type'][];

/** The columns of a request as the customer describes them; nothing where there is no such file. */
export async function describeColumns({ session, options }: Sftp, signal: AbortSignal): Promise<DescribedField[]> {
  const { requests } = options.folders;
  if (!(await session.list(requests, signal)).some(({ name }) => name === COLUMNS)) return [];
  const path = `${requests}/${COLUMNS}`;
  const { rows } = readCsv(await session.read(path, MOST_BYTES, signal), { name: path, delimiter: options.delimiter });
  const keys = new Map(Object.entries(options.columns).map(([key, { column }]) => [column, key]));
  return rows.map((row, index) => {
    const { column: label, type = 'text' } = row;
    if (label === undefined || label === '') throw unreadable(path, `record ${index + 1} has no column`);
    const key = keys.get(label);
    return {
      key: key ?? label,
      label,
      isField: key !== undefined,
      type: TYPES.includes(type) ? (type as FieldDef['type']) : 'other',
      required: /^(true|yes|1)$/i.test(row['required'] ?? ''),
      ...(row['options'] ? { options: row['options'].split('|') } : {}),
      ...(row['max_length'] ? { maxLength: Number(row['max_length']) } : {}),
    };
  });
}
