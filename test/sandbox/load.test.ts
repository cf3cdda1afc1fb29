import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIRST_NAMES, LAST_NAMES, OCCUPATIONS } from '../../src/sandbox/seed/people.ts';

interface Started {
  url: string;
  key: string;
  /** Bytes, after a collection. */
  rss: number;
  seconds: number;
}

const children: ChildProcess[] = [];

/** A sandbox, or a bare node:http server for `bytes`, as a process of its own. */
async function start(input: {
  candidates?: number;
  jobs?: number;
  bytes?: string;
}): Promise<Started & { rssNow: () => Promise<number> }> {
  const child = fork(new URL('./load-process.ts', import.meta.url), {
    execArgv: ['--expose-gc'],
    serialization: 'advanced',
  });
  children.push(child);
  child.send(input);
  const [started] = (await once(child, 'message')) as [Started];
  return {
    ...started,
    async rssNow() {
      child.send('rss');
      return ((await once(child, 'message')) as [number])[0];
    },
  };
}

afterAll(() => {
  for (const child of children) child.kill();
});

async function page(url: string, key: string): Promise<{ ms: number; text: string }> {
  const started = performance.now();
  const text = await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text();
  return { ms: performance.now() - started, text };
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

const people = { jobs: 3, candidates: 100_000 };
let empty: Awaited<ReturnType<typeof start>>;
let full: Awaited<ReturnType<typeof start>>;

beforeAll(async () => {
  empty = await start({});
  full = await start(people);
});

const list = (query: string) => `${full.url}/candidates/list?perPage=100&${query}`;

test('a page of 100 of 100,000 costs at most 3 times its bytes, and memory grows by at most 250 MB', async () => {
  const pageOf = (n: number) => list(`pageNumber=${n % 1000}`);
  const { text } = await page(pageOf(500), full.key);
  expect(JSON.parse(text).pagination.total).toBe(100_000);
  const bare = await start({ bytes: text });
  const times = { bare: [] as number[], sandbox: [] as number[] };
  // Taken in turn, so that whatever else this machine does slows both.
  for (let n = 0; n < 400; n += 1) {
    times.bare.push((await page(bare.url, '')).ms);
    times.sandbox.push((await page(pageOf(n * 37), full.key)).ms);
  }
  const [bareMs, sandboxMs] = [median(times.bare.slice(100)), median(times.sandbox.slice(100))];
  const grownMb = ((await full.rssNow()) - empty.rss) / 1e6;
  console.log(
    `page of 100 of 100,000: ${sandboxMs.toFixed(2)} ms, bare server ${bareMs.toFixed(2)} ms ` +
      `(${(sandboxMs / bareMs).toFixed(2)} x), ` +
      `RSS +${grownMb.toFixed(0)} MB, seeded in ${full.seconds.toFixed(1)} s`,
  );
  expect(sandboxMs / bareMs).toBeLessThanOrEqual(3);
  expect(grownMb).toBeLessThanOrEqual(250);
});

test('a search of 100,000 people costs at most 5 times a page by number', async () => {
  const { data } = JSON.parse((await page(list('pageNumber=700'), full.key)).text);
  const phones: string[] = data.map((one: { phone: string }) => one.phone);
  // More than the sandbox remembers results of.
  const terms: Record<string, readonly string[]> = {
    searchTerm: [...FIRST_NAMES, ...LAST_NAMES, ...OCCUPATIONS.map(({ title }) => title), 'an', 'e', 'no such name'],
    skills: OCCUPATIONS.flatMap(({ skills }) => skills),
    phone: phones,
  };
  const times: Record<string, number[]> = { page: [], searchTerm: [], skills: [], phone: [] };
  for (let n = 0; n < 150; n += 1) {
    times['page']?.push((await page(list(`pageNumber=${(n * 37) % 1000}`), full.key)).ms);
    for (const [name, given] of Object.entries(terms)) {
      const url = list(`${name}=${encodeURIComponent(given[n % given.length] ?? '')}`);
      times[name]?.push((await page(url, full.key)).ms);
    }
  }
  const pageMs = median(times['page'] ?? []);
  for (const name of Object.keys(terms)) {
    const ms = median(times[name] ?? []);
    const ratio = ms / pageMs;
    console.log(`${name} over 100,000: ${ms.toFixed(2)} ms, page ${pageMs.toFixed(2)} ms (${ratio.toFixed(2)} x)`);
    expect(ratio, name).toBeLessThanOrEqual(5);
  }
});
