import { renderTable } from '../../src/cli/command.ts';
import { drawCurve } from '../bench/draw-curve.ts';

/** What was measured at one moment. */
export interface Sample {
  /** Since the beginning, seconds. */
  at: number;
  values: Record<string, number>;
}

/** What may be a fifth more in the last quarter than in the second, and what the noise of it is. */
const FLAT = { share: 1.2, quarters: 4 } as const;

/** Compares the mean of the second quarter with that of the last; `grows` names what is expected to grow. */
export function judgeFlat(samples: readonly Sample[], grows: ReadonlySet<string>): { table: string; isFlat: boolean } {
  const rows = seriesOf(samples).map((name) => {
    const [, second = Number.NaN, , last = Number.NaN] = quarters(samples, name);
    const isSteep = last > second * FLAT.share && !grows.has(name);
    return [name, second.toFixed(1), last.toFixed(1), (last / second).toFixed(2), isSteep ? 'GROWS' : ''];
  });
  return {
    table: renderTable(['', 'second quarter', 'last quarter', 'ratio', ''], rows),
    isFlat: rows.length > 0 && rows.every((row) => row[4] === ''),
  };
}

/** Those that were ever more than nothing. */
function seriesOf(samples: readonly Sample[]): string[] {
  return Object.keys(samples[0]?.values ?? {}).filter((name) => samples.some(({ values }) => values[name] !== 0));
}

/** The mean of each quarter. */
function quarters(samples: readonly Sample[], name: string): number[] {
  const each = Math.max(1, Math.floor(samples.length / FLAT.quarters));
  return Array.from({ length: FLAT.quarters }, (_, n) => {
    const part = samples.slice(n * each, (n + 1) * each).flatMap(({ values: seen }) => seen[name] ?? []);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** An SVG of each series by the share of its own highest, so that all stand in one picture. */
export function drawSamples(title: string, samples: readonly Sample[]): string {
  const lines = seriesOf(samples).map((name) => {
    const own = samples.map(({ values: seen }) => seen[name] ?? 0);
    const highest = Math.max(...own, Number.MIN_VALUE);
    return { name: `${name}, to ${highest.toPrecision(3)}`, values: own.map((value) => (value / highest) * 100) };
  });
  return drawCurve(title, '% of the highest', lines);
}
