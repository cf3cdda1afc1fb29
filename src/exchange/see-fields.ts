import { createHash } from 'node:crypto';
import type { Change, EmployeeFields, FieldValue, Side } from '../hire/hire.ts';
import { readCell } from '../hris/read-cell.ts';
import { foldLabel, normalized } from '../in-words.ts';
import { type CompiledField, pathsRead } from '../mapping/compile-rule.ts';
import { decodeCustomFields, encodeValue } from '../mapping/custom-fields.ts';
import { applies, evaluateField, type Refusal, valueBack } from '../mapping/evaluate.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { bareText, type MappingSources, type SourcePath } from '../mapping/source-fields.ts';
import type { CustomFieldValue } from '../partner/contract/custom-fields.ts';
import type { FieldDefinition } from '../store/fields.ts';
import { isEmpty, type Value } from '../values/transforms.ts';

/** One place in a partner record and the value sent for it; null clears a custom field. */
export type PartnerValue = { customFieldId: string; sent: Value | null } | { property: string; sent: Value };

/** Form of a field without a value. */
export const EMPTY_FORM = '';

/** One side's value of a field, in the HR system's notation. `refusal` says why the other side cannot hold it. */
export interface SideValue {
  seen: Seen;
  value: FieldValue;
  refusal?: Refusal;
  /** The exact form, letter by letter, if it differs from the normalised form. */
  exact?: string;
  /** The form that the side really shows, if it counts as holding another one. */
  shown?: string | undefined;
}

/** One field of a pair as both sides show it. */
export interface SeenField {
  field: CompiledField;
  flow: FieldFlow;
  partner: SideValue;
  hris: SideValue & {
    /** The partner's value that gives this value; null if empty. */
    atPartner?: Value | null;
  };
  /** Why one side does not hold the value that was written there. */
  notKept?: string;
}

/** Every field of the mapping, in either direction. */
export function exchangedFields({ fields, back }: Pick<Mapping, 'fields' | 'back'>): CompiledField[] {
  return [...new Map([...fields, ...back].map((field) => [field.target, field])).values()];
}

/** A pair's records as both sides show them. */
interface ShownPair {
  pairId: string;
  sources: MappingSources;
  record: { fields: EmployeeFields; unreadable?: Readonly<Record<string, string>> };
  /** The partner's custom fields. */
  defined: readonly FieldDefinition[];
}

/** Reads every field of a pair on both sides, in the HR system's notation. Pure. */
export function seeFields(mapping: Mapping, { pairId, sources, record, defined }: ShownPair): SeenField[] {
  const goesBack = new Set(mapping.back.map(({ target }) => target));
  return exchangedFields(mapping)
    .filter((field) => applies(field, sources) !== false)
    .map((field) => {
      const salt = saltOf(pairId, field.target);
      return {
        field,
        flow: flowOf(field),
        partner: seePartner(field, salt, sources),
        hris: seeHris(field, salt, { record, goesBack: goesBack.has(field.target), defined }),
      };
    });
}

/** Forms of an HR record's values, by field; unreadable fields are left out. Pure. */
export function hrisForms(
  mapping: Mapping,
  { pairId, record, defined }: Omit<ShownPair, 'sources'>,
): Map<string, string> {
  const forms = mapping.back.map((field) => {
    const { seen } = seeHris(field, saltOf(pairId, field.target), { record, goesBack: true, defined });
    return [field.target, 'form' in seen ? seen.form : undefined] as const;
  });
  return new Map(forms.filter((one): one is [string, string] => one[1] !== undefined));
}

/** Form of a custom field's value as the partner lists it; undefined if it is unreadable. Pure. */
export function storedForm(
  mapping: Mapping,
  target: string,
  { pairId, stored, defined }: Pick<ShownPair, 'pairId' | 'defined'> & { stored: CustomFieldValue },
): string | undefined {
  const field = mapping.back.find((one) => one.target === target);
  const [path] = field?.from ?? [];
  if (field === undefined || path === undefined) return undefined;
  const record = { customFields: { [stored.customFieldId]: { value: stored.value } } };
  const { seen } = seePartner(field, saltOf(pairId, target), decodeCustomFields({ [path.source]: record }, defined));
  return 'form' in seen ? seen.form : undefined;
}

