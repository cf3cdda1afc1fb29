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

/** A text, or a tree of texts, with placeholders such as `{lastDay}` or `{value | lower}`, checked when it was read. */
export type Template = (values: Values, encode?: Encode) => unknown;

type Encode = (text: string) => string;
type Render = (values: Values, encode: Encode) => unknown;
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

const asItIs: Encode = (text) => text;

/**
 * Checks a template once. A text that is a single placeholder keeps the type of its value; without a value it is left
 * out of its object or list.
 * @throws BadExpression for an unknown placeholder or transform
 */
export function compileTemplate(source: unknown, known: (name: string) => string | undefined): Template {
  const render = compile(source, known);
  return (values, encode = asItIs) => render(values, encode);
}

function compile(source: unknown, known: (name: string) => string | undefined): Render {
  if (typeof source === 'string') return compileText(source, known);
  if (Array.isArray(source)) {
    const items = source.map((item) => compile(item, known));
    return (values, encode) => items.map((item) => item(values, encode)).filter((item) => item !== undefined);
  }
  if (typeof source === 'object' && source !== null) {
    const literal = (source as Record<string, unknown>)[LITERAL];
    if (literal !== undefined) return () => literal;
    const members = Object.entries(source).map(([name, value]) => [name, compile(value, known)] as const);
    return (values, encode) =>
      Object.fromEntries(
        members.flatMap(([name, member]) => {
          const value = member(values, encode);
          return value === undefined ? [] : [[name, value]];
        }),
      );
  }
  return () => source;
}

function compileText(text: string, known: (name: string) => string | undefined): Render {
  const parts = templateParts(text);
  if (parts === undefined)
    throw new BadExpression(
      'has an unmatched brace; write a placeholder as {name}, and text that contains braces as { $text: ... }',
    );
  if (text.includes('${')) throw new BadExpression('has a $ before a brace; write {name} without it');
  const compiled = parts.map((part) => ('text' in part ? part.text : compilePlaceholder(part.path, known)));
  const [only] = compiled;
  if (compiled.length === 1 && typeof only === 'function') return (values, encode) => encoded(only(values), encode);
  return (values, encode) => {
    const texts = compiled.map((part) => {
      if (typeof part === 'string') return part;
      const value = part(values);
      return value === undefined || value === null ? '' : encode(asText(value));
    });
    return texts.join('');
  };
}

function encoded(value: unknown, encode: Encode): unknown {
  return encode === asItIs || value === undefined || value === null ? value : encode(asText(value));
}

/** A value as text for a path, a query or a header. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : cellText(value);
}

function compilePlaceholder(text: string, known: (name: string) => string | undefined): (values: Values) => unknown {
  const [name = '', ...names] = text.split('|').map((part) => part.trim());
  const wrong = known(name);
  if (wrong !== undefined) throw new BadExpression(wrong);
  const changes = names.map(changeOf);
  return (values) => changes.reduce((value, change) => (value === undefined ? value : change(value)), values[name]);
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
  if (format !== undefined) return (value) => (value === null ? null : dayAs(format, asText(value)));
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
      return value === undefined || value === null ? [] : [[key, asText(value)]];
    }),
  );
}
