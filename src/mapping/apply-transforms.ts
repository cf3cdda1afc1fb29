import { type Transform, type Transformed, type TransformName, transforms, type Value } from '../values/transforms.ts';
import { inverses } from './inverses.ts';

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
