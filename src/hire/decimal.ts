/** Most digits that are written out; no salary has more. */
const MOST_DIGITS = 400;

/**
 * A decimal in its one standard form: a number if it survives the conversion digit by digit, else its text. Undefined
 * if the text is no decimal: NaN, infinity, `1,5`.
 */
export function decimalValue(text: string): number | string | undefined {
  const plain = plainDecimal(text);
  if (plain === undefined) return undefined;
  const number = Number(plain);
  return String(number) === plain && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : plain;
}

/** Written out, without redundant zeros: `1200.50` is `1200.5`, `1e3` is `1000`, `-0` is `0`. */
function plainDecimal(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent);
  if (whole === '' || Math.abs(shift) > MOST_DIGITS || whole.length + fraction.length > MOST_DIGITS) return undefined;
  const digits = `${whole}${fraction}`;
  const point = whole.length + shift;
  const padded = point < 0 ? `${'0'.repeat(-point)}${digits}` : digits.padEnd(point, '0');
  const at = Math.max(point, 0);
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const after = padded.slice(at).replace(/0+$/, '');
  const plain = after === '' ? before : `${before}.${after}`;
  return sign === '-' && plain !== '0' ? `-${plain}` : plain;
}
