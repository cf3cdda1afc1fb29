import type { Side } from '../hire/hire.ts';

/** Whose edits flow, according to the mapping. */
export interface FieldFlow {
  owner: Side | 'either';
  /** For owner `either`: whose value stays if both sides changed it. */
  conflict?: Side | 'hold' | undefined;
  /** For a single owner: an edit of the other side stays and is reported, instead of being put back. */
  report?: boolean | undefined;
  /**
   * Only changes at the partner count, compared with its earlier value: a person is asked, or the change is written.
   */
  amends?: Amends | undefined;
}

type Amends = 'ask' | 'apply';

/**
 * One side's value as just read. Two forms are equal exactly if the values are, so a form may be a hash. `unreadable`:
 * no comparable value, with the code of the reason.
 */
export type Seen = { form: string; isEmpty: boolean } | { unreadable: string };

/** A person's decision about exactly these two values. */
export interface Decision {
  partner: string;
  hris: string;
  keep: Side;
}

export interface FieldState {
  /** The form both sides last agreed on; undefined if they never did. */
  base: string | undefined;
  partner: Seen;
  hris: Seen;
  decided?: Decision | undefined;
}

/**
 * agreed: nothing to write; the partner's value becomes the base. write: `to` gets the other side's value; `over` says
 * that this replaces a person's value, and why. diverged: the values differ and stay so. hold: a person is asked.
 */
export type Merge =
  | { verdict: 'agreed' }
  | { verdict: 'write'; to: Side; over?: 'put-back' | 'conflict' }
  | { verdict: 'diverged' }
  | { verdict: 'hold' }
  | { verdict: 'quarantine'; code: string };

type Readable = Record<Side, Extract<Seen, { form: string }>>;

/**
 * Decides about one field of a pair of records. Pure. Only values count, never modification times, because the partner
 * shows none for custom field values. Our own writes come back equal to the base, so they are not edits.
 */
export function mergeField(flow: FieldFlow, { base, partner, hris, decided }: FieldState): Merge {
  if ('unreadable' in partner) return { verdict: 'quarantine', code: partner.unreadable };
  if ('unreadable' in hris) return { verdict: 'quarantine', code: hris.unreadable };
  if (partner.form === hris.form) return { verdict: 'agreed' };
  const sides = { partner, hris };
  if (flow.amends !== undefined) return mergeAmended(flow.amends, sides, base, decided);
  if (flow.owner !== 'either') return mergeOwned(flow.owner, flow.report === true, sides, base);
  return mergeShared(flow.conflict, sides, base, decided);
}

export function otherSide(side: Side): Side {
  return side === 'partner' ? 'hris' : 'partner';
}

function mergeOwned(owner: Side, report: boolean, sides: Readable, base: string | undefined): Merge {
  const to = otherSide(owner);
  const isEdited = isEdit(sides[to], base);
  // At the first comparison, an empty field is no edit: it must not wipe out the other side's value.
  if (base === undefined && sides[owner].isEmpty) return { verdict: 'diverged' };
  if (!isEdited) return { verdict: 'write', to };
  const ownerStands = base === undefined || sides[owner].form === base;
  return report && ownerStands ? { verdict: 'diverged' } : { verdict: 'write', to, over: 'put-back' };
}

function mergeShared(
  conflict: FieldFlow['conflict'],
  sides: Readable,
  base: string | undefined,
  decided: Decision | undefined,
): Merge {
  if (!isEdit(sides.partner, base)) return { verdict: 'write', to: 'partner' };
  if (!isEdit(sides.hris, base)) return { verdict: 'write', to: 'hris' };
  const keep = answered(sides, decided) ?? conflict;
  if (keep === undefined || keep === 'hold') return { verdict: 'hold' };
  return { verdict: 'write', to: otherSide(keep), over: 'conflict' };
}

/**
 * After the hire, the HR system owns its values. A change is written without asking only over the value that both sides
 * last agreed on; an emptied field is always a question.
 */
function mergeAmended(amends: Amends, sides: Readable, base: string | undefined, decided: Decision | undefined): Merge {
  const { partner, hris } = sides;
  if (base === undefined || partner.form === base) return { verdict: 'agreed' };
  const keep = answered(sides, decided);
  if (keep === 'hris') return { verdict: 'agreed' };
  if (keep === 'partner') return { verdict: 'write', to: 'hris', over: 'conflict' };
  const byItself = amends === 'apply' && hris.form === base && !partner.isEmpty;
  return byItself ? { verdict: 'write', to: 'hris' } : { verdict: 'hold' };
}

/** Which side a person decided to keep, if they decided about exactly these two values. */
function answered({ partner, hris }: Readable, decided: Decision | undefined): Side | undefined {
  return decided?.partner === partner.form && decided.hris === hris.form ? decided.keep : undefined;
}

/** Without a base, any value counts as a person's edit. */
function isEdit({ form, isEmpty }: Readable[Side], base: string | undefined): boolean {
  return base === undefined ? !isEmpty : form !== base;
}
