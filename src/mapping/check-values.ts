import type { FieldDef } from '../hris/port.ts';
import { didYouMean } from '../in-words.ts';
import { changedWords, type Problem, problemAt } from '../yaml/yaml-file.ts';
import type { PlacedRule } from './compile-rule.ts';
import { fitValue, KIND, lengthOf } from './fit-value.ts';

/** Parts of a rule with values as text. */
const VALUES = ['constant', 'default', 'lookup', 'when'];

/** Values written in the file are known now, so a value that the HR system would refuse or cut is refused now. */
export function checkValues(placed: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  return [
    ...checkFit(placed, fields),
    ...checkConditions(placed),
    ...VALUES.flatMap((key) => changedWords(placed.source, ['fields', placed.target, key])),
  ];
}

function checkFit({ target, rule, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find((field) => field.key === target);
  if (def === undefined) return [];
  type Given = [path: string[], value: string | number | boolean | undefined];
  const looked = Object.entries(rule.lookup ?? {}).map(([key, value]): Given => [['lookup', key], value]);
  const given: Given[] = [[['constant'], rule.constant], [['default'], rule.default], ...looked];
  return given.flatMap(([path, value]) => {
    const isEmpty = path[0] !== 'constant' && typeof value === 'string' && value.trim() === '';
    const empty = isEmpty
      ? 'is empty, and a field is written or left out. Write a value, or remove the line.'
      : undefined;
    const item = def.type === 'list' && path[0] !== 'constant' ? { ...def, type: 'text' as const } : def;
    const text = value === undefined ? undefined : (empty ?? refusalOf(value, item));
    return text === undefined ? [] : [problemAt(source, ['fields', target, ...path], text)];
  });
}

function refusalOf(value: string | number | boolean, def: FieldDef): string | undefined {
  const { key, options, maxLength } = def;
  const text = String(value);
  if (options !== undefined && !options.includes(text))
    return `"${text}" is not one of the values of "${key}". ${didYouMean(text, options)}`;
  if (maxLength !== undefined && lengthOf(text) > maxLength)
    return `is ${lengthOf(text)} characters long, and "${key}" holds ${maxLength}. Shorten it.`;
  const fitted = fitValue(def, value, 'the value');
  return 'code' in fitted ? `"${text}" is not ${KIND[def.type]}, which "${key}" takes. Correct it.` : undefined;
}

/** A condition on an empty text never holds, and its field would be left out of every record. */
function checkConditions({ target, rule, source }: PlacedRule): Problem[] {
  return (rule.when ?? []).flatMap(({ equals, in: oneOf = [] }, index) => {
    if (![equals, ...oneOf].some((one) => typeof one === 'string' && one.trim() === '')) return [];
    const at = ['fields', target, 'when', index, equals === undefined ? 'in' : 'equals'];
    return [problemAt(source, at, 'is empty, and an empty value equals nothing. Write present: false instead.')];
  });
}
