/** 1 where all have the same, 1/n where one has everything. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((all, one) => all + one, 0);
  return (sum * sum) / (shares.length * shares.reduce((all, one) => all + one * one, 0));
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
