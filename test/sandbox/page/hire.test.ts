import type { Page } from 'playwright-core';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Json, type OpenSandbox, openSandbox } from '../open-sandbox.ts';
import { findChromium, openBrowser } from './open-browser.ts';

const executable = findChromium();

beforeEach(({ skip }) => skip(executable === undefined, 'no Chromium on this machine: install chromium'));

/** The page of a sandbox, in a browser of its own; whatever goes wrong inside the page fails the test. */
async function openPage(sandbox: OpenSandbox): Promise<Page> {
  const browser = await openBrowser(executable ?? '');
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ timezoneId: 'America/Los_Angeles' });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  // Chromium also writes each refusal to the console, without its address.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) errors.push(message.text());
  });
  page.on('response', (response) => {
    const status = response.status();
    if (status > 400) errors.push(`${status} ${response.url()}`);
  });
  page.on('request', (request) => {
    if (!/^(http:\/\/127\.0\.0\.1:|data:)/.test(request.url())) errors.push(`asked for ${request.url()}`);
  });
  onTestFinished(() => expect(errors).toEqual([]));
  await page.goto(sandbox.controlUrl);
  return page;
}

async function press(page: Page, name: string, within = 'body'): Promise<void> {
  await page.locator(within).getByRole('button', { name, exact: true }).click();
}

/** Chooses in a field by what stands on the screen, as a person does. */
async function choose(page: Page, field: string, label: string): Promise<void> {
  const input = page.locator('dialog').getByLabel(new RegExp(`^${field}`));
  await input.focus();
  const option = page.locator(`option[value="${label}"]`);
  await option.first().waitFor({ state: 'attached' });
  await input.fill(label);
}

/** At the address that was sent, in a window of their own. */
async function signAsCandidate(page: Page): Promise<void> {
  const opening = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Signing page' }).click();
  const signing = await opening;
  await signing.getByRole('button', { name: 'Sign' }).click();
  await signing.getByText('The offer is complete').waitFor();
  await signing.close();
}

test('a hire is played from the job to the signed offer, and no id is typed', async () => {
  await using sandbox = await openSandbox();
  const page = await openPage(sandbox);

  await press(page, 'New job', 'main');
  await page.getByLabel('Title').fill('Night nurse');
  await press(page, 'New job', 'dialog');
  await page.getByRole('heading', { name: 'Night nurse' }).waitFor();

  await press(page, 'New application', 'main');
  await page.getByLabel('Email').fill('ada@example.net');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lopez');
  await press(page, 'New application', 'dialog');
  await page.getByRole('heading', { name: 'Ada Lopez' }).waitFor();

  await press(page, 'Shortlisted');
  await page.locator('button[aria-current=step]', { hasText: 'Shortlisted' }).waitFor();

  await press(page, 'Invite to an interview');
  await choose(page, 'Assessment', 'First interview');
  await press(page, 'Invite to an interview', 'dialog');
  await page.getByRole('link', { name: 'First interview' }).waitFor();

  await press(page, 'Create an offer');
  await press(page, 'Create an offer', 'dialog');
  await press(page, 'Send to the first signer');
  await press(page, 'Sign as Olivia Hart');
  await page.getByRole('button', { name: 'Sign as Ada Lopez' }).waitFor();

  await signAsCandidate(page);
  await page.reload();
  await page.getByRole('link', { name: 'Signed PDF' }).waitFor();
  await press(page, 'Hired');
  await page.locator('button[aria-current=step]', { hasText: 'Hired' }).waitFor();

  const { event } = await sandbox.control.counts({ kind: 'event' });
  expect(event).toMatchObject({
    'job.created': 1,
    'candidate.applied': 1,
    'candidate.hired': 1,
    'onboarding.offer.completed': 1,
  });
});

test('every part of the page opens, by the keyboard too', async () => {
  await using sandbox = await openSandbox({ jobs: 2, candidates: 40, hired: 2 });
  await sandbox.api('GET', '/jobs');
  const page = await openPage(sandbox);
  const parts = page.getByRole('navigation').getByRole('link');
  await parts.first().waitFor();
  for (const part of await parts.all()) {
    const name = await part.textContent();
    await part.focus();
    await page.keyboard.press('Enter');
    await page.locator('nav a[aria-current=page]', { hasText: name ?? '' }).waitFor();
    await page.locator('main h1').waitFor();
    // The heading may be there a moment before the focus.
    const focus = () => page.evaluate('document.activeElement.id');
    await expect.poll(focus, { message: String(name) }).toBe('main');
  }
});

test('what is refused is told in the form, and the form stays', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  await sandbox.control.act('setJobStatus', { jobId: 50_001, status: 'INACTIVE' });
  const page = await openPage(sandbox);
  await page.goto(`${sandbox.controlUrl}/#/applications`);
  await press(page, 'New application', 'main');
  const [job] = (await sandbox.api('GET', '/jobs')).body.jobs;
  await choose(page, 'Job', job.title);
  await page.getByLabel('Email').fill('ada@example.net');
  await press(page, 'New application', 'dialog');
  const alert = page.locator('dialog').getByRole('alert');
  await alert.waitFor();
  expect(await alert.textContent()).toContain('Only an ACTIVE job has an application page');
  expect(await page.getByLabel('Email').inputValue()).toBe('ada@example.net');
});

