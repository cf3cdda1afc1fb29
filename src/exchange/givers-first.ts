import type { FieldValue } from '../hire/employee.ts';
import type { PairPlan } from './plan-pair.ts';

type Planned = { plan: Pick<PairPlan, 'toHris' | 'toPartner'> };

/**
 * Pairs in an order in which whoever gives a value up is written before whoever takes it: a side that keeps a field
 * unique has nothing to refuse then. Where some give to each other in a circle, no order helps; theirs is any. Pure.
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

/** The values that a pair's writes are over, or are of, each with its side and field. */
function placesOf({ plan: { toHris, toPartner } }: Planned, which: 'old' | 'new'): string[] {
  const places = [...toHris.map((one) => ['hris', one] as const), ...toPartner.map((one) => ['partner', one] as const)];
  return places.flatMap(([side, one]) => {
    const value = folded(one[which]);
    return value === undefined ? [] : [JSON.stringify([side, one.field, value])];
  });
}

/** A side that keeps addresses unique takes no other way of writing one, either. */
function folded(value: FieldValue): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().toLowerCase() : undefined;
}
