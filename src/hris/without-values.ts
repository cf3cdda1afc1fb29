/** What is kept of the other side's words. */
const MOST_WORDS = 300;
/** What is looked at of them. */
const MOST_SAID = 20_000;
/** From so many letters on each word of a value is cut as well, and within other words, too. */
const LEAST_PART = 4;
/** Scripts that set no blank between words, or write particles onto a name. */
const UNBROKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * What an HR system said of a write, without the values that it was sent: it may quote them whole or in part, and in
 * another case. What it wrote in another form, such as a date, stays, and what else it said of somebody cannot be
 * known. A terminal would obey control characters, so they go. Such words go into holds, and into the reasons of
 * `hire_steps`, `hire_documents` and `quarantine`.
 */
export function withoutValues(said: string, sent: readonly unknown[]): string {
  const words = said
    .slice(0, MOST_SAID)
    .normalize('NFC')
    .replaceAll(/\p{Cc}+/gu, ' ');
  const values = sent.flat().flatMap((value) => (isValue(value) ? [String(value).normalize('NFC').trim()] : []));
  const parts = values.flatMap((value) => value.split(/[\s,;/<>()"']+/)).filter((part) => part.length >= LEAST_PART);
  const longestFirst = [...new Set([...values, ...parts])].filter(Boolean).toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return words.slice(0, MOST_WORDS);
  return words.replaceAll(new RegExp(longestFirst.map(patternOf).join('|'), 'giu'), '…').slice(0, MOST_WORDS);
}

function isValue(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && String(value).length >= LEAST_PART);
}

/** A short value is cut as a whole word alone: within others it would leave nothing readable. */
function patternOf(value: string): string {
  const pattern = RegExp.escape(value);
  if (value.length >= LEAST_PART || UNBROKEN.test(value)) return pattern;
  return String.raw`(?<![\p{L}\p{N}])${pattern}(?![\p{L}\p{N}])`;
}
