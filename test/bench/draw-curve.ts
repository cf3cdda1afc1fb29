const WIDTH = 640;
const HEIGHT = 240;
const MARGIN = 40;

export interface Line {
  name: string;
  values: readonly number[];
}

const colours = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf', '#8c564b', '#7f7f7f'];

/** An SVG of some lines over the same steps, from zero to their highest value. */
export function drawCurve(title: string, unit: string, lines: readonly Line[]): string {
  const highest = Math.max(...lines.flatMap(({ values }) => values), Number.MIN_VALUE);
  const steps = Math.max(...lines.map(({ values }) => values.length), 2) - 1;
  const x = (step: number): number => MARGIN + (step / steps) * (WIDTH - 2 * MARGIN);
  const y = (value: number): number => HEIGHT - MARGIN - (value / highest) * (HEIGHT - 2 * MARGIN);
  const drawn = lines.map(({ name, values }, n) => {
    const points = values.map((value, step) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    const colour = colours[n % colours.length];
    const key = `<text x="${MARGIN}" y="${HEIGHT + 16 * n}" fill="${colour}">${escaped(name)}</text>`;
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>${key}`;
  });
  const axis = `<path d="M${MARGIN} ${MARGIN}V${HEIGHT - MARGIN}H${WIDTH - MARGIN}" fill="none" stroke="#888"/>`;
  const head = `<text x="${MARGIN}" y="24">${escaped(title)} (to ${highest.toPrecision(3)} ${escaped(unit)})</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT + 16 * lines.length}"
  font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>
${[axis, head, ...drawn].join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
