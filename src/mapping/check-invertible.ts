import type { FieldDef } from '../hris/port.ts';
import { type TransformName, transforms } from '../values/transforms.ts';
import { type Path, type Problem, problemAt } from '../yaml/yaml-file.ts';
import { applyTransforms, undoTransforms } from './apply-transforms.ts';
import { compileTransform } from './compile-rule.ts';
import { formatsOf, inverses } from './inverses.ts';
import { type PlacedRule, placeOfValue } from './placed-rule.ts';

/** A rule that goes to the partner is read backwards: every part of it must allow that, finite tables are proven. */
export function checkInvertible(placed: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find(({ key }) => key === placed.target);
  if (def === undefined) return [];
  return [...checkParts(placed), ...checkTransforms(placed, def), ...checkLookup(placed, def)];
}

function checkParts(placed: PlacedRule): Problem[] {
  const { from, constant, template, when, table, default: fallback } = placed.rule;
  const parts: [key: string, isThere: boolean, why: string][] = [
    ['constant', constant !== undefined, 'a constant is read from no place that could take a value'],
    ['template', template !== undefined, 'a template cannot be taken apart again'],
    ['from', Array.isArray(from), 'of several sources nobody knows which one to write'],
    ['when', when !== undefined, 'its conditions ask the partner, not the HR system'],
    ['table', table !== undefined, 'a table of the hiring platform is only read'],
    ['default', fallback !== undefined, 'a default stands for every value that is unknown or empty'],
  ];
  return parts.flatMap(([key, isThere, why]) => (isThere ? [notInvertible(placed, [key], why)] : []));
}

function checkTransforms(placed: PlacedRule, def: FieldDef): Problem[] {
  return (placed.rule.transform ?? []).flatMap((one, index) => {
    const { name, option } = compileTransform(one, def);
    const inverse = inverses[name];
    const why = 'none' in inverse ? inverse.none : UNPROVEN[name]?.(option);
    return why === undefined ? [] : [notInvertible(placed, ['transform', index], why)];
  });
}

/** Transforms whose options decide whether they can be undone: the counterexample, where there is one. */
const UNPROVEN: Partial<Record<TransformName, (option: unknown) => string | undefined>> = {
  date: findLostDay,
  option: findLostOption,
};

/** Centuries, months and days that a format may leave out or mix up. */
const DAYS = ['1907-02-03', '1989-12-31', '2007-02-03', '2027-03-02'];

function findLostDay(option: unknown): string | undefined {
  const formats = formatsOf(option);
  if (formats.length > 1) return `a day can be written in ${formats.length} formats. Keep one`;
  const { back } = inverses.date as { back: typeof transforms.date };
  const lost = DAYS.find((day) => 'code' in back(day, option));
  return lost === undefined ? undefined : `the format ${formats.join()} cannot tell ${lost} from another day`;
}

function findLostOption(option: unknown): string | undefined {
  const { values } = option as { values: readonly string[] };
  const lost = values.find((value) => 'code' in transforms.option(value.toUpperCase(), option));
  return lost === undefined ? undefined : `"${lost}" and another value of the field differ only in capitals or blanks`;
}

function checkLookup(placed: PlacedRule, def: FieldDef): Problem[] {
  const lookup = Object.entries(placed.rule.lookup ?? {});
  if (lookup.length === 0) return [];
  const first = new Map<string, string>();
  const problems: Problem[] = [];
  const refuse = (key: string, why: string): void =>
    void problems.push({ ...placeOfValue(placed, key), text: told(placed, why) });
  for (const [key, value] of lookup) {
    const before = first.get(String(value));
    if (before !== undefined) refuse(key, `"${before}" and "${key}" both become "${value}"`);
    else if (isNeverGiven(placed, def, key)) refuse(key, `the transforms never give "${key}"`);
    first.set(String(value), before ?? key);
  }
  const [unknown] = (def.options ?? []).filter((one) => !first.has(one));
  if (unknown !== undefined)
    problems.push(notInvertible(placed, ['lookup'], `no value becomes "${unknown}", which the HR system has`));
  return problems;
}

/** A value goes back through the transforms and must come out of them as it was. */
function isNeverGiven({ rule }: PlacedRule, def: FieldDef, key: string): boolean {
  const steps = (rule.transform ?? []).map((one) => compileTransform(one, def));
  const back = undoTransforms(steps, key);
  const again = 'code' in back ? back : applyTransforms(steps, back.value);
  return 'code' in again || String(again.value) !== key;
}

function notInvertible(placed: PlacedRule, path: Path, why: string): Problem {
  return problemAt(placed.source, ['fields', placed.target, ...path], told(placed, why));
}

function told({ target, rule }: PlacedRule, why: string): string {
  const ways = rule.direction === 'both' ? 'both ways' : 'to the partner';
  return `"${target}" flows ${ways}, and ${why}. Make the rule one that can be read backwards, or remove direction.`;
}
