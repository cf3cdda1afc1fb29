/**
 * Pages in their order, `ahead` of them asked for before they are needed: one is written while the next are fetched.
 * `isWanted` is asked anew before each fetch; when it says no and nothing is under way, the pages are over. A page
 * that fails ends it; what came before was handed out.
 */
export async function* fetchAhead<Page>(
  first: number,
  ahead: number,
  isWanted: (page: number) => boolean,
  fetch: (page: number) => Promise<Page>,
): AsyncGenerator<{ number: number; page: Page }, void, undefined> {
  const underWay: { number: number; page: Promise<Page> }[] = [];
  let next = first;
  const fill = (): void => {
    while (underWay.length < ahead && isWanted(next)) {
      const page = fetch(next);
      // Its failure is thrown when its page is due, and dropped when an earlier page failed.
      page.catch(() => undefined);
      underWay.push({ number: next, page });
      next += 1;
    }
  };
  for (;;) {
    fill();
    const head = underWay.shift();
    if (head === undefined) return;
    const page = await head.page;
    fill();
    yield { number: head.number, page };
  }
}
