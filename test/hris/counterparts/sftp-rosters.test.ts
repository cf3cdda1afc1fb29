import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmployeeRecord, HrisConnection } from '../../../src/hris/port.ts';
import { employee, refusal, signal, write } from '../profile.ts';
import { startedSftpHris } from '../sftp-under-test.ts';

const at = startedSftpHris();

describe('rosters', () => {
  let hris: HrisConnection;
  beforeAll(async () => {
    hris = await at().open();
  });
  afterAll(() => hris.close());

  test('an employee from before go-live is found by e-mail, and an unfinished roster does not count', async () => {
    await at().job.sql(
      "insert into employee (given_name, family_name, email) values ('Old', 'Hand', 'Old.Hand@example.org')",
    );
    const find = () => hris.employees.find({ by: 'email', value: 'old.hand@EXAMPLE.org' }, signal);
    expect(await find()).toEqual({ kind: 'none', trusted: true });
    const file = await at().job.writeRoster();
    await rename(`${file}.ready`, `${file}.later`);
    expect(await find()).toEqual({ kind: 'none', trusted: true });
    await rename(`${file}.later`, `${file}.ready`);
    expect(await find()).toMatchObject({ kind: 'one', by: 'email' });
  });

  test('an old roster proves nothing, and the probe says how old it is; ten minutes of skew do no harm', async () => {
    const file = await at().job.writeRoster();
    const setAge = (seconds: number) => utimes(file, Date.now() / 1_000 - seconds, Date.now() / 1_000 - seconds);
    const nobody = () => hris.employees.find({ by: 'email', value: 'nobody@example.org' }, signal);
    await setAge(-600);
    expect(await nobody()).toEqual({ kind: 'none', trusted: true });
    expect(await hris.probe(signal)).toEqual({ ok: true });
    await setAge(100 * 3_600);
    const stale = { code: 'HRIS_STALE_ROSTER', message: expect.stringMatching(/100 hours old.*allows 72.*hires wait/) };
    expect(await refusal(nobody())).toMatchObject({ action: 'retry', ...stale });
    expect(await hris.probe(signal)).toMatchObject({ ok: false, error: stale });
    // Who is there is found, and our own requests do not depend on rosters.
    expect(await hris.employees.find({ by: 'email', value: 'old.hand@example.org' }, signal)).toMatchObject({
      kind: 'one',
    });
    expect(await hris.employees.find({ by: 'reference', value: 'acme:nobody' }, signal)).toEqual({
      kind: 'none',
      trusted: true,
    });
    await at().job.writeRoster();
  });

  test('a roster with less than half of the people of the one before proves nothing', async () => {
    const rows = (count: number) => Array.from({ length: count }, (_one, row) => `Z${row},z${row}@example.org\r\n`);
    const put = (name: string, count: number) =>
      at().put('rosters', name, `employee_id,email\r\n${rows(count).join('')}`);
    const nobody = () => hris.employees.find({ by: 'email', value: 'z9@example.org' }, signal);
    await put('rosters-900000.csv', 9);
    await put('rosters-900001.csv', 4);
    const cut = { code: 'HRIS_UNREADABLE_FILE', message: expect.stringMatching(/less than half.*may be cut off/) };
    expect(await refusal(nobody())).toMatchObject({ action: 'retry', ...cut });
    expect(await hris.probe(signal)).toMatchObject({ ok: false, error: cut });
    await put('rosters-900002.csv', 4);
    expect(await nobody()).toEqual({ kind: 'none', trusted: true });
    for (const name of await at().list('rosters'))
      if (/9000\d\d\.csv$/.test(name)) await at().takeAway('rosters', name);
  });

  test('a roster whose name sorts last, and which is older than another, proves nothing', async () => {
    await at().put('rosters', 'rosters-90-old.csv', 'employee_id,email\r\n');
    const yesterday = Date.now() / 1_000 - 86_400;
    await utimes(join(at().server.root, 'rosters', 'rosters-90-old.csv'), yesterday, yesterday);
    const nobody = hris.employees.find({ by: 'email', value: 'nobody@example.org' }, signal);
    expect(await refusal(nobody)).toMatchObject({
      code: 'HRIS_UNREADABLE_FILE',
      action: 'retry',
      message: expect.stringMatching(/rosters-90-old\.csv, is older than .*under a name that sorts behind all others/),
    });
    await at().takeAway('rosters', 'rosters-90-old.csv');
  });

  test('without a roster nobody is absent', async () => {
    const rosters = (await at().list('rosters')).filter((name) => name.endsWith('.ready'));
    const folder = join(at().server.root, 'rosters');
    for (const name of rosters) await rename(join(folder, name), join(folder, `${name}.away`));
    const nobody = hris.employees.find({ by: 'email', value: 'nobody@example.org' }, signal);
    expect(await refusal(nobody)).toMatchObject({ code: 'HRIS_NO_ROSTER', action: 'retry' });
    for (const name of rosters) await rename(join(folder, `${name}.away`), join(folder, name));
  });

  test('line ends of two kinds, and rows without a value at the end, are read as they are meant', async () => {
    const text = 'employee_id,employee_number,reference\nM1,007,acme:910\r\nM2,008,acme:911\r\n,,\r\n,,\r\n';
    await at().put('rosters', 'rosters-900000.csv', text);
    expect(await hris.employees.find({ by: 'reference', value: 'acme:910' }, signal)).toMatchObject({
      kind: 'one',
      ref: { id: 'M1', number: '007' },
    });
    await at().takeAway('rosters', 'rosters-900000.csv');
  });

  test.each([
    ['not UTF-8', Buffer.from('employee_id\r\nE\xFC\r\n', 'latin1'), /it is not UTF-8/],
    ['cut in the middle of a quoted value', 'employee_id,email\r\nE1,"a@exam', /quote not closed/],
    ['cut in the middle of its header', 'email,employee_', /header has no employee_id/],
    ['that is empty', '', /header has no employee_id/],
    ['with a column too few', 'employee_id,email\r\nE1\r\n', /line 2/],
    ['with a column twice', 'employee_id,employee_id\r\n', /twice/],
    ['with an employee twice', 'employee_id\r\nE1\r\nE1\r\n', /employee E1 is in it twice/],
    ['without the id', 'email\r\na@example.org\r\n', /header has no employee_id/],
    ['with a row without the id', 'employee_id,email\r\n,a@example.org\r\n', /record 1 has no employee_id/],
  ])('a roster %s is not believed, and its name and the reason are told', async (_what, text, why) => {
    await at().put('rosters', 'rosters-900000.csv', text);
    const error = await refusal(hris.employees.find({ by: 'number', value: '1' }, signal));
    expect(error).toMatchObject({ code: 'HRIS_UNREADABLE_FILE', message: expect.stringMatching(why) });
    expect(error.message).toMatch(/rosters\/rosters-900000\.csv/);
    expect(error.message).not.toMatch(/@exam/);
    await at().takeAway('rosters', 'rosters-900000.csv');
  });

  test('a byte order mark, semicolons, leading zeros and columns in any order are read as they are meant', async () => {
    const excel = await at().open({ delimiter: ';' });
    await at().put(
      'rosters',
      'rosters-900001.csv',
      '\uFEFFshoes;email;employee_number;employee_id\r\n44;"a;b@example.org";007;X1',
    );
    const results = await at().list('results');
    for (const name of results) await rename(join(at().server.root, 'results', name), join(at().server.root, name));
    expect(await excel.employees.read('X1', signal)).toEqual({
      ref: { id: 'X1', number: '007' },
      fields: { email: 'a;b@example.org' },
    });
    for (const name of results) await rename(join(at().server.root, name), join(at().server.root, 'results', name));
    await at().takeAway('rosters', 'rosters-900001.csv');
    await excel.close();
  });

  test('changes are what differs from the roster before, across pages, and who is gone', async () => {
    await at().job.sql("delete from employee where reference like 'bulk:%'");
    await at().job.writeRoster();
    const all = await changesSince(undefined);
    expect(all.employees).toHaveLength(await at().count());
    await at().job.sql(`insert into employee (reference, email) select 'bulk:' || n, n || '@bulk.example' from
      generate_series(1, 450) n`);
    await at().job.writeRoster();
    const more = await changesSince(all.next);
    expect(more.pages).toBe(3);
    expect(new Set(more.employees.map(({ reference }) => reference)).size).toBe(450);
    await at().job.sql("update employee set title = 'Chef' where reference = 'bulk:7'");
    const [gone] = await at().job.sql<{ employee_id: string }>(
      "delete from employee where reference = 'bulk:8' returning *",
    );
    await at().job.writeRoster();
    const last = await changesSince(more.next);
    expect(last.employees).toMatchObject([{ reference: 'bulk:7', fields: { title: 'Chef' } }]);
    expect(last.gone).toEqual([gone?.employee_id]);
    expect(await changesSince(last.next)).toMatchObject({ employees: [], gone: [], pages: 1 });
  });

  test('whom HR deleted after a roster showed them is gone, whatever the result says, and not made again', async () => {
    const made = () => hris.employees.find({ by: 'reference', value: 'acme:900' }, signal);
    await hris.employees.create(employee('deleted'), 'acme:900', write);
    await at().run();
    const [deleted] = await at().job.sql<{ id: string }>(
      "delete from employee where reference = 'acme:900' returning employee_id as id",
    );
    const id = deleted?.id ?? '';
    expect(await made()).toMatchObject({ kind: 'one', ref: { id } });
    await at().job.writeRoster();
    expect(await made()).toEqual({ kind: 'none', trusted: true });
    expect(await hris.employees.read(id, signal)).toBeUndefined();
    const again = await refusal(hris.employees.create(employee('deleted'), 'acme:900', write));
    expect(again).toMatchObject({ code: 'ALREADY_EXISTS', details: { id } });
    await at().run();
    expect(await at().job.sql("select 1 from employee where reference = 'acme:900'")).toEqual([]);
  });

  test('whom no roster has shown yet is there by the result alone', async () => {
    await at().put(
      'results',
      'results-900001.csv',
      'request_id,status,employee_id,employee_number\r\nhire-acme~3A901-1,created,P1,0901\r\n',
    );
    for (let more = 0; more < 3; more += 1) await at().job.writeRoster();
    const found = await hris.employees.find({ by: 'reference', value: 'acme:901' }, signal);
    expect(found).toMatchObject({ kind: 'one', ref: { id: 'P1', number: '0901' } });
    expect(await hris.employees.read('P1', signal)).toMatchObject({ reference: 'acme:901' });
    await at().takeAway('results', 'results-900001.csv');
  });

  test('a roster that comes in the middle of a comparison is compared after it', async () => {
    await at().job.sql("update employee set title = 'One' where reference like 'bulk:%'");
    const before = (await changesSince(undefined)).next;
    await at().job.sql("update employee set title = 'Two' where reference like 'bulk:%'");
    await at().job.writeRoster();
    const first = await hris.changes?.since(before, signal);
    expect(first?.more).toBe(true);
    await at().job.sql("update employee set title = 'Three' where reference = 'bulk:1'");
    await at().job.writeRoster();
    const rest = await changesSince(first?.next);
    expect(rest.employees.filter(({ fields }) => fields['title'] === 'Two')).toHaveLength(449 - 200);
    expect((await changesSince(rest.next)).employees).toMatchObject([{ fields: { title: 'Three' } }]);
  });

  async function changesSince(start: string | undefined) {
    const employees: EmployeeRecord[] = [];
    const gone: string[] = [];
    let cursor = start;
    for (let pages = 1; ; pages += 1) {
      const page = await hris.changes?.since(cursor, signal);
      if (page === undefined) throw new Error('this kind has no changes');
      employees.push(...page.employees);
      gone.push(...page.gone);
      cursor = page.next;
      if (!page.more) return { employees, gone, next: page.next, pages };
    }
  }
});

describe('the columns', () => {
  test('are described where the customer does so, required ones first of all', async () => {
    const hris = await at().open();
    expect(await hris.describe?.('employee', signal)).toEqual([]);
    await writeFile(
      join(at().server.root, 'requests', 'columns.csv'),
      'column,type,required,options,max_length\r\nfamily_name,text,yes,,40\r\nshirt,text,no,S|M|L,\r\n',
    );
    expect(await hris.describe?.('employee', signal)).toEqual([
      { key: 'familyName', label: 'family_name', isField: true, type: 'text', required: true, maxLength: 40 },
      { key: 'shirt', label: 'shirt', isField: false, type: 'text', required: false, options: ['S', 'M', 'L'] },
    ]);
    await rm(join(at().server.root, 'requests', 'columns.csv'));
    await hris.close();
  });
});
