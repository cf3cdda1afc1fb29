import type { FieldValue } from '../../src/hire/hire.ts';
import type { CustomFieldInput } from '../../src/partner/contract/custom-fields.ts';
import type { Random } from '../../src/sandbox/random.ts';

/** One field of the two-way set: who owns it, and where it stands on both sides. */
export interface TwoWayField {
  name: string;
  column: string;
  type: 'text' | 'number' | 'date' | 'boolean' | 'list';
  owner: 'partner' | 'hris' | 'either';
  conflict?: 'partner' | 'hris';
  /** A field of the candidate's profile, or the label and type of a custom field. */
  at: { property: string } | { label: string; fieldType: string; options?: string[] };
  /** A value nobody wrote before; null empties the field. */
  value: (random: Random, nth: number) => FieldValue;
}

const LEVELS = ['Junior', 'Middle', 'Senior', 'Lead', 'Principal', 'Fellow'];
const SHIFTS = ['Early', 'Late', 'Night', 'Weekend'];
const ADDRESSES = (nth: number): string => `Street ${nth}`;

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const orNull = (random: Random, value: FieldValue): FieldValue => (random() < 0.15 ? null : value);
const some = (random: Random): string[] => SHIFTS.filter(() => random() < 0.5);

/** Every type of custom field, a field of the profile, and every owner. */
export const twoWayFields: readonly TwoWayField[] = [
  {
    name: 'city',
    column: 'city',
    type: 'text',
    owner: 'partner',
    at: { property: 'city' },
    value: (random, nth) => orNull(random, ADDRESSES(nth)),
  },
  {
    name: 'costCentre',
    column: 'cost_centre',
    type: 'text',
    owner: 'hris',
    at: { label: 'Cost centre', fieldType: 'text' },
    value: (random, nth) => orNull(random, `CC-${nth}`),
  },
  {
    name: 'level',
    column: 'level',
    type: 'text',
    owner: 'either',
    conflict: 'partner',
    at: { label: 'Level', fieldType: 'select', options: LEVELS },
    value: (random) => orNull(random, pick(random, LEVELS)),
  },
  {
    name: 'shifts',
    column: 'shifts',
    type: 'list',
    owner: 'either',
    conflict: 'hris',
    at: { label: 'Shifts', fieldType: 'multi-select', options: SHIFTS },
    value: (random) => orNull(random, some(random)),
  },
  {
    name: 'hours',
    column: 'hours',
    type: 'number',
    owner: 'either',
    conflict: 'partner',
    at: { label: 'Hours', fieldType: 'number' },
    value: (random, nth) => orNull(random, nth + 0.5),
  },
  {
    name: 'badge',
    column: 'badge',
    type: 'boolean',
    owner: 'hris',
    at: { label: 'Badge', fieldType: 'checkbox' },
    value: (random) => random() < 0.5,
  },
  {
    name: 'probationEnd',
    column: 'probation_end',
    type: 'date',
    owner: 'partner',
    at: { label: 'Probation end', fieldType: 'date' },
    value: (_random, nth) => new Date(Date.UTC(2026, 0, 1 + nth)).toISOString().slice(0, 10),
  },
  {
    name: 'notes',
    column: 'notes',
    type: 'text',
    owner: 'either',
    conflict: 'hris',
    at: { label: 'Notes', fieldType: 'textarea' },
    value: (random, nth) => orNull(random, `note ${nth}\nzweite Zeile äöü`),
  },
];

/** The same of jobs, of which the partner lets custom fields alone be edited. */
export const positionFields: readonly TwoWayField[] = twoWayFields.map((field) =>
  'property' in field.at ? { ...field, at: { label: 'Place', fieldType: 'text' } } : field,
);

/** The tenant's mapping of these fields. */
export function mappingText(fields = twoWayFields, entity = 'candidate'): string {
  const rules = fields.map(({ name, owner, conflict, at }) => {
    const from = 'property' in at ? `${entity}.${at.property}` : `"${entity}.customFields[${at.label}]"`;
    const policy = conflict === undefined ? '' : `, conflict: ${conflict}`;
    return `  ${name}: { from: ${from}, direction: both, owner: ${owner}${policy} }`;
  });
  return `fields:\n${rules.join('\n')}\n`;
}

/** Text that is equal where two values mean the same: no value, an empty text and an empty list are one. */
export function comparable(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'empty' : JSON.stringify([...value].sort());
  return JSON.stringify(value);
}

/** How an edit at the partner is sent. */
export function asInput(value: FieldValue): CustomFieldInput {
  return value;
}
