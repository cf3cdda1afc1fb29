import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { ConnectorError } from '../../errors.ts';

export type Cells = Record<string, string | null>;

/** RFC 4180 with a header; every value is quoted, and null is an empty unquoted cell, as Postgres' COPY reads it. */
export function writeCsv(rows: readonly Cells[], delimiter: string): Buffer {
  const columns = Object.keys(rows[0] ?? {});
  const records = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return Buffer.from(
    stringify(records, {
      delimiter,
      record_delimiter: '\r\n',
      quoted: true,
      quoted_empty: false,
      cast: { string: mark },
    }),
  );
}

/** Quotes an empty text as well; only null stays unquoted. */
function mark(value: string): { value: string; quoted_empty: boolean } {
  return { value, quoted_empty: true };
}

/** In a short file with very many records, each record takes far more memory than its bytes. */
const MOST_RECORDS = 500_000;

export interface CsvFile {
  columns: string[];
  rows: Record<string, string>[];
}

/** `name` is for the error about an invalid file; its content is never quoted. */
export function readCsv(bytes: Uint8Array, { name, delimiter }: { name: string; delimiter: string }): CsvFile {
  let columns: string[] = [];
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const rows = parse<Record<string, string>>(text, {
      bom: true,
      delimiter,
      skip_empty_lines: true,
      columns: (header: string[]) => {
        columns = header.map((column) => column.trim());
        return columns;
      },
      on_record: (record: Record<string, string>, { records }: { records: number }) => {
        if (records > MOST_RECORDS) throw unreadable(name, 'it has more than 500,000 records');
        return record;
      },
    });
    if (new Set(columns).size < columns.length) throw unreadable(name, 'a column is in its header twice');
    return { columns, rows };
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw unreadable(name, error instanceof TypeError ? 'it is not UTF-8' : reasonOf(error));
  }
}

/** csv-parse quotes the text that it failed on, so report only its code and line. */
function reasonOf(error: unknown): string {
  const { code = 'unknown', lines } = error as { code?: string; lines?: number };
  return `${code.toLowerCase().replaceAll('_', ' ')}${lines === undefined ? '' : `, line ${lines}`}`;
}

export function unreadable(name: string, why: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_UNREADABLE_FILE',
    action: 'reject',
    message: `The file ${name} cannot be read: ${why}. Correct it on the server, or take it and its .ready file away.`,
  });
}
