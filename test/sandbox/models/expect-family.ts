import { expect } from 'vitest';
import { checkFamily, type Family, type RunOptions } from './model-run.ts';

const FIXED = { runs: 100, seed: 1 };

/** Sandbox and model agree after every step of enough steps to mean something. */
export function expectAgreement<Model>(family: Family<Model>): void {
  const { runs, steps, seed } = checkFamily(family, FIXED);
  console.log(`${family.name}: ${runs} runs, ${steps} steps, seed ${seed}`);
  expect(steps).toBeGreaterThan(1_000);
}

/** A sandbox that does one thing wrong is found out. */
export function expectCounterexample<Model>(family: Family<Model>, spoil: NonNullable<RunOptions['spoil']>): void {
  expect(() => checkFamily(family, { ...FIXED, spoil })).toThrow('Counterexample');
}
