import type { EmployeeFields, FieldValue, Side } from '../hire/hire.ts';
import type { FieldDefinition } from '../store/fields.ts';
import type { ConflictKind, FieldConflictRow } from '../store/stream-tables.ts';
import {
  type Decision,
  EMPTY_FORM,
  type Merge,
  mergeField,
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
  const decided = decisionOf(open);
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

function decisionOf(open: OpenConflict | undefined): Decision | undefined {
  if (open?.kind !== 'held' || open.kept === null) return undefined;
  return { partner: open.partner_form ?? '', hris: open.hris_form ?? '', keep: open.kept };
}

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

function formIn(seen: Seen): string | null {
  return 'form' in seen ? seen.form : null;
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
    const value = folded(one[which]);
    return value === undefined ? [] : [JSON.stringify([side, one.field, value])];
  });
}

/** A side that keeps addresses unique also refuses another spelling of the same address. */
function folded(value: FieldValue): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().toLowerCase() : undefined;
}
