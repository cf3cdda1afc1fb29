import { describe, expect, test } from 'vitest';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { knownIn } from '../../../src/hire/hire.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson } from './employed-person.ts';

const PAST = '2020-01-31';

test('a former employee whom no search shows is rehired once the create is refused for them', async () => {
  const { terminate, begin, employOnce, employees, forget, applyFor } = await employPerson();
  await terminate(PAST);
  await forget();
  const second = await begin(await applyFor(0));
  expect(await employOnce(second, hiding)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test('an employee whom no search shows is taken over by the create that is refused for them', async () => {
  const { begin, applyFor, employOnce, finish, row, employees, employeeId, forget } = await employPerson();
  await forget();
  const second = await begin(await applyFor(0));
  expect(await employOnce(second, hiding)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  expect(await row(second)).toMatchObject({ state: 'done', employee_id: employeeId });
  expect(await employees()).toHaveLength(1);
});

test.each([
  ['shows', (hris: OwnHris) => hris],
  ['hides', hiding],
])(
  'beside a former employee with our reference, whom the HR system %s, one answer makes another',
  async (_shows, seen) => {
    const { terminate, begin, applyFor, answer, employOnce, finish, row, employees, forget, refOf } =
      await employPerson();
    await terminate(PAST);
    await forget();
    const second = await begin(await applyFor(0));
    const hr = (hris: OwnHris) => withoutRehire(seen(hris));
    const asked = await employOnce(second, hr);
    expect(asked).toMatchObject({ hold: { code: 'FORMER_EMPLOYEE' } });
    await answer(asked, 'create', await refOf(second));
    expect(await employOnce(second, hr)).toMatchObject({ verdict: 'employee' });
    await finish(second);
    const [former, made, ...others] = await employees();
    expect(others).toEqual([]);
    expect(former).toMatchObject({ last_day: PAST });
    expect(made).toMatchObject({ last_day: null });
    expect(await row(second)).toMatchObject({ state: 'done', employee_id: String(made?.id) });
  },
);

/** The HR system takes the create for somebody whom it has already, and answers with them. */
function answeringWith(id: string): (hris: OwnHris) => OwnHris {
  return (hris) => ({
    ...hris,
    employees: { ...hris.employees, create: async () => ({ kind: 'created', ref: knownIn('hr', { id }) }) },
  });
}

describe.each(kinds)('whoever saw that a create was answered with somebody else, with the store in %s', (database) => {
  test('gets another one made', async () => {
    const { id, begin, employOnce, answerAs, refOf, row, employees, employeeId } = await employPerson({ database });
    const second = await begin();
    const answered = answeringWith(employeeId);
    for (let asks = 0; asks < 2; asks += 1) {
      const asked = await employOnce(second, answered);
      expect(asked).toMatchObject({ hold: { code: 'EMPLOYEE_OF_ANOTHER' } });
      await answerAs(await refOf(second), asked, 'create');
      expect(await employOnce(second, answered)).toEqual({ verdict: 'stale' });
    }
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: '2' });
    expect(await row(id)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toHaveLength(2);
  });

  test('ends the hire', async () => {
    const { fleet, begin, employOnce, answerAs, refOf, row, employees, employeeId } = await employPerson({ database });
    const second = await begin();
    const asked = await employOnce(second, answeringWith(employeeId));
    await answerAs(await refOf(second), asked, 'cancel');
    expect(await cancelHire(fleet.deps, await refOf(second))).toEqual({ verdict: 'cancelled', state: 'cancelled' });
    expect(await row(second)).toMatchObject({ employee_id: null });
    expect(await employees()).toHaveLength(1);
  });
});

/** An HR system whose searches find nobody. */
function hiding(hris: OwnHris): OwnHris {
  return { ...hris, employees: { ...hris.employees, find: async () => ({ kind: 'none', trusted: true }) } };
}

function withoutRehire(hris: OwnHris): OwnHris {
  const { rehire: _, ...employees } = hris.employees;
  return { ...hris, employees };
}
