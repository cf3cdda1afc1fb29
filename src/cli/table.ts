import { createRequire } from 'node:module';
import type TableClass from 'cli-table3';

/** Rows under a head, aligned; plain characters, so that it can be piped and grepped. */
export function renderTable(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const chars = {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
  };
  const inner = { left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' };
  // Loaded with the first table: `--help` and most processes draw none.
  const Table = createRequire(import.meta.url)('cli-table3') as typeof TableClass;
  const table = new Table({
    head: [...head],
    chars: { ...chars, ...inner },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => row.map(String)));
  return table.toString();
}

/** So many rows are printed. */
const MOST_LISTED = 200;

/** What is asked of the store: one row more than is printed, so that it is known whether there are more. */
export function listedFilter({ tenant, json }: { tenant?: string; json?: boolean }) {
  return {
    ...(tenant === undefined ? {} : { tenantId: tenant }),
    ...(json === true ? {} : { limit: MOST_LISTED + 1 }),
  };
}

/** A table of at most `MOST_LISTED` rows, which says when there are more. */
export function renderListed(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const more = rows.length > MOST_LISTED ? '\n... and more; narrow it by its options, or use --json' : '';
  return `${renderTable(head, rows.slice(0, MOST_LISTED))}${more}\n`;
}
