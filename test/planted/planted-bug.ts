/** One fault put into the sources on purpose, to prove that somebody would notice it. */
export interface PlantedBug {
  /** As issue 4 calls it. */
  name: string;
  /** Each `find` stands exactly once in its file. */
  patches: ReadonlyArray<{ file: string; find: string; replace: string }>;
  caughtBy: Check;
}

/** A command of the copy that must fail there, with these words, and passes without the patch. */
export interface Check {
  command: readonly string[];
  says: RegExp;
  /** The files of tests that it runs. */
  files?: readonly string[];
}

/** The simulation, at most so many seeds; it ends at the first violation. */
export function simulation(says: RegExp, seeds = 600, ...more: string[]): Check {
  return { command: ['node', 'test/simulation/simulate.ts', '--seeds', String(seeds), '--bail', ...more], says };
}

/** Files of tests. Where a test is named by `FAIL .*`, it alone is played with the bug in place. */
export function tests(says: RegExp, ...files: string[]): Check {
  const [, name] = /^FAIL \.\*(.+)$/.exec(says.source) ?? [];
  const only = name === undefined ? [] : ['-t', name];
  return { command: ['vitest', 'run', '--config', 'test/vitest.config.ts', ...files, ...only], says, files };
}

/** Seeds of two-way exchange, at most so many; it ends at the first that does not converge. */
export function convergence(says: RegExp, seeds = 12): Check {
  return { command: ['node', 'test/convergence/converge.ts', '--seeds', String(seeds)], says };
}

/** Seeds of the world of strangers; every tenth is a company of many. */
export function strange(says: RegExp, seeds = 40, from = 1): Check {
  const range = ['--seeds', String(seeds), '--from', String(from)];
  return { command: ['node', 'test/convergence/converge.ts', '--strange', ...range], says };
}
