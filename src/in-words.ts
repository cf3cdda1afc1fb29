/** A number and its noun: `1 field`, `2 fields`, `1,000 people`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** A span of milliseconds in its largest whole unit: `3 min`. */
export function age(ms: number): string {
  const [size, unit] = UNITS.find(([length]) => ms >= length) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`;
}
