import { IdList, union } from './id-list.ts';

/** Who has which values, such as skills. Values are told apart in lower case. */
export class ValueIndex {
  readonly #lists = new Map<string, IdList>();

  add(id: number, values: readonly unknown[]): void {
    for (const value of values) if (typeof value === 'string') this.#listOf(value.toLowerCase()).add(id);
  }

  /** Takes somebody out of every value: there are few of them, and profiles change seldom. */
  remove(id: number): void {
    for (const list of this.#lists.values()) list.remove(id);
  }

  /** Ids of those with one of the values, ascending. */
  having(values: readonly string[]): Int32Array {
    const wanted = new Set(values.map((value) => value.toLowerCase()));
    return union([...wanted].map((value) => this.#lists.get(value)?.toArray() ?? new Int32Array()));
  }

  /** Ids of those with a value that contains the part, ascending. */
  containing(part: string): Int32Array {
    const wanted = part.toLowerCase();
    return union([...this.#lists].filter(([value]) => value.includes(wanted)).map(([, list]) => list.toArray()));
  }

  #listOf(value: string): IdList {
    const list = this.#lists.get(value) ?? new IdList();
    this.#lists.set(value, list);
    return list;
  }
}
