import { createHash } from 'node:crypto';
import jsonata from 'jsonata';
import { DateTime } from 'luxon';
import { didYouMean } from '../../in-words.ts';
import {
  type Transform,
  type TransformName,
  templateParts,
  transformOptions,
  transforms,
} from '../../values/transforms.ts';
import { cellText } from '../read-cell.ts';

/** A step in a record: a name, or the item of a list that has this value. */
export type PathStep = { name: string } | { where: string; is: string };

/** Reads something from an answer, directly or as a promise. Undefined if it is not there. */
export type Expression = (input: unknown) => unknown;

/** The fault of an invalid expression, worded for the line it is on. */
export class BadExpression extends Error {}

const NAME = /(?:`([^`]+)`|([A-Za-z_$][\w$-]*))/y;
const PICKED = /\[\s*([A-Za-z_][\w-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')\s*\]/y;

/**
 * The steps of a plain path: `name.givenName`, `emails[type="work"].value`, or any name in backticks. Undefined if the
 * text is more than a path.
 */
export function plainPath(text: string): PathStep[] | undefined {
  const steps: PathStep[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found ?? undefined;
  };
  for (;;) {
    const [, quoted, bare] = take(NAME) ?? [];
    const name = quoted ?? bare;
    if (name === undefined || (bare?.startsWith('$') ?? false)) return undefined;
    steps.push({ name });
    const [, where, double, single] = take(PICKED) ?? [];
    if (where !== undefined) steps.push({ where, is: double ?? single ?? '' });
    if (at === text.length) return steps;
    if (text[at] !== '.') return undefined;
    at += 1;
  }
}

const COMPARED = /^([^"'=]+?)\s*=\s*(?:"([^"\\]*)"|'([^'\\]*)')$/;

/**
 * Paths, alternatives (`a ?? b`), and a path compared with a text mean the same as in JSONata, but are evaluated much
 * faster.
 * @throws BadExpression if the text is neither a path nor JSONata
 */
export function compileExpression(text: string): Expression {
  const paths = text.split('??').map((one) => plainPath(one.trim()));
  if (paths.every((path) => path !== undefined))
    return (input) => {
      for (const path of paths) {
        const value = readPath(input, path);
        if (value !== undefined) return value;
      }
      return undefined;
    };
  const evaluate = compileJsonata(text);
  const [, left = '', double, single] = COMPARED.exec(text.trim()) ?? [];
  const path = plainPath(left);
  if (path === undefined) return evaluate;
  const wanted = double ?? single;
  return (input) => {
    const value = readPath(input, path);
    return typeof value === 'object' && value !== null ? evaluate(input) : value === wanted;
  };
}

/** The names at the beginning of a list that JSONata makes in brackets: `[data.staff[left = null]]`. */
const MADE_OF = /^\[\s*(?:\$\.)?((?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)(?=\s*[[\].^@#])/;

/**
 * Reads a list: of items that are picked by a value (`staff[kind="person"]`) all, where a place is the first of them.
 * If no item fits, the list is empty; a list that the answer lacks is undefined, even if brackets would make an empty
 * one of it: an error inside a 200 must not look like a list without anybody.
 */
export function compileList(text: string): Expression {
  const path = plainPath(text);
  if (path !== undefined) return (input) => readPath(input, path, true);
  const evaluate = compileExpression(text);
  const made = plainPath(MADE_OF.exec(text)?.[1] ?? '');
  return made === undefined ? evaluate : (input) => (leadsToList(input, made) ? evaluate(input) : undefined);
}

function leadsToList(value: unknown, path: readonly PathStep[]): boolean {
  if (Array.isArray(value)) return value.length === 0 || value.some((item) => leadsToList(item, path));
  const [step, ...rest] = path;
  if (step === undefined || !('name' in step)) return value !== undefined && value !== null;
  return leadsToList(memberOf(value, step.name), rest);
}

const FUNCTIONS =
  'abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl ' +
  'decodeUrlComponent distinct each encodeUrl encodeUrlComponent error eval exists filter floor formatBase ' +
  'formatInteger formatNumber fromMillis join keys length lookup lowercase map match max merge millis min not now ' +
  'number pad parseInteger power random reduce replace reverse round shuffle sift single sort split spread sqrt ' +
  'string substring substringAfter substringBefore sum toMillis trim type uppercase zip';

/** A node of JSONata's tree; `focus` and `index` are variables that a step binds: `staff@$one#$at`. */
type Node = Partial<Record<'type' | 'value' | 'arguments' | 'lhs' | 'focus' | 'index', unknown>>;

