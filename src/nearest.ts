import { closestMatch } from 'leven';

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
