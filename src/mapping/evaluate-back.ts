import type { FieldValue } from '../hire/hire.ts';
import type { Value } from '../values/transforms.ts';
import { isEmpty, undoTransforms } from './apply-transforms.ts';
import type { CompiledField } from './compile-rule.ts';
import type { MappingProblem, Refusal } from './evaluate.ts';
import type { Mapping } from './load-mapping.ts';
import type { SourcePath } from './source-fields.ts';

/** The value that one place at the partner should hold. */
export interface BackValue {
  field: string;
  path: SourcePath;
  value: Value;
}

/**
 * Applies the rules that flow to the partner backwards to a record of the HR system. Pure. An empty field leaves the
 * partner's value alone; any problem means that a person must look.
 */
export function evaluateBack(
  mapping: Mapping,
  record: Readonly<Record<string, FieldValue | undefined>>,
): { values: BackValue[]; problems: MappingProblem[] } {
  const values: BackValue[] = [];
  const problems: MappingProblem[] = [];
  for (const field of mapping.back) {
    const [path] = field.from;
    const value = record[field.target] ?? undefined;
    if (path === undefined || isEmpty(value)) continue;
    const result = valueBack(field, value);
    if ('code' in result) problems.push({ field: field.target, ...result });
    else if (result.value !== undefined) values.push({ field: field.target, path, value: result.value });
  }
  return { values, problems };
}

/** Applies one rule backwards: returns the partner's value from which the HR system gets this value. */
export function valueBack(
  { target, lookup, transforms }: CompiledField,
  value: Value,
): { value: Value | undefined } | Refusal {
  const known = lookup === undefined ? value : keyOf(lookup, value);
  if (known === undefined)
    return {
      code: 'NOT_IN_LOOKUP',
      text: `"${target}" holds a value that its lookup does not give. Add it to the mapping, or correct it there.`,
    };
  const done = undoTransforms(transforms, known);
  if (!('code' in done)) return done;
  return {
    code: done.code,
    text: `"${target}" ${done.text}. Correct it in the HR system, or the rule in the mapping.`,
  };
}

/** Finds the lookup key; loading the file proved that there is only one. */
function keyOf(lookup: NonNullable<CompiledField['lookup']>, value: Value): string | undefined {
  return Object.keys(lookup).find((key) => String(lookup[key]) === String(value));
}
