import { IdList, union } from './id-list.ts';

/** Characters that gram codes tell apart; texts with others are found too, with more candidates to look at. */
const CHARACTERS = 1024;

/**
 * Which of many short texts contain a term, by the three-letter groups in them: 100,000 people are searched in
 * milliseconds, where looking at each text took half a second. Texts and terms are in lower case.
 */
export class GramIndex {
  readonly #texts = new Map<number, string>();
  readonly #lists = new Map<number, IdList>();
  #isExact = true;

  get size(): number {
    return this.#texts.size;
  }

  ids(): Iterable<number> {
    return this.#texts.keys();
  }

  has(id: number): boolean {
    return this.#texts.has(id);
  }

  /** The id must not be there yet. */
  add(id: number, text: string): void {
    this.#texts.set(id, text);
    for (const gram of gramsOf(text)) {
      const list = this.#lists.get(gram) ?? new IdList();
      this.#lists.set(gram, list);
      list.add(id);
    }
    this.#isExact &&= isNarrow(text);
  }

  remove(id: number): void {
    const text = this.#texts.get(id);
    if (text === undefined) return;
    this.#texts.delete(id);
    for (const gram of gramsOf(text)) this.#lists.get(gram)?.remove(id);
  }

  /** Ids of the texts that contain the term, ascending. */
  find(term: string): Int32Array {
    const found = term.length < 3 ? this.#beginningWith(term) : this.#rarestOf(term);
    // A gram is the whole of a short term; a longer one must also stand together.
    if (term.length <= 3 && this.#isExact && isNarrow(term)) return found;
    return found.filter((id) => this.#texts.get(id)?.includes(term) === true);
  }

  #rarestOf(term: string): Int32Array {
    let rarest: IdList | undefined;
    for (let at = 0; at + 3 <= term.length; at += 1) {
      const list = this.#lists.get(gramAt(term, at));
      if (list === undefined) return new Int32Array();
      if (rarest === undefined || list.length < rarest.length) rarest = list;
    }
    return rarest?.toArray() ?? new Int32Array();
  }

  /** One or two letters begin many grams: those are put together. */
  #beginningWith(term: string): Int32Array {
    if (term === '') return Int32Array.from(this.#texts.keys()).sort();
    const shift = 10 * (3 - term.length);
    const wanted = gramAt(term, 0) >> shift;
    const lists = [...this.#lists].filter(([gram]) => gram >> shift === wanted).map(([, list]) => list.toArray());
    return union(lists);
  }
}

/** The three letters from `at` on; beyond the end there is nothing, which is a letter too. */
function gramAt(text: string, at: number): number {
  return (letterAt(text, at) << 20) | (letterAt(text, at + 1) << 10) | letterAt(text, at + 2);
}

function letterAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) % CHARACTERS : 0;
}

function gramsOf(text: string): Set<number> {
  const grams = new Set<number>();
  for (let at = 0; at < text.length; at += 1) grams.add(gramAt(text, at));
  return grams;
}

function isNarrow(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) >= CHARACTERS) return false;
  return true;
}
