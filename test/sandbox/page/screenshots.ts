import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { type ControlClient, createControlClient } from '../../../src/sandbox/control/client.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { findChromium, openBrowser } from './open-browser.ts';

/**
 * Pictures of every part of the page, light and dark, wide and narrow: `npm run screenshots -- --to FOLDER`. The folder
 * is .hirebridge/screenshots unless told otherwise, which git ignores.
 */
const { values } = parseArgs({ options: { to: { type: 'string', default: '.hirebridge/screenshots' } } });
const folder = resolve(values.to);
const executable = findChromium();
if (executable === undefined) {
  process.stderr.write('There is no chromium on PATH. Install it (apt-get install chromium) and run this again.\n');
  process.exit(1);
}

const sandbox = await startSandbox({ jobs: 8, candidates: 120, hired: 12 });
const control = createControlClient(sandbox.controlUrl);
const browser = await openBrowser(executable);
try {
  mkdirSync(folder, { recursive: true });
  const addresses = await prepare(control);
  await shoot(browser, 'light', { width: 1280, height: 860 }, addresses);
  await shoot(browser, 'dark', { width: 1280, height: 860 }, addresses);
  await shoot(browser, 'narrow', { width: 390, height: 800 }, addresses);
  process.stdout.write(`Screenshots are in ${folder}\n`);
} finally {
  await browser.close();
  await sandbox.close();
}

/** A hire half-way: an offer that waits for a signature, an enrolment with documents, a booking link, some traffic. */
async function prepare(actor: ControlClient): Promise<Record<string, string>> {
  const { jobCandidateId } = await actor.act('apply', {
    jobId: 50_001,
    candidate: { email: 'maya.okafor@example.net', firstName: 'Maya', lastName: 'Okafor', phone: '+442079460011' },
    application: { noticePeriod: '1 month', isWillingToRelocate: true },
  });
  await actor.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'SHORTLISTED' });
  const offer = await actor.act('createOffer', { jobCandidateId });
  await actor.act('sendOffer', { offerId: offer.offerId });
  await actor.act('signOffer', { offerId: offer.offerId, signingOrder: 1 });
  const { assessments, schedules, flows } = await choices();
  await actor.act('inviteToInterview', { assessmentId: assessments, jobCandidateId });
  const link = (await actor.act('sendBookingLink', { bookingScheduleId: schedules, jobCandidateId })) as {
    url: string;
  };
  const enrolled = (await actor.act('enrol', {
    flowId: flows,
    firstName: 'Maya',
    lastName: 'Okafor',
    email: 'maya.okafor@example.net',
    externalRef: 'HR-1042',
  })) as { onboardingCandidateId: string; journeyUrl: string };
  const { onboardingCandidateId } = enrolled;
  await actor.act('submitStep', { onboardingCandidateId, stepKey: 'doc_collection' });
  await actor.act('setWebhook', { url: `${sandbox.controlUrl}/nowhere` });
  await actor.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'HIRED' });
  await actor.act('addFault', { kind: 'throttle', on: 'jobs.list', nth: 3, retryAfter: 2 });
  for (const path of ['/jobs', '/candidates/list?perPage=2', '/jobs', '/pipelines', '/jobs'])
    await fetch(sandbox.url + path, { headers: { authorization: `Bearer ${sandbox.key}` } });
  const shown = (await read(`/browse/applications/${String(jobCandidateId)}`)) as Application;
  return {
    application: `#/applications/${String(jobCandidateId)}`,
    enrolment: `#/enrolments/${onboardingCandidateId}`,
    journey: enrolled.journeyUrl,
    booking: link.url,
    signing: shown.offers[0]?.signers[1]?.url ?? '',
    interview: `${new URL(sandbox.url).origin}/assessment/${assessments}`,
  };
}

interface Application {
  offers: { signers: { url: string }[] }[];
}

async function read(path: string): Promise<unknown> {
  return (await fetch(`${sandbox.controlUrl}${path}?companyId=${String(sandbox.companyId)}`)).json();
}

async function choices(): Promise<Record<'assessments' | 'schedules' | 'flows', string>> {
  const [assessments, schedules, flows] = (await Promise.all(
    ['assessments', 'schedules', 'onboarding-flows'].map((kind) => read(`/browse/${kind}`)),
  )) as { rows: { id: string }[] }[];
  const first = (list: { rows: { id: string }[] } | undefined): string => list?.rows[0]?.id ?? '';
  return { assessments: first(assessments), schedules: first(schedules), flows: first(flows) };
}

async function shoot(
  opened: Browser,
  name: string,
  viewport: { width: number; height: number },
  addresses: Record<string, string>,
): Promise<void> {
  const colorScheme = name === 'dark' ? 'dark' : 'light';
  const page = await opened.newPage({ viewport, colorScheme });
  const parts = ['jobs', 'candidates', 'applications', 'interviews', 'bookings', 'offers', 'enrolments'];
  const places = [
    ...parts,
    'requests',
    'deliveries',
    'faults',
    'company',
    'actions',
    'jobs/50001',
    'candidates/200001',
  ];
  for (const part of places) await take(page, `${sandbox.controlUrl}/#/${part}`, `${name}-${part.replace('/', '-')}`);
  for (const [what, address] of Object.entries(addresses))
    await take(page, address.startsWith('#') ? `${sandbox.controlUrl}/${address}` : address, `${name}-${what}`);
  await openForm(page, 'jobs', 'New job', `${name}-form-job`);
  await openForm(page, 'jobs/50001', 'New application', `${name}-form-application`);
  await page.close();
}

async function take(page: Page, address: string, name: string): Promise<void> {
  // From elsewhere, so that what is waited for is not the screen before.
  await page.goto('about:blank');
  await page.goto(address);
  await page.locator('h1').first().waitFor();
  const entry = page.locator('.entry > summary').first();
  if (await entry.isVisible()) await entry.click();
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

async function openForm(page: Page, part: string, button: string, name: string): Promise<void> {
  await page.goto(`${sandbox.controlUrl}/#/${part}`);
  await page.getByRole('button', { name: button }).click();
  await page.locator('dialog input').first().waitFor();
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
