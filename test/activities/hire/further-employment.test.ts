import { describe, expect, test } from 'vitest';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { forgetPeople } from '../../store/known-people.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson } from './employed-person.ts';

const LEFT = { verdict: 'hold', hold: { code: 'LEFT_AFTER_EMPLOYEE' } };

// Each employee below was made after the backup that the store was restored from.
describe.each(kinds)('a further employment that a restored store has forgotten, in %s', (database) => {
  test('is asked about once its person leaves, where the store knows no create of it', async () => {
    const { second, made, moveTo, row, cancel } = await forgotten(database);
    await moveTo('SCREEN', second);
    expect(await cancel()).toMatchObject(LEFT);
    expect(await row(second)).toMatchObject({ employee_id: made });
  });

  test('is asked about once its person leaves, where the store knows a create that was refused', async () => {
    const { second, made, moveTo, row, cancel } = await forgotten(database, { isRefused: true });
    await moveTo('SCREEN', second);
    expect(await cancel()).toMatchObject(LEFT);
    expect(await row(second)).toMatchObject({ employee_id: made });
  });

  test('is found before the employment that came first, which the store has forgotten, too', async () => {
    const { fleet, second, made, employeeId, employOnce, row, employees } = await forgotten(database);
    await forgetPeople(fleet.store);
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: made });
    expect(made).not.toBe(employeeId);
    expect(await employees()).toHaveLength(2);
  });

  test('that nobody made is over with its hire, and the first employee is nobody’s question', async () => {
    const { second, moveTo, row, cancel } = await forgotten(database, { isMade: false, isRefused: true });
    await moveTo('SCREEN', second);
    expect(await cancel()).toEqual({ verdict: 'cancelled', state: 'left' });
    expect(await row(second)).toMatchObject({ employee_id: null });
  });
});

/** A second job whose own employee only the HR system knows; its person said that it is a new employment. */
async function forgotten(database: (typeof kinds)[number], { isMade = true, isRefused = false } = {}) {
  const world = await employPerson({ database });
  const { fleet, begin, applyFor, employOnce, answerAs, refOf, row } = world;
  const second = await begin(await applyFor(0));
  const ref = await refOf(second);
  await answerAs(ref, await employOnce(second), 'new-employment');
  if (isRefused) expect(await employOnce(second, refusing)).toMatchObject({ verdict: 'hold' });
  const { candidate_id: candidateId } = (await row(second)) ?? {};
  const { hris } = await fleet.deps.connections.of('acme');
  const fields = { givenName: 'Ada', familyName: 'Byron', email: 'ada@work.example', startDate: '2099-01-01' };
  const guard = { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined };
  const made = isMade ? await hris.employees.create(fields, `17:${candidateId}:${second}:1`, guard) : undefined;
  return {
    ...world,
    second,
    made: made?.kind === 'created' ? made.ref.id : '',
    cancel: () => cancelHire(fleet.deps, ref),
  };
}

function refusing(hris: OwnHris): OwnHris {
  const create: OwnHris['employees']['create'] = async () => {
    throw new ConnectorError({ code: 'REFUSED', action: 'reject', message: 'It refuses the employee.' });
  };
  return { ...hris, employees: { ...hris.employees, create } };
}