function saltOf(pairId: string, target: string): string {
  return JSON.stringify([pairId, target]);
}

/** A field that flows one way is owned by the side it comes from. */
export function flowOf({ rule, amends }: CompiledField): FieldFlow {
  const { direction, owner, conflict, report } = rule;
  if (amends !== undefined) return { owner: 'partner', amends };
  return { owner: owner ?? (direction === 'toPartner' ? 'hris' : 'partner'), conflict, report };
}

/**
 * If the HR system's value may flow to the partner, a required field that is empty at the partner is waiting to be
 * filled.
 */
function seePartner(field: CompiledField, salt: string, sources: MappingSources): SideValue {
  // Values of a record that the rule reads and that is not shown must not count as emptied.
  if (pathsRead(field).some(({ source }) => sources[source] === undefined))
    return { seen: { unreadable: 'RECORD_NOT_SHOWN' }, value: null };
  const result = evaluateField(field, sources);
  const isToBeFilled = 'code' in result && result.code === 'MISSING' && flowOf(field).owner !== 'partner';
  if (isToBeFilled) return { ...seenAs(field, salt, null), value: null };
  if ('code' in result) return { seen: { unreadable: result.code }, value: null, refusal: result };
  const value = result.value ?? null;
  // A value that could not be read back from the HR system would quarantine the field there for good.
  const kept = readCell(field.def.type, value);
  if ('wrong' in kept) return { seen: { unreadable: kept.wrong }, value: null };
  return { ...seenAs(field, salt, value), value };
}

/**
 * Two spellings of one value (a phone number with blanks) are equal: a value that flows to the partner is compared as
 * it would come back from there.
 */
function seeHris(
  field: CompiledField,
  salt: string,
  { record, goesBack, defined }: Pick<ShownPair, 'record' | 'defined'> & { goesBack: boolean },
): SeenField['hris'] {
  const value = record.fields[field.target];
  // A field that is not shown may not be empty.
  if (value === undefined)
    return { seen: { unreadable: record.unreadable?.[field.target] ?? 'NOT_SHOWN' }, value: null };
  const plain = { ...seenAs(field, salt, value), value };
  if (!goesBack) return plain;
  if (value === null || isEmpty(value)) return { ...plain, atPartner: null };
  const back = valueBack(field, value);
  if ('code' in back) return { ...plain, refusal: back };
  if (back.value === undefined) return { ...plain, atPartner: null };
  const said = sayToPartner(field.from[0], back.value, defined);
  // As the partner would store it: `1200.50` in a number field comes back as 1200.5.
  const stored = 'code' in said ? back.value : (said.sent ?? back.value);
  const again = evaluateField(field, sourcesWith(field.from[0], stored));
  if ('code' in again) return { ...plain, refusal: again };
  return { ...seenAs(field, salt, again.value ?? null), value, atPartner: back.value };
}

function seenAs(field: CompiledField, salt: string, value: FieldValue): Pick<SideValue, 'seen' | 'exact'> {
  const form = formOf(salt, plainly(field, value));
  const exact = formOf(salt, value);
  return { seen: { form, isEmpty: form === EMPTY_FORM }, ...(exact === form ? {} : { exact }) };
}

/**
 * A hash that is equal for equal values of one field, so that no personal value is stored for comparison. `salt` names
 * the field, so that equal hashes do not reveal who shares a value. The items of a list have no order.
 */
export function formOf(salt: string, value: FieldValue | undefined): string {
  if (value === null || isEmpty(value)) return EMPTY_FORM;
  const plain = Array.isArray(value) ? [...new Set(value)].sort() : value;
  return createHash('sha256')
    .update(JSON.stringify([salt, plain]))
    .digest('base64url')
    .slice(0, 22);
}

/**
 * Removes what no side is known to keep: blanks around a text, one of two encodings of a letter, and capitals in a
 * candidate's e-mail address, which the hiring platform stores in lower case (section 2.3).
 */
