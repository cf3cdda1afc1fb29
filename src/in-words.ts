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

/** Marks in a row; the sign that joins graphemes (U+034F) ends one. */
const MANY_MARKS = /[\p{M}--\u{34f}]{30}(?=[\p{M}--\u{34f}])/gv;

/**
 * A text in a normal form. Putting n marks on one letter into order takes n² steps: 100 kB of them in somebody's name
 * stopped a worker for half a minute. So a letter has 30 at once at most (UAX 15, Stream-Safe Text).
 */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return (text.length > 30 ? text.replaceAll(MANY_MARKS, '$&\u034f') : text).normalize(form);
}

/** Folds a label, or a value that people write by hand, so that it compares as people read it. */
export function foldLabel(label: string): string {
  return normalized(label, 'NFC').trim().toLowerCase();
}
