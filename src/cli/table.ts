import Table from 'cli-table3';

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
  const table = new Table({
    head: [...head],
    chars: { ...chars, ...inner },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => row.map(String)));
  return table.toString();
}
