/** What retention leaves in a JSON column; the ids in other columns stay. */
export const PURGED = '{}';

/** The content of a column, or `purged` once retention has cleared it. */
export function readKept<Kept>(column: string): Kept | 'purged' {
  return column === PURGED ? 'purged' : (JSON.parse(column) as Kept);
}
