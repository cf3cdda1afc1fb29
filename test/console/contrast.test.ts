import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** Texts need 4.5 to 1, edges of fields and buttons 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11). */
const PAIRS: readonly (readonly [front: string, backs: readonly string[], least: number])[] = [
  ['ink', ['page', 'card', 'sunk', 'accent-soft', 'line'], 4.5],
  ['soft', ['page', 'card', 'sunk', 'line'], 4.5],
  ['accent', ['page', 'card', 'sunk', 'accent-soft'], 4.5],
  ['on-accent', ['accent'], 4.5],
  ['good', ['good-soft', 'card'], 4.5],
  ['warn', ['warn-soft', 'card'], 4.5],
  ['bad', ['bad-soft', 'card', 'page'], 4.5],
  ['edge', ['page', 'card'], 3],
];

/** The relative luminance of `#rrggbb`, as WCAG defines it. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test.each([
  ['light', 0],
  ['dark', 1],
] as const)('every text and every edge stands out from what is behind it, %s', async (_scheme, at) => {
  const css = await readFile(new URL('../../src/sandbox/page/base.css', import.meta.url), 'utf8');
  const colors = new Map(
    [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = '', ...both]) => [
      name,
      both[at] ?? '',
    ]),
  );
  const weak = PAIRS.flatMap(([front, backs, least]) =>
    backs
      .map((back) => ({ front, back, ratio: contrastOf(colors.get(front) ?? '', colors.get(back) ?? '') }))
      .filter(({ ratio }) => !(ratio >= least)),
  );
  expect(weak).toEqual([]);
});
