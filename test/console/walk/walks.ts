import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { contract } from '../../../src/partner/contract/index.ts';
import { until } from '../../harness/until.ts';
import { writtenBack } from '../../harness/world.ts';
import { openBrowser } from '../../sandbox/page/open-browser.ts';
import { barriersOf } from './accessible.ts';
import { type Hands, handsOf } from './keyboard.ts';
import { askDatabase, openUp, readStreamRun, type Up } from './open-up.ts';

/** Somebody at the console of a real `up`, with a keyboard and no mouse, who types no id. */
export interface Walk {
  up: Up;
  browser: Browser;
  hands: Hands;
  /** Looks at a kind of page for what would keep somebody out, when it is met first. */
  look(): Promise<void>;
  /** Takes the walk of this name, and says what stood on the page where it could not go on. */
  take(name: string): Promise<void>;
  /** What went wrong inside a page, or asked another host. */
  errors: readonly string[];
  close(): Promise<void>;
}

/** Opens Chromium at the address that `up` prints. `cliPath` is Temporal's CLI where it is known. */
export async function openWalk(chromium: string, cliPath?: string): Promise<Walk> {
  const [up, browser] = await Promise.all([openUp(cliPath), openBrowser(chromium)]);
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  page.setDefaultTimeout(180_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // A form that is refused comes back with this status, and with what is wrong.
    if (message.type() === 'error' && !message.text().includes('status of 422')) errors.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(up.url)) errors.push(`asked for ${request.url()}`);
  });
  await page.goto(up.entry);
  const seen = new Set<string>();
  const walk: Walk = {
    up,
    browser,
    hands: handsOf(page),
    errors,
    async look() {
      const kind = kindOf(page);
      if (seen.has(kind)) return;
      seen.add(kind);
      assert.deepEqual([page.url(), await barriersOf(page)], [page.url(), []]);
    },
    async take(name) {
      try {
        await walks[name]!(walk);
      } catch (cause) {
        const shown = await page.locator('main').innerText({ timeout: 5_000 });
        const said = `On ${new URL(page.url()).pathname} stood:\n${shown}\nup said:\n${up.output().slice(-2_000)}`;
        throw new Error(`${String(cause)}\n${said}`, { cause });
      }
    },
    async close() {
      await browser.close();
      await up.close();
    },
  };
  return walk;
}

/** What the page is, without ids, so that each kind is looked at once. */
function kindOf(page: Page): string {
  return new URL(page.url()).pathname.replaceAll(/\d\w*|[0-9a-f]{8,}/g, ':id');
}

interface On {
  link(name: string | RegExp): Locator;
  button(name: string | RegExp): Locator;
  heading(name: string | RegExp): Promise<void>;
  says(text: string | RegExp): Promise<void>;
}

function on({ hands: { page } }: Walk): On {
  return {
    link: (name) => page.getByRole('link', { name }).first(),
    button: (name) => page.getByRole('button', { name }).first(),
    heading: (name) => page.getByRole('heading', { name, level: 1 }).waitFor(),
    says: (text) => page.getByText(text).first().waitFor(),
  };
}

async function filesOf({ world }: Up, tenant: string): Promise<string[]> {
  return (await readdir(world.tenantsDir)).filter((name) => name.startsWith(tenant)).toSorted();
}

async function personOf({ world }: Up, jobCandidateId: number): Promise<Record<string, string>> {
  const body = { jobCandidateIds: [String(jobCandidateId)] };
  const { items } = await world.partner.readAll(contract.jobCandidates.bulkFetch, { body });
  return (items[0] as { candidate_details: Record<string, string> }).candidate_details;
}

