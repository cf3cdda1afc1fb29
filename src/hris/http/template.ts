import { DateTime } from 'luxon';
import {
  type Transform,
  type TransformName,
  templateParts,
  transformOptions,
  transforms,
} from '../../values/transforms.ts';
import { cellText } from '../read-cell.ts';
import { BadExpression } from './expression.ts';

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
