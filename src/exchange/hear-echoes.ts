import { isDeepStrictEqual } from 'node:util';
import type { FieldValue, Side } from '../hire/hire.ts';
import type { Echo, Echoes, PairState, SentForms } from '../store/exchange-pairs.ts';
import { type FieldWrite, NOT_KEPT, NOT_SHOWN, type PairPlan } from './plan-pair.ts';
import { EMPTY_FORM, otherSide, type Seen, type SeenField, type SideValue } from './see-fields.ts';

/** After this many writes in a row that came back changed, the value is not written again. */
const MOST_BOUNCES = 3;

/** A pair ready to be merged, once our own earlier writes are accounted for. */
export interface Heard {
  seen: SeenField[];
  bases: Record<string, string>;
  /** Echoes to remember from now on. */
  echoes: Echoes;
  /** How many writes of a field in a row came back changed. */
  bounces: ReadonlyMap<string, number>;
  /** Forms that a side may still show because of earlier writes, or from before them. */
  late: ReadonlyMap<string, Pick<Echo, 'to' | 'over'>>;
}

type Known = Pick<PairState, 'bases' | 'sent' | 'echoes'>;

/** Settings and facts that decide about a pair besides its stored state. */
interface Hearing {
  /** Whether to write a field's value once more although the side never kept it. */
  again: (field: string) => boolean;
  /** When the reading began, by the database's clock. */
  readAt: number;
  /** How long after a write, in milliseconds, each side may go on showing the value from before. */
  shownWithin: Readonly<Record<Side, number>>;
}

/**
 * Tells our own writes apart from edits that people made. If a side still shows the value from before a write, nobody
 * edited it: the side counts as holding what was written. The same goes for a side that keeps a value in a spelling of
 * its own, as long as it shows exactly that spelling. Pure.
 */
export function hearEchoes(seen: readonly SeenField[], known: Known, { again, ...times }: Hearing): Heard {
  const isSeen = new Set(seen.map(({ field }) => field.target));
  const unseen = Object.entries(known.echoes).filter(([field]) => !isSeen.has(field));
  const heard = {
    seen: [] as SeenField[],
    bases: { ...known.bases },
    echoes: Object.fromEntries(unseen),
    bounces: new Map<string, number>(),
    late: new Map<string, Pick<Echo, 'to' | 'over'>>(),
  };
  for (const one of seen) {
    const { target } = one.field;
    const base = basedOn(one, known.bases[target]);
    const field = { ...times, under: known.sent[target], echo: known.echoes[target], base, again: again(target) };
    const { as = one, echo, bounces, late, agreed = base } = hearField(one, field);
    heard.seen.push(as);
    if (agreed !== undefined) heard.bases[target] = agreed;
    if (echo !== undefined) heard.echoes[target] = echo;
    if (bounces !== undefined) heard.bounces.set(target, bounces);
    if (late !== undefined) heard.late.set(target, late);
  }
  return heard;
}

/** Writes of a pair that were accepted at time `at`, and the forms their fields showed right after, if known. */
interface Taken {
  done: readonly FieldWrite[];
  after: ReadonlyMap<string, string>;
  at: number;
}

/** Echoes to remember of values that a side accepted; none for a value that already showed up as written. */
export function echoesOf(
  { toHris, toPartner }: Pick<PairPlan, 'toHris' | 'toPartner'>,
  { bounces, late }: Pick<Heard, 'bounces' | 'late'>,
  { done, after, at }: Taken,
): Echoes {
  const of = (to: Echo['to'], writes: readonly FieldWrite[]) =>
    writes
      .filter((one) => done.some(({ field }) => field === one.field))
      .flatMap(({ field, form, over: before }) => {
        const earlier = late.get(field);
        const over = [...new Set([...((earlier?.to === to && earlier.over) || []), before])];
        const shown = to === 'hris' ? after.get(field) : undefined;
        if (shown === form && !over.includes(form)) return [];
        const own = shown === undefined || over.includes(shown) ? {} : { after: shown };
        return [[field, { to, form, over, at, times: bounces.get(field) ?? 0, ...own }] as const];
      });
  return Object.fromEntries([...of('hris', toHris), ...of('partner', toPartner)]);
}

/** An earlier version stored forms letter by letter: translate those to today's form. */
function basedOn({ partner, hris }: SeenField, base: string | undefined): string | undefined {
  const same = [partner, hris].find(({ exact }) => exact !== undefined && exact === base);
  return same === undefined ? base : formIn(same.seen);
}

interface HeardField {
  as?: SeenField;
  echo?: Echo;
  bounces?: number;
  late?: Pick<Echo, 'to' | 'over'>;
  agreed?: string;
}

interface KnownField extends Omit<Hearing, 'again'> {
  under: SentForms[string] | undefined;
  echo: Echo | undefined;
  base: string | undefined;
  again: boolean;
}

function hearField(one: SeenField, known: KnownField): HeardField {
  const { under, echo, again } = known;
  const to = under?.to ?? echo?.to;
  if (to === undefined) return {};
  const [shown, other] = [formIn(one[to].seen), formIn(one[otherSide(to)].seen)];
  if (under !== undefined && shown === under.form) return arrived(under, known);
  // A value that is unreadable now is judged at the next reading.
  if (shown === undefined || other === undefined) return echo === undefined ? {} : { echo };
  if (under !== undefined) return hearInDoubt(one, { shown, other, under, known });
  if (echo === undefined) return {};
  if (echo.shown === undefined && echo.over?.includes(shown) === true && !isOverdue(echo, known))
    return awaited(one, shown, { at: known.readAt, ...echo });
  if (shown === other) return {};
  if (echo.shown === shown) return again && echo.times > 0 ? { agreed: shown } : spelled(one, echo);
  if (echo.shown !== undefined || shown === echo.form) return {};
  return hearOther(one, { shown, other, echo });
}

