import { isDeepStrictEqual } from 'node:util';
import type { FieldValue } from '../hire/employee.ts';
import { otherSide, type Seen } from '../plan/merge-field.ts';
import type { Echo, Echoes, PairState } from '../store/exchange-pairs.ts';
import { EMPTY_FORM } from './form-of.ts';
import type { FieldWrite, PairPlan } from './plan-pair.ts';
import type { SeenField, SideValue } from './see-fields.ts';

/** A value that came back otherwise so often in a row is written no more. */
const MOST_BOUNCES = 3;

/** A pair as it is to be judged, once it is known what became of our own writes. */
export interface Heard {
  seen: SeenField[];
  bases: Record<string, string>;
  /** What is to be remembered of them from now on. */
  echoes: Echoes;
  /** How often in a row the latest writes of a field came back otherwise. */
  bounces: ReadonlyMap<string, number>;
}

type Known = Pick<PairState, 'bases' | 'sent' | 'echoes'>;

/**
 * Tells our own writes, as they look where they were written, from what people edited there: a side that keeps a value
 * in a spelling of its own holds what both agreed on, as long as it shows just that spelling. `again` names fields
 * whose value is to be written once more although it was never kept. Pure.
 */
export function hearEchoes(seen: readonly SeenField[], known: Known, again: (field: string) => boolean): Heard {
  const isSeen = new Set(seen.map(({ field }) => field.target));
  const unseen = Object.entries(known.echoes).filter(([field]) => !isSeen.has(field));
  const heard = {
    seen: [] as SeenField[],
    bases: { ...known.bases },
    echoes: Object.fromEntries(unseen),
    bounces: new Map<string, number>(),
  };
  for (const one of seen) {
    const { target } = one.field;
    const base = basedOn(one, known.bases[target]);
    const { as = one, echo, bounces, agreed = base } = hearField(one, { ...known, base, again: again(target) });
    heard.seen.push(as);
    if (agreed !== undefined) heard.bases[target] = agreed;
    if (echo !== undefined) heard.echoes[target] = echo;
    if (bounces !== undefined) heard.bounces.set(target, bounces);
  }
  return heard;
}

/** What is to be remembered of values that a side took. */
export function echoesOf(
  { toHris, toPartner }: Pick<PairPlan, 'toHris' | 'toPartner'>,
  { done, bounces }: { done: readonly FieldWrite[]; bounces: ReadonlyMap<string, number> },
): Echoes {
  const of = (to: Echo['to'], writes: readonly FieldWrite[]) =>
    writes
      .filter((one) => done.some(({ field }) => field === one.field))
      .map(({ field, form, over }) => [field, { to, form, over, times: bounces.get(field) ?? 0 }] as const);
  return Object.fromEntries([...of('hris', toHris), ...of('partner', toPartner)]);
}

/** An earlier version kept the form of a value letter by letter. */
function basedOn({ partner, hris }: SeenField, base: string | undefined): string | undefined {
  const same = [partner, hris].find(({ exact }) => exact !== undefined && exact === base);
  return same === undefined ? base : formIn(same.seen);
}

interface HeardField {
  as?: SeenField;
  echo?: Echo;
  bounces?: number;
  agreed?: string;
}

type KnownField = Pick<Known, 'sent' | 'echoes'> & { base: string | undefined; again: boolean };

function hearField(one: SeenField, { sent, echoes, base, again }: KnownField): HeardField {
  const under = sent[one.field.target];
  const echo = echoes[one.field.target];
  const to = under?.to ?? echo?.to;
  if (to === undefined) return {};
  const [shown, other] = [formIn(one[to].seen), formIn(one[otherSide(to)].seen)];
  // What arrived is nobody's edit, whatever the other side holds by now.
  if (under !== undefined && shown === under.form) return { agreed: under.form };
  // What cannot be read now is heard later.
  if (shown === undefined || other === undefined) return echo === undefined ? {} : { echo };
  if (shown === other) return {};
  if (echo?.to === to && echo.shown === shown) return again && echo.times > 0 ? { agreed: shown } : spelled(one, echo);
  if (under !== undefined) {
    const arrived = other === under.form && shown !== base && isAlike(one[to], one[otherSide(to)]);
    return arrived ? { ...spelled(one, { to, form: other, shown, times: 0 }), agreed: other } : {};
  }
  if (echo === undefined || echo.shown !== undefined || shown === echo.form || other !== echo.form) return {};
  if (isAlike(one[to], one[otherSide(to)])) return spelled(one, { ...echo, shown, times: 0 });
  // Somebody may have edited it: only what stood there before, again and again, is nobody's edit.
  const times = shown === echo.over ? echo.times + 1 : 1;
  return times < MOST_BOUNCES ? { bounces: times } : spelled(one, { ...echo, shown, times });
}

/** The side counts as holding what was written to it. */
function spelled(one: SeenField, echo: Echo): HeardField {
  const seen = { form: echo.form, isEmpty: echo.form === EMPTY_FORM };
  const isKept = echo.times === 0 || formIn(one[otherSide(echo.to)].seen) !== echo.form;
  return { as: { ...one, [echo.to]: { ...one[echo.to], seen, shown: echo.shown }, notKept: !isKept }, echo };
}

/** One value in two spellings: capitals, widths and blanks. */
function isAlike(one: SideValue, other: SideValue): boolean {
  const [a, b] = [folded(one.value), folded(other.value)];
  return a !== undefined && isDeepStrictEqual(a, b);
}

function folded(value: FieldValue): string | string[] | undefined {
  if (Array.isArray(value)) return value.map(foldText).sort();
  return typeof value === 'string' ? foldText(value) : undefined;
}

function foldText(text: string): string {
  return text.normalize('NFKC').trim().replaceAll(/\s+/gu, ' ').toLowerCase();
}

function formIn(seen: Seen): string | undefined {
  return 'form' in seen ? seen.form : undefined;
}
