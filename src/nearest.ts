import { closestMatch } from 'leven';

/** The known word that may be meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  return closestMatch(word, known, { maxDistance: Math.max(2, Math.floor(word.length / 3)) });
}

/** `did you mean "x"?` where one of the known words is near, else the whole list. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean "${near}"?`;
}
