import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import { scratchDir } from './cli-process.ts';
import { KEYS, openTerminal } from './terminal.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const { enter, down, ctrlC, clear } = KEYS;

/** A hiring platform, and a folder with a database of tables, none of which is called as ours would be. */
async function setUp() {
  const sandbox = await openSandbox({ jobs: 2, candidates: 6, hired: 2 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const cwd = await scratchDir();
  const database = new DatabaseSync(join(cwd, 'hr.db'));
  database.exec(`create table "holidays\u001b]0;taken\u0007" (id integer primary key, days integer);
    create table personal (pnr integer primary key, vorname text not null, nachname text not null, mail text,
      eintritt date, kostenstelle text, mandant text not null)`);
  database.close();
  const init = () => openTerminal([process.execPath, MAIN, 'init', 'acme'], { cwd });
  return { sandbox, cwd, init };
}

test('init on a terminal asks again where an answer is wrong, then checks and tries the last hire', async () => {
  const { sandbox, cwd, init } = await setUp();
  const terminal = init();
  await terminal.answer('Address of the hiring platform', 'partner', enter);
  await terminal.answer('Expected the partner address', clear, 'http://127.0.0.1:9', enter);
  await terminal.answer('Expected an address that ends in /v1/partner', clear, 'http://127.0.0.1:9/v1/partner', enter);
  await terminal.answer('Its API key', sandbox.key, enter);
  await terminal.answer('refuses connections');
  await terminal.answer('◆  Address of the hiring platform', clear, sandbox.url, enter);
  await terminal.answer('Key of its webhooks', enter);
  await terminal.answer('Database of the HR system', clear, 'sqlite:nowhere.db', enter);
  await terminal.answer('There is no HRIS database file');
  await terminal.answer('◆  Database of the HR system', clear, 'sqlite:hr.db', enter);
  await terminal.answer('Table of employees');
  expect(terminal.screen()).toMatch(/personal \(7 columns, 4 that employees have\)/);
  // A name gives the terminal no orders: a real one would set its title.
  expect(terminal.screen()).toContain('holidays?]0;taken?');
  await terminal.answer('none of them', enter);
  await terminal.answer('Custom field that holds the first day of work', enter);
  await terminal.answer('requires mandant, and nothing fills it yet', enter);
  await terminal.answer('Which column', 'mandant');
  await terminal.answer('mandant', enter);
  await terminal.answer('What fills mandant', 'the same');
  await terminal.answer('the same for everybody', enter);
  await terminal.answer('Which value', '100', enter);
  await terminal.answer('This mapping', enter);
  expect(await terminal.code()).toBe(0);
  const screen = terminal.screen();
  expect(screen).toMatch(/vorname +candidate\.firstName +\S+ +by its name/);
  expect(screen).toMatch(/ok +hris-fields/);
  expect(screen).toMatch(/personal\.vorname +candidate\.firstName +\S+/);
  expect(screen).toContain('This employee can');
  const mapping = await readFile(join(cwd, 'tenants/acme-mapping.yaml'), 'utf8');
  expect(mapping).toContain('mandant: { constant: "100" }');
});

test('Ctrl-C ends init with 130, and neither a file nor a custom field is left', async () => {
  const { sandbox, cwd, init } = await setUp();
  const questions: [string, ...string[]][] = [
    ['Address of the hiring platform', sandbox.url, enter],
    ['Its API key', sandbox.key, enter],
    ['Key of its webhooks', 'whk_0123456789', enter],
    ['Database of the HR system', enter],
    ['none of them', enter],
    ['Custom field that holds the first day of work', enter],
    ['requires mandant, and nothing fills it yet', down],
  ];
  const terminal = init();
  for (const [question, ...keys] of questions) await terminal.answer(question, ...keys);
  await terminal.answer('take it', ctrlC);
  expect(await terminal.code()).toBe(130);
  expect(terminal.screen()).toContain('Stopped, and nothing was done.');
  expect([existsSync(join(cwd, 'tenants')), await readdir(cwd)]).toEqual([false, ['hr.db']]);
  const { body } = await sandbox.api('GET', '/custom-fields');
  expect(JSON.stringify(body)).not.toContain('Start date');
});
