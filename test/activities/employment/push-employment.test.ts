import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { addHints, readHints } from '../../../src/store/hints.ts';
import { openIntent } from '../../../src/store/intents.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { employmentWorld } from './employment-world.ts';

interface Told {
  employeeId: { new: string };
}

test.each([true, false])(
  'a corrected number and a leaver reach the partner once; changes told: %s',
  async (changes) => {
    const { run, edit, shown, writes, store, hris } = await employmentWorld({ people: 3, changes });
    const before = await writes();
    expect(await run('one')).toMatchObject({ state: 'done', counts: { read: 3, unchanged: 3, updated: 0 } });
    expect(await writes()).toBe(before);
    await edit(sql`update employees set badge = 'X-1' where id = 1`);
    await edit(sql`update employees set last_day = '2020-01-31' where id = 2`);
    expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 2 } });
    expect(await shown(0)).toMatchObject({ status: 'hired', employeeId: 'X-1' });
    expect(await shown(1)).toMatchObject({ status: 'left' });
    expect(await run('three')).toMatchObject({ state: 'done', counts: { updated: 0 } });
    await hris.employees.rehire?.('2', {}, { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined });
    await run('four');
    expect(await shown(1)).toMatchObject({ status: 'hired' });
    expect(await writes()).toBe(before + 3);
    const [hire] = await store.kysely.selectFrom('hires').selectAll().where('job_candidate_id', '=', '0').execute();
    expect(hire?.employee_number).toBe('X-1');
    const noted = await listWrites(store, { tenantId: 'acme', recordId: '0', target: 'external-status' });
    expect(
      noted.map(({ outcome, changes: changed }) => [outcome, (JSON.parse(changed) as Told).employeeId.new]),
    ).toEqual([['done', 'X-1']]);
  },
);

test('an Employee ID goes to a custom field of numbers as a number, once', async () => {
  const { run, edit, numbers, store } = await employmentWorld({ people: 1, inNumberField: true });
  await edit(sql`update employees set badge = '4711' where id = 1`);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect(await numbers()).toEqual([
    ['work_experience', 7],
    [null, 4711],
  ]);
  await addHints(store, 'acme', 'employment', ['1']);
  expect(await run('two', true)).toMatchObject({ state: 'done', counts: { updated: 0, quarantined: 0 } });
  const noted = await listWrites(store, { tenantId: 'acme', recordId: '0', target: 'custom-fields' });
  expect(noted.map(({ outcome }) => outcome)).toEqual(['done']);
});

test('an employee who changed is hinted to the exchange of fields, a stranger is not', async () => {
  const { run, edit, store, woken } = await employmentWorld({ people: 2 });
  await edit(sql`insert into employees (given_name) values ('Stranger')`);
  await run('one');
  await run('two');
  await store.kysely.deleteFrom('hints').execute();
  woken.length = 0;
  await edit(sql`update employees set family_name = 'Reyes-Okafor'`);
  await run('three');
  const hinted = await readHints(store, 'acme', 'employees');
  expect(hinted.map(({ recordId }) => recordId).toSorted()).toEqual(['1', '2']);
  // Otherwise they would wait for its next pass, maybe an hour.
  expect(woken.toSorted()).toEqual(['employees 1', 'employees 2']);
});

test.each([true, false])('a run that a hint began reads only whom it names; changes told: %s', async (changes) => {
  let reads = 0;
  const { run, edit, shown, store } = await employmentWorld({
    people: 3,
    changes,
    wrap: (hris) => ({
      ...hris,
      employees: {
        ...hris.employees,
        async read(...given) {
          reads += 1;
          return hris.employees.read(...given);
        },
      },
    }),
  });
  await run('one');
  await edit(sql`update employees set badge = 'X-' || id`);
  reads = 0;
  await addHints(store, 'acme', 'employment', ['2', 'nobody']);
  expect(await run('two', true)).toMatchObject({ state: 'done', counts: { read: 1, updated: 1 } });
  expect(reads).toBe(1);
  expect(await shown(1)).toMatchObject({ employeeId: 'X-2' });
  expect(await readHints(store, 'acme', 'employment')).toEqual([]);
  await addHints(store, 'acme', 'employment', ['*']);
  expect(await run('three', true)).toMatchObject({ state: 'done', counts: { updated: 2 } });
  expect(await readHints(store, 'acme', 'employment')).toEqual([]);
});

test.each([true, false])(
  'a record that HR shows to nobody is named, and stops nobody; changes told: %s',
  async (changes) => {
    let isOdd = true;
    const { run, edit, shown, store } = await employmentWorld({
      people: 3,
      changes,
      wrap: (hris) => ({
        ...hris,
        employees: {
          ...hris.employees,
          async read(id, signal) {
            if (!isOdd || id !== '2') return hris.employees.read(id, signal);
            throw new ConnectorError({ code: 'INVALID_VALUE', action: 'reject', status: 422, message: 'No.' });
          },
        },
      }),
    });
    await run('one');
    await edit(sql`update employees set badge = 'X-' || id`);
    await addHints(store, 'acme', 'employment', ['1', '2', '3']);
    expect(await run('two', true)).toMatchObject({ state: 'partial', counts: { updated: 2, quarantined: 1 } });
    expect(await shown(2)).toMatchObject({ employeeId: 'X-3' });
    expect(await readQuarantine(store, { tenantId: 'acme' })).toMatchObject([
      { record_key: '2', reason: expect.stringContaining('(status 422)') },
    ]);
    isOdd = false;
    expect(await run('three', true)).toMatchObject({ state: 'done', counts: { updated: 1 } });
    expect(await shown(1)).toMatchObject({ employeeId: 'X-2' });
  },
);

