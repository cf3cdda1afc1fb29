import type { ListShape } from '../contract/endpoint.ts';
import { valueAt } from '../contract/envelopes.ts';
import { compileReader, type Reader, UNFIT } from './compile-reader.ts';
import { issuesText } from './issue-text.ts';
import type { ReadItems, UnreadableItem } from './types.ts';

/** The raw records of a parsed list body. */
export function rawItems(list: ListShape, body: unknown): unknown[] {
  const items = valueAt(body, list.itemsAt);
  return Array.isArray(items) ? items : [];
}

/** Reads records one by one, so that one that does not fit does not spoil its page. */
export function readItems(list: ListShape, raw: readonly unknown[]): ReadItems<unknown> {
  const items: unknown[] = [];
  const unreadable: UnreadableItem[] = [];
  const read = readerOf(list.item);
  for (const [index, value] of raw.entries()) {
    const item = read(value);
    const parsed = item === UNFIT ? list.item.safeParse(value) : { success: true as const, data: item };
    if (parsed.success) items.push(parsed.data);
    else unreadable.push({ index, ...idOf(list, value), reason: issuesText(parsed.error) });
  }
  return { items, unreadable };
}

const readers = new WeakMap<ListShape['item'], Reader>();

function readerOf(schema: ListShape['item']): Reader {
  const known = readers.get(schema) ?? compileReader(schema);
  readers.set(schema, known);
  return known;
}

/** The record's id as text, where there is one. */
export function idOf(list: ListShape, value: unknown): { id?: string } {
  const id = valueAt(value, list.idKey);
  return typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {};
}
