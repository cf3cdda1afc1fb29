import { isDeepStrictEqual } from 'node:util';
import type { FieldValue } from '../hire/employee.ts';
import type { Side } from '../hire/side.ts';
import { otherSide, type Seen } from '../plan/merge-field.ts';
import type { Echo, Echoes, PairState, SentForms } from '../store/exchange-pairs.ts';
import { EMPTY_FORM } from './form-of.ts';
import { type FieldWrite, NOT_KEPT, NOT_SHOWN, type PairPlan } from './plan-pair.ts';
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
  /** Forms of earlier writes, and of what stood there before, that a side may still come to show. */
  late: ReadonlyMap<string, Pick<Echo, 'to' | 'over'>>;
}

type Known = Pick<PairState, 'bases' | 'sent' | 'echoes'>;

/** What a pair is judged by, beside what is known of it. */
interface Hearing {
  /** Whether a value is to be written once more although it was never kept. */
  again: (field: string) => boolean;
  /** When the reading began, by the database's clock. */
  readAt: number;
  /** How long after a write each side may go on showing what stood there before, milliseconds. */
  shownWithin: Readonly<Record<Side, number>>;
}

/**
 * Tells our own writes, as they look where they were written, from what people edited there. A side that goes on
 * showing what stood there before a write was edited by nobody: it counts as holding what was written. So does one that
 * keeps a value in a spelling of its own, as long as it shows just that spelling. Pure.
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

/** Writes of a pair that were taken at the time `at`, and what their fields showed directly afterwards, if known. */
interface Taken {
  done: readonly FieldWrite[];
  after: ReadonlyMap<string, string>;
  at: number;
}

/** What is to be remembered of values that a side took: nothing of one that was seen there. */
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

/** An earlier version kept the form of a value letter by letter. */
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
  // What cannot be read now is heard later.
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

/** The side took it, and shows something else by now; nobody is known to have edited that. */
function hearOther(one: SeenField, { shown, other, echo }: Forms & { echo: Echo }): HeardField {
  const { flow } = one;
  const isOld = echo.over?.includes(shown) === true;
  if (isOld && (flow.owner === 'either' || flow.amends !== undefined))
    return spelled(one, { ...echo, shown, times: 1 });
  // What it was seen to make of the write is nobody's edit, whatever was edited on the other side since.
  if (other !== echo.form) return shown === echo.after ? spelled(one, { ...echo, shown, times: MOST_BOUNCES }) : {};
  const [value, source] = [one[echo.to], one[otherSide(echo.to)]];
  if (isAlike(value, source)) return spelled(one, { ...echo, shown, times: 0 });
  const isOwnDoing = shown === echo.after || (flow.owner === 'either' && isCut(source.value, value.value));
  // What the side made of it itself, or shows again and again, is nobody's edit.
  const times = isOwnDoing ? MOST_BOUNCES : isOld ? echo.times + 1 : 1;
  return times < MOST_BOUNCES ? { bounces: times } : spelled(one, { ...echo, shown, times });
}

/** The write is in doubt, and the side shows something else. */
function hearInDoubt(
  one: SeenField,
  { shown, other, under, known }: Forms & { under: SentForms[string]; known: KnownField },
): HeardField {
  const { to, form } = under;
  const late = { to, over: [...lateOf(known.echo, to), form] };
  // It may still arrive after what it came from was taken back.
  if (shown === other)
    return { agreed: shown, echo: { to, form: shown, over: [shown, ...late.over], times: 0, at: known.readAt } };
  // It did not arrive, and its side goes on showing what it made of the write before.
  if (known.echo?.to === to && known.echo.shown === shown) return { ...spelled(one, known.echo), late };
  const isArrived = other === form && shown !== known.base && isAlike(one[to], one[otherSide(to)]);
  return isArrived ? { ...spelled(one, { to, form: other, shown, times: 0 }), agreed: other } : { late };
}

/** What arrived is nobody's edit, whatever the other side holds by now. What was written before it may still arrive. */
function arrived({ to, form }: SentForms[string], { echo, readAt }: KnownField): HeardField {
  const over = lateOf(echo, to);
  return over.includes(form) ? { agreed: form, echo: { to, form, over, times: 0, at: readAt } } : { agreed: form };
}

/** The side counts as holding what was written, until that is seen there. */
function awaited(one: SeenField, shown: string, echo: Echo): HeardField {
  const { to, form } = echo;
  const seen = { form, isEmpty: form === EMPTY_FORM };
  return { as: { ...one, [to]: { ...one[to], seen, shown } }, echo, late: { to, over: lateOf(echo, to) } };
}

/** What a side may still come to show of what was written before. */
function lateOf(echo: Echo | undefined, to: Side): string[] {
  return echo?.to === to && echo.shown === undefined ? [...(echo.over ?? []), echo.form] : [];
}

function isOverdue({ to, at }: Echo, { readAt, shownWithin }: KnownField): boolean {
  return at !== undefined && readAt > at + shownWithin[to];
}

/** The side counts as holding what was written to it. */
function spelled(one: SeenField, echo: Echo): HeardField {
  const seen = { form: echo.form, isEmpty: echo.form === EMPTY_FORM };
  const isKept = echo.times === 0 || formIn(one[otherSide(echo.to)].seen) !== echo.form;
  const why = isKept ? {} : { notKept: echo.times < MOST_BOUNCES ? NOT_SHOWN : NOT_KEPT };
  return { as: { ...one, [echo.to]: { ...one[echo.to], seen, shown: echo.shown }, ...why }, echo };
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

/** A text whose end is missing, or a number that is rounded. */
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
