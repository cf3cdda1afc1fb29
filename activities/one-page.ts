import type { Page } from '../src/partner/client/types.ts';

/** The page that a reading is at and its number of records; undefined if there is no page. */
export async function onePage<Item>(
  pages: AsyncGenerator<Page<Item>, void, undefined>,
): Promise<(Page<Item> & { records: number }) | undefined> {
  const next = await pages.next();
  if (next.done === true) return undefined;
  const { items, unreadable } = next.value;
  return { ...next.value, records: items.length + unreadable.length };
}
