import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';

/** An expected value: members that are left out may have any value, and a regular expression matches text. */
export type Expected = unknown;

/** @throws AssertionError naming the place where the value differs */
export function expectFit(actual: unknown, expected: Expected, what = 'it'): void {
  const problem = misfit(actual, expected, what);
  if (problem !== undefined) throw new AssertionError({ message: problem, actual, expected, stackStartFn: expectFit });
}

/** Reads until the value matches; fails with the last value. */
export async function eventually(
  read: () => Promise<unknown>,
  expected: Expected,
  { interval, timeout }: { interval: number; timeout: number },
  what = 'it',
): Promise<void> {
  const end = performance.now() + timeout;
  for (;;) {
    const actual = await read();
    if (misfit(actual, expected, what) === undefined) return;
    if (performance.now() > end) return expectFit(actual, expected, what);
    await pause(interval);
  }
}

/** Where and how a value differs from the expected one; undefined if it matches. */
function misfit(actual: unknown, expected: Expected, at: string): string | undefined {
  if (expected instanceof RegExp)
    return typeof actual === 'string' && expected.test(actual)
      ? undefined
      : `${at} is ${shown(actual)}, not like ${String(expected)}`;
  if (Array.isArray(expected)) return misfitList(actual, expected, at);
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return `${at} is ${shown(actual)}, not an object`;
    for (const [name, value] of Object.entries(expected)) {
      const problem = misfit((actual as Record<string, unknown>)[name], value, `${at}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  return Object.is(actual, expected) ? undefined : `${at} is ${shown(actual)}, not ${shown(expected)}`;
}

function misfitList(actual: unknown, expected: readonly unknown[], at: string): string | undefined {
  if (!Array.isArray(actual)) return `${at} is ${shown(actual)}, not a list`;
  if (actual.length !== expected.length) return `${at} has ${actual.length} items, not ${expected.length}`;
  for (const [index, value] of expected.entries()) {
    const problem = misfit(actual[index], value, `${at}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function shown(value: unknown): string {
  return value === undefined ? 'undefined' : (JSON.stringify(value) ?? `a ${typeof value}`).slice(0, 200);
}
