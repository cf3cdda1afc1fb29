import type { Side } from '../hire/side.ts';

/** Whose edits flow, as the mapping says it. */
export interface FieldFlow {
  owner: Side | 'either';
  /** With owner either: whose value stays when both sides changed theirs. */
  conflict?: Side | 'hold' | undefined;
  /** With one owner: an edit of the other side stays and is counted, instead of being put back. */
  report?: boolean | undefined;
}

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
 * agreed: both hold the same, which is the base from now on. write: `to` gets the other side's value; `over` says that
 * a person's value is replaced by it, and why. diverged: they differ and stay so. hold: a person is asked.
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
  const { partner, hris } = sides;
  const isAnswered = decided?.partner === partner.form && decided.hris === hris.form;
  const keep = isAnswered ? decided.keep : conflict;
  if (keep === undefined || keep === 'hold') return { verdict: 'hold' };
  return { verdict: 'write', to: otherSide(keep), over: 'conflict' };
}

/** Before there is a base, whatever stands there was put there by somebody. */
function isEdit({ form, isEmpty }: Readable[Side], base: string | undefined): boolean {
  return base === undefined ? !isEmpty : form !== base;
}
