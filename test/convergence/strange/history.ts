import type { Side } from '../../../src/hire/hire.ts';

/** One value of one record on one side. */
export interface Place {
  side: Side;
  record: string;
  /** A custom field by its id, a field of the profile, or a column. */
  at: string;
}

/** Two places that a mapping joins, and whose edits flow there. */
export interface Joined {
  here: Place;
  there: Place;
  owner: Side | 'either';
  keeps: Side | undefined;
  /** Whether a text at one place is what the other makes of its own. */
  isSame: (here: string | null, there: string | null) => boolean;
}

/** What one process of the product read: what each place showed, and when. */
export interface Reader {
  shown: Map<string, { seq: number; at: number; text: string | null; isSure: boolean }[]>;
  /** It died, stood still, or one of its calls came to harm: nobody knows what it learned. */
  isDisturbed: boolean;
}

interface Happening {
  seq: number;
  /** Of the product's. */
  at?: number;
  /** Its side made another value of what was sent. */
  isRemade?: boolean;
  /** A person typed it while a write to this place was begun, and nobody knew whether it had left. */
  isUnderWay?: boolean;
  text: string | null;
  reader?: Reader;
}

/** A process read two places equal: what one of them held. */
interface Compared extends Happening {
  at: number;
  reader: Reader;
  /** Surely, and not only perhaps: the pair was not left alone because a write of it was begun. */
  isHeard: boolean;
}

/** Of one write: who decided it, whether its side compares, and when it arrived and left. */
interface Sent {
  reader: Reader;
  holds: boolean;
  at: number;
  left: number;
}

/** A process decides from what it read at most so long ago; its request may come later still. */
const MOST_AGE_MS = 90_000;
/** Nothing is judged for so long after a write whose end nobody saw. */
const SETTLES_MS = 40_000;
/** The product waits 32 s for a write to be shown at the partner, and sends what it read then up to 30 s later. */
const STILL_SHOWN_MS = 65_000;
/**
 * Records of 105 on one side within an hour, as docs/two-way.md says: 10 lose a value; 20 get one at a first meeting,
 * and 21 others, a fifth of all, another value. The product alone tells these two apart.
 */
const MOST_WRITTEN = { emptied: 10, filled: 20 + 21 };
/** A write may arrive some time after it was counted. */
const LIMIT_LOOKS_BACK_MS = 55 * 60_000;
/** Who owns a field has its value sent so often before it is left out. */
const MOST_SENDINGS = 3;

/**
 * Everything that happened to every place, and the rule that it is held to: a value is overwritten or emptied only by
 * an edit that was seen, on a field that is still the same field, over the value that the decision was made from. It
 * knows nothing of bases, hints or states; it knows who wrote what, and who read what.
 */
export class History {
  readonly violations: string[] = [];
  /** Edits at the partner that a write overtook: nothing there compares. */
  races = 0;
  /** Edits that no reading can tell from what became of our own write. */
  unseen = 0;
  writes = 0;
  #seq = 0;
  readonly #happened = new Map<string, Happening[]>();
  /** When two places were last equal, and not empty, while a mapping joined them. */
  readonly #agreed = new Map<string, number>();
  /** When a process read two places equal. */
  readonly #compared = new Map<string, Compared[]>();
  /** Records that were written, by side and by whether they lost a value, and when. */
  readonly #written = new Map<string, Map<string, number>>();
  /** What a person allowed until the end of the next whole run. */
  readonly #allowed = new Set<string>();
  /** When the fields or the mapping of a place were last changed. */
  readonly #changed = new Map<string, number>();
  readonly #sendings = new Map<string, number>();