interface Forms {
  shown: string;
  other: string;
}

/** The side accepted the write but shows another value now, and no edit by a person is known. */
function hearOther(one: SeenField, { shown, other, echo }: Forms & { echo: Echo }): HeardField {
  const { flow } = one;
  const isOld = echo.over?.includes(shown) === true;
  if (isOld && (flow.owner === 'either' || flow.amends !== undefined))
    return spelled(one, { ...echo, shown, times: 1 });
  // A value into which the side turned our write is no edit, even if somebody edited the other side since.
  if (other !== echo.form) return shown === echo.after ? spelled(one, { ...echo, shown, times: MOST_BOUNCES }) : {};
  const [value, source] = [one[echo.to], one[otherSide(echo.to)]];
  if (isAlike(value, source)) return spelled(one, { ...echo, shown, times: 0 });
  const isOwnDoing = shown === echo.after || (flow.owner === 'either' && isCut(source.value, value.value));
  // A value that the side made itself, or shows again and again, is no edit.
  const times = isOwnDoing ? MOST_BOUNCES : isOld ? echo.times + 1 : 1;
  return times < MOST_BOUNCES ? { bounces: times } : spelled(one, { ...echo, shown, times });
}

/** The outcome of the write is unknown, and the side shows another value. */
function hearInDoubt(
  one: SeenField,
  { shown, other, under, known }: Forms & { under: SentForms[string]; known: KnownField },
): HeardField {
  const { to, form } = under;
  const late = { to, over: [...lateOf(known.echo, to), form] };
  // Somebody undid the source value, but the write may still arrive.
  if (shown === other)
    return { agreed: shown, echo: { to, form: shown, over: [shown, ...late.over], times: 0, at: known.readAt } };
  // The write did not arrive: the side still shows its own version of the write before.
  if (known.echo?.to === to && known.echo.shown === shown) return { ...spelled(one, known.echo), late };
  const isArrived = other === form && shown !== known.base && isAlike(one[to], one[otherSide(to)]);
  return isArrived ? { ...spelled(one, { to, form: other, shown, times: 0 }), agreed: other } : { late };
}

/**
 * A write that arrived is no edit, no matter what the other side holds now. Earlier writes may still arrive after it.
 */
function arrived({ to, form }: SentForms[string], { echo, readAt }: KnownField): HeardField {
  const over = lateOf(echo, to);
  return over.includes(form) ? { agreed: form, echo: { to, form, over, times: 0, at: readAt } } : { agreed: form };
}

/** The side counts as holding the written value until it shows it. */
function awaited(one: SeenField, shown: string, echo: Echo): HeardField {
  const { to, form } = echo;
  const seen = { form, isEmpty: form === EMPTY_FORM };
  return { as: { ...one, [to]: { ...one[to], seen, shown } }, echo, late: { to, over: lateOf(echo, to) } };
}

/** Forms that the side may still show because of earlier writes. */
function lateOf(echo: Echo | undefined, to: Side): string[] {
  return echo?.to === to && echo.shown === undefined ? [...(echo.over ?? []), echo.form] : [];
}

function isOverdue({ to, at }: Echo, { readAt, shownWithin }: KnownField): boolean {
  return at !== undefined && readAt > at + shownWithin[to];
}

/** The side counts as holding the value that was written to it. */
function spelled(one: SeenField, echo: Echo): HeardField {
  const seen = { form: echo.form, isEmpty: echo.form === EMPTY_FORM };
  const isKept = echo.times === 0 || formIn(one[otherSide(echo.to)].seen) !== echo.form;
  const why = isKept ? {} : { notKept: echo.times < MOST_BOUNCES ? NOT_SHOWN : NOT_KEPT };
  return { as: { ...one, [echo.to]: { ...one[echo.to], seen, shown: echo.shown }, ...why }, echo };
}

/** Whether two values differ only in capitals, character widths and blanks. */
function isAlike(one: SideValue, other: SideValue): boolean {
  const [a, b] = [folded(one.value), folded(other.value)];
  return a !== undefined && isDeepStrictEqual(a, b);
}

function folded(value: FieldValue): string | string[] | undefined {
  if (Array.isArray(value)) return value.map(foldText).sort();
  return typeof value === 'string' ? foldText(value) : undefined;
}

/** Whether `part` is a text that lost its end, or a number that was rounded. */
function isCut(whole: FieldValue, part: FieldValue): boolean {
  const [a, b] = [digitsIn(whole), digitsIn(part)];
  if (a !== undefined && b !== undefined)
    return decimalsIn(b) < decimalsIn(a) && Math.abs(Number(a) - Number(b)) < 10 ** -decimalsIn(b);
  const [long, short] = [folded(whole), folded(part)];
  return typeof long === 'string' && typeof short === 'string' && short !== '' && long.startsWith(short);
}

function digitsIn(value: FieldValue): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^-?\d+(\.\d+)?$/.test(text) ? text : undefined;
}

function decimalsIn(digits: string): number {
  return digits.split('.')[1]?.length ?? 0;
}

function foldText(text: string): string {
  return text.normalize('NFKC').trim().replaceAll(/\s+/gu, ' ').toLowerCase();
}

function formIn(seen: Seen): string | undefined {
  return 'form' in seen ? seen.form : undefined;
}