function nodesOf(tree: unknown): Node[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const below = Object.values(tree).flatMap(nodesOf);
  return Array.isArray(tree) ? below : [tree as Node, ...below];
}

function namesBoundBy({ type, value, arguments: taken, lhs, focus, index }: Node): unknown[] {
  const own = type === 'lambda' ? taken : type === 'bind' ? [lhs] : [];
  return [...(own as Node[]).map((one) => one.value), focus, index, type === 'index' ? value : undefined];
}

/** JSONata itself notices an unknown function only in an answer, and then reads nothing. `$` and `$$` are the input. */
function assertNames(tree: unknown): void {
  const nodes = nodesOf(tree);
  const functions = FUNCTIONS.split(' ');
  const known = ['', '$', ...functions, ...nodes.flatMap(namesBoundBy)];
  const wrong = nodes.find(({ type, value }) => type === 'variable' && !known.includes(value));
  if (wrong === undefined) return;
  const name = String(wrong.value);
  throw new BadExpression(`uses $${name}, which JSONata does not have. ${didYouMean(name, functions)}`);
}

function compileJsonata(text: string): Expression {
  let compiled: jsonata.Expression;
  try {
    compiled = jsonata(text);
  } catch (error) {
    const { message, position } = error as { message?: string; position?: number };
    const where = position === undefined ? '' : ` at character ${position}`;
    const hint = text.includes('==')
      ? ' JSONata compares with one =.'
      : /^\{[\w.]*\}$/.test(text)
        ? ' Leave out the braces.'
        : '';
    throw new BadExpression(`is not a JSONata expression${where}: ${message ?? 'it cannot be read'}.${hint}`);
  }
  assertNames(compiled.ast());
  return async (input) => {
    // An expression may fail on an unexpected answer: then it reads nothing, as a path would.
    const value: unknown = await compiled.evaluate(input).catch(() => undefined);
    // JSONata's lists carry marks; copy them to plain lists.
    return Array.isArray(value) ? Array.from(value as unknown[]) : value;
  };
}

/**
 * `all`: an item by its value is each that has it, instead of the first. What names such values nowhere is not that
 * list: a wrong place must not look like a list without anybody.
 */
export function readPath(record: unknown, path: readonly PathStep[], all = false): unknown {
  let value = record;
  for (const step of path) {
    if (value === null || value === undefined) return undefined;
    if ('name' in step)
      value = Array.isArray(value) && value !== record ? membersOf(value, step.name) : memberOf(value, step.name);
    else {
      const items: unknown[] = [value].flat();
      const fitting = pickedFrom(items, step);
      const isNamed = items.length === 0 || items.some((item) => memberOf(item, step.where) !== undefined);
      const isList = Array.isArray(value) && isNamed;
      if (!all) value = fitting[0];
      else value = fitting.length > 0 || isList ? fitting : undefined;
    }
  }
  return value;
}

/** Items that have this value; if none has it, those in which only its capitals differ, as RFC 7643 reads a `type`. */
function pickedFrom(items: readonly unknown[], { where, is }: { where: string; is: string }): unknown[] {
  const texts = items.map((item) => String(memberOf(item, where)));
  const fold = texts.includes(is) ? (text: string) => text : (text: string) => text.toLowerCase();
  return items.filter((_item, at) => fold(texts[at] ?? '') === fold(is));
}

