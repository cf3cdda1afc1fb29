import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { holdOf } from '../../../src/hire/holds.ts';
import { noteTrouble } from '../../../src/store/alarms.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { openHold } from '../../../src/store/holds.ts';
import { openStore, type Store } from '../../../src/store/open-store.ts';
import { beginRun, refuseRun } from '../../../src/store/streams.ts';
import { untilHired } from '../../harness/hiring.ts';
import { until } from '../../harness/until.ts';
import { findChromium, openBrowser } from '../../sandbox/page/open-browser.ts';
import { addTenant } from '../open-console.ts';
import { openUp, type Up } from './open-up.ts';

/**
 * Pictures of every page of the console, light and dark, on a desk and on a phone, of a real `up`:
 * `npm run screenshots -- --to FOLDER`. The folder is .hirebridge/screenshots unless told otherwise.
 */
const { values } = parseArgs({ options: { to: { type: 'string', default: '.hirebridge/screenshots' } } });
const folder = join(resolve(values.to), 'console');
const executable = findChromium();
if (executable === undefined) {
  process.stderr.write('There is no chromium on PATH. Install it (apt-get install chromium) and run this again.\n');
  process.exit(1);
}
const up = await openUp();
const browser = await openBrowser(executable);
try {
  mkdirSync(folder, { recursive: true });
  const paths = await prepare(up);
  for (const [device, width] of [
    ['desk', 1_280],
    ['phone', 390],
  ] as const)
    for (const scheme of ['light', 'dark'] as const) await shoot(browser, { device, width, scheme }, paths);
  process.stdout.write(`Screenshots are in ${folder}\n`);
} finally {
  await browser.close();
  await up.close();
}

/** One hire that is done, one that is asked about, an exchange with a difference, and other tenants' troubles. */
async function prepare({ world, people, hr }: Up): Promise<Record<string, string>> {
  const [first, second] = people;
  const hired = (id: number): Promise<unknown> =>
    world.control.act('move', { jobCandidateIds: [id], stageType: 'HIRED' });
  await hired(first!.jobCandidateId);
  await untilHired(world, 1);
  await world.cli(['sync', 'acme', 'employees', '--full']);
  await world.control.act('editCandidate', { candidateId: first!.candidateId, fields: { city: 'Oslo' } });
  await hr('update employees set city = ?', ['Rome']);
  await world.control.act('editCandidate', { candidateId: second!.candidateId, fields: { phone: '' } });
  const store = await openStore(world.storeUrl);
  const done = String(first!.jobCandidateId);
  await fillOthers(store);
  const held = { tenantId: 'acme', jobCandidateId: String(second!.jobCandidateId), period: 1 };
  await insertHires(store, [{ ...held, state: 'open' }]);
  const ids = await employeeIds(store);
  const about = { reason: 'the same name, and no birth date to compare', keys: ['name'], employeeIds: ids };
  const { holdId } = await openHold(store, {
    ...held,
    ...holdOf('IDENTITY_AMBIGUOUS', { jobCandidateId: held.jobCandidateId, ...about }),
  });
  await world.cli(['sync', 'acme', 'employees', '--full']);
  await world.cli(['sync', 'acme', 'candidates', '--full']);
  await world.cli(['plan', 'acme', 'candidates']);
  const [delivery] = await store.kysely.selectFrom('inbox').select('body_hash').limit(1).execute();
  await until('a conflict is there', async () => {
    const found = await store.kysely.selectFrom('field_conflicts').select('conflict_id').execute();
    return found.length > 0;
  });
  await store.close();
  return {
    overview: '/',
    tenant: '/tenants/acme',
    remove: '/tenants/acme/remove',
    hires: '/hires',
    hire: `/hires/acme/${done}`,
    'hire-held': `/hires/acme/${held.jobCandidateId}`,
    why: `/hires/acme/${done}/fields`,
    holds: '/holds',
    'holds-of-one-reason': '/holds?code=PERSON_BEING_HIRED',
    hold: `/holds/${holdId}`,
    records: `/holds/${holdId}/records`,
    answer: `/holds/${holdId}/answer?answer=create`,
    streams: '/streams',
    'streams-of-tenant': '/streams?tenant=acme',
    stream: '/streams/acme/candidates',
    conflicts: '/streams/acme/conflicts',
    deliveries: '/deliveries?tenant=acme',
    delivery: `/deliveries/acme/${delivery?.body_hash.slice(0, 12)}`,
    changes: '/changes/acme',
    mapping: '/changes/acme/mappings/employee',
    audit: '/audit',
    writes: '/audit/acme/writes',
    'rate-limits': '/rate-limits?tenant=acme',
    'no-such-page': '/nowhere',
  };
}

