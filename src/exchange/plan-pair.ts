import { isDeepStrictEqual } from 'node:util';
import type { EmployeeFields, FieldValue, Side } from '../hire/hire.ts';
import type { Echo, Echoes, PairState, SentForms } from '../store/exchange-pairs.ts';
import type { FieldDefinition } from '../store/fields.ts';
import type { ConflictKind, FieldConflictRow } from '../store/stream-tables.ts';
import { foldSigns } from '../values/transforms.ts';
import {
  type Decision,
  EMPTY_FORM,
  type Merge,
  mergeField,
  otherSide,
  type PartnerValue,
  type Seen,
  type SeenField,
  type SideValue,
  sayToPartner,
} from './see-fields.ts';

/** A field where the sides differ, as people see it: each side's value, and what happens to it. */
export interface Finding {
  field: string;
  kind: ConflictKind;
  code?: string;
  forms: Record<Side, string | null>;
  values: Record<Side, FieldValue>;
  isSensitive: boolean;
  kept?: Side;
}

/** A value about to be written, and the form that both sides agree on afterwards. */
export interface FieldWrite {
  field: string;
  form: string;
  /** The form that the side holds before the write. */
  over: string;
  old: FieldValue;
  new: FieldValue;
  isSensitive: boolean;
}

export interface PairPlan {
  /** Forms that both sides already share. */
  agreed: Record<string, string>;
  toHris: FieldWrite[];
  toPartner: Array<FieldWrite & { at: PartnerValue }>;
  findings: Finding[];
}

/** Facts about a pair besides its two records. */
interface PairKnowledge {
  bases: Readonly<Record<string, string>>;
  /** Conflicts of the pair that are still open; empty if everything is to be tried again. */
  open: readonly OpenConflict[];
  /** The partner's custom fields as they are now. */
  defined: readonly FieldDefinition[];
}

type OpenConflict = Pick<FieldConflictRow, 'field' | 'kind' | 'code' | 'partner_form' | 'hris_form' | 'kept'>;

/** Codes with which a side says that another of its records holds a value that must be unique. */
export const TAKEN: readonly string[] = ['DUPLICATE_VALUE', 'EMAIL_CONFLICT', 'CONFLICT'];

/** Stands for the form of a side whose value cannot be read. A side that refused a value has no form at all. */
const UNREADABLE_FORM = '?';

/** The side came back with a value other than the one written. */
export const NOT_KEPT = 'NOT_KEPT';

/** The side still shows the value from before our write. */
export const NOT_SHOWN = 'NOT_SHOWN';

type Step = Partial<{ agreed: string; toHris: FieldWrite; toPartner: PairPlan['toPartner'][number]; finding: Finding }>;

type Planned = { plan: Pick<PairPlan, 'toHris' | 'toPartner'> };

/** Decides what to write on either side so that a pair agrees. Pure. */
export function planPair(seen: readonly SeenField[], known: PairKnowledge): PairPlan {
  const plan: PairPlan = { agreed: {}, toHris: [], toPartner: [], findings: [] };
  for (const one of seen) {
    const { agreed, toHris, toPartner, finding } = planField(one, known);
    if (agreed !== undefined) plan.agreed[one.field.target] = agreed;
    if (toHris !== undefined) plan.toHris.push(toHris);
    if (toPartner !== undefined) plan.toPartner.push(toPartner);
    if (finding !== undefined) plan.findings.push(finding);
  }
  return plan;
}

/** The values of an HRIS update. */
export function fieldsToWrite(writes: readonly FieldWrite[]): EmployeeFields {
  return Object.fromEntries(writes.map(({ field, new: value }) => [field, value]));
}

function planField(one: SeenField, known: PairKnowledge): Step {
  const { field, flow, partner, hris } = one;
  const base = known.bases[field.target];
  const open = known.open.find((row) => row.field === field.target);
  const decided: Decision | undefined =
    open?.kind === 'held' && open.kept !== null
      ? { partner: open.partner_form ?? '', hris: open.hris_form ?? '', keep: open.kept }
      : undefined;
  const merge = mergeField(flow, { base, partner: partner.seen, hris: hris.seen, decided });
  if (merge.verdict === 'agreed') {
    const agreed = formIn(partner.seen) ?? EMPTY_FORM;
    const code = one.notKept;
    return code === undefined ? { agreed } : { agreed, finding: found(one, 'quarantined', { code }) };
  }
  const stuck = merge.verdict === 'write' ? stuckOn(one, merge, open) : undefined;
  if (stuck !== undefined) return { finding: stuck };
  if (merge.verdict === 'write') return merge.to === 'hris' ? writeHris(one, merge) : writePartner(one, merge, known);
  if (merge.verdict === 'quarantine') return { finding: found(one, 'quarantined', { code: merge.code }) };
  return { finding: found(one, merge.verdict === 'hold' ? 'held' : 'diverged') };
}

type Write = Extract<Merge, { verdict: 'write' }>;

/**
 * A refused value is not sent again until it changes. A value refused as taken is tried each time its pair is read,
 * because this function cannot know whether another record still holds it.
 */
function stuckOn(one: SeenField, { to }: Write, open: OpenConflict | undefined): Finding | undefined {
  if (open === undefined) return undefined;
  const forms = { partner: open.partner_form, hris: open.hris_form };
  const [partner, hris] = [formIn(one.partner.seen), formIn(one.hris.seen)];
  const isRefused = open.kind === 'quarantined' && forms[to] === null && !TAKEN.includes(open.code ?? '');
  const isSameValue = to === 'hris' ? forms.partner === partner : forms.hris === hris;
  return isRefused && isSameValue ? { ...found(one, 'quarantined'), code: open.code ?? '', forms } : undefined;
}

