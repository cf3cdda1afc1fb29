import type { Side } from '../hire/side.ts';

/** Whose edits flow, as the mapping says it. */
export interface FieldFlow {
  owner: Side | 'either';
  /** With owner either: whose value stays when both sides changed theirs. */
  conflict?: Side | 'hold' | undefined;
  /** With one owner: an edit of the other side stays and is counted, instead of being put back. */
  report?: boolean | undefined;
  /** Only a change of the partner's counts, against the value it had before: a person is asked, or it is written. */
  amends?: Amends | undefined;
}

type Amends = 'ask' | 'apply';

/**
 * One side's value as it was just read. Two forms are equal exactly where the values are, so a form may be a hash.
 * `unreadable`: it has no value that could be compared, for the reason with this code.
 */
export type Seen = { form: string; isEmpty: boolean } | { unreadable: string };

/** A person's answer about exactly these two values. */
export interface Decision {
  partner: string;
  hris: string;
  keep: Side;
}

export interface FieldState {
  /** The form that both sides last agreed on; undefined before they ever did. */
  base: string | undefined;
  partner: Seen;
  hris: Seen;
  decided?: Decision | undefined;
}

/**
 * agreed: nothing is to be written, and the partner's value is the base from now on. write: `to` gets the other side's
 * value; `over` says that a person's value is replaced by it, and why. diverged: they differ and stay so. hold: a
 * person is asked.
 */
export type Merge =
  | { verdict: 'agreed' }
  | { verdict: 'write'; to: Side; over?: 'put-back' | 'conflict' }
  | { verdict: 'diverged' }
  | { verdict: 'hold' }
  | { verdict: 'quarantine'; code: string };

type Readable = Record<Side, Extract<Seen, { form: string }>>;

/**
 * What becomes of one field of a pair of records. Pure. Only values decide, never times of modification: the partner
 * shows none for custom field values. Our own writes that come back equal the base, so they are nobody's edit.
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
  // At their first meeting an empty field is no edit: it must not wipe out what the other side knows.
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
 * What the HR system holds is its own after the hire. A change is written by itself only over what stood there when
 * both last agreed; an emptied field is always a question.
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

/** Whose value a person kept, if it was about exactly these two. */
function answered({ partner, hris }: Readable, decided: Decision | undefined): Side | undefined {
  return decided?.partner === partner.form && decided.hris === hris.form ? decided.keep : undefined;
}

/** Before there is a base, whatever stands there was put there by somebody. */
function isEdit({ form, isEmpty }: Readable[Side], base: string | undefined): boolean {
  return base === undefined ? !isEmpty : form !== base;
}
