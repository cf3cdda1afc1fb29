/** One number of a bench, a value a round, in the order of the rounds. */
export interface Measured {
  bench: string;
  what: string;
  unit: string;
  values: number[];
  /** What of the same bench and the same rounds it is set against. */
  floor?: string;
  /** Bounds of the ratio, or of the value itself where there is no floor. */
  goal?: { least?: number; most?: number };
}

export interface Bench {
  name: string;
  /** What nobody should read out of its numbers. */
  leavesOut: string;
  measure(scale: Scale): Promise<BenchOutcome>;
}

export interface BenchOutcome {
  measured: Measured[];
  /** Curves beside those of the rounds: seconds against a value. */
  curves?: { title: string; unit: string; values: number[] }[];
}

export interface Scale {
  quick: boolean;
  rounds: number;
  say: (line: string) => void;
}

/** Takes down values under their names, round after round. */
export interface Ledger {
  add(what: string, unit: string, value: number, against?: Pick<Measured, 'floor' | 'goal'>): void;
  measured(): Measured[];
}

export function openLedger(bench: string): Ledger {
  const rows = new Map<string, Measured>();
  return {
    add(what, unit, value, against = {}) {
      const row = rows.get(what) ?? { bench, what, unit, values: [], ...against };
      row.values.push(value);
      rows.set(what, row);
    },
    measured: () => [...rows.values()],
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Of each round by itself: what else the machine does hits both sides of a ratio. */
export function ratioOf({ values, floor }: Measured, all: readonly Measured[]): number | undefined {
  const base = all.find((one) => one.what === floor)?.values;
  if (base === undefined) return undefined;
  return median(values.map((value, round) => value / (base[round] ?? Number.NaN)));
}

export function verdictOf(one: Measured, all: readonly Measured[]): 'holds' | 'falls short' | '' {
  if (one.goal === undefined) return '';
  const value = ratioOf(one, all) ?? median(one.values);
  const { least = -Infinity, most = Infinity } = one.goal;
  return value >= least && value <= most ? 'holds' : 'falls short';
}
