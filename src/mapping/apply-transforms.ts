import { isDeepStrictEqual } from 'node:util';
import { DateTime } from 'luxon';
import { type Transform, type Transformed, type TransformName, transforms, type Value } from '../values/transforms.ts';

export interface TransformStep {
  name: TransformName;
  option?: unknown;
}

/** Applies the transforms in order; stops at the first that refuses or leaves nothing. */
export function applyTransforms(
  steps: readonly TransformStep[],
  start: Value | undefined,
  onStep?: (name: TransformName, value: Value | undefined) => void,
): Transformed {
  let value = start;
  for (const { name, option } of steps) {
    if (isEmpty(value)) return { value: undefined };
    const done = (transforms[name] as Transform)(value, option);
    if ('code' in done) return done;
    value = done.value;
    onStep?.(name, value);
  }
  return { value };
}

/** Applies the transforms backwards: returns the partner's value from which they give this value. */
export function undoTransforms(steps: readonly TransformStep[], start: Value): Transformed {
  let value: Value | undefined = start;
  for (const { name, option } of steps.toReversed()) {
    const inverse = inverses[name];
    if ('none' in inverse) return { code: 'NOT_INVERTIBLE', text: inverse.none };
    if (isEmpty(value)) return { value: undefined };
    const done = inverse.back(value, option);
    if ('code' in done) return done;
    value = done.value;
  }
  return { value };
}

export function isEmpty(value: Value | undefined): value is undefined {
  return (
    value === undefined ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** How a transform is undone. Canonical values stay the same in both directions. */
export interface Inverse {
  /** Whether the transform leaves the value unchanged. */
  isCanonical(value: Value, option: unknown): boolean;
  /** Converts from the HR system to the partner. Refuses a value that would not come out the same again. */
  back: Transform;
}

/**
 * For every transform, how it is undone or why it cannot be; a rule with one that cannot be undone never flows to the
 * partner.
 */
export const inverses: Record<TransformName, Inverse | { none: string }> = {
  trim: spelling('trim'),
  lower: exact('lower'),
  upper: exact('upper'),
  titleCase: exact('titleCase'),
  name: spelling('name'),
  login: { none: '"login" makes plain letters of those of all scripts' },
  date: { isCanonical: isWrittenDay, back: writeDay },
  instant: spelling('instant'),
  phone: spelling('phone'),
  country: spelling('country'),
  number: spelling('number'),
  money: spelling('money'),
  option: spelling('option'),
  boolean: spelling('boolean'),
  first: { none: '"first" leaves the other values out' },
  join: { none: '"join" makes one text of values, which cannot be split again' },
  split: { isCanonical: isJoined, back: joinAgain },
  list: spelling('list'),
};

/** Both sides write the transform's result the same way, so the way back is the same transform. */
function spelling(name: TransformName): Inverse {
  return { isCanonical: (value, option) => isUnchanged(name, value, option), back: transforms[name] };
}

/** Capitals carry meaning, so a value with other capitals is not sent back. */
function exact(name: TransformName): Inverse {
  const isCanonical = (value: Value, option: unknown): boolean => isUnchanged(name, value, option);
  const text = `is not written as "${name}" writes it, and would be another value on its way back`;
  return {
    isCanonical,
    back: (value, option) => (isCanonical(value, option) ? { value } : { code: 'NOT_CANONICAL', text }),
  };
}

function isUnchanged(name: TransformName, value: Value, option: unknown): boolean {
  return isDeepStrictEqual((transforms[name] as Transform)(value, option), { value });
}

/** Writes a day in the rule's one format, or as YYYY-MM-DD. */
function writeDay(value: Value, option: unknown): ReturnType<Transform> {
  const [format] = formatsOf(option);
  const day = transforms.date(value, undefined);
  if (format === undefined || 'code' in day) return day;
  const written = DateTime.fromISO(String(day.value), { zone: 'utc' }).toFormat(format, { locale: 'en' });
  if (isDeepStrictEqual(transforms.date(written, option), day)) return { value: written };
  return { code: 'NOT_CANONICAL', text: `is a day that ${format} cannot tell from another` };
}

function isWrittenDay(value: Value, option: unknown): boolean {
  const day = transforms.date(value, option);
  if ('code' in day || day.value === undefined) return false;
  return isDeepStrictEqual(writeDay(day.value, option), { value });
}

export function formatsOf(option: unknown): string[] {
  return (option as { formats?: string[] } | undefined)?.formats ?? [];
}

function isJoined(value: Value, option: unknown): boolean {
  return isDeepStrictEqual(joinAgain(value, option), { value });
}

function joinAgain(value: Value, option: unknown): ReturnType<Transform> {
  const apart = transforms.split(value, option);
  const items = 'value' in apart && Array.isArray(apart.value) ? apart.value : [];
  const { separator = ',' } = (option ?? {}) as { separator?: string };
  const joined = items.join(separator);
  if (isDeepStrictEqual(transforms.split(joined, option), { value: items })) return { value: joined };
  return { code: 'NOT_CANONICAL', text: `has an item that "${separator}" would take apart again` };
}
