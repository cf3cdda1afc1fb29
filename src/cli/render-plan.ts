import type { PlanView } from '../operator/plans/plan-view.ts';
import type { FieldChange } from '../store/foreign-writes.ts';
import { renderTable } from './table.ts';

/** So many records are shown one by one; `--json` has them all. */
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
