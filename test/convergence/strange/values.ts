import { pick, type Random } from '../../../src/sandbox/random.ts';
import type { FieldKind } from './partner.ts';

export type Kind = FieldKind | 'email';

/** What a person types, in the form of the partner and of the HR system. */
export interface Typed {
  partner: unknown;
  hr: unknown;
}

const LEVELS = ['Junior', 'Middle', 'Senior', 'Lead'];
const SHIFTS = ['Early', 'Late', 'Night', 'Weekend'];

export function optionsOf(kind: Kind): string[] | undefined {
  if (kind === 'select') return [...LEVELS];
  return kind === 'multi-select' ? [...SHIFTS] : undefined;
}

/** Beyond what a double holds: only whoever carries digits keeps them. */
const BIG = ['1234567890123456789', '9007199254740993', '12345678901234567'];

const MAKE: Readonly<Record<Kind, (random: Random, nth: number) => Typed>> = {
  text: (random, nth) => both(pick(random, [`Ort ${nth}`, ` Ort ${nth} `, `Züri\u0308ch ${nth}`, `ort ${nth}`])),
  textarea: (random, nth) => both(pick(random, [`${nth}\nzweite Zeile`, `note ${nth}`, `${nth} ${'long '.repeat(9)}`])),
  email: (random, nth) => both(pick(random, [`Ada.${nth}@Example.org`, `ada.${nth}@example.org`])),
  number: (random, nth) => {
    const text = pick(random, [`${nth}`, `${nth}.5`, `${nth}.50`, `${nth}.25`, `1${nth}.10`]);
    return { partner: Number(text), hr: text };
  },
  date: (_random, nth) => both(new Date(Date.UTC(2026, 0, 1 + nth)).toISOString().slice(0, 10)),
  checkbox: (random) => {
    const value = random() < 0.5;
    return { partner: value, hr: value ? 1 : 0 };
  },
  select: (random) => both(pick(random, LEVELS)),
  'multi-select': (random) => {
    const list = SHIFTS.filter(() => random() < 0.5).toSorted(() => random() - 0.5);
    const json = pick(random, [JSON.stringify(list), JSON.stringify(list, null, 1)]);
    return list.length === 0 ? both(null) : { partner: list, hr: json };
  },
  digits: (random, nth) => both(random() < 0.5 ? pick(random, BIG) : `${nth}.10`),
};

/** A value that nobody typed before, where the kind has so many. */
export function typed(kind: Kind, random: Random, nth: number): Typed {
  return MAKE[kind](random, nth);
}

/** Cells that hold no value of their kind, as people and imports leave them. */
const ODD: Readonly<Partial<Record<Kind, readonly unknown[]>>> = {
  text: ['A\0B', '\ufffd'],
  textarea: ['A\0B'],
  number: ['n/a', '12,5', '1e999'],
  digits: ['DE89 3704'],
  date: ['2026-13-45', 'soon'],
  checkbox: [7],
  'multi-select': ['Early, Late', '{"a":1}', '[["Early"]]'],
};

/** An odd cell of the HR system, where there is any of this kind. */
export function oddCell(kind: Kind, random: Random): unknown {
  return pick(random, ODD[kind] ?? [null]);
}

/** Whether a cell's plain text is none of its kind. */
export function isOdd(kind: Kind, text: string | null): boolean {
  if (text === null) return false;
  if (kind === 'number' || kind === 'digits') return !/^-?\d+(\.\d+)?$/.test(text);
  if (kind === 'date') return Number.isNaN(Date.parse(text));
  return text.startsWith(NONE) || text.includes('\0') || text.includes('\ufffd');
}

const NONE = 'no value: ';

/** What a cell or a stored value says, in one plain way; null where it says nothing. */
export function plain(kind: Kind, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (kind === 'multi-select') return plainList(value);
  if (kind === 'checkbox') return plainTruth(String(value));
  const text = String(value).normalize('NFC').trim();
  if (text === '') return null;
  return kind === 'number' || kind === 'digits' ? plainNumber(text) : text;
}

function plainTruth(text: string): string {
  if (['true', '1'].includes(text)) return 'true';
  return ['false', '0'].includes(text) ? 'false' : `${NONE}${text}`;
}

function plainList(value: unknown): string | null {
  const list: unknown = typeof value === 'string' ? tryParse(value) : value;
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) return `${NONE}${String(value)}`;
  return list.length === 0 ? null : JSON.stringify([...new Set(list as string[])].sort());
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function plainNumber(text: string): string {
  if (!/^-?\d+\.\d+$/.test(text)) return text;
  return text.replace(/\.?0+$/, '');
}

function both(value: string | null): Typed {
  return { partner: value, hr: value };
}
