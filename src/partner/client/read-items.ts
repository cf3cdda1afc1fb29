import type { ListShape } from '../contract/endpoint.ts';
import { valueAt } from '../contract/envelopes.ts';
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
  for (const [index, value] of raw.entries()) {
    const parsed = list.item.safeParse(value);
    if (parsed.success) items.push(parsed.data);
    else unreadable.push({ index, ...idOf(list, value), reason: issuesText(parsed.error) });
  }
  return { items, unreadable };
}

/** The record's id as text, where there is one. */
export function idOf(list: ListShape, value: unknown): { id?: string } {
  const id = valueAt(value, list.idKey);
  return typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {};
}