function plainly(field: CompiledField, value: FieldValue): FieldValue {
  if (Array.isArray(value)) return value.map((item) => bareText(normalized(item, 'NFC')));
  if (typeof value !== 'string') return value;
  const text = bareText(normalized(value, 'NFC'));
  const [path] = field.from;
  const isAddress = path !== undefined && 'field' in path && path.source === 'candidate' && path.field === 'email';
  return isAddress ? text.toLowerCase() : text;
}

/** Partner records that hold only this value. */
function sourcesWith(path: SourcePath | undefined, value: Value): MappingSources {
  if (path === undefined) return {};
  const record = 'customField' in path ? { customFields: { [path.customField]: { value } } } : { [path.field]: value };
  return { [path.source]: record };
}

/** Encodes a value as its place at the partner takes it now, or says why it cannot. */
export function sayToPartner(
  path: SourcePath | undefined,
  value: Value | null,
  defined: readonly FieldDefinition[],
): PartnerValue | { code: string } {
  if (path === undefined) return { code: 'NOT_INVERTIBLE' };
  if (!('customField' in path)) {
    const { field: property } = path;
    if (value !== null) return { property, sent: Array.isArray(value) ? value : String(value) };
    // Profile fields take no null; an empty text empties them, except for fields that must hold an address or a date.
    return ['email', 'dateOfBirth'].includes(property) ? { code: 'CANNOT_BE_EMPTY' } : { property, sent: '' };
  }
  const definition = customFieldOf(path, defined);
  if (definition === undefined) return { code: 'CUSTOM_FIELD_UNCLEAR' };
  if (value === null) return { customFieldId: definition.id, sent: null };
  const encoded = encodeValue(definition, value);
  return 'wrong' in encoded ? { code: 'VALUE_MISFIT' } : { customFieldId: definition.id, sent: encoded.sent };
}

/**
 * Finds the field by id, or by its label if only one field has it. A job may have a custom field with the same label.
 */
export function customFieldOf(
  { source, customField: wanted }: { source: string; customField: string },
  defined: readonly FieldDefinition[],
): FieldDefinition | undefined {
  const entity = source === 'jobCandidate' ? 'candidate' : source;
  const own = defined.filter((one) => one.entity === entity);
  const byId = own.find(({ id }) => id === wanted);
  const hits = byId ? [byId] : own.filter(({ label }) => foldLabel(label) === foldLabel(wanted));
  return hits.length === 1 ? hits[0] : undefined;
}

/** Whether an exchange only amends employees. */
export function amendsOnly({ fields }: Pick<Mapping, 'fields'>): boolean {
  return fields.some(({ amends }) => amends !== undefined);
}

/** Forms of what the partner showed when the employee was made, so that a change before the first look counts. */
export function hiredForms({ fields }: Pick<Mapping, 'fields'>, pairId: string, hired: Change): Record<string, string> {
  if (hired.kind === 'link') return {};
  const known = fields.filter(({ target }) => hired.kind === 'create' || target in hired.fields);
  return Object.fromEntries(
    known.map((field) => {
      const plain = plainly(field, hired.fields[field.target] ?? null);
      return [field.target, formOf(saltOf(pairId, field.target), plain)];
    }),
  );
}

/** The day from which an amendment counts: today, or the first day of work if that is later. */
export function amendedFrom(today: string, held: EmployeeFields, written: EmployeeFields): string {
  const start = written['startDate'] ?? held['startDate'];
  return typeof start === 'string' && start > today ? start : today;
}

/** Whose edits flow, according to the mapping. */
export interface FieldFlow {
  owner: Side | 'either';
  /** For owner `either`: whose value stays if both sides changed it. */
  conflict?: Side | 'hold' | undefined;
  /** For a single owner: an edit of the other side stays and is reported, instead of being put back. */
  report?: boolean | undefined;
  /**
   * Only changes at the partner count, compared with its earlier value: a person is asked, or the change is written.
   */
  amends?: Amends | undefined;
}

type Amends = 'ask' | 'apply';

/**
 * One side's value as just read. Two forms are equal exactly if the values are, so a form may be a hash. `unreadable`:
 * no comparable value, with the code of the reason.
 */
export type Seen = { form: string; isEmpty: boolean } | { unreadable: string };

