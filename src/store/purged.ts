/** What retention leaves in a JSON column; the ids beside it stay. */
export const PURGED = '{}';

/** What a column holds, or `purged` once retention has cleared it. */
export function readKept<Kept>(column: string): Kept | 'purged' {
  return column === PURGED ? 'purged' : (JSON.parse(column) as Kept);
}
