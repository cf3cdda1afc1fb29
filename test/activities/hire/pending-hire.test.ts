import { expect, test } from 'vitest';
import { keepRefusal } from '../../../src/store/holds.ts';
import { kinds } from '../../store/stores.ts';
import { HOUR_MS, hireInto, hireTwice } from './people-behind.ts';

test('a create that is finished days later becomes the employee, once', async () => {
  const { hr, employOnce, employee } = await hireInto();
  expect(await employOnce()).toEqual({ verdict: 'pending', nextCheckMs: 900_000 });
  expect(await employOnce()).toEqual({ verdict: 'pending', nextCheckMs: 900_000 });
  await hr.approve();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(hr.asked).toHaveLength(1);
  expect(await employee()).toMatchObject({ employee_id: expect.any(String), employee_number: expect.any(String) });
});

test.each(kinds)(
  'whom others made days later is not gone as long as the HR system may show them late, in %s',
  async (database) => {
    const { hr, employOnce, finishUnshown, letPass } = await hireInto({ database });
    expect(await employOnce()).toMatchObject({ verdict: 'pending' });
    await letPass(40 * HOUR_MS);
    await hr.approve();
    expect(await employOnce()).toMatchObject({ verdict: 'employee' });
    expect(await finishUnshown(0)).toMatchObject({ hold: { code: 'EMPLOYEE_GONE' } });
    expect(await finishUnshown(HOUR_MS)).toEqual({ verdict: 'verified' });
  },
);

test.each(kinds)(
  'a create that is rejected later is a hold with the reason, and a corrected one follows, in %s',
  async (database) => {
    const { hr, employOnce, asks, answer, employee, store } = await hireInto({ database });
    await employOnce();
    hr.reject('cost centre unknown');
    const rejected = await employOnce();
    // Temporal is told the code alone.
    expect(rejected).toMatchObject({
      verdict: 'hold',
      hold: {
        code: 'HIRE_REJECTED',
        message: 'The HR system rejected the new employee. It said: …',
        answers: ['retry', 'cancel'],
      },
    });
    expect(await asks(rejected)).toBe('The HR system rejected the new employee. It said: cost centre unknown');
    expect(await store.kysely.selectFrom('refusals').selectAll().execute()).toEqual([]);
    // As after a crash, when the question stands already.
    expect(await asks(rejected)).toBe('The HR system rejected the new employee. It said: cost centre unknown');
    await answer(rejected, 'retry');
    expect(await employOnce()).toMatchObject({ verdict: 'pending' });
    expect(hr.asked).toHaveLength(2);
    await hr.approve();
    expect(await employOnce()).toMatchObject({ verdict: 'employee' });
    expect((await employee())?.employee_id).not.toBeNull();
  },
);

test.each([
  ['another code', { code: 'OTHER', message: 'It was refused. It said: …' }],
  ['no words', { code: 'REFUSED', message: 'It was refused.' }],
  ['other words of ours', { code: 'REFUSED', message: 'A file was refused. It said: …' }],
])('what was said of one refusal is not shown by a question with %s', async (_what, about) => {
  const { store, ref, asks } = await hireInto();
  await keepRefusal(store, ref, { code: 'REFUSED', message: 'It was refused. It said: Ada Byron is known' });
  expect(await asks({ verdict: 'hold', hold: { ...about, answers: ['retry'] } })).toBe(about.message);
  expect(await store.kysely.selectFrom('refusals').selectAll().execute()).toEqual([]);
});

test.each(kinds)(
  'a rejection that a crash kept from becoming a question is one, and asks nobody anew, in %s',
  async (kind) => {
    const { hr, employOnce, answer } = await hireInto({ database: kind });
    await employOnce();
    hr.reject('cost centre unknown');
    await employOnce();
    // The worker crashed before Temporal heard of it.
    const rejected = await employOnce();
    expect(rejected).toMatchObject({ verdict: 'hold', hold: { code: 'HIRE_REJECTED', answers: ['retry', 'cancel'] } });
    expect(hr.asked).toHaveLength(1);
    await answer(rejected, 'retry');
    expect(await employOnce()).toMatchObject({ verdict: 'pending' });
    expect(hr.asked).toHaveLength(2);
  },
);

test('what is said of a rejected create repeats nothing that was sent, in whatever case', async () => {
  const { hr, employOnce, asks } = await hireInto();
  await employOnce();
  const [sent = {}] = hr.asked[0] ?? [];
  const { givenName, familyName, email, phone } = sent as Record<string, string>;
  hr.reject(`${givenName?.toUpperCase()} ${familyName} <${email?.toLowerCase()}> ${phone}: cost centre unknown`);
  const asked = await asks(await employOnce());
  expect(asked).toMatch(/… .*cost centre unknown/);
  const said = asked?.toLowerCase();
  for (const value of [givenName, familyName, email, phone]) {
    expect(value).toMatch(/.{4}/);
    expect(said).not.toContain(value?.toLowerCase());
  }
});

