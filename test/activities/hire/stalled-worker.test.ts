import { expect, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { endEmployment, judgeDeparture } from '../../../activities/hire/departure.ts';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson } from './employed-person.ts';

/** A worker that read everything so long ago that nothing may be done on it. */
function late(deps: ActivityDeps): ActivityDeps {
  return { ...deps, limits: { ...deps.limits, giveUpMs: -1 } };
}

/** A worker that reads the employee and stands still while `happens`. */
function stalled(deps: ActivityDeps, happens: () => Promise<unknown>): ActivityDeps {
  const of = async (tenantId: string) => {
    const connection = await deps.connections.of(tenantId);
    const { employees } = connection.hris;
    const read: typeof employees.read = async (...asked) => {
      const record = await employees.read(...asked);
      await happens();
      return record;
    };
    return { ...connection, hris: { ...connection.hris, employees: { ...employees, read } } };
  };
  return { ...deps, connections: { ...deps.connections, of } };
}

test.each(kinds)('a worker that stood still tells the partner nothing, in %s', async (database) => {
  const { fleet, ref, row } = await employPerson({ isOpen: true, database });
  const { partner } = await fleet.deps.connections.of('acme');
  const shown = async () => {
    const params = { onboardingCandidateId: (await row())?.onboarding_candidate_id ?? '' };
    return (await partner.onboarding.getCandidate({ params })).data.externalStatus ?? {};
  };
  await expect(finishHire(late(fleet.deps), ref)).rejects.toMatchObject({ code: 'READ_TOO_LONG_AGO' });
  expect(await shown()).not.toHaveProperty('employeeId');
  // Meanwhile another worker found that the hire has another employee.
  const change = () =>
    fleet.store.kysely
      .updateTable('hires')
      .set({ employee_number: 'another' })
      .where('tenant_id', '=', 'acme')
      .execute();
  await expect(finishHire(stalled(fleet.deps, change), ref)).rejects.toMatchObject({ code: 'READ_TOO_LONG_AGO' });
  expect(await shown()).not.toHaveProperty('employeeId');
  expect(await finishHire(fleet.deps, ref)).toEqual({ verdict: 'verified' });
});

test.each(kinds)(
  'a worker that stood still while the person came back does not end the employment, in %s',
  async (of) => {
    const { move, judge, answer, end, row, employees, fleet, ref } = await employPerson({ database: of });
    await move('SCREEN');
    await answer(await judge(), 'no-show');
    let stalls = true;
    const late = end((hris) => {
      const read: typeof hris.employees.read = async (...asked) => {
        if (stalls) {
          stalls = false;
          await move('HIRED');
          expect(await endEmployment(fleet.deps, ref)).toEqual({ verdict: 'back' });
        }
        return hris.employees.read(...asked);
      };
      return { ...hris, employees: { ...hris.employees, read } };
    });
    await expect(late).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await row()).toMatchObject({ state: 'done' });
    expect((await employees())[0]?.last_day ?? null).toBeNull();
    expect(await end()).toEqual({ verdict: 'back' });
  },
);

test('a worker that stood still ends no hire of somebody who left', async () => {
  const { fleet, ref, row, move, update } = await employPerson();
  await move('SCREEN');
  await update({ startDate: '2020-01-01' });
  await expect(judgeDeparture(late(fleet.deps), ref)).rejects.toMatchObject({ code: 'READ_TOO_LONG_AGO' });
  expect(await row()).toMatchObject({ state: 'done' });
  expect(await judgeDeparture(fleet.deps, ref)).toEqual({ verdict: 'over' });
  expect(await row()).toMatchObject({ state: 'left' });
});
