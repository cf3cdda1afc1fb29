import type { Side } from '../hire/hire.ts';
import type { FieldWrite, PairPlan } from './plan-pair.ts';
import { EMPTY_FORM } from './see-fields.ts';

/** A write's effect on its side. met: the field of this pair was never compared before. */
type Effect = 'emptied' | 'changed' | 'met';

/** Ids of pairs by side and effect, and by side, effect and field. */
export type WrittenPairs = Readonly<Record<string, readonly string[]>>;

/** Number of pairs for each key; `filled` with a field counts the pairs that have a value in it. */
export type Tally = Readonly<Record<string, number>>;

interface Judged {
  pair: { pairId: string };
  plan: Pick<PairPlan, 'toHris' | 'toPartner'>;
  /** Forms that both sides agreed on before. */
  bases: Readonly<Record<string, string>>;
}

/** Up to `few` pairs are always allowed; beyond that, at most this share of all pairs. */
const LIMITS: Readonly<Record<Effect, { few: number; share: number; code: PairLimitCode; says: string }>> = {
  emptied: {
    few: 10,
    share: 0.05,
    code: 'MASS_EMPTIED',
    says: 'would lose values %in, as happens when a permission or a field is lost',
  },
  changed: { few: 20, share: 0.2, code: 'MASS_CHANGE', says: 'would get other values %in' },
  met: {
    few: 20,
    share: 0.05,
    code: 'FIRST_MEETING',
    says: 'would get values %in that were never compared before: empty fields are filled, others follow the mapping',
  },
};

/** If a field would lose more than this share of its values, it has vanished, even if few pairs have it. */
const MOST_OF_A_FIELD = 0.5;

type PairLimitCode = 'MASS_EMPTIED' | 'MASS_CHANGE' | 'FIRST_MEETING';

const EFFECTS = Object.keys(LIMITS) as Effect[];
const PLACES: Readonly<Record<Side, string>> = { hris: 'in the HR system', partner: 'at the hiring platform' };

/** The planned writes, grouped by effect. */
export function effectsOf(pairs: readonly Judged[]): WrittenPairs {
  const written: Record<string, string[]> = {};
  const add = (pairId: string, ...key: string[]): void => void (written[key.join(' ')] ??= []).push(pairId);
  for (const { pair, plan, bases } of pairs) {
    for (const [side, writes] of [['hris', plan.toHris] as const, ['partner', plan.toPartner] as const]) {
      for (const one of writes) add(pair.pairId, side, effectOf(one, bases), one.field);
      for (const effect of new Set(writes.map((one) => effectOf(one, bases)))) add(pair.pairId, side, effect);
    }
  }
  return written;
}

/** Removes the permissions that a person gave with these codes. */
export function withoutAllowed(written: WrittenPairs, codes: readonly string[]): WrittenPairs {
  const allowed = EFFECTS.filter((effect) => codes.includes(LIMITS[effect].code));
  return Object.fromEntries(
    Object.entries(written).filter(([key]) => !allowed.some((effect) => key.split(' ')[1] === effect)),
  );
}

/** Counts each pair once, no matter how often it was written. */
export function tallyOf(...all: readonly WrittenPairs[]): Tally {
  const keys = new Set(all.flatMap((written) => Object.keys(written)));
  return Object.fromEntries([...keys].map((key) => [key, new Set(all.flatMap((written) => written[key] ?? [])).size]));
}

/** How many pairs have a value in each field. */
export function tallyFilled(pairs: readonly Judged[]): Tally {
  return sumOfTallies(
    ...pairs.map(({ bases }) => {
      const filled = Object.entries(bases).filter(([, form]) => form !== EMPTY_FORM);
      return Object.fromEntries(filled.map(([field]) => [`filled ${field}`, 1]));
    }),
  );
}

/** Adds tallies of disjoint sets of pairs. */
export function sumOfTallies(...tallies: readonly Tally[]): Tally {
  const sum: Record<string, number> = {};
  for (const tally of tallies) for (const [key, count] of Object.entries(tally)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
}

/** Whether these pairs are so few that the remaining pairs need no survey. */
export function areFew(tally: Tally): boolean {
  return EFFECTS.every((effect) => SIDES.every((side) => countOf(tally, side, effect) <= LIMITS[effect].few));
}

/** Why a person is asked before so much is written. */
interface PairExcess {
  code: PairLimitCode;
  message: string;
  pairs: number;
}

/** Returns each limit that these writes exceed, of `known` pairs in total. */
export function judgeTally(tally: Tally, known: number): PairExcess[] {
  return SIDES.flatMap((side) => EFFECTS.flatMap((effect) => judgeEffect(tally, known, [side, effect])));
}

function judgeEffect(tally: Tally, known: number, [side, effect]: [Side, Effect]): PairExcess[] {
  const { few, share, code, says } = LIMITS[effect];
  const count = countOf(tally, side, effect);
  const isMass = count > Math.max(few, known * share);
  if (!isMass && !(effect === 'emptied' && vanishes(tally, side))) return [];
  const what = `${count} of ${known} pairs ${says.replace('%in', PLACES[side])}`;
  const counts = fieldCounts(tally, side, effect).toSorted(([, a], [, b]) => b - a);
  const fields = counts.map(([field, some]) => `${field} ${some}`).join(', ');
  return [{ code, message: `${what} (${fields}).`, pairs: count }];
}

const SIDES: readonly Side[] = ['hris', 'partner'];

function effectOf({ field, form }: Pick<FieldWrite, 'field' | 'form'>, bases: Judged['bases']): Effect {
  if (bases[field] === undefined) return 'met';
  return form === EMPTY_FORM ? 'emptied' : 'changed';
}

function vanishes(tally: Tally, side: Side): boolean {
  return fieldCounts(tally, side, 'emptied').some(([field, count]) => {
    const filled = countOf(tally, 'filled', field);
    return filled > 0 && count > Math.max(LIMITS.emptied.few, filled * MOST_OF_A_FIELD);
  });
}

function fieldCounts(tally: Tally, ...key: [Side, Effect]): [string, number][] {
  const prefix = `${key.join(' ')} `;
  return Object.entries(tally).flatMap(([name, count]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), count] as [string, number]] : [],
  );
}

function countOf(tally: Tally, ...key: [Side, Effect] | ['filled', string]): number {
  return tally[key.join(' ')] ?? 0;
}
