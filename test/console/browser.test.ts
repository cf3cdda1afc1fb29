import type { Page } from 'playwright-core';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { holdOf } from '../../src/hire/holds.ts';
import { recordWrites } from '../../src/store/foreign-writes.ts';
import { insertHires } from '../../src/store/hires.ts';
import { openHold, readHold } from '../../src/store/holds.ts';
import { findChromium, openBrowser } from '../sandbox/page/open-browser.ts';
import { type OpenConsole, openConsole, TOKEN } from './open-console.ts';

const executable = findChromium();

beforeEach(({ skip }) => skip(executable === undefined, 'no Chromium on this machine: install chromium'));

const HIRE = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const ambiguous = holdOf('IDENTITY_AMBIGUOUS', {
  jobCandidateId: '5012',
  reason: 'two people',
  keys: ['name'],
  employeeIds: ['4711', '4712'],
});

/** The console in a browser of its own; what goes wrong inside a page, or asks another host, fails the test. */
async function openPage({ url }: OpenConsole, width: number): Promise<Page> {
  const browser = await openBrowser(executable ?? '');
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) errors.push(`asked for ${request.url()}`);
  });
  onTestFinished(() => expect(errors).toEqual([]));
  await page.goto(`${url}/?token=${TOKEN}`);
  expect(page.url()).toBe(`${url}/`);
  return page;
}

test.each([
  ['a phone', 390],
  ['a wide screen', 1_440],
])('on %s a hold is found on the overview, read, answered and closed by keyboard', async (_what, width) => {
  const open = await openConsole();
  await insertHires(open.store, [{ ...HIRE, state: 'open' }]);
  const { holdId } = await openHold(open.store, { ...HIRE, ...ambiguous });
  const page = await openPage(open, width);

  const cause = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'IDENTITY_AMBIGUOUS' }) });
  await cause.getByText('blocks 1 hire').waitFor();
  await cause.getByRole('link', { name: 'hire 5012' }).click();

  await page.getByRole('heading', { level: 1, name: `Hold ${holdId}` }).waitFor();
  await page.getByRole('region', { name: 'What was seen' }).getByText('4711, 4712', { exact: true }).waitFor();
  const asked = page.getByRole('region', { name: 'What is asked' });
  await asked.getByLabel('ID of the employee in the HR system').fill('4711');
  await page.keyboard.press('Enter');

  await page.getByRole('heading', { level: 1, name: 'Answer link?' }).waitFor();
  await page.getByText('it cannot be taken back').waitFor();
  expect((await readHold(open.store, holdId))?.answered_at).toBeNull();
  await page.getByRole('button', { name: 'Answer link' }).focus();
  await page.keyboard.press('Enter');

  await page.getByText('Answered link by ann.').waitFor();
  expect(await readHold(open.store, holdId)).toMatchObject({ answer: 'link', answer_arguments: '["4711"]' });
  expect(open.signalled).toEqual(['hb/hire/acme/5012']);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overflow).toBe(0);
});

test('the tenants are narrowed while somebody types, and what changed meanwhile comes by itself', async () => {
  const open = await openConsole();
  for (const tenantId of ['globex', 'initech'])
    await open.store.kysely.insertInto('tenants').values({ tenant_id: tenantId, state: 'active' }).execute();
  const page = await openPage(open, 1_024);
  // The answer to what was typed first comes last, and is dropped.
  const late = Promise.withResolvers<void>();
  await page.route(/[?&]q=init$/, (route) => late.promise.then(() => route.continue()));
  const asked = page.waitForRequest(/[?&]q=init$/);
  await page.getByLabel('Find a tenant').fill('init');
  const answered = (await asked).response();
  await page.getByLabel('Find a tenant').fill('glo');
  await page.getByRole('status').filter({ hasText: '1 tenant found of 3' }).waitFor();
  late.resolve();
  await (await answered)?.finished();
  await page.evaluate(`fetch('/console.css').then(() => undefined)`);
  expect(await page.locator('#tenants tbody tr').allInnerTexts()).toEqual([expect.stringContaining('globex')]);
  await openHold(open.store, { ...HIRE, tenantId: 'globex', ...ambiguous });
  await page.getByRole('heading', { name: 'IDENTITY_AMBIGUOUS' }).waitFor();
  await page.locator('#tenants-part').getByText('1 tenant found of 3').waitFor();
});

test('the pages are light or dark as the system is, and every field and region has a name', async () => {
  const open = await openConsole();
  await openHold(open.store, { ...HIRE, ...ambiguous });
  const page = await openPage(open, 1_024);
  const background = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await background();
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await background()).not.toBe(light);
  for (const path of ['/', '/hires', '/holds', '/deliveries', '/streams']) {
    await page.goto(open.url + path);
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    expect(await page.locator('main, nav[aria-label], header').count()).toBe(3);
    expect(await page.getByRole('searchbox', { name: /^$/ }).count()).toBe(0);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  }
});

test('what was done is said where the focus then is, and masked data has a name', async () => {
  const open = await openConsole();
  await insertHires(open.store, [{ ...HIRE, state: 'open' }]);
  const write = { recordId: '5012', target: 'employee', kind: 'create', foreignId: '4711' } as const;
  await recordWrites(open.store, { tenantId: 'acme', by: 'hirebridge', runId: 'r1', mappingHash: '0'.repeat(16) }, [
    { ...write, changes: { title: { new: 'Cook' } }, sensitive: [] },
  ]);
  const page = await openPage(open, 1_280);
  await page.goto(`${open.url}/hires/acme/5012`);
  await page.getByRole('img', { name: 'masked' }).waitFor();
  await page.goto(`${open.url}/tenants/acme`);
  await page.getByRole('button', { name: 'Pause' }).press('Enter');
  await page.getByText('It is paused').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toMatch(/^It is paused/);
});