/** Whether a record has a place, though it may be empty there: null, or a list without the item. */
export function hasPlace(record: unknown, path: readonly PathStep[]): boolean {
  for (const [at, step] of path.entries()) {
    const value = 'where' in step ? null : readPath(record, path.slice(0, at + 1));
    if (value === undefined || value === null) return value === null;
  }
  return true;
}

/** Puts a value at a path and makes the levels above it. Changes the record. */
export function writePath(record: Record<string, unknown>, path: readonly PathStep[], value: unknown): void {
  let level: Record<string, unknown> = record;
  for (const [at, step] of path.entries()) {
    const next = path[at + 1];
    if (!('name' in step)) continue;
    if (next !== undefined && 'where' in next) {
      level = pickedItem(level, step.name, next);
      if (at + 2 === path.length) return void Object.assign(level, value as object);
    } else if (next === undefined) level[step.name] = value;
    else level = objectAt(level, step.name);
  }
}

function pickedItem(level: Record<string, unknown>, name: string, { where, is }: { where: string; is: string }) {
  const known = level[name];
  const list: unknown[] = Array.isArray(known) ? known : [];
  level[name] = list;
  const [found] = pickedFrom(list, { where, is });
  if (typeof found === 'object' && found !== null) return found as Record<string, unknown>;
  const made: Record<string, unknown> = { [where]: is };
  list.push(made);
  return made;
}

function objectAt(level: Record<string, unknown>, name: string): Record<string, unknown> {
  const known = level[name];
  const object =
    typeof known === 'object' && known !== null && !Array.isArray(known) ? (known as Record<string, unknown>) : {};
  level[name] = object;
  return object;
}