  /** What stands there already is no edit. */
  edited(place: Place, text: string | null, { isUnderWay = false } = {}): void {
    if (this.#text(place) !== text) this.#note(place, { seq: this.#next(), text, isUnderWay });
  }

  /** What happens from now on comes after this. */
  get latest(): number {
    return this.#seq;
  }

  /** Another definition, mapping or presence of this place: what is written next may be for that. */
  changed(at: string): void {
    this.#changed.set(at, this.#next());
  }

  /** `isSure`: this was the value that the process got, and not perhaps another one that stood there meanwhile. */
  read(reader: Reader, place: Place, text: string | null, { at, isSure }: { at: number; isSure: boolean }): void {
    const key = keyOf(place);
    const shown = reader.shown.get(key) ?? [];
    shown.push({ seq: this.#next(), at, text, isSure });
    reader.shown.set(key, shown);
  }

  agreed({ here, there, isSame }: Joined): void {
    const [a, b] = [this.#text(here), this.#text(there)];
    if (a !== null && b !== null && isSame(a, b)) this.#agreed.set(jointKey(here, there), this.#next());
  }

  /** What a process read of both places last: where that is equal, it may know so from now on. */
  compared(reader: Reader, { here, there, isSame }: Joined, isHeard: boolean): void {
    const [a, b] = [here, there].map((place) => reader.shown.get(keyOf(place))?.at(-1));
    if (a === undefined || b === undefined || !isSame(a.text, b.text)) return;
    const key = jointKey(here, there);
    // Which value a side makes of another one is known by a write alone, and to a field that was changed nobody wrote.
    const isKnown = a.text === b.text || this.#isWrittenSince(this.#renewed(here, there), [here, there]);
    this.#compared.set(key, [
      ...(this.#compared.get(key) ?? []),
      {
        seq: Math.min(a.seq, b.seq),
        at: Math.min(a.at, b.at),
        reader,
        text: a.text,
        isHeard: isHeard && isKnown && a.isSure && b.isSure,
      },
    ]);
  }

  /**
   * The product wrote: `text` stands there now. `joined` are the places that its mapping may have taken it from;
   * `holds` says that its side compares before it writes; a request that arrives late `left` after this.
   */
  wrote(
    place: Place,
    text: string | null,
    by: { reader: Reader; joined: readonly Joined[]; holds: boolean; at: number; left?: number | undefined },
  ) {
    const { reader, joined, holds, at, left = this.#seq } = by;
    this.writes += 1;
    const what = `${place.side} ${place.record} ${place.at} := ${text}`;
    if (joined.length === 0) this.#violated(`a stranger is written to: ${what}`);
    const reasons = joined.map((one) => this.#wrongWith(one, text, { reader, holds, at, left }));
    if (joined.length > 0 && reasons.every((reason) => reason !== undefined))
      this.#violated(`${reasons.join('; ')}: ${what}${joined.map((one) => this.#told(one, reader)).join('')}`);
    const sources = joined.flatMap(({ there }) => reader.shown.get(keyOf(there)) ?? []);
    this.#countMass(place, text, at, what);
    const isRemade = !sources.some((source) => source.text === text);
    this.#note(place, { seq: this.#next(), text, reader, at, isRemade });
  }

  /** The product wrote, and somebody edited the place before anybody could look at it. */
  wroteBefore(place: Place, text: string | null, { reader, at }: { reader: Reader; at: number }): void {
    const edit = this.#of(place).pop();
    if (edit === undefined) return;
    this.#note(place, { seq: edit.seq - 0.5, text, reader, at });
    this.#note(place, edit);
  }

  /** A person was asked about a mass of these, and said yes. */
  allowed(what: 'emptied' | 'filled'): void {
    this.#allowed.add(what);
  }

  /** A whole run ended: what was allowed is over, and what was written under it counts no more. */
  ended(): void {
    for (const what of this.#allowed) for (const side of ['hris', 'partner']) this.#written.delete(`${side} ${what}`);
    this.#allowed.clear();
  }

  textAt(place: Place): string | null {
    return this.#text(place);
  }

  #wrongWith(one: Joined, text: string | null, by: Sent): string | undefined {
    const { here, there, owner } = one;
    if (owner === here.side) return 'its owner is overwritten';
    const seen = by.reader.shown.get(keyOf(there))?.filter((shown) => by.at - shown.at <= MOST_AGE_MS) ?? [];
    const source = seen.findLast((shown) => one.isSame(text, shown.text));
    if (source === undefined) return `nobody held it on the other side (${seen.map((shown) => shown.text).join(', ')})`;
    if (text === null && !this.#wasEmptied(one, source)) return 'emptied, and nobody had emptied the other side';
    return this.#overwrites(one, text, { ...by, from: source.text }) ?? this.#repeats(one, { text, from: source.text });
  }

  /**
   * By a person, after both places had held one value while they were joined; or it was empty when they agreed, and is
   * still shown so. A late copy may show the owner's place empty although somebody fills it in this moment: then what
   * the owner typed follows soon, and what was typed on the other side had no chance.
   */
  #wasEmptied({ here, there, owner, isSame }: Joined, source: { seq: number; text: string | null }): boolean {
    const { seq: before } = source;
    const key = jointKey(here, there);
    const compared = (this.#compared.get(key) ?? []).filter(({ seq }) => seq < before);
    if (owner === there.side && source.text === null && compared.length > 0) return true;
    const wrote = [here, there].flatMap((place) => this.#of(place)).filter(({ reader }) => reader !== undefined);
    // Before a write is sent, its record may be read again: the write was decided from the reading that it repeats.
    const decided = wrote.map(({ seq, reader, text }) =>
      this.#shownBefore(reader, there, seq, (shown) => isSame(text, shown)),
    );
    const known = Math.min(...compared.map(({ seq }) => seq), ...decided);
    return this.#of(there).some(
      ({ seq, text, reader }) => reader === undefined && text === null && seq < before && seq > known,
    );
  }

  /** What the product last knew for certain to stand in both places; a write that came to harm says nothing. */
  #surelyKnown({ here, there }: Joined, before: number, renewed = this.#renewed(here, there)): Happening | undefined {
    const wrote = [here, there].flatMap((place) => this.#of(place)).filter(({ reader }) => reader !== undefined);
    const doubtful = wrote.filter(({ seq, reader }) => seq < before && reader?.isDisturbed === true);
    // While a write may still be under way nobody learns anything.
    const isSettled = (at: number): boolean =>
      doubtful.every((one) => at < (one.at ?? 0) || at > (one.at ?? 0) + SETTLES_MS);
    const compared = (this.#compared.get(jointKey(here, there)) ?? []).filter(
      ({ at, isHeard }) => isHeard && isSettled(at),
    );
    const sure = [...compared, ...wrote].filter(
      ({ seq, reader }) => seq < before && seq > renewed && reader?.isDisturbed === false,
    );
    const last = sure.toSorted((one, other) => one.seq - other.seq).at(-1);
    return doubtful.some(({ seq }) => seq > (last?.seq ?? 0)) ? undefined : last;
  }

  /** What processes wrote, or read in both places, since: nobody knows whether they lived to save it. */
  #perhapsKnown({ here, there }: Joined, since: number, before: number): Happening[] {
    const wrote = [here, there].flatMap((place) => this.#of(place)).filter(({ reader }) => reader !== undefined);
    const compared = this.#compared.get(jointKey(here, there)) ?? [];
    return [...compared, ...wrote].filter(({ seq }) => seq > since && seq < before);
  }

  #isWrittenSince(since: number, places: readonly Place[]): boolean {
    return places.some((place) => this.#of(place).some(({ seq, reader }) => reader !== undefined && seq > since));
  }

  /** When the fields or the mapping of these two were last changed. */
  #renewed(here: Place, there: Place): number {
    return Math.max(0, ...[here.at, there.at].map((at) => this.#changed.get(at) ?? 0));
  }

  /** An edit that stands here, and that never reached the other side, goes only to the side that the rule keeps. */
  #overwrites(one: Joined, text: string | null, by: Sent & { from: string | null }): string | undefined {
    const { here, there, owner, keeps } = one;
    const last = this.#of(here).at(-1);
    if (last === undefined || last.reader !== undefined || one.isSame(last.text, text) || last.text === text)
      return undefined;
    const sure = this.#surelyKnown(one, last.seq);
    // Before they are known to have agreed an empty place is nobody's word.
    if (last.text === null && sure === undefined) return undefined;
    if (this.#reached(one, last) || owner === there.side) return undefined;
    // Typed and taken back before anybody looked: the place holds what both were known to hold, or may be known to.
    // A field that was changed may be the same one to the product, which then still knows what it knew of it.
    const held = sure ?? this.#surelyKnown(one, last.seq, 0);
    const known = [...(held === undefined ? [] : [held]), ...this.#perhapsKnown(one, held?.seq ?? 0, last.seq)];
    const isTakenBack = known.some(({ text: held }) => last.text === held || one.isSame(last.text, held));
    if (isTakenBack || this.#passesForOurs(one, last, { sure: sure?.seq ?? 0, at: by.at })) {
      this.unseen += 1;
      return undefined;
    }
    // What is shown there now is not what both held: somebody edited there, too.
    const isConflict = sure === undefined || (sure.text !== by.from && !one.isSame(sure.text, by.from));
    if (isConflict && keeps === there.side) return undefined;
    // What is read after a request left changes nothing of it.
    const seen = this.#readBefore(by.reader, here, by.left + 1);
    if (!by.holds && last.seq > seen) {
      this.races += 1;
      return undefined;
    }
    return `an edit (${last.text}) is overwritten that ${isConflict ? 'the rule keeps' : 'nobody contested'}`;
  }

  /**
   * Values tell no times. Nobody can tell from a lost write, or from the HR system's own doing: who puts the old value
   * back while nobody knows whether a write arrived, or while the partner may still show what stood there before; who
   * edits between a write and the look directly after it; and who types what was about to be written.
   */
  #passesForOurs(
    { here, there, isSame }: Joined,
    edit: Happening,
    { sure, at }: { sure: number; at: number },
  ): boolean {
    // What the other side made of our write passes for an edit there, unless it was seen before this one.
    const written = this.#of(there).findLast(({ seq, reader }) => reader !== undefined && seq < edit.seq);
    if (written?.isRemade === true && written.seq >= sure) return true;
    // So does a value typed here, in any spelling, that was on its way here: its write was begun, and whether it
    // arrived is unknown.
    const coming = this.#of(there).filter(({ seq }) => seq < edit.seq && seq > sure);
    const isOnItsWay = coming.some(({ text }) => isSame(edit.text, text));
    if (isOnItsWay && edit.isUnderWay === true) return true;
    const before = this.#of(here).filter(({ seq }) => seq < edit.seq);
    const write = before.at(-1);
    if (write?.reader === undefined) return false;
    const stood = before.at(-2)?.text ?? null;
    const isStillShown = here.side === 'partner' && at - (write.at ?? 0) <= STILL_SHOWN_MS;
    if ((write.reader.isDisturbed || isStillShown) && edit.text === stood) return true;
    const looked = write.reader.shown.get(keyOf(here))?.find(({ seq }) => seq > write.seq);
    return looked !== undefined && looked.seq > edit.seq;
  }

  /** Whether what happened here came to stand there, then or later. */
  #reached({ here, there, isSame }: Joined, happening: Happening): boolean {
    const agreed = this.#agreed.get(jointKey(here, there)) ?? 0;
    if (agreed > happening.seq) return true;
    const stood = this.#of(there).findLast(({ seq }) => seq < happening.seq);
    if (stood !== undefined && isSame(happening.text, stood.text)) return true;
    return this.#of(there).some(({ seq, text }) => seq > happening.seq && isSame(happening.text, text));
  }

  #repeats({ here, there, owner }: Joined, now: Record<'text' | 'from', string | null>): string | undefined {
    const before = this.#of(here).findLast(({ reader }) => reader !== undefined);
    if (before?.reader === undefined || before.reader.isDisturbed) return undefined;
    const basis = this.#readBefore(before.reader, there, before.seq);
    // A reading may show an edit late.
    const from = before.reader.shown.get(keyOf(there))?.find(({ seq }) => seq === basis)?.text;
    const isAnother = from !== undefined && from !== now.from;
    const isEdited = [here, there].some((place) =>
      this.#of(place).some(({ seq, reader }) => reader === undefined && seq > basis),
    );
    const isChanged = [here.at, there.at, '*'].some((at) => (this.#changed.get(at) ?? 0) > basis);
    const key = keyOf(here);
    if (isAnother || isEdited || isChanged) {
      this.#sendings.set(key, 1);
      return undefined;
    }
    const sendings = (this.#sendings.get(key) ?? 1) + 1;
    this.#sendings.set(key, sendings);
    if (owner !== 'either' && sendings <= MOST_SENDINGS) return undefined;
    return `nobody edited anything since ${before.text} was written (now ${now.text})`;
  }

  /** Nobody has so many records changed within an hour without being asked first. */
  #countMass(place: Place, text: string | null, at: number, what: string): void {
    const effect = text === null ? 'emptied' : 'filled';
    if (text === this.#text(place) || this.#allowed.has(effect)) return;
    const key = `${place.side} ${effect}`;
    const written = this.#written.get(key) ?? new Map<string, number>();
    this.#written.set(key, written.set(place.record, at));
    const recent = [...written.values()].filter((when) => at - when < LIMIT_LOOKS_BACK_MS).length;
    if (recent > MOST_WRITTEN[effect]) this.#violated(`${recent} records are ${effect} and nobody was asked: ${what}`);
  }

  /** What happened at both places, and what the process read there, in order. */
  #told({ here, there }: Joined, reader: Reader): string {
    const lines = [here, there].flatMap((place) => [
      ...this.#of(place).map(({ seq, text, reader: by }) => {
        const who = by === undefined ? 'a person' : by === reader ? 'this process' : 'hirebridge';
        return { seq, line: `${who} ${place.side} := ${text}` };
      }),
      ...(reader.shown.get(keyOf(place)) ?? []).map(({ seq, text }) => ({ seq, line: `read ${place.side} ${text}` })),
    ]);
    const agreed = { seq: this.#agreed.get(jointKey(here, there)) ?? 0, line: 'last agreed' };
    const sorted = [...lines, agreed].toSorted((one, other) => one.seq - other.seq);
    return sorted.map(({ seq, line }) => `\n    ${seq} ${line.slice(0, 90)}`).join('');
  }

  /** When a process read a place last before it wrote. */
  #readBefore(reader: Reader | undefined, place: Place, before: number): number {
    return reader?.shown.get(keyOf(place))?.findLast(({ seq }) => seq < before)?.seq ?? 0;
  }

  /** Since when the place had held what a process read there before it wrote the same: a reading may be late. */
  #shownBefore(
    reader: Reader | undefined,
    place: Place,
    before: number,
    isSame: (shown: string | null) => boolean,
  ): number {
    const readings = reader?.shown.get(keyOf(place))?.filter(({ seq }) => seq < before) ?? [];
    const reading = readings.findLast(({ text }) => isSame(text)) ?? readings.at(-1);
    if (reading === undefined) return 0;
    const stood = this.#of(place).findLast(({ seq, text }) => seq < reading.seq && text === reading.text);
    return stood?.seq ?? reading.seq;
  }

  #of(place: Place): Happening[] {
    return this.#happened.get(keyOf(place)) ?? [];
  }

  #text(place: Place): string | null {
    return this.#of(place).at(-1)?.text ?? null;
  }

  #note(place: Place, happening: Happening): void {
    const all = this.#of(place);
    all.push(happening);
    this.#happened.set(keyOf(place), all);
  }

  #violated(text: string): void {
    this.violations.push(text);
  }

  #next(): number {
    return (this.#seq += 1);
  }
}

function keyOf({ side, record, at }: Place): string {
  return `${side} ${record} ${at}`;
}

/** The same from either end. */
function jointKey(here: Place, there: Place): string {
  return [keyOf(here), keyOf(there)].toSorted().join(' = ');
}
