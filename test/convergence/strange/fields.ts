import type { Side } from '../../../src/hire/hire.ts';
import type { Random } from '../../../src/sandbox/random.ts';
import type { Column } from './hr.ts';
import type { Kind } from './values.ts';

/** One field of the mapping: its two places, and whose edits flow. */
export interface Field {
  name: string;
  kind: Kind;
  owner: Side | 'either';
  keeps?: Side;
  /** A field of the profile, or the label of a custom field. */
  at: { property: string } | { label: string };
  column: Column;
  /** It counts only while the candidate lives in Germany. */
  onlyHere?: boolean;
}

export const fields: readonly Field[] = [
  { name: 'city', kind: 'text', owner: 'partner', at: { property: 'city' }, column: 'city' },
  { name: 'mail', kind: 'email', owner: 'either', keeps: 'partner', at: { property: 'email' }, column: 'mail' },
  { name: 'costCentre', kind: 'text', owner: 'hris', at: { label: 'Cost centre' }, column: 'cost_centre' },
  { name: 'level', kind: 'select', owner: 'either', keeps: 'partner', at: { label: 'Level' }, column: 'level' },
  { name: 'shifts', kind: 'multi-select', owner: 'either', keeps: 'hris', at: { label: 'Shifts' }, column: 'shifts' },
  { name: 'hours', kind: 'number', owner: 'either', keeps: 'partner', at: { label: 'Hours' }, column: 'hours' },
  { name: 'pay', kind: 'number', owner: 'hris', at: { label: 'Pay' }, column: 'pay' },
  { name: 'account', kind: 'digits', owner: 'either', keeps: 'hris', at: { label: 'Account' }, column: 'account' },
  { name: 'badge', kind: 'checkbox', owner: 'hris', at: { label: 'Badge' }, column: 'badge' },
  { name: 'end', kind: 'date', owner: 'either', keeps: 'hris', at: { label: 'End' }, column: 'probation_end' },
  { name: 'notes', kind: 'textarea', owner: 'either', keeps: 'hris', at: { label: 'Notes' }, column: 'notes' },
  { name: 'desk', kind: 'text', owner: 'partner', at: { label: 'Desk' }, column: 'desk', onlyHere: true },
];

/** A custom field that no rule names at first. */
export const SPARE = 'Spare';

/** Another owner, another field, another column, or a rule fewer. */
export function drawFields(all: readonly Field[], random: Random): Field[] {
  return all
    .filter(({ name }) => name === 'city' || random() < 0.9)
    .map((field): Field => {
      if (field.name === 'costCentre' && random() < 0.4) return { ...field, at: { label: SPARE } };
      if (field.name === 'notes' && random() < 0.4) return { ...field, column: 'spare' };
      if (field.name !== 'level' || random() < 0.5) return field;
      return random() < 0.5 ? { ...field, keeps: 'hris' } : { ...field, owner: 'hris' };
    });
}

/** The same rule for the same two places. */
export function isOne(one: Field, other: Field): boolean {
  return one.name === other.name && one.column === other.column && JSON.stringify(one.at) === JSON.stringify(other.at);
}

/** As a mapping file says it. */
export function ruleOf({ name, owner, keeps, at, onlyHere }: Field): string {
  const from = 'property' in at ? `candidate.${at.property}` : `"candidate.customFields[${at.label}]"`;
  if (onlyHere === true) return `  ${name}: { from: ${from}, when: [{ path: candidate.country, equals: DE }] }`;
  const conflict = owner === 'either' ? `, conflict: ${keeps ?? 'partner'}` : '';
  return `  ${name}: { from: ${from}, direction: both, owner: ${owner}${conflict} }`;
}
