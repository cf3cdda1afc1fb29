import { html } from 'hono/html';
import type { Html } from './layout.ts';

export interface Line {
  name: string;
  /** One value for each time; undefined leaves a gap. */
  values: readonly (number | undefined)[];
}

const WIDTH = 440;
const HEIGHT = 170;
const LEFT = 56;
const BOTTOM = 24;
const TOP = 8;

/**
 * A line chart drawn by the server, so that it needs no script and prints as shown. The page also gives its content in
 * words or a table.
 */
export function lineChart(title: string, times: readonly number[], lines: readonly Line[], unit = ''): Html {
  const [first = 0] = times;
  const last = times.at(-1) ?? first + 1;
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.filter((value) => value !== undefined)));
  const top = niceTop(most);
  const x = (at: number): number => LEFT + ((at - first) / Math.max(1, last - first)) * (WIDTH - LEFT - 8);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
  const grid = [0, 0.5, 1].map((part) => {
    const at = y(top * part);
    return html`<line class="rule" x1="${LEFT}" x2="${WIDTH - 8}" y1="${at}" y2="${at}"/><text x="${LEFT - 8}"
y="${at + 4}" text-anchor="end">${shown(top * part)}</text>`;
  });
  const paths = lines.map(
    ({ values }, index) => html`<path class="line line-${index}" d="${pathOf(values, times, x, y)}"/>`,
  );
  const names = lines.map(({ name, values }, index) => {
    const latest = values.findLast((value) => value !== undefined);
    return html`<li class="key-${index}">${name}${
      latest === undefined
        ? ''
        : html`
<b>${shown(latest)}${unit}</b>`
    }</li>`;
  });
  return html`<figure class="chart"><figcaption>${title}</figcaption><ul class="plain keys">${names}</ul>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${grid}${paths}
<text x="${LEFT}" y="${HEIGHT - 6}">${clock(first, last)}</text><text x="${WIDTH - 8}" y="${HEIGHT - 6}"
text-anchor="end">${clock(last, first)} UTC</text></svg></figure>`;
}

function pathOf(
  values: Line['values'],
  times: readonly number[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let isDown = false;
  const parts = values.map((value, at) => {
    if (value === undefined) {
      isDown = false;
      return '';
    }
    const part = `${isDown ? 'L' : 'M'}${x(times[at] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
    return part;
  });
  return parts.join('');
}

/** The next larger of 1, 2, 5, 10, ... */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 5, 10].find((one) => one * power >= most) ?? 10;
  return step * power;
}

function shown(value: number): string {
  return value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(2)));
}

/** The time of day, with the day if the other end is on another one. */
function clock(at: number, other: number): string {
  const [day = '', hour = ''] = new Date(at).toISOString().split('T');
  return day === new Date(other).toISOString().slice(0, 10) ? hour.slice(0, 5) : `${day} ${hour.slice(0, 5)}`;
}
