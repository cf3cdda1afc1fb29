import type { DescribedField, FieldDef } from '../hris/port.ts';
import { foldLabel } from '../in-words.ts';
import type { FieldDefinition } from '../store/fields.ts';
import type { Value } from '../values/transforms.ts';
import type { CompiledField } from './compile-rule.ts';
import { evaluateField } from './evaluate.ts';
import { fitValue } from './fit-value.ts';
import type { Mapping } from './load-mapping.ts';

/** Why a mapping does not fit the HR system's current fields. */
export interface Misfit {
  field: string;
  /** The fault, its place, and the next step. */
  text: string;
}

/**
 * Narrows a mapping to the bounds that the HR system states: each rule gets the narrower of both lengths, values and
 * decimals, so that a record that would be cut or rounded is refused by name. A rule that no record could satisfy is a
 * misfit.
 */
export function fitMapping(
  mapping: Mapping,
  described: readonly DescribedField[],
): { mapping: Mapping; misfits: Misfit[] } {
  if (described.length === 0) return { mapping, misfits: [] };
  const fields = mapping.fields.map((field) => narrow(field, described));
  const misfits = mapping.fields.flatMap((field, index) => misfitsOf(field, described, fields[index] ?? field));
  return { mapping: { ...mapping, fields }, misfits: [...misfits, ...unfilled(mapping, described)] };
}

function narrow(field: CompiledField, described: readonly DescribedField[]): CompiledField {
  const there = described.find(({ key }) => key === field.target);
  if (there === undefined) return field;
  const { maxLength, decimals, options } = there;
  const lengths = [field.def.maxLength, maxLength].filter((one) => one !== undefined);
  const allowed = field.def.options?.filter((one) => options?.includes(one) !== false) ?? options;
  const def: FieldDef = {
    ...field.def,
    required: field.def.required || there.required,
    ...(lengths.length === 0 ? {} : { maxLength: Math.min(...lengths) }),
    ...(decimals === undefined ? {} : { decimals }),
    ...(allowed === undefined ? {} : { options: allowed }),
  };
  return { ...field, def, required: field.required || there.required };
}

/** Column types of the HR system that take each type unchanged. Text in a number column would lose leading zeros. */
const TAKEN: Record<FieldDef['type'], ReadonlyArray<DescribedField['type']>> = {
  text: ['text', 'date', 'other'],
  number: ['number', 'text', 'other'],
  date: ['date', 'text', 'other'],
  boolean: ['boolean', 'number', 'text', 'other'],
  list: ['text', 'other'],
};

function misfitsOf(field: CompiledField, described: readonly DescribedField[], fitted: CompiledField): Misfit[] {
  const { target, def, at } = field;
  const there = described.find(({ key }) => key === target);
  const misfit = (text: string): Misfit => ({ field: target, text: `${at.file}:${at.line}:${at.column} ${text}` });
  // The probe checks whether the field exists at all.
  if (there === undefined) return [];
  if (!TAKEN[def.type].includes(there.type))
    return [
      misfit(
        `"${target}" is of type ${def.type}, and ${there.label} of the HR system is of type ${there.type}, which ` +
          `would change its values. Write its type there (${there.type}) under hris.fields, or name another column.`,
      ),
    ];
  return fixedValues(field).flatMap((value) => {
    const result = fitValue(fitted.def, value, `"${String(value)}"`);
    return 'code' in result ? [misfit(`${result.text} [${result.code}]`)] : [];
  });
}

/** Values written in the mapping itself; those of a list are its items. */
function fixedValues({ constant, fallback, lookup, def }: CompiledField): Value[] {
  const values = [constant, fallback, ...Object.values(lookup ?? {})].filter((one) => one !== undefined);
  return def.type === 'list' ? values.map((one) => [String(one)]) : values;
}

/** Required fields that no rule fills. */
function unfilled({ fields }: Mapping, described: readonly DescribedField[]): Misfit[] {
  return described
    .filter(({ key, required }) => required && !fields.some(({ target }) => target === key))
    .map(({ key, label, isField }) => ({
      field: key,
      text:
        `${label} is required by the HR system, and nothing fills it. ` +
        (isField ? 'Add a rule for it to the mapping.' : 'Name it under hris.fields, and add a rule to the mapping.'),
    }));
}

/** Options of the partner's custom fields that a mapping cannot carry over, each with the reason. */
export function optionGaps({ fields }: Mapping, defined: readonly FieldDefinition[]): string[] {
  return fields.flatMap((field) => {
    const [path, ...more] = field.from;
    // With several sources, a condition or a table, the result depends on more than the option.
    if (path === undefined || !('customField' in path) || field.table !== undefined) return [];
    if (more.length + field.when.length > 0) return [];
    const wanted = defined.find(
      ({ entity, id, label }) =>
        entity === path.source && (id === path.customField || foldLabel(label) === foldLabel(path.customField)),
    );
    return (wanted?.options ?? []).flatMap((option) => {
      const value = wanted?.type === 'multi-select' ? [option] : option;
      const customFields = { [wanted?.id ?? '']: { label: wanted?.label, value } };
      const result = evaluateField(field, { [path.source]: { customFields } });
      return 'code' in result ? [`option "${option}": ${result.text}`] : [];
    });
  });
}
