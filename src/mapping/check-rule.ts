import type { FieldDef } from '../hris/port.ts';
import { didYouMean } from '../in-words.ts';
import {
  applyTransforms,
  formatsOf,
  inverses,
  type TransformName,
  transforms,
  undoTransforms,
} from '../values/transforms.ts';
import { changedWords, type Path, type Place, type Problem, placeOf, problemAt } from '../yaml/yaml-file.ts';
import { compileTransform, type FieldRule, flowsToPartner, type PlacedRule, pathsOf } from './compile-rule.ts';
import { fitValue, KIND, lengthOf } from './fit-value.ts';
import { parseSourcePath, partnerTargets, type SourceRecords } from './source-fields.ts';

/** The stream or write-back that carries a mapping's values to the partner, and the fields that it can write. */
export interface WayBack {
  carrier: string;
  writes: SourceRecords;
  /** Whose edits it can carry if a value flows both ways. */
  owners: readonly NonNullable<FieldRule['owner']>[];
}

/** Checks a rule's direction, owner and conflict, and that a rule that flows to the partner can be inverted. */
export function checkDirection(placed: PlacedRule, fields: readonly FieldDef[], way: WayBack | undefined): Problem[] {
  const owner = checkOwner(placed, way);
  if (!flowsToPartner(placed.rule)) return owner;
  return [...owner, ...checkPartnerSide(placed, way), ...checkInvertible(placed, fields)];
}

function checkOwner({ target, rule, source }: PlacedRule, way: WayBack | undefined): Problem[] {
  const { direction = 'toHris', owner, conflict, report } = rule;
  const at = ['fields', target];
  const say = (key: string, text: string): Problem[] => [problemAt(source, [...at, key], text)];
  if (conflict !== undefined && owner !== 'either')
    return say(
      'conflict',
      `"${target}" has one owner, so there is no conflict. Remove conflict, or write owner: either.`,
    );
  if (report === true && way?.owners.includes('partner') !== true)
    return say('report', `nothing reads later edits of "${target}". Remove report.`);
  if (report === true && owner === 'either')
    return say('report', `both sides may edit "${target}", so no edit is put back. Remove report.`);
  if (direction !== 'both')
    return owner === undefined
      ? []
      : say('owner', `"${target}" flows one way, from the side that owns it. Remove owner, or write direction: both.`);
  if (owner === undefined)
    return say('direction', `"${target}" flows both ways. Say whose edits count: owner: partner, hris or either.`);
  if (owner === 'either' && conflict === undefined)
    return say(
      'owner',
      `both sides may edit "${target}". Say what stays when both did: conflict: partner, hris or hold.`,
    );
  if (way === undefined || way.owners.includes(owner)) return [];
  const can = `Write owner: ${way.owners.join()}.`;
  return say('owner', `${way.carrier} carries no later edits of the partner for "${target}". ${can}`);
}

function checkPartnerSide({ target, rule, source }: PlacedRule, way: WayBack | undefined): Problem[] {
  const at = ['fields', target];
  if (way === undefined)
    return [
      problemAt(source, [...at, 'direction'], `nothing carries "${target}" to the partner yet. Remove direction.`),
    ];
  if (rule.required === true && rule.direction === 'toPartner')
    return [problemAt(source, [...at, 'required'], `"${target}" is not written to the HR system. Remove required.`)];
  return pathsOf(rule).flatMap((path) => {
    const wrong = wrongTarget(path, way);
    return wrong === undefined ? [] : [problemAt(source, [...at, 'from'], wrong)];
  });
}

function wrongTarget(path: string, { carrier, writes }: WayBack): string | undefined {
  const anywhere = parseSourcePath(path, partnerTargets);
  if ('wrong' in anywhere)
    return `${path} cannot be changed at the partner. ${didYouMean(anywhere.word, anywhere.known)}`;
  if (!('wrong' in parseSourcePath(path, writes))) return undefined;
  const records = Object.entries(writes).filter(([, record]) => record.hasCustomFields);
  const able = records.map(([name]) => `${name}.customFields[LABEL]`).join(', ');
  return `${carrier} cannot change ${path} at the partner, only ${able}. Name one of them, or remove direction.`;
}

/**
 * A rule that flows to the partner is applied backwards, so each of its parts must be invertible. Finite tables are
 * proven.
 */
function checkInvertible(placed: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find(({ key }) => key === placed.target);
  if (def === undefined) return [];
  return [...checkParts(placed), ...checkTransforms(placed, def), ...checkLookup(placed, def)];
}

function checkParts(placed: PlacedRule): Problem[] {
  const { from, constant, template, when, table, default: fallback } = placed.rule;
  const parts: [key: string, isThere: boolean, why: string][] = [
    ['constant', constant !== undefined, 'a constant is read from no place that could take a value'],
    ['template', template !== undefined, 'a template cannot be taken apart again'],
    ['from', Array.isArray(from), 'it has several sources, so it is unknown which one to write'],
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

/** Transforms whose options decide whether they can be undone; each returns a counterexample if there is one. */
const UNPROVEN: Partial<Record<TransformName, (option: unknown) => string | undefined>> = {
  date: findLostDay,
  option: findLostOption,
};

/** Test dates for centuries, months and days that a format may drop or confuse. */
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

/** Place of one value of the rule's lookup. */
function placeOfValue({ target, source, lookupPlaces }: PlacedRule, key: string): Place {
  return lookupPlaces?.[key] ?? { file: source.file, ...placeOf(source, ['fields', target, 'lookup'], key) };
}

/** Whether the transforms never produce this key: undoing them and applying them again must return it unchanged. */
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
