import { expect, test } from 'vitest';
import { fetchAhead } from '../../src/streams/fetch-ahead.ts';

test('hands pages out in order, whatever order they come in, and has at most so many under way', async () => {
  let underWay = 0;
  let most = 0;
  const fetch = async (page: number): Promise<string> => {
    underWay += 1;
    most = Math.max(most, underWay);
    // Later pages answer first.
    for (let turn = 0; turn < 10 - page; turn += 1) await Promise.resolve();
    underWay -= 1;
    return `page ${page}`;
  };
  const got: string[] = [];
  for await (const { number, page } of fetchAhead(0, 3, (next) => next < 8, fetch)) {
    expect(page).toBe(`page ${number}`);
    got.push(page);
  }
  expect(got).toEqual(Array.from({ length: 8 }, (_, n) => `page ${n}`));
  expect(most).toBe(3);
});

test('the next pages are on their way while one is written', async () => {
  const asked: number[] = [];
  const fetch = async (page: number): Promise<number> => {
    asked.push(page);
    return page;
  };
  const pages = fetchAhead(5, 2, (next) => next < 9, fetch);
  await pages.next();
  expect(asked).toEqual([5, 6, 7]);
  await pages.return();
});

test('a page that fails ends it after those before it, and no other failure is left unheard', async () => {
  const fetch = (page: number): Promise<number> =>
    page < 2 ? Promise.resolve(page) : Promise.reject(new Error(`page ${page} failed`));
  const got: number[] = [];
  const read = async (): Promise<void> => {
    for await (const { page } of fetchAhead(0, 4, () => true, fetch)) got.push(page);
  };
  await expect(read()).rejects.toThrow('page 2 failed');
  expect(got).toEqual([0, 1]);
});

test('ends at once where nothing is wanted', async () => {
  const { done } = await fetchAhead(0, 4, () => false, Promise.resolve.bind(Promise)).next();
  expect(done).toBe(true);
});
