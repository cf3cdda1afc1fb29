import { createRequire } from 'node:module';
import type TableClass from 'cli-table3';
import type { PlanView } from '../operator/plan-view.ts';
import type { FieldChange } from '../store/foreign-writes.ts';

/**
 * What a terminal would obey, besides a line break and a colour. The name of an event, for one, is whatever the partner
 * sent.
 */
const CONTROL = /(?!\p{Cc}\[\d{1,2}m)[^\P{Cc}\n]/gu;

/** Aligned rows below a head; plain characters, so that the output can be piped and searched. */
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
  // Loaded with the first table: `--help` and most processes print none.
  const Table = createRequire(import.meta.url)('cli-table3') as typeof TableClass;
  const table = new Table({
    head: [...head],
    chars: { ...chars, ...inner },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => row.map((cell) => String(cell).replaceAll(CONTROL, '?'))));
  return table.toString();
}

/** Reports what a command did: as text, or as facts with --json. */
export function say({ json }: { json?: boolean | undefined }, facts: object, text: string): void {
  if (json === true) printJson(facts);
  else process.stdout.write(text);
}

/** The most rows that are printed. */
const MOST_LISTED = 200;

/** The store query's filter: one row more than is printed, to know whether there are more. */
export function listedFilter({ tenant, json }: { tenant?: string; json?: boolean }) {
  return {
    ...(tenant === undefined ? {} : { tenantId: tenant }),
    ...(json === true ? {} : { limit: MOST_LISTED + 1 }),
  };
}

/** A table of at most `MOST_LISTED` rows, with a note if there are more. */
export function renderListed(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const more = rows.length > MOST_LISTED ? '\n... and more; narrow the list with options, or use --json' : '';
  return `${renderTable(head, rows.slice(0, MOST_LISTED))}${more}\n`;
}

/** Text in lines of at most 80 columns; lines after the first begin with `indent`. Longer words stay whole. */
export function folded(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > 80 && line.trim() !== '') {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}

/** Writes a value to standard output, for scripts. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** At most this many records are shown; `--json` has all. */
const MOST_SHOWN = 20;

export function renderPlan({ subject, mapping, hash, read, records, notes }: PlanView): string {
  const by = mapping === null ? '' : `, mapping ${mapping.slice(0, 12)}`;
  const found = records.length === 0 ? 'nothing to write' : `${records.length} to write`;
  const head = `${subject}: ${read} read${by}; ${found}\n`;
  const rows = records
    .slice(0, MOST_SHOWN)
    .flatMap(({ record, target, kind, why, changes }) =>
      Object.entries(changes).map(([field, change], at) => [
        ...(at === 0 ? [record, `${kind} ${target}`] : ['', '']),
        field,
        renderChange(change),
        at === 0 ? why : '',
      ]),
    );
  const table = rows.length === 0 ? '' : `\n${renderTable(['record', 'write', 'field', 'change', 'why'], rows)}\n`;
  const more = records.length > MOST_SHOWN ? `... and ${records.length - MOST_SHOWN} more; --json shows all\n` : '';
  const left = notes.map(({ record, what, reason }) => `${record}: ${what}: ${reason}\n`).join('');
  const next = hash === undefined ? '' : `\nTo write exactly this: hirebridge apply ${hash.slice(0, 12)}\n`;
  return `${head}${table}${more}${left}${next}`;
}

export function renderChange(change: FieldChange): string {
  return 'old' in change ? `${text(change.old)} -> ${text(change.new)}` : text(change.new);
}

function text(value: unknown): string {
  return value === null || value === undefined ? 'empty' : JSON.stringify(value);
}