test('an employee whom a hint and the list of changes name counts as updated', async () => {
  const { run, edit, store } = await employmentWorld({ people: 2 });
  await run('one');
  await edit(sql`update employees set badge = 'X-2' where id = 2`);
  await addHints(store, 'acme', 'employment', ['2']);
  expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 1 } });
});

test('the partner is told nothing of a record that became somebody else', async () => {
  const { run, edit, shown, store } = await employmentWorld({ people: 1 });
  const intent = { tenantId: 'acme', jobCandidateId: '0', period: 1, verb: 'create-employee', attempt: 1 };
  await openIntent(store, { ...intent, pinned: { reference: 'ref-0' }, budgetMs: 1_000, state: 'done' });
  await store.kysely.updateTable('intents').set({ outcome: 'done', result: '{}' }).execute();
  await run('one');
  const before = await shown(0);
  await edit(sql`update employees set external_ref = null, badge = 'X-1', last_day = '2020-01-31'`);
  expect(await run('two')).toMatchObject({ counts: { updated: 0, quarantined: 1 } });
  expect(await shown(0)).toEqual(before);
  await edit(sql`update employees set external_ref = 'ref-0'`);
  await run('three');
  expect(await shown(0)).toMatchObject({ status: 'left' });
});

test('a refusal names a step that exists: nothing of a stream can be answered', async () => {
  const numbered = await employmentWorld({ people: 1 });
  await numbered.edit(sql`update employees set badge = null where id = 1`);
  await numbered.run('one');
  const inField = await employmentWorld({ people: 1, inNumberField: true });
  await inField.edit(sql`update employees set badge = 'none' where id = 1`);
  await inField.run('one');
  const left = await Promise.all([numbered, inField].map(({ store }) => readQuarantine(store, { tenantId: 'acme' })));
  const reasons = left.flat().map(({ reason }) => reason);
  expect(reasons).toEqual([
    expect.stringContaining('writeBack.employeeId: id'),
    expect.stringContaining('name another field in writeBack'),
  ]);
  for (const reason of reasons) expect(reason).not.toContain('answer');
});

test('an employee whose hire is under way is looked at again once it is over', async () => {
  const { run, edit, shown, store } = await employmentWorld({ people: 1 });
  const setState = (state: 'open' | 'done') => store.kysely.updateTable('hires').set({ state }).execute();
  await run('one');
  await setState('open');
  await edit(sql`update employees set badge = 'X-1'`);
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { updated: 0 } });
  await setState('done');
  // The HRIS has nothing new to tell by now.
  await run('three');
  expect(await run('four')).toMatchObject({ state: 'done', counts: { updated: 0 } });
  expect(await shown(0)).toMatchObject({ employeeId: 'X-1' });
});

test('of 220 numbers corrected at once, all arrive although the run dies between two pages', async () => {
  let calls = 0;
  const { run, edit, shown, writes } = await employmentWorld({
    people: 220,
    wrap: (hris) => ({
      ...hris,
      changes: {
        since: async (cursor, signal) => {
          calls += 1;
          // The first run takes two calls; the second dies before its second page.
          if (calls === 4) throw new Error('killed');
          return (await hris.changes?.since(cursor, signal)) ?? { employees: [], gone: [], next: '', more: false };
        },
      },
    }),
  });
  await run('one');
  const before = await writes();
  await edit(sql`update employees set badge = 'N-' || id, changed_at = 4000000000.5`);
  await expect(run('two')).rejects.toThrow('killed');
  await run('two');
  const last = await Promise.all([shown(0), shown(150), shown(219)]);
  expect(last.map((one) => (one as { employeeId?: unknown }).employeeId)).toEqual(['N-1', 'N-151', 'N-220']);
  expect((await writes()) - before).toBe(220);
});

test('an employee about whom the partner answers with an error keeps no other from being told', async () => {
  let looks = 0;
  let failing = (_look: number): boolean => false;
  const { run, edit, shown } = await employmentWorld({
    people: 3,
    beforeCall(point) {
      if (point !== 'onboarding.getCandidate/before') return;
      looks += 1;
      if (failing(looks))
        throw new ConnectorError({ code: 'SERVER_ERROR', action: 'retry', message: 'failed', status: 500 });
    },
  });
  await run('one');
  await edit(sql`update employees set badge = 'N-' || id`);
  [looks, failing] = [0, (look) => look === 1];
  await expect(run('two')).rejects.toMatchObject({ code: 'SERVER_ERROR' });
  const told = await Promise.all([shown(0), shown(1), shown(2)]);
  expect(told.map((one) => (one as { employeeId?: unknown }).employeeId)).toEqual([
    expect.not.stringMatching('N-'),
    'N-2',
    'N-3',
  ]);
  failing = () => false;
  expect(await run('two')).toMatchObject({ state: 'done' });
  expect(await shown(0)).toMatchObject({ employeeId: 'N-1' });
});

test('a partner that fails for one employee after another is asked about no further ones', async () => {
  let looks = 0;
  let isDown = false;
  const { run, edit, shown } = await employmentWorld({
    people: 9,
    beforeCall(point) {
      if (!isDown || point !== 'onboarding.getCandidate/before') return;
      looks += 1;
      throw new ConnectorError({ code: 'SERVER_ERROR', action: 'retry', message: 'failed', status: 500 });
    },
  });
  await run('one');
  await edit(sql`update employees set badge = 'N-' || id`);
  isDown = true;
  await expect(run('two')).rejects.toMatchObject({ code: 'SERVER_ERROR' });
  expect(looks).toBe(3);
  isDown = false;
  expect(await run('two')).toMatchObject({ state: 'done' });
  expect(await shown(8)).toMatchObject({ employeeId: 'N-9' });
});
