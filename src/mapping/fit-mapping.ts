import type { DescribedField, FieldDef } from '../hris/port.ts';
import type { CompiledField } from './compile-rule.ts';
import { fitValue } from './fit-value.ts';
import type { Mapping } from './load-mapping.ts';

/** Why a mapping does not fit the fields of the HR system as they are there now. */
export interface Misfit {
  field: string;
  /** What, where and the next step. */
  text: string;
}

/**
 * A mapping within the bounds that the HR system itself names: each rule with the narrower of both lengths, values and
 * decimals, so that a record which would be cut or rounded is refused by name. What no record could fit is a misfit.
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

/** What a column of the HR system's type takes without changing it. Text into a number would lose leading zeros. */
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
  // Whether the field is there at all is what the probe asks.
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

/** What stands in the mapping itself. */
function fixedValues({ constant, fallback, lookup }: CompiledField): (string | number | boolean)[] {
  return [constant, fallback, ...Object.values(lookup ?? {})].filter((one) => one !== undefined);
}

/** Fields without which nothing is created, and that no rule fills. */
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
