import { expect, test } from 'vitest';
import { fetchAhead } from '../../src/streams/read-page.ts';

/** Time for whatever is ready to come. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

test('hands pages out in order, whatever order they come in, and has at most so many under way', async () => {
  let underWay = 0;
  let most = 0;
  const fetch = async (page: number): Promise<number> => {
    underWay += 1;
    most = Math.max(most, underWay);
    // Later pages answer first.
    for (let turn = 0; turn < 10 - page; turn += 1) await Promise.resolve();
    underWay -= 1;
    return page;
  };
  const got: number[] = [];
  for await (const pages of fetchAhead(0, { ahead: 3, together: 2 }, (next) => next < 8, fetch)) {
    expect(pages.length).toBeLessThanOrEqual(2);
    got.push(...pages);
  }
  expect(got).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

test('the next pages are on their way while one is settled', async () => {
  const asked: number[] = [];
  const fetch = async (page: number): Promise<number> => {
    asked.push(page);
    return page;
  };
  const pages = fetchAhead(5, { ahead: 2, together: 1 }, (next) => next < 9, fetch);
  expect((await pages.next()).value).toEqual([5]);
  expect(asked).toEqual([5, 6, 7]);
  await pages.return();
});

test('pages that have come by then are handed out together, and one that has not is not waited for', async () => {
  const third = Promise.withResolvers<number>();
  const fetch = (page: number): Promise<number> => (page === 2 ? third.promise : Promise.resolve(page));
  const pages = fetchAhead(0, { ahead: 4, together: 3 }, (next) => next < 9, fetch);
  await turns();
  expect((await pages.next()).value).toEqual([0, 1]);
  third.resolve(2);
  expect((await pages.next()).value).toEqual([2, 3, 4]);
  await pages.return();
});

test.each([1, 2, 3, 4])(
  '%i at once: no more than eight and one more are asked for and not settled',
  async (together) => {
    const asked: number[] = [];
    const fetch = async (page: number): Promise<number> => {
      asked.push(page);
      return page;
    };
    let settled = 0;
    for await (const pages of fetchAhead(0, { ahead: 8, together }, (next) => next < 40, fetch)) {
      await turns();
      expect(asked.length - settled).toBeLessThanOrEqual(9);
      settled += pages.length;
    }
    expect(settled).toBe(40);
  },
);

test('a page that fails ends it after those before it, and no other failure is left unheard', async () => {
  const fetch = (page: number): Promise<number> =>
    page < 2 ? Promise.resolve(page) : Promise.reject(new Error(`page ${page} failed`));
  const got: number[] = [];
  const read = async (): Promise<void> => {
    for await (const pages of fetchAhead(0, { ahead: 4, together: 4 }, () => true, fetch)) got.push(...pages);
  };
  await expect(read()).rejects.toThrow('page 2 failed');
  expect(got).toEqual([0, 1]);
});

test('ends at once where nothing is wanted', async () => {
  const { done } = await fetchAhead(0, { ahead: 4, together: 4 }, () => false, Promise.resolve.bind(Promise)).next();
  expect(done).toBe(true);
});