function writeHris(one: SeenField, { over }: Write): Step {
  const { field, partner, hris } = one;
  if (field.required && formIn(partner.seen) === EMPTY_FORM)
    return { finding: found(one, 'quarantined', { code: 'MISSING' }) };
  const write = writeOf(one, { from: partner, to: hris });
  return { toHris: write, ...overwritten(one, over, 'partner') };
}

function writePartner(one: SeenField, { over }: Write, { defined }: PairKnowledge): Step {
  const { field, partner, hris } = one;
  if (hris.refusal !== undefined) return { finding: found(one, 'quarantined', { code: hris.refusal.code }) };
  const said = sayToPartner(field.from[0], hris.atPartner ?? null, defined);
  if ('code' in said) return { finding: found(one, 'quarantined', said) };
  const write = writeOf(one, { from: hris, to: partner });
  return { toPartner: { ...write, at: said }, ...overwritten(one, over, 'hris') };
}

function writeOf({ field }: SeenField, { from, to }: { from: SideValue; to: SideValue }): FieldWrite {
  const form = formIn(from.seen) ?? EMPTY_FORM;
  const over = to.shown ?? formIn(to.seen) ?? EMPTY_FORM;
  return { field: field.target, form, over, old: to.value, new: from.value, isSensitive: field.sensitive };
}

function overwritten(one: SeenField, over: Write['over'], kept: Side): Step {
  return over === undefined ? {} : { finding: found(one, over, { kept }) };
}

function found(one: SeenField, kind: ConflictKind, more: Pick<Finding, 'code' | 'kept'> = {}): Finding {
  const { field, partner, hris } = one;
  return {
    field: field.target,
    kind,
    forms: { partner: formIn(partner.seen) ?? UNREADABLE_FORM, hris: formIn(hris.seen) ?? UNREADABLE_FORM },
    values: { partner: partner.value, hris: hris.value },
    isSensitive: field.sensitive,
    ...more,
  };
}

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
    // A side that keeps addresses unique also refuses another spelling of the same address.
    const value = one[which];
    const folded = typeof value === 'string' ? value.trim().toLowerCase() : '';
    return folded === '' ? [] : [JSON.stringify([side, one.field, folded])];
  });
}

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
  const heard = {
    seen: [] as SeenField[],
    bases: { ...known.bases },
    echoes: {} as Record<string, Echo>,
    bounces: new Map<string, number>(),
    late: new Map<string, Pick<Echo, 'to' | 'over'>>(),
  };
  const remember = (field: string, echo: Echo | undefined): void => {
    if (echo !== undefined) heard.echoes[field] = echo;
  };
  const isSeen = new Set(seen.map(({ field }) => field.target));
  for (const field of Object.keys({ ...known.echoes, ...known.sent }))
    if (!isSeen.has(field)) remember(field, unheard(writesOf(known, field)));
  for (const one of seen) {
    const { target } = one.field;
    // An earlier version stored forms letter by letter: translate those to today's form.
    const stored = known.bases[target];
    const same = [one.partner, one.hris].find(({ exact }) => exact !== undefined && exact === stored);
    const base = same === undefined ? stored : formIn(same.seen);
    const field = { ...times, ...writesOf(known, target), base, again: again(target) };
    const { as = one, echo, bounces, late, agreed = base } = hearField(one, field);
    heard.seen.push(as);
    if (agreed !== undefined) heard.bases[target] = agreed;
    remember(target, echo);
    if (bounces !== undefined) heard.bounces.set(target, bounces);
    if (late !== undefined) heard.late.set(target, late);
  }
  return heard;
}

type EarlierWrites = Pick<KnownField, 'under' | 'echo'>;

/** The last write of a field that was accepted, and a later one that is in doubt. */
function writesOf({ sent, echoes }: Known, field: string): EarlierWrites {
  const kept = echoes[field];
  if (kept?.doubt === undefined) return { under: sent[field], echo: kept };
  const { doubt, ...echo } = kept;
  return { under: { to: echo.to, form: doubt }, echo };
}

/** A field that cannot be heard now: what is in doubt stays so until it is read. */
function unheard({ under, echo }: EarlierWrites): Echo | undefined {
  if (under === undefined) return echo;
  const { to, form: doubt } = under;
  return { ...(echo?.to === to ? echo : { to, form: doubt, times: 0 }), doubt };
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

interface HeardField {
  as?: SeenField;
  echo?: Echo | undefined;
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
  if (shown === undefined || other === undefined) return { echo: unheard(known) };
  if (under !== undefined) return hearInDoubt(one, { shown, other, under, known });
  if (echo === undefined) return {};
  const isOverdue = echo.at !== undefined && known.readAt > echo.at + known.shownWithin[echo.to];
  if (echo.shown === undefined && echo.over?.includes(shown) === true && !isOverdue) {
    // The side counts as holding the written value until it shows it.
    const seen = { form: echo.form, isEmpty: echo.form === EMPTY_FORM };
    const late = { to: echo.to, over: lateOf(echo, echo.to) };
    const as = { ...one, [echo.to]: { ...one[echo.to], seen, shown } };
    return { as, echo: { at: known.readAt, ...echo }, late };
  }
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

/** Forms that the side may still show because of earlier writes. */
function lateOf(echo: Echo | undefined, to: Side): string[] {
  return echo?.to === to && echo.shown === undefined ? [...(echo.over ?? []), echo.form] : [];
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
  if (Array.isArray(value)) return value.map(foldSigns).sort();
  return typeof value === 'string' ? foldSigns(value) : undefined;
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

function formIn(seen: Seen): string | undefined {
  return 'form' in seen ? seen.form : undefined;
}
