import { stringify } from 'yaml';
import type { PlacedRule } from './placed-rule.ts';

/** A longer lookup is shown as a count. */
const MOST_VALUES = 5;

/** Writes a rule as one line of YAML. */
export function writeRule({ lookup, ...rule }: PlacedRule['rule']): string {
  const values = lookup === undefined ? 0 : Object.keys(lookup).length;
  const short = lookup === undefined ? {} : { lookup: values > MOST_VALUES ? `${values} values` : { ...lookup } };
  return stringify({ ...rule, ...short }, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}
