import { below, employment } from './cases/employment.ts';
import { finding, listing } from './cases/finding.ts';
import { trouble, webhooks } from './cases/trouble.ts';
import { pending, writing } from './cases/writing.ts';
import { cellOf, type HrisCase, type HrisCell, type HrisUnderTest } from './hris-under-test.ts';

/** The cases for every kind, in the order of the matrix. */
export const hrisCases: readonly HrisCase[] = [
  ...finding,
  ...writing,
  ...employment,
  ...trouble,
  ...webhooks,
  ...pending,
];

/** Every case as a cell, to be run one after another by any test runner. */
export function hrisCells(hris: HrisUnderTest): HrisCell[] {
  const { powers = {} } = hris;
  const own = [...(powers.everybody === undefined ? [] : listing), ...(powers.below === undefined ? [] : below)];
  return [...hrisCases, ...own].map((one) => cellOf(one, hris));
}