test('an edit sends what was changed, and an appointment moves to a slot by name', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  const page = await openPage(sandbox);
  await page.goto(`${sandbox.controlUrl}/#/candidates/200001`);
  await press(page, 'Edit', 'main');
  await page.locator('dialog').getByLabel('City').fill('Lisbon');
  await press(page, 'Edit', 'dialog');
  await page.locator('dd', { hasText: 'Lisbon' }).waitFor();
  const [edited] = await sandbox.control.ledger({ kind: 'event', name: 'candidate.updated' });
  expect(edited?.detail).toMatchObject({ candidateId: 200_001, updatedFields: ['city'] });

  const [schedule] = (await sandbox.api('GET', '/booking-schedules?scheduleProfile=INTERVIEW')).body.data;
  const slots = `/booking-schedules/${String(schedule.id)}/slots?from=2020-01-01&to=2099-01-01`;
  const [first] = (await sandbox.api('GET', slots)).body.data;
  const link = await sandbox.control.act('sendBookingLink', {
    bookingScheduleId: schedule.id,
    jobCandidateId: 600_001,
  });
  const { id, scheduledStartAt } = (await sandbox.control.act('bookThroughLink', {
    bookingLinkId: String(link['id']),
    scheduledStartAt: first.startAt,
  })) as { id: string; scheduledStartAt: string };
  await page.goto(`${sandbox.controlUrl}/#/applications/600001`);
  await press(page, 'Reschedule');
  const time = page.locator('dialog').getByLabel(/^Time/);
  await time.focus();
  const option = page.locator('dialog option[value]').nth(3);
  await option.waitFor({ state: 'attached' });
  const slot = (await option.getAttribute('value')) ?? '';
  expect(slot).toMatch(/, \d\d:\d\d (?:UTC|GMT|CES?T)/);
  await time.fill(slot);
  await press(page, 'Reschedule', 'dialog');
  await page.locator('dialog').waitFor({ state: 'detached' });
  const [moved] = (await sandbox.api('GET', '/bookings')).body.data;
  expect([moved.id, moved.scheduledStartAt === scheduledStartAt]).toEqual([id, false]);
  // In UTC wherever the browser is, and said so.
  const clock = new Date(moved.scheduledStartAt).toISOString().slice(11, 16);
  await page.locator('td', { hasText: `${clock} UTC` }).waitFor();
});

test('a table scrolls by keyboard, each of its columns has a name, and a search says what it found', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 3 });
  const page = await openPage(sandbox);
  await page.goto(`${sandbox.controlUrl}/#/faults`);
  await page.getByRole('group', { name: 'Table: Quirk, What the partner then does, Actions' }).focus();
  expect(await page.getByRole('columnheader', { name: /^$/ }).count()).toBe(0);
  await page.goto(`${sandbox.controlUrl}/#/candidates`);
  await page.getByRole('status').filter({ hasText: '3 shown' }).waitFor();
  await page.getByLabel('Search').fill('nobody is called so');
  await page.getByRole('status').filter({ hasText: 'Nothing matches.' }).waitFor();
});

test('every action has a form with inputs, none of them for JSON', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const page = await openPage(sandbox);
  await page.goto(`${sandbox.controlUrl}/#/actions`);
  const entries = page.locator('main .entry');
  await entries.first().waitFor();
  await page.evaluate("for (const one of document.querySelectorAll('main .entry')) one.open = true");
  const count = await entries.count();
  const forms = page.locator('main .entry form button.primary');
  await expect.poll(() => forms.count()).toBe(count);
  expect(count).toBeGreaterThan(70);
  expect(await page.locator('main').textContent()).not.toContain('JSON');
  expect(await page.locator('main textarea[placeholder]').count()).toBe(0);
});

test('a custom field is set by an input of its own kind', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const types = { text: 'Badge', number: 'Desk', checkbox: 'Driver', 'multi-select': 'Shifts' } as const;
  for (const [fieldType, fieldLabel] of Object.entries(types) as [keyof typeof types, string][]) {
    const options = fieldType === 'multi-select' ? { options: ['Day', 'Night'] } : {};
    await sandbox.control.act('createCustomField', { entityType: 'job', fieldLabel, fieldType, ...options });
  }
  const page = await openPage(sandbox);
  await page.goto(`${sandbox.controlUrl}/#/jobs/50001`);
  const set = async (label: string, enter: () => Promise<unknown>): Promise<void> => {
    await press(page, `Set ${label}`);
    await enter();
    await press(page, 'Set', 'dialog');
    await page.locator('dialog').waitFor({ state: 'detached' });
  };
  await set('Badge', () => page.getByLabel(/^Value/).fill('A 7'));
  await set('Desk', () => page.getByLabel(/^Value/).fill('12.5'));
  await set('Driver', () => page.getByLabel(/^Value/).selectOption('Yes'));
  await set('Shifts', () => page.getByLabel('Night').check());
  await page.getByRole('cell', { name: 'Night', exact: true }).waitFor();
  const values = (await sandbox.api('GET', '/custom-field-values?entityType=job&entityId=50001')).body.data;
  expect(values.map(({ value }: Json) => value)).toEqual(['A 7', 12.5, true, '["Night"]']);
});
