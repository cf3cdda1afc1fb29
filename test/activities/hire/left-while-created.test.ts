import { describe, expect, test } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import { held } from '../../../src/hire/holds.ts';
import { answerHold, holdsOfHire } from '../../../src/store/holds.ts';
import { latestIntent } from '../../../src/store/intents.ts';
import { kinds } from '../../store/stores.ts';
import { HOUR_MS, hireInto, hireTwice } from './people-behind.ts';

const LEFT = { verdict: 'hold', hold: { code: 'LEFT_AFTER_EMPLOYEE' } };
const WAITS = { verdict: 'hold', hold: { code: 'LEFT_WHILE_PENDING' } };
const UNKNOWN = { verdict: 'hold', hold: { code: 'CREATE_UNKNOWN' } };
/** A question that says nothing of the create. */
const TOO_MANY = held('TOO_MANY_CANCELLATIONS', { jobCandidateId: '1', most: 3 });

describe.each(kinds)('who leaves while the employee is made, with the store in %s', (database) => {
  test('is linked to a pending employee once HR makes it, and asked about', async () => {
    const { hr, employOnce, move, leave, employee } = await hireInto({ database });
    await employOnce();
    await move('SCREEN');
    expect(await leave()).toMatchObject(WAITS);
    expect(await employee()).toMatchObject({ state: 'open', employee_id: null });
    await hr.approve();
    expect(await leave()).toMatchObject(LEFT);
    expect(await employee()).toMatchObject({ state: 'open', employee_id: expect.any(String) });
    expect(hr.asked).toHaveLength(1);
  });

  test('is over once HR refuses the pending employee', async () => {
    const { hr, employOnce, move, leave } = await hireInto({ database });
    await employOnce();
    await move('SCREEN');
    expect(await leave()).toMatchObject(WAITS);
    hr.reject('withdrawn');
    expect(await leave()).toEqual({ verdict: 'cancelled', state: 'left' });
  });

  test('is over by a person who withdrew it there', async () => {
    const { employOnce, move, leave, answer } = await hireInto({ database });
    await employOnce();
    await move('SCREEN');
    await answer(await leave(), 'cancel');
    expect(await leave()).toEqual({ verdict: 'cancelled', state: 'cancelled' });
  });

  test('goes on where they come back, with the employee that was made meanwhile', async () => {
    const { hr, employOnce, move, leave, employee } = await hireInto({ database });
    await employOnce();
    await move('SCREEN');
    expect(await leave()).toMatchObject(WAITS);
    await move('HIRED');
    expect(await leave()).toEqual({ verdict: 'back' });
    await hr.approve();
    expect(await employOnce()).toMatchObject({ verdict: 'employee' });
    expect(await employee()).toMatchObject({ employee_id: expect.any(String) });
  });

  test('leaves no question behind that nobody would hear answered, where they come back', async () => {
    const { store, ref, employOnce, move, leave, asks } = await hireInto({ database });
    await employOnce();
    await move('SCREEN');
    await asks(await leave());
    await move('HIRED');
    expect(await leave()).toEqual({ verdict: 'back' });
    expect(await holdsOfHire(store, ref)).toMatchObject([{ code: 'LEFT_WHILE_PENDING', closed_at: expect.anything() }]);
  });

  test('keeps an answer that came as they were back for the next question', async () => {
    const { store, ref, employOnce, move, leave, asks } = await hireInto({ database });
    await employOnce();
    await move('SCREEN');
    await asks(await leave());
    const [asked] = await holdsOfHire(store, ref);
    await answerHold(store, asked?.hold_id ?? '', { answer: 'retry', arguments: [], by: 'ada' });
    await move('HIRED');
    expect(await leave()).toEqual({ verdict: 'back' });
    expect(await holdsOfHire(store, ref)).toMatchObject([{ answer: 'retry', closed_at: null }]);
  });

  test('is linked to the employee of a create whose answer was lost', async () => {
    const { hr, employOnce, move, leave, employee, letPass } = await hireInto({ database, create: 'lost' });
    await expect(employOnce()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await move('SCREEN');
    await letPass(HOUR_MS);
    expect(await leave()).toMatchObject(LEFT);
    expect(await employee()).toMatchObject({ employee_id: expect.any(String) });
    expect(hr.asked).toHaveLength(1);
  });

  test('is asked about where a lost request may still be under way over there', async () => {
    const { hr, store, ref, employOnce, move, leave, letPass } = await hireInto({ database, create: 'lost' });
    const { find } = hr.connection.employees;
    hr.connection.employees.find = async () => ({ kind: 'none', trusted: true });
    await expect(employOnce()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await letPass(HOUR_MS);
    await move('SCREEN');
    // Another attempt looked, and found nobody, before it saw that they had left.
    expect(await employOnce()).toMatchObject({ verdict: 'left' });
    expect(await latestIntent(store, ref, 'create-employee')).toMatchObject({ outcome: 'absent' });
    expect(await leave()).toMatchObject(WAITS);
    hr.connection.employees.find = find;
    expect(await leave()).toMatchObject(LEFT);
    expect(hr.asked).toHaveLength(1);
  });

  test('is asked about if a person cancelled the hire without knowing of the lost request', async () => {
    const { hr, employOnce, move, leave, answer, letPass } = await hireInto({ database, create: 'lost' });
    await expect(employOnce()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    hr.connection.employees.find = async () => ({ kind: 'none', trusted: false });
    await move('SCREEN');
    await letPass(HOUR_MS);
    await answer(TOO_MANY, 'cancel');
    const unknown = await leave();
    expect(unknown).toMatchObject(UNKNOWN);
    await answer(unknown, 'cancel');
    expect(await leave()).toEqual({ verdict: 'cancelled', state: 'cancelled' });
  });

  test('is asked about if a person cancelled the hire without knowing of the pending request', async () => {
    const { employOnce, move, leave, answer } = await hireInto({ database });
    await employOnce();
    await move('SCREEN');
    await answer(TOO_MANY, 'cancel');
    const waits = await leave();
    expect(waits).toMatchObject(WAITS);
    await answer(waits, 'cancel');
    expect(await leave()).toEqual({ verdict: 'cancelled', state: 'cancelled' });
  });

  test('is linked to an employee whose process was killed before it was noted', async () => {
    const { store, ref, employOnce, move, leave, employee } = await hireInto({ database, create: 'made' });
    expect(await employOnce()).toMatchObject({ verdict: 'employee' });
    const { employee_id: id } = (await employee()) ?? {};
    await forgetNote(store);
    expect(await latestIntent(store, ref, 'create-employee')).toMatchObject({ outcome: 'done' });
    await move('SCREEN');
    expect(await leave()).toMatchObject(LEFT);
    expect(await employee()).toMatchObject({ employee_id: id });
  });

  test('is linked after a restore from before the create, although the HR system fails for a moment', async () => {
    const { hr, store, employOnce, move, leave, employee } = await hireInto({ database, create: 'made' });
    await employOnce();
    const { employee_id: id } = (await employee()) ?? {};
    await forgetNote(store);
    await store.kysely.deleteFrom('intents').execute();
    await move('SCREEN');
    const { find } = hr.connection.employees;
    hr.connection.employees.find = async (...given) => {
      hr.connection.employees.find = find;
      await find(...given);
      throw new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'away for a moment' });
    };
    await expect(leave()).rejects.toMatchObject({ code: 'HRIS_UNREACHABLE' });
    expect(await leave()).toMatchObject(LEFT);
    expect(await employee()).toMatchObject({ employee_id: id });
  });

  test.each(['absent', 'refused'] as const)(
    'is linked after a restore to an attempt that was %s, from before the one that made the employee',
    async (outcome) => {
      const { hr, store, employOnce, move, leave, employee } = await hireInto({ database, create: 'made' });
      // Where nobody has to finish a create.
      Object.assign(hr.connection, { pending: undefined });
      await employOnce();
      const { employee_id: id } = (await employee()) ?? {};
      await forgetNote(store);
      await store.kysely.updateTable('intents').set({ outcome, result: 'null' }).execute();
      await move('SCREEN');
      expect(await leave()).toMatchObject(LEFT);
      expect(await employee()).toMatchObject({ employee_id: id });
    },
  );

  test.each(['lost', 'made'] as const)(
    'keeps another candidate who is them waiting while no search shows it (%s)',
    async (create) => {
      const { hr, store, employOnce, employSecond, letPass, letPassLeases, names } = await hireTwice({
        database,
        create,
        shows: false,
      });
      await employOnce().catch(() => undefined);
      if (create === 'made') await forgetNote(store);
      await letPass(HOUR_MS);
      await letPassLeases(HOUR_MS);
      expect(await employSecond()).toMatchObject(names);
      expect(hr.asked).toHaveLength(1);
    },
  );
});

/** As after a kill between the outcome of the create and what is noted of it. */
async function forgetNote({ kysely }: Awaited<ReturnType<typeof hireInto>>['store']): Promise<void> {
  await kysely.deleteFrom('person_keys').where('kind', '=', 'employee').execute();
  await kysely.updateTable('hires').set({ employee_id: null, employee_number: null, step: 'employ' }).execute();
}