/** Each goes on where the one before ended. */
export const walks: Readonly<Record<string, (walk: Walk) => Promise<void>>> = {
  async 'a tenant is set up step by step, with a field of its own suggested, and its first hire ends'(walk) {
    const { up, hands } = walk;
    const { link, button, heading, says } = on(walk);
    const { other } = up;
    const field = (name: RegExp): Locator => hands.page.getByRole('textbox', { name });
    await askDatabase(other.hrisUrl, 'alter table employees add column cost_center text');
    const { data } = await other.partner.customFields.create({
      body: { entityType: 'job', fieldLabel: 'Cost center', fieldType: 'text' },
    });
    const [person] = await other.applicants();
    const of = { entityType: 'job', entityId: String(person!.jobId) } as const;
    const value = { customFieldId: String(data.id), ...of, value: 'CC-7' };
    await other.partner.customFieldValues.upsertBulk({ body: [value] });

    await hands.press(link('Set up a tenant'));
    await heading('Set up a tenant');
    await walk.look();
    await hands.type(field(/^ID of the tenant/), 'globex');
    await hands.type(field(/^Address of the hiring platform/), other.sandbox.url);
    await hands.type(hands.page.getByLabel(/^API key/), 'sk_test_wrong');
    await hands.press(button('Ask the hiring platform'));
    await hands.page.getByRole('alert').waitFor();
    await hands.type(hands.page.getByLabel(/^API key/), other.apiKey);
    await hands.press(button('Ask the hiring platform'));
    await heading('Set up globex');
    await says(other.company);
    await walk.look();
    await hands.type(field(/^Database of the HR system/), other.hrisUrl);
    await hands.press(button('Read its fields'));
    await says('Each field of an employee gets its value');
    const choice = hands.page.getByRole('combobox', { name: 'Value of costCenter' });
    assert.equal(await choice.inputValue(), 'job.customFields[Cost center]');
    await walk.look();
    await hands.press(button('Check it, and try it with real people'));
    await says('Files that will be written');
    await says('every value that an employee needs');
    await walk.look();
    assert.ok(!(await hands.page.content()).includes(other.apiKey));
    assert.deepEqual(await filesOf(up, 'globex'), []);
    await hands.press(button('Write these files and begin'));
    await heading('globex');
    await says('Its files are written and applied');
    assert.deepEqual(await filesOf(up, 'globex'), ['globex-mapping.yaml', 'globex.yaml']);

    await until('who was hired before is recorded', async () => {
      const hires = "select 1 from tenants where tenant_id = 'globex' and baseline_done_at is not null";
      return (await askDatabase(up.world.storeUrl, hires)).length > 0;
    });
    await other.control.act('move', { jobCandidateIds: [person!.jobCandidateId], stageType: 'HIRED' });
    // It has no webhooks: comparing finds the hire, and later that the onboarding has ended.
    await hands.press(button(/^Compare now$/));
    await says('What seems changed is compared now');
    await hands.press(link('Hires'));
    await heading('Hires of globex');
    await hands.press(
      hands.page
        .getByRole('row', { name: /\bopen\b/ })
        .getByRole('link')
        .first(),
    );
    await says(/to finish the onboarding/);
    await other.finishOnboardings();
    await hands.press(link(/^globex$/));
    await hands.press(button(/^Compare now$/));
    await says('What seems changed is compared now');
    await hands.page.goBack();
    await hands.page.goBack();
    await says(/is done since .*written back and verified/);
    assert.equal((await writtenBack(other)).size, 1);
    const made = await askDatabase(other.hrisUrl, 'select cost_center from employees');
    assert.deepEqual(
      made.map((row) => row['cost_center']),
      ['CC-7'],
    );
    await hands.press(link('Overview'));
    await heading('Overview');
  },
  async 'somebody whose namesake is an employee is asked about; both records are read, and the hire goes on'(walk) {
    const { up, hands } = walk;
    const { link, button, heading, says } = on(walk);
    const [person] = up.people;
    const { firstName = '', lastName = '' } = await personOf(up, person!.jobCandidateId);
    await up.hr('insert into employees (given_name, family_name, email, title, start_date) values (?, ?, ?, ?, ?)', [
      firstName,
      lastName,
      'namesake@example.org',
      'Cook',
      '2020-01-01',
    ]);
    await says('Nothing waits for a person');
    await walk.look();
    await up.world.control.act('move', { jobCandidateIds: [person!.jobCandidateId], stageType: 'HIRED' });
    const played = setInterval(() => void up.world.finishOnboardings().catch(() => undefined), 1_000);
    try {
      // The overview tells by itself.
      await hands.page.getByRole('heading', { name: 'IDENTITY_AMBIGUOUS' }).waitFor();
      await hands.press(link('Look and answer'));
      await heading(/^Hold /);
      await walk.look();
      await hands.press(link('See both records side by side'));
      await heading('Both records');
      await says('differs');
      await walk.look();
      assert.ok(!(await hands.page.content()).includes(lastName));
      await hands.press(button('Show personal data'));
      await says('The audit trail records that you looked');
      assert.ok((await hands.page.content()).includes(lastName));
      await hands.press(link('Back to the answers'));
      await hands.press(button(/^create$/));
      await heading('Answer create?');
      await walk.look();
      await hands.press(button('Answer create'));
      await says('Answered create by');
      await hands.press(link(/^Hire \d+ of acme/));
      await says(/is done since .*written back and verified/);
      await walk.look();
    } finally {
      clearInterval(played);
    }
    assert.equal((await writtenBack(up.world)).size, 1);
    assert.equal((await up.world.employees()).length, 2);
  },
  async 'a value of the new employee is explained: its rule, file and line'(walk) {
    const { hands } = walk;
    const { link, button, heading, says } = on(walk);
    await hands.press(link(/^Why is each value\s+here/));
    await heading(/^Why each value of hire/);
    await walk.look();
    const field = hands.page.locator('#field-department');
    await hands.press(field.locator('summary'));
    await field.getByText(/acme-mapping\.yaml:3/).waitFor();
    await hands.press(button('Show personal data'));
    await says('Personal data is shown on this page');
  },
  async 'a record that is left out is read again once it is put right'(walk) {
    const { up, hands } = walk;
    const { link, button, heading, says } = on(walk);
    const { candidateId } = up.people[1]!;
    await up.world.control.act('editCandidate', { candidateId, fields: { phone: '' } });
    await hands.press(link('Streams'));
    await heading('Streams of acme');
    await walk.look();
    await hands.press(link('candidates'));
    await heading('candidates of acme');
    await hands.press(button('Read the whole list'));
    await says('It was started');
    await says(/phone/);
    await walk.look();
    await up.world.control.act('editCandidate', { candidateId, fields: { phone: '+442079460011' } });
    await hands.press(button('Read what candidates left out again'));
    await says('No record is left out');
  },
  async 'a value that both sides edited is settled, and the other side takes it'(walk) {
    const { up, hands } = walk;
    const { link, button, heading, says } = on(walk);
    const { candidateId } = up.people[0]!;
    await hands.press(link('its streams'));
    await hands.press(link('employees'));
    await heading('employees of acme');
    const runs = async (): Promise<void> => {
      const before = await readStreamRun(up.world, 'employees');
      await hands.press(button('Read the whole list'));
      await until('the exchange has run', async () => (await readStreamRun(up.world, 'employees')) !== before, {
        timeoutMs: 120_000,
      });
    };
    await runs();
    await up.world.control.act('editCandidate', { candidateId, fields: { city: 'Oslo' } });
    await up.hr("update employees set city = ? where email <> 'namesake@example.org'", ['Rome']);
    await runs();
    await hands.press(link('its streams'));
    await hands.press(link('Look at fields that differ'));
    await heading('Where both sides differ');
    await walk.look();
    await hands.tick(hands.page.getByRole('checkbox', { name: /^city of/ }));
    await hands.press(button("Keep the HR system's"));
    await says('Decided. The next run writes');
    await hands.press(link('its streams'));
    await hands.press(link('employees'));
    await runs();
    await until('the candidate has the city of the HR system', async () => {
      const { items } = await up.world.partner.readAll(contract.candidates.list);
      return items.some((one) => String(one['id']) === String(candidateId) && one['city'] === 'Rome');
    });
  },
  async 'a mapping is compared, applied and taken back by its earlier text'(walk) {
    const { up, hands } = walk;
    const { link, button, heading, says } = on(walk);
    const file = join(up.world.tenantsDir, 'acme-mapping.yaml');
    const before = await readFile(file, 'utf8');
    await hands.press(link('Overview'));
    await hands.press(link(/^acme$/));
    await heading('acme');
    await walk.look();
    await hands.press(link('Changes'));
    await heading('Changes of acme');
    await walk.look();
    await hands.press(link('employee'));
    await heading('Mapping of employee');
    const change = async (text: string): Promise<void> => {
      await hands.type(hands.page.getByRole('textbox', { name: /^Mapping of employee/ }), text);
      await hands.press(button('See what it would change'));
      await says('1 of 1 record');
      await walk.look();
      await hands.press(button('Apply this mapping'));
      await says('its file has the same text');
    };
    await change(before.replace('People', 'Research'));
    assert.ok((await readFile(file, 'utf8')).includes('Research'));
    await hands.press(link('employee'));
    await hands.press(link('Put it into the editor'));
    await hands.press(button('See what it would change'));
    await says('1 of 1 record');
    await hands.press(button('Apply this mapping'));
    await says('its file has the same text');
    assert.equal(await readFile(file, 'utf8'), before);
    await hands.press(button('Plan to put back'));
    await heading('What would be written');
    await walk.look();
  },
  async 'a tenant is frozen, thawed, paused and resumed, and its audit trail tells so'(walk) {
    const { hands } = walk;
    const { link, button, heading } = on(walk);
    await hands.press(link(/^acme$/));
    await heading('acme');
    for (const [does, shows] of [
      ['Freeze writes', 'frozen'],
      ['Thaw', undefined],
      ['Pause', 'paused'],
      ['Resume', undefined],
      ['Compare now', undefined],
    ] as const) {
      await hands.press(button(new RegExp(`^${does}$`)));
      await hands.page.getByRole('status').filter({ hasText: /\w{3}/ }).first().waitFor();
      if (shows !== undefined) await hands.page.locator('.badge', { hasText: shows }).first().waitFor();
    }
    await hands.press(link('Audit trail'));
    await heading('What people did');
    for (const act of ['frozen', 'thawed', 'paused', 'resumed', 'reconcile-asked', 'hold-answered', 'revealed'])
      await hands.page.getByRole('cell', { name: act, exact: true }).first().waitFor();
    await walk.look();
  },
  async 'a delivery is found, looked at, and acted upon again'(walk) {
    const { hands } = walk;
    const { link, button, heading, says } = on(walk);
    await hands.press(link('Deliveries'));
    await heading('Deliveries of acme');
    await walk.look();
    await hands.press(hands.page.locator('tbody th a').first());
    await heading(/^Delivery /);
    await says('Its payload is not kept');
    await walk.look();
    await hands.press(button('Process it again'));
    await says('The delivery is being processed again');
  },
  async 'rate limits, hires and holds are reached as well, and no page asked another host or failed'(walk) {
    const { hands, errors } = walk;
    const { link, heading } = on(walk);
    for (const name of ['Rate limits', 'Hires', 'Holds']) {
      await hands.press(link(name));
      await heading(new RegExp(`^${name}`));
      await walk.look();
    }
    assert.deepEqual(errors, []);
  },
  async 'without a script every page that was seen can be read'(walk) {
    const { up, browser } = walk;
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(up.entry);
    for (const path of ['/', '/hires', '/holds', '/streams?tenant=acme', '/deliveries?tenant=acme', '/changes/acme']) {
      await page.goto(up.url + path);
      assert.ok((await page.locator('main').innerText()).length > 80);
    }
    await page.goto(`${up.url}/?q=nobody`);
    await page.getByText('tenants has this in its name').waitFor();
    await context.close();
  },
};