/** Values of a list's items; undefined if none has the name: a wrong path must not look like an absent employee. */
function membersOf(list: readonly unknown[], name: string): unknown[] | undefined {
  const found = list.map((item) => memberOf(item, name)).filter((item) => item !== undefined);
  return found.length === 0 && list.length > 0 ? undefined : found.flat();
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** Values of placeholders; a missing value is undefined. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * A text, or a tree of texts, with placeholders such as `{lastDay}` or `{value | lower}`, checked when it was read.
 * `encode` is applied to each value.
 */
export type Template = (values: Values, encode?: (text: string) => string) => unknown;

/** What is wrong with the name of a placeholder, if anything is. */
type Judge = (name: string) => string | undefined;
type Change = (value: unknown) => unknown;

/** Transforms without options, and ways to quote a value inside a filter. */
const QUOTES: Readonly<Record<string, Change>> = {
  quoted: (value) => JSON.stringify(String(value)),
  odata: (value) => `'${String(value).replaceAll("'", "''")}'`,
  base64: (value) => Buffer.from(String(value)).toString('base64'),
  json: (value) => JSON.stringify(value),
  // RFC 9562, section 5.8. Of a whole record it is new once the record is corrected.
  uuid: (value) => {
    const hash = createHash('sha256').update(cellText(value)).digest('hex');
    return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5');
  },
  // A text that is not a number cannot be an id: looks for -1, which finds nothing.
  number: (value) => (value === null ? null : Number.isSafeInteger(Number(value)) ? Number(value) : -1),
};

const CHANGES: readonly string[] = [
  ...Object.keys(QUOTES),
  'day dd.MM.yyyy',
  ...Object.keys(transforms).filter(
    (name) => !Object.hasOwn({ ...QUOTES, ...transformOptions }, name) && name !== 'option',
  ),
];

/** Completes a sentence about a format that cannot be used. */
export const NO_FORMAT =
  'not a format for days. Write yyyy for the year, MM for the month and dd for the day: dd.MM.yyyy.';

/** `{ $text: "query { employees { id } }" }`: a text that contains braces and is used unchanged. */
const LITERAL = '$text';

/**
 * Checks a template once. A text that is a single placeholder keeps the type of its value; without a value it is left
 * out of its object or list.
 * @throws BadExpression for an unknown placeholder or transform
 */
export function compileTemplate(source: unknown, judge: Judge): Template {
  if (typeof source === 'string') return compileText(source, judge);
  if (Array.isArray(source)) {
    const items = source.map((item) => compileTemplate(item, judge));
    return (values, encode) => items.map((item) => item(values, encode)).filter((item) => item !== undefined);
  }
  if (typeof source !== 'object' || source === null) return () => source;
  const literal = (source as Record<string, unknown>)[LITERAL];
  if (literal !== undefined) return () => literal;
  const members = Object.entries(source).map(([name, value]) => [name, compileTemplate(value, judge)] as const);
  return (values, encode) => {
    const made = members.map(([name, member]) => [name, member(values, encode)] as const);
    return Object.fromEntries(made.filter(([, value]) => value !== undefined));
  };
}

function compileText(text: string, judge: Judge): Template {
  const parts = templateParts(text);
  if (parts === undefined)
    throw new BadExpression(
      'has an unmatched brace; write a placeholder as {name}, and text that contains braces as { $text: ... }',
    );
  if (text.includes('${')) throw new BadExpression('has a $ before a brace; write {name} without it');
  const compiled = parts.map((part) => ('text' in part ? () => part.text : compilePlaceholder(part.path, judge)));
  const [only] = compiled;
  if (only !== undefined && compiled.length === 1) return only;
  return (values, encode) => compiled.map((part) => cellText(part(values, encode))).join('');
}

function compilePlaceholder(text: string, judge: Judge): Template {
  const [name = '', ...names] = text.split('|').map((part) => part.trim());
  const wrong = judge(name);
  if (wrong !== undefined) throw new BadExpression(wrong);
  const changes = names.map(changeOf);
  return (values, encode) => {
    const made = changes.reduce((value, change) => (value === undefined ? value : change(value)), values[name]);
    return encode === undefined || made === undefined || made === null ? made : encode(cellText(made));
  };
}

/** A day (`2026-02-03`) as the HR system writes it, in tokens of Luxon. */
export function dayAs(format: string, day: string): string {
  return DateTime.fromISO(day, { zone: 'utc', locale: 'en' }).toFormat(format);
}

export function dayFrom(format: string, text: string): string | null {
  return DateTime.fromFormat(text, format, { zone: 'utc', locale: 'en' }).toISODate();
}

/** Whether what a format writes can be read again: `mm` are minutes, `yy` loses a century, `DD` is a word. */
export function writesDays(format: string): boolean {
  return (
    !/[DY%]/.test(format) && ['1931-12-30', '2026-02-03'].every((day) => dayFrom(format, dayAs(format, day)) === day)
  );
}

function changeOf(name: string): Change {
  // Not every object's own: toString, valueOf, constructor.
  const quote = Object.hasOwn(QUOTES, name) ? QUOTES[name] : undefined;
  if (quote !== undefined) return quote;
  const [, format] = /^day\s+(.+)$/.exec(name) ?? [];
  if (format !== undefined && !writesDays(format)) throw new BadExpression(`has "${format}", which is ${NO_FORMAT}`);
  if (format !== undefined) return (value) => (value === null ? null : dayAs(format, cellText(value)));
  if (!CHANGES.includes(name))
    throw new BadExpression(`"${name}" is not a transform for a template. Known here: ${CHANGES.join(', ')}.`);
  const transform = transforms[name as TransformName] as Transform;
  return (value) => {
    if (value === null) return value;
    const result = transform(Array.isArray(value) ? value.map(String) : (value as string), undefined);
    return 'code' in result ? undefined : result.value;
  };
}

/** Texts by name, without those that have no value. */
export function rendered(templates: Readonly<Record<string, Template>>, values: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(templates).flatMap(([key, template]) => {
      const value = template(values);
      return value === undefined || value === null ? [] : [[key, cellText(value)]];
    }),
  );
}
