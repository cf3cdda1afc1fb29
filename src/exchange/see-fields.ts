import type { EmployeeFields, FieldValue } from '../hire/employee.ts';
import { isEmpty } from '../mapping/apply-transforms.ts';
import type { CompiledField } from '../mapping/compile-rule.ts';
import { evaluateField, type Refusal } from '../mapping/evaluate.ts';
import { valueBack } from '../mapping/evaluate-back.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import type { MappingSources } from '../mapping/read-source.ts';
import type { SourcePath } from '../mapping/source-fields.ts';
import type { Value } from '../mapping/transforms.ts';
import type { FieldFlow, Seen } from '../plan/merge-field.ts';
import { EMPTY_FORM, formOf } from './form-of.ts';

/** What one side holds of a field, as the HR system writes it; `refusal` says why the other side cannot. */
export interface SideValue {
  seen: Seen;
  value: FieldValue;
  refusal?: Refusal;
}

/** One field of a pair as both sides show it. */
export interface SeenField {
  field: CompiledField;
  flow: FieldFlow;
  partner: SideValue;
  hris: SideValue & {
    /** What the partner's place would have to hold for this value; null where it is empty. */
    atPartner?: Value | null;
  };
}

/** Every field of the mapping, whichever way it flows. */
export function exchangedFields({ fields, back }: Pick<Mapping, 'fields' | 'back'>): CompiledField[] {
  return [...new Map([...fields, ...back].map((field) => [field.target, field])).values()];
}

/** Reads every field of a pair on both sides, in one form: the HR system's. Pure. */
export function seeFields(
  mapping: Mapping,
  pairId: string,
  sources: MappingSources,
  record: EmployeeFields,
): SeenField[] {
  const goesBack = new Set(mapping.back.map(({ target }) => target));
  return exchangedFields(mapping).map((field) => {
    const salt = saltOf(pairId, field.target);
    return {
      field,
      flow: flowOf(field),
      partner: seePartner(field, salt, sources),
      hris: seeHris(field, salt, { value: record[field.target] ?? null, goesBack: goesBack.has(field.target) }),
    };
  });
}

/** The form of a value of one pair's field. */
export function fieldForm(pairId: string, target: string, value: FieldValue): string {
  return formOf(saltOf(pairId, target), value);
}

function saltOf(pairId: string, target: string): string {
  return JSON.stringify([pairId, target]);
}

/** A field that flows one way is owned by the side it comes from. */
function flowOf({ rule, amends }: CompiledField): FieldFlow {
  const { direction, owner, conflict, report } = rule;
  if (amends !== undefined) return { owner: 'partner', amends };
  return { owner: owner ?? (direction === 'toPartner' ? 'hris' : 'partner'), conflict, report };
}

/** Where the HR system's value may come to the partner, a required field that is empty there is one to be filled. */
function seePartner(field: CompiledField, salt: string, sources: MappingSources): SideValue {
  const result = evaluateField(field, sources);
  const isToBeFilled = 'code' in result && result.code === 'MISSING' && flowOf(field).owner !== 'partner';
  if (isToBeFilled) return { seen: seenAs(EMPTY_FORM), value: null };
  if ('code' in result) return { seen: { unreadable: result.code }, value: null, refusal: result };
  const value = result.value ?? null;
  return { seen: seenAs(formOf(salt, value)), value };
}

/**
 * Two ways of writing one value (a phone number with blanks) are equal: a value that goes to the partner is compared
 * as it would come back from there.
 */
function seeHris(
  field: CompiledField,
  salt: string,
  { value, goesBack }: { value: FieldValue; goesBack: boolean },
): SeenField['hris'] {
  const plain = { seen: seenAs(formOf(salt, value)), value };
  if (!goesBack) return plain;
  if (value === null || isEmpty(value)) return { ...plain, atPartner: null };
  const back = valueBack(field, value);
  if ('code' in back) return { ...plain, refusal: back };
  if (back.value === undefined) return { ...plain, atPartner: null };
  const again = evaluateField(field, sourcesWith(field.from[0], back.value));
  if ('code' in again) return { ...plain, refusal: again };
  return { seen: seenAs(formOf(salt, again.value)), value, atPartner: back.value };
}

function seenAs(form: string): Seen {
  return { form, isEmpty: form === EMPTY_FORM };
}

/** Records of the partner that hold nothing but this value. */
function sourcesWith(path: SourcePath | undefined, value: Value): MappingSources {
  if (path === undefined) return {};
  const record = 'customField' in path ? { customFields: { [path.customField]: { value } } } : { [path.field]: value };
  return { [path.source]: record };
}