async function employeeIds({ kysely }: Store): Promise<string[]> {
  const rows = await kysely.selectFrom('hires').select('employee_id').execute();
  return rows.flatMap((row) => row.employee_id ?? []);
}

/** Tenants that no worker follows: what a fleet looks like on a day with trouble. */
async function fillOthers(store: Store): Promise<void> {
  for (const tenantId of ['globex', 'hooli', 'initech', 'umbrella']) await addTenant(store, tenantId, null);
  const of = (tenantId: string, id: number) => ({ tenantId, jobCandidateId: String(id), period: 1 });
  await insertHires(
    store,
    Array.from({ length: 40 }, (_, n) => ({
      ...of(['globex', 'hooli'][n % 2] ?? '', 7_000 + n),
      state: 'open' as const,
    })),
  );
  const hour = 3_600_000;
  await store.kysely
    .updateTable('hires')
    .set((eb) => ({ opened_at: eb('opened_at', '-', eb.lit(hour)) }))
    .where('job_candidate_id', 'like', '70%')
    .execute();
  for (const id of [7_001, 7_003, 7_005])
    await openHold(store, {
      ...of('hooli', id),
      ...holdOf('PERSON_BEING_HIRED', { jobCandidateId: String(id), other: of('hooli', id - 1) }),
    });
  const trouble = {
    tenantId: 'globex',
    kind: 'activity-failing',
    subject: 'planEmployee of job candidate 7002',
  } as const;
  const message = 'The HR system did not answer in time. It is asked again by itself.';
  await noteTrouble(store, { ...trouble, reason: 'UNREACHABLE', message }, 0);
  const jobs = { tenantId: 'initech', stream: 'jobs' };
  await beginRun(store, jobs, { runId: 'r', full: true, firstPage: 0 });
  await refuseRun(store, jobs, 'r', { code: 'DELETES_MANY', message: '12 of 20 rows would be deleted in one run.' });
}

async function shoot(
  opened: Browser,
  { device, width, scheme }: { device: string; width: number; scheme: 'light' | 'dark' },
  paths: Readonly<Record<string, string>>,
): Promise<void> {
  const page = await opened.newPage({ viewport: { width, height: 860 }, colorScheme: scheme });
  const shot = (name: string): Promise<unknown> =>
    page.screenshot({ path: join(folder, `${device}-${scheme}-${name}.png`), fullPage: true });
  await page.goto(up.entry);
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(up.url + path);
    await page.locator('h1').first().waitFor();
    const entry = page.locator('main .entry > summary').first();
    if (await entry.isVisible()) await entry.click();
    await shot(name);
  }
  await shootSetup(page, shot);
  await page.close();
}

/** The steps of setting up a tenant, as far as the files that would be written. */
async function shootSetup(page: Page, shot: (name: string) => Promise<unknown>): Promise<void> {
  const { other } = up;
  const press = (name: string): Promise<void> => page.getByRole('button', { name }).click();
  await page.goto(`${up.url}/setup`);
  await shot('setup');
  await page.getByLabel(/^ID of the tenant/).fill('initrode');
  await page.getByLabel(/^Address of the hiring platform/).fill(other.sandbox.url);
  await page.getByLabel(/^API key/).fill(other.apiKey);
  await press('Ask the hiring platform');
  await page.getByLabel(/^Database of the HR system/).fill(other.hrisUrl);
  await shot('setup-hr-system');
  await press('Read its fields');
  await page.getByText('Each field of an employee gets its value').waitFor();
  await shot('setup-fields');
  await press('Check it, and try it with real people');
  await page.getByText('Files that will be written').waitFor();
  await shot('setup-files');
}