/** A person's decision about exactly these two values. */
export interface Decision {
  partner: string;
  hris: string;
  keep: Side;
}

export interface FieldState {
  /** The form both sides last agreed on; undefined if they never did. */
  base: string | undefined;
  partner: Seen;
  hris: Seen;
  decided?: Decision | undefined;
}

/**
 * agreed: nothing to write; the partner's value becomes the base. write: `to` gets the other side's value; `over` says
 * that this replaces a person's value, and why. diverged: the values differ and stay so. hold: a person is asked.
 */
export type Merge =
  | { verdict: 'agreed' }
  | { verdict: 'write'; to: Side; over?: 'put-back' | 'conflict' }
  | { verdict: 'diverged' }
  | { verdict: 'hold' }
  | { verdict: 'quarantine'; code: string };

type Readable = Record<Side, Extract<Seen, { form: string }>>;

/**
 * Decides about one field of a pair of records. Pure. Only values count, never modification times, because the partner
 * shows none for custom field values. Our own writes come back equal to the base, so they are not edits.
 */
export function mergeField(flow: FieldFlow, { base, partner, hris, decided }: FieldState): Merge {
  if ('unreadable' in partner) return { verdict: 'quarantine', code: partner.unreadable };
  if ('unreadable' in hris) return { verdict: 'quarantine', code: hris.unreadable };
  if (partner.form === hris.form) return { verdict: 'agreed' };
  const sides = { partner, hris };
  if (flow.amends !== undefined) return mergeAmended(flow.amends, sides, base, decided);
  if (flow.owner !== 'either') return mergeOwned(flow.owner, flow.report === true, sides, base);
  return mergeShared(flow.conflict, sides, base, decided);
}

export function otherSide(side: Side): Side {
  return side === 'partner' ? 'hris' : 'partner';
}

function mergeOwned(owner: Side, report: boolean, sides: Readable, base: string | undefined): Merge {
  const to = otherSide(owner);
  const isEdited = isEdit(sides[to], base);
  // At the first comparison, an empty field is no edit: it must not wipe out the other side's value.
  if (base === undefined && sides[owner].isEmpty) return { verdict: 'diverged' };
  if (!isEdited) return { verdict: 'write', to };
  const ownerStands = base === undefined || sides[owner].form === base;
  return report && ownerStands ? { verdict: 'diverged' } : { verdict: 'write', to, over: 'put-back' };
}

function mergeShared(
  conflict: FieldFlow['conflict'],
  sides: Readable,
  base: string | undefined,
  decided: Decision | undefined,
): Merge {
  if (!isEdit(sides.partner, base)) return { verdict: 'write', to: 'partner' };
  if (!isEdit(sides.hris, base)) return { verdict: 'write', to: 'hris' };
  const keep = answered(sides, decided) ?? conflict;
  if (keep === undefined || keep === 'hold') return { verdict: 'hold' };
  return { verdict: 'write', to: otherSide(keep), over: 'conflict' };
}

/**
 * After the hire, the HR system owns its values. A change is written without asking only over the value that both sides
 * last agreed on; an emptied field is always a question.
 */
function mergeAmended(amends: Amends, sides: Readable, base: string | undefined, decided: Decision | undefined): Merge {
  const { partner, hris } = sides;
  if (base === undefined || partner.form === base) return { verdict: 'agreed' };
  const keep = answered(sides, decided);
  if (keep === 'hris') return { verdict: 'agreed' };
  if (keep === 'partner') return { verdict: 'write', to: 'hris', over: 'conflict' };
  const byItself = amends === 'apply' && hris.form === base && !partner.isEmpty;
  return byItself ? { verdict: 'write', to: 'hris' } : { verdict: 'hold' };
}

/** Which side a person decided to keep, if they decided about exactly these two values. */
function answered({ partner, hris }: Readable, decided: Decision | undefined): Side | undefined {
  return decided?.partner === partner.form && decided.hris === hris.form ? decided.keep : undefined;
}

/** Without a base, any value counts as a person's edit. */
function isEdit({ form, isEmpty }: Readable[Side], base: string | undefined): boolean {
  return base === undefined ? !isEmpty : form !== base;
}
