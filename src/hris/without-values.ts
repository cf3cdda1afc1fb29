/** What is kept of the other side's words. */
const MOST_WORDS = 300;
/** Of a value of several words each is a value by itself, where it is no word like any other. */
const LEAST_PART = 4;

/**
 * What an HR system said of a write, without the values that it was sent: it may quote them whole or in part, and in
 * another case. What else it said of somebody cannot be known, so that such words go into holds and nowhere else.
 */
export function withoutValues(said: string, sent: readonly unknown[]): string {
  const values = sent.flat().flatMap((value) => (isValue(value) ? [String(value).trim()] : []));
  const parts = values.flatMap((value) => value.split(/[\s,;/<>()"']+/)).filter((part) => part.length >= LEAST_PART);
  const longestFirst = [...new Set([...values, ...parts])].filter(Boolean).toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return said.slice(0, MOST_WORDS);
  return said.replaceAll(new RegExp(longestFirst.map(RegExp.escape).join('|'), 'giu'), '…').slice(0, MOST_WORDS);
}

function isValue(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && String(value).length >= LEAST_PART);
}
