import { expect, test } from 'vitest';
import type { OwnHris } from '../../../activities/own-hris.ts';
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

/** An HR system whose searches find nobody. */
function hiding(hris: OwnHris): OwnHris {
  return { ...hris, employees: { ...hris.employees, find: async () => ({ kind: 'none', trusted: true }) } };
}

function withoutRehire(hris: OwnHris): OwnHris {
  const { rehire: _, ...employees } = hris.employees;
  return { ...hris, employees };
}
