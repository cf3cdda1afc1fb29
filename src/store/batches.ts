/** Rows or ids in one statement: databases limit its parameters. */
const MOST = 1_000;

export function batchesOf<T>(all: readonly T[], most = MOST): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, n) => all.slice(n * most, (n + 1) * most));
}
