import { closestMatch } from 'leven';

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

/** The known word that was probably meant; not one that has no letter of it. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const within = (wanted: number): string | undefined => {
    const maxDistance = Math.min(wanted, word.length - 1);
    return maxDistance < 1 ? undefined : closestMatch(word, known, { maxDistance });
  };
  const begun = word.length < 3 ? undefined : known.find((one) => one.startsWith(word));
  return within(1) ?? begun ?? within(Math.max(2, Math.floor(word.length / 3)));
}

/** `Did you mean "x"?` if a known word is similar, otherwise the whole list. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean "${near}"?`;
}
