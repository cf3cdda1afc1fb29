/** How many pages are under way at once, and how many that have come by then are handed out as one. */
export interface Fetching {
  ahead: number;
  together: number;
}

/**
 * Pages in their order, `ahead` of them asked for before they are needed; those that are there when they are due come
 * together. While they are settled the next are fetched, and never are more than `ahead` + 1 asked for and not settled:
 * what is lost with a process is asked for again. `isWanted` is asked anew before each fetch; when it says no and
 * nothing is under way, the pages are over. A page that fails ends it; what came before was handed out.
 */
export async function* fetchAhead<Page>(
  first: number,
  { ahead, together }: Fetching,
  isWanted: (page: number) => boolean,
  fetch: (page: number) => Promise<Page>,
): AsyncGenerator<Page[], void, undefined> {
  const asked: { page: Promise<Page>; hasCome: boolean }[] = [];
  let next = first;
  const fill = (settling: number): void => {
    while (asked.length < ahead && asked.length + settling <= ahead && isWanted(next)) {
      const one = { page: fetch(next), hasCome: false };
      // Its failure is thrown when its page is due, and dropped when an earlier page failed.
      one.page.then(
        () => (one.hasCome = true),
        () => undefined,
      );
      asked.push(one);
      next += 1;
    }
  };
  for (;;) {
    fill(0);
    if (asked.length === 0) return;
    await asked[0]?.page;
    const waiting = asked.findIndex(({ hasCome }) => !hasCome);
    const due = asked.splice(0, Math.min(waiting === -1 ? asked.length : waiting, together));
    fill(due.length);
    yield await Promise.all(due.map(({ page }) => page));
  }
}
