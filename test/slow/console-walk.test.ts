import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openWalk, type Walk, walks } from '../console/walk/walks.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { findChromium } from '../sandbox/page/open-browser.ts';

/** A hold that is answered, and a value explained; every walk, over every page: npm run test:console. */
const SLICE = Object.keys(walks).slice(1, 3);

const executable = findChromium();
let walk: Walk;
beforeAll(async () => {
  if (executable !== undefined) walk = await openWalk(executable, (await temporalForTests()).cliPath);
});
afterAll(() => walk?.close());
beforeEach(({ skip }) => skip(executable === undefined, 'no Chromium on this machine: install chromium'));

test.each(SLICE)('%s', async (name) => {
  await walk.take(name);
  expect(walk.errors).toEqual([]);
});
