import type { FieldValue } from '../hire/hire.ts';
import type { PairPlan } from './plan-pair.ts';

type Planned = { plan: Pick<PairPlan, 'toHris' | 'toPartner'> };

/**
 * Orders pairs so that a record that gives up a value is written before the record that takes it: a side that keeps the
 * field unique then has nothing to refuse. No order helps if records pass values around in a circle. Pure.
 */
export function giversFirst<T extends Planned>(pairs: readonly T[]): T[] {
  const givers = new Map(pairs.flatMap((one) => placesOf(one, 'old').map((place) => [place, one] as const)));
  const begun = new Set<T>();
  const ordered: T[] = [];
  const put = (one: T): void => {
    if (begun.has(one)) return;
    begun.add(one);
    for (const place of placesOf(one, 'new')) {
      const giver = givers.get(place);
      if (giver !== undefined) put(giver);
    }
    ordered.push(one);
  };
  for (const one of pairs) put(one);
  return ordered;
}

/** The values that a pair's writes replace (`old`) or write (`new`), each with its side and field. */
function placesOf({ plan: { toHris, toPartner } }: Planned, which: 'old' | 'new'): string[] {
  const places = [...toHris.map((one) => ['hris', one] as const), ...toPartner.map((one) => ['partner', one] as const)];
  return places.flatMap(([side, one]) => {
    const value = folded(one[which]);
    return value === undefined ? [] : [JSON.stringify([side, one.field, value])];
  });
}

/** A side that keeps addresses unique also refuses another spelling of the same address. */
function folded(value: FieldValue): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().toLowerCase() : undefined;
}
