/** Ascending ids off the heap: millions of them cost the garbage collector nothing. */
export class IdList {
  #ids = new Int32Array(4);
  length = 0;

  add(id: number): void {
    const at = this.#placeOf(id);
    if (at < this.length && this.#ids[at] === id) return;
    if (this.length === this.#ids.length) this.#grow();
    if (at < this.length) this.#ids.copyWithin(at + 1, at, this.length);
    this.#ids[at] = id;
    this.length += 1;
  }

  remove(id: number): void {
    const at = this.#placeOf(id);
    if (at === this.length || this.#ids[at] !== id) return;
    this.#ids.copyWithin(at, at + 1, this.length);
    this.length -= 1;
  }

  toArray(): Int32Array {
    return this.#ids.subarray(0, this.length);
  }

  #grow(): void {
    const larger = new Int32Array(Math.ceil(this.#ids.length * 1.5));
    larger.set(this.#ids);
    this.#ids = larger;
  }

  /** Where the id stands or would stand; new ids are mostly the greatest. */
  #placeOf(id: number): number {
    if (this.length === 0 || (this.#ids[this.length - 1] ?? 0) < id) return this.length;
    let [low, high] = [0, this.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ids[middle] ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The ids of several ascending lists, each once, ascending. */
export function union(lists: readonly Int32Array[]): Int32Array {
  const [only, ...others] = lists;
  if (only === undefined || others.length === 0) return only ?? new Int32Array();
  const first = lists.reduce((least, list) => Math.min(least, list[0] ?? Infinity), Infinity);
  const last = lists.reduce((most, list) => Math.max(most, list.at(-1) ?? -Infinity), -Infinity);
  if (last < first) return new Int32Array();
  const present = new Uint8Array(last - first + 1);
  for (const list of lists) for (const id of list) present[id - first] = 1;
  const found = new Int32Array(present.reduce((sum, one) => sum + one, 0));
  let at = 0;
  for (let offset = 0; offset < present.length; offset += 1) if (present[offset] === 1) found[at++] = first + offset;
  return found;
}

/** The ids that stand in both ascending lists. */
export function intersection(one: Int32Array, other: Int32Array): Int32Array {
  let at = 0;
  return one.filter((id) => {
    while (at < other.length && (other[at] ?? 0) < id) at += 1;
    return other[at] === id;
  });
}