test('what is said of a rejected create repeats no name that a rule made', async () => {
  const own = 'userName: { column: user_name }, workEmail: { column: work_email }';
  const template = '"{candidate.firstName}.{candidate.lastName}';
  const { hr, employOnce, asks } = await hireInto({
    hris: `kind: sql, connection: acme-hr, url: sqlite:./acme.sqlite, createTable: true, fields: { ${own} }`,
    mapping:
      `  userName: { template: ${template}", transform: [login], unique: true }\n` +
      `  workEmail: { template: ${template}@acme.example", transform: [login], unique: true }\n`,
  });
  await employOnce();
  const { userName, workEmail } = (hr.asked[0]?.[0] ?? {}) as Record<string, string>;
  expect([userName, workEmail]).toEqual([expect.stringMatching(/.{4}/), expect.stringMatching(/@acme\.example$/)]);
  hr.reject(`The HR system rejected it. It said: the login ${userName} with ${workEmail} is taken`);
  expect(await asks(await employOnce())).toBe('The HR system rejected it. It said: the login … with … is taken');
});

test('what we say of a rejected create stays as it is, next to the words of the HR system', async () => {
  const { hr, employOnce, asks } = await hireInto({ mapping: '  title: { constant: "request" }\n' });
  await employOnce();
  hr.reject('The HR system rejected request 17. It said: no request.', { details: { request: 'closed' } });
  const rejected = await employOnce();
  expect(rejected).toMatchObject({
    hold: { message: 'The HR system rejected request 17. It said: …', details: { request: 'closed' } },
  });
  expect(await asks(rejected)).toBe('The HR system rejected request 17. It said: no ….');
});

test('a rejection is told, too, where the plan cannot be read at first', async () => {
  const { hr, store, employOnce, asks } = await hireInto();
  await employOnce();
  hr.reject('cost centre unknown');
  const { change } = await store.kysely.selectFrom('plans').select('change').executeTakeFirstOrThrow();
  const { resolve } = hr.connection.pending;
  hr.connection.pending.resolve = async (ticket) => {
    hr.connection.pending.resolve = resolve;
    await store.kysely.updateTable('plans').set({ change: '{' }).execute();
    return resolve(ticket);
  };
  await expect(employOnce()).rejects.toThrow(SyntaxError);
  await store.kysely.updateTable('plans').set({ change }).execute();
  expect(await asks(await employOnce())).toBe('The HR system rejected the new employee. It said: cost centre unknown');
  expect(hr.asked).toHaveLength(1);
});

test('a create that nobody finishes is a question after the deadline, and may wait as long again', async () => {
  const { employOnce, answer, letPass, hr } = await hireInto();
  await employOnce();
  await letPass(47 * HOUR_MS);
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  await letPass(2 * HOUR_MS);
  const overdue = await employOnce();
  expect(overdue).toMatchObject({
    verdict: 'hold',
    hold: { code: 'EMPLOYEE_PENDING', details: { ticket: 'ticket-1', days: 2 } },
  });
  await answer(overdue, 'retry');
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  expect(hr.asked).toHaveLength(1);
});

test('whoever knows the employee of a pending create may name it', async () => {
  const { employOnce, answer, letPass, hr, employee } = await hireInto();
  await employOnce();
  await letPass(49 * HOUR_MS);
  const overdue = await employOnce();
  const ref = await hr.makeByHand();
  await answer(overdue, 'link', ref.id);
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(await employee()).toMatchObject({ employee_id: ref.id });
  expect(hr.asked).toHaveLength(1);
});

test('a request that the HR system forgot is settled by the employee with our reference', async () => {
  const { hr, employOnce, employee } = await hireInto();
  await employOnce();
  const { id } = await hr.makeByHand();
  hr.forget();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(await employee()).toMatchObject({ employee_id: id });
  expect(hr.asked).toHaveLength(1);
});

test.each(kinds)(
  'a request that the HR system forgot is a question, and made anew once a person says so, in %s',
  async (database) => {
    const { hr, employOnce, answer, employee } = await hireInto({ database });
    await employOnce();
    hr.forget();
    const lost = await employOnce();
    expect(lost).toMatchObject({
      verdict: 'hold',
      hold: { code: 'REQUEST_LOST', answers: ['link', 'create', 'retry', 'cancel'], details: { ticket: 'ticket-1' } },
    });
    await answer(lost, 'retry');
    expect(await employOnce()).toMatchObject({ hold: { code: 'REQUEST_LOST' } });
    expect(hr.asked).toHaveLength(1);
    await answer(lost, 'create');
    expect(await employOnce()).toEqual({ verdict: 'stale' });
    expect(await employOnce()).toMatchObject({ verdict: 'pending' });
    expect(hr.asked).toHaveLength(2);
    await hr.approve();
    expect(await employOnce()).toMatchObject({ verdict: 'employee' });
    expect((await employee())?.employee_id).not.toBeNull();
  },
);

test('a word of a person about a forgotten request makes nobody if the employee has appeared since', async () => {
  const { hr, employOnce, answer, employee } = await hireInto();
  await employOnce();
  hr.forget();
  await answer(await employOnce(), 'create');
  const { id } = await hr.makeByHand();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(await employee()).toMatchObject({ employee_id: id });
  expect(hr.asked).toHaveLength(1);
});

test('a finished request that names somebody else links nobody but the employee with our reference', async () => {
  const { hr, employOnce, answer, employee } = await hireInto();
  await employOnce();
  const strangerId = await hr.nameAnother();
  const lost = await employOnce();
  expect(lost).toMatchObject({
    verdict: 'hold',
    hold: { code: 'REQUEST_LOST', details: { ticket: 'ticket-1', employeeIds: [strangerId] } },
  });
  expect((await employee())?.employee_id).toBeNull();
  const { id } = await hr.makeByHand();
  await answer(lost, 'retry');
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(await employee()).toMatchObject({ employee_id: id });
  expect(hr.asked).toHaveLength(1);
});

test('a hire whose request was forgotten can be cancelled', async () => {
  const { hr, move, leave, employOnce, answer } = await hireInto();
  await employOnce();
  hr.forget();
  await answer(await employOnce(), 'cancel');
  await move('SCREEN');
  expect(await leave()).toMatchObject({ verdict: 'cancelled' });
});

test('whose request was forgotten and cancelled is asked about before they are created for another job', async () => {
  const { hr, move, leave, employOnce, employForOtherJob, answer } = await hireInto({ jobs: 2 });
  await employOnce();
  hr.forget();
  await answer(await employOnce(), 'cancel');
  await move('SCREEN');
  expect(await leave()).toMatchObject({ verdict: 'cancelled' });
  expect(await employForOtherJob()).toMatchObject({ verdict: 'hold', hold: { code: 'PERSON_RECORDED' } });
  expect(hr.asked).toHaveLength(1);
});

test('who left while a create may be on the way is asked about, although somebody alike appeared', async () => {
  const { hr, move, leave, employOnce, letPass } = await hireInto({ create: 'never-came' });
  await expect(employOnce()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await move('SCREEN');
  await letPass(HOUR_MS);
  expect(await leave()).toMatchObject({ verdict: 'hold', hold: { code: 'LEFT_WHILE_PENDING' } });
  await hr.makeAlike();
  expect(await leave()).toMatchObject({ verdict: 'hold', hold: { code: 'LEFT_WHILE_PENDING' } });
});

test('one human as two candidates is created once, however long the first create is pending', async () => {
  const { hr, employOnce, employSecond, letPassLeases, names } = await hireTwice();
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  for (let hours = 0; hours < 2; hours += 1) {
    expect(await employSecond()).toMatchObject(names);
    await letPassLeases(HOUR_MS);
  }
  expect(hr.asked).toHaveLength(1);
  await hr.approve();
  expect(await employOnce()).toMatchObject({ verdict: 'employee' });
  expect(await employSecond()).toMatchObject({ hold: { code: expect.not.stringMatching('PERSON_BEING_HIRED') } });
  expect(hr.asked).toHaveLength(1);
});

test('a pending create of a version that kept nobody out keeps the other candidate waiting, too', async () => {
  const { hr, store, employOnce, employSecond, names } = await hireTwice();
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  await store.kysely.deleteFrom('person_keys').where('kind', '=', 'creating').execute();
  expect(await employOnce()).toMatchObject({ verdict: 'pending' });
  expect(await employSecond()).toMatchObject(names);
  expect(hr.asked).toHaveLength(1);
});

test('once a pending create is refused, the other candidate of the same human is created', async () => {
  const { hr, employOnce, employSecond, names } = await hireTwice();
  await employOnce();
  expect(await employSecond()).toMatchObject(names);
  hr.reject('cost centre unknown');
  expect(await employOnce()).toMatchObject({ hold: { code: 'HIRE_REJECTED' } });
  expect(await employSecond()).toMatchObject({ verdict: 'pending' });
  expect(hr.asked).toHaveLength(2);
});

test('once the hire of a pending create is cancelled, the other candidate of the same human is created', async () => {
  const { hr, employOnce, employSecond, letPassLeases, cancel, names } = await hireTwice();
  await employOnce();
  expect(await employSecond()).toMatchObject(names);
  await cancel();
  await letPassLeases(HOUR_MS);
  expect(await employSecond()).toMatchObject({ verdict: 'pending' });
  expect(hr.asked).toHaveLength(2);
});
