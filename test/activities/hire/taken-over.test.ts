import { describe, expect, test } from 'vitest';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import { endEmployment, handOver, judgeDeparture } from '../../../activities/hire/departure.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { pushRecords } from '../../../activities/push/push-records.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { held } from '../../../src/hire/holds.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { employedRows } from '../../../src/store/people.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson, movedToSecond } from './employed-person.ts';

const PAST = '2020-01-31';
const ASKED = { hold: { code: 'PERSON_HIRED_BEFORE' } };

test('once another job has the employee, the partner is told on its enrolment', async () => {
  const world = await twoJobs();
  await world.terminate(PAST);
  await world.tell();
  expect(await world.shown(world.second)).toMatchObject({ status: 'left' });
  expect(await world.shown()).not.toMatchObject({ status: 'left' });
});

test('what the streams knew of the first job counts for the second no more', async () => {
  const { fleet, begin, applyFor, employOnce, employeeId, tell, terminate, shown } = await withStream();
  await terminate(PAST);
  await tell();
  expect(await shown()).toMatchObject({ status: 'left' });
  await addPair(fleet, employeeId);
  const second = await begin(await applyFor(0));
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  expect(await fleet.store.kysely.selectFrom('employments').selectAll().execute()).toEqual([]);
  expect(await fleet.store.kysely.selectFrom('exchange_pairs').selectAll().execute()).toEqual([]);
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  expect(await linked(fleet)).toEqual([second]);
});

test('the employee goes back to the first job when the second ends; its departure is a question again', async () => {
  const { fleet, ref, refOf, second, update, moveTo, move, judge, terminate, tell, shown } = await twoJobs();
  await update({ startDate: '2020-01-01' });
  await moveTo('SCREEN', second);
  expect(await judgeDeparture(fleet.deps, await refOf(second))).toEqual({ verdict: 'over' });
  expect(await linked(fleet)).toEqual([ref.jobCandidateId]);
  await update({ startDate: '2099-01-01' });
  await move('SCREEN');
  expect(await judge()).toMatchObject({ hold: { code: 'LEFT_BEFORE_START' } });
  await terminate(PAST);
  await tell();
  expect(await shown()).toMatchObject({ status: 'left' });
});

test('who did not start on the second job either is made active again for a third', async () => {
  const { fleet, refOf, second, moveTo, begin, applyFor, employOnce, employees } = await movedToSecond();
  await moveTo('SCREEN', second);
  expect(await endEmployment(fleet.deps, await refOf(second))).toEqual({ verdict: 'over' });
  expect(await employees()).toMatchObject([{ last_day: '2099-01-11' }]);
  const third = await begin(await applyFor(1));
  expect(await employOnce(third)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test('who moves twice is recognised twice', async () => {
  const { fleet, refOf, second, moveTo, begin, applyFor, answer, employOnce, employees } = await movedToSecond();
  await moveTo('SCREEN', second);
  const own = await refOf(second);
  await answer(await judgeDeparture(fleet.deps, own), 'moved', own);
  await handOver(fleet.deps, own);
  const third = await begin(await applyFor(1));
  expect(await employOnce(third)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
  expect(await linked(fleet)).toEqual([third]);
});

test('an end is no end for one tenant once another one has rehired the person', async () => {
  const { fleet, row, move, end, applyFor, begin, employOnce, employees } = await employPerson();
  await shareWithBeta(fleet, row);
  await move('SCREEN');
  expect(await end()).toEqual({ verdict: 'over' });
  const second = await begin(await applyFor(0), 'beta');
  expect(await employOnce(second, undefined, 'beta')).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
  const third = await begin(await applyFor(1));
  expect(await employOnce(third)).toMatchObject(ASKED);
});

describe.each(kinds)('a job whose employee another job took over before it was done, in %s', (database) => {
  test('gets a second employee where a person says that it is a new employment', async () => {
    const { fleet, first, second, employeeId, employOnce, answerAs, refOf, row, finish, employees } =
      await takenOver(database);
    await answerAs(await refOf(first), await employOnce(first), 'new-employment');
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    await finish(first);
    expect(await employees()).toHaveLength(2);
    const { employee_id: own } = (await row(first)) ?? {};
    expect(own).not.toBe(employeeId);
    expect(await row(second)).toMatchObject({ employee_id: employeeId });
    expect((await linked(fleet)).toSorted()).toEqual([first, second].toSorted());
  });

  test('asks about the second employee once its person leaves while that one is made', async () => {
    const { fleet, first, employeeId, employOnce, answerAs, refOf, row, moveTo, employees, letPass } =
      await takenOver(database);
    const ref = await refOf(first);
    await answerAs(ref, await employOnce(first), 'new-employment');
    await expect(employOnce(first, withoutAnswer)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await moveTo('SCREEN', first);
    await letPass(600_000);
    expect(await cancelHire(fleet.deps, ref)).toMatchObject({ hold: { code: 'LEFT_AFTER_EMPLOYEE' } });
    expect(await employees()).toHaveLength(2);
    expect((await row(first))?.employee_id).not.toBe(employeeId);
  });

  test('finds the second employee before it asks about a candidate who is the same human', async () => {
    const { first, employeeId, begin, employOnce, answerAs, refOf, row, employees, letPass } =
      await takenOver(database);
    await answerAs(await refOf(first), await employOnce(first), 'new-employment');
    await expect(employOnce(first, withoutAnswer)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    const alike = await begin();
    const seen = { jobCandidateId: alike, reason: 'weak-evidence', keys: ['email'], employeeIds: [employeeId] };
    await answerAs(await refOf(alike), held('IDENTITY_AMBIGUOUS', seen), 'link', employeeId);
    await answerAs(await refOf(alike), await employOnce(alike), 'same-person');
    expect(await employOnce(alike)).toMatchObject({ verdict: 'employee' });
    await letPass(600_000);
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    expect(await row(first)).toMatchObject({ employee_id: '2' });
    expect(await row(alike)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toHaveLength(2);
  });

  test('asks anew once a third job has taken over its second employee, too', async () => {
    const { fleet, first, begin, applyFor, employOnce, answerAs, refOf, row, employees } = await takenOver(database);
    await answerAs(await refOf(first), await employOnce(first), 'new-employment');
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    const third = await begin(await applyFor(1));
    await answerAs(await refOf(third), await employOnce(third), 'transfer');
    expect(await employOnce(third)).toMatchObject({ verdict: 'employee' });
    const asked = await employOnce(first);
    expect(asked).toMatchObject({ hold: { ...ASKED.hold, details: { other: { jobCandidateId: third } } } });
    const { employee_id: taken } = (await row(third)) ?? {};
    expect(taken).toBe((await row(first))?.employee_id);
    expect(await linked(fleet)).toContain(third);
    await answerAs(await refOf(first), asked, 'new-employment');
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toHaveLength(3);
    expect((await row(first))?.employee_id).not.toBe(taken);
    expect(await row(third)).toMatchObject({ employee_id: taken });
    expect(await linked(fleet)).toContain(third);
  });

  test('changes no employee whom the question it answers did not name', async () => {
    const { begin, applyFor, employOnce, answerAs, refOf, row, employees } = await employPerson({ database });
    const [second, third] = [await begin(await applyFor(0)), await begin(await applyFor(1))];
    const [asked, answered] = [await employOnce(second), await employOnce(third)];
    await answerAs(await refOf(third), answered, 'new-employment');
    expect(await employOnce(third)).toMatchObject({ verdict: 'employee' });
    await answerAs(await refOf(second), asked, 'transfer');
    const before = await employees();
    const anew = await employOnce(second);
    expect(anew).toMatchObject({ hold: { ...ASKED.hold, details: { other: { jobCandidateId: third } } } });
    expect(await employees()).toEqual(before);
    await answerAs(await refOf(second), anew, 'same-employee');
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect((await row(second))?.employee_id).toBe((await row(third))?.employee_id);
  });

  test('does not take the employee back on an old answer', async () => {
    const { first, second, employOnce, answerAs, refOf } = await takenOver(database);
    await answerAs(await refOf(first), await employOnce(first), 'transfer');
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    expect(await employOnce(second)).toMatchObject({
      hold: { ...ASKED.hold, details: { other: { jobCandidateId: first } } },
    });
  });

  test('goes on with its answer where Temporal was lost before the next step', async () => {
    const { fleet, first, employeeId, employOnce, answerAs, refOf, row, employees } = await takenOver(database);
    await answerAs(await refOf(first), await employOnce(first), 'new-employment');
    expect(await fleet.open('acme', first)).toMatchObject({ verdict: 'open', step: 'employ' });
    expect(await employOnce(first)).toMatchObject({ verdict: 'employee' });
    expect(await fleet.open('acme', first)).toMatchObject({ verdict: 'open', step: 'write-back' });
    expect((await row(first))?.employee_id).not.toBe(employeeId);
    expect(await employees()).toHaveLength(2);
  });
});

test('nobody is ended whom another tenant’s hire still has', async () => {
  const { fleet, row, moveTo, answer, applyFor, begin, employOnce, employees, refOf } = await employPerson();
  await shareWithBeta(fleet, row);
  const second = await begin(await applyFor(0), 'beta');
  const own = await refOf(second, 'beta');
  await answer(await employOnce(second, undefined, 'beta'), 'transfer', own);
  expect(await employOnce(second, undefined, 'beta')).toMatchObject({ verdict: 'employee' });
  await fleet.store.kysely.updateTable('hires').set({ state: 'done' }).execute();
  await moveTo('SCREEN', second);
  expect(await endEmployment(fleet.deps, own)).toMatchObject({ hold: { code: 'EMPLOYMENT_NOT_ENDED' } });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

type World = Awaited<ReturnType<typeof employPerson>>;

async function withStream() {
  const world = await employPerson();
  const { deps } = world.fleet;
  const run = { tenantId: 'acme', stream: 'employment', full: true, begun: false } as const;
  let runs = 0;
  return { ...world, tell: () => pushRecords(deps, { ...run, runId: `run-${++runs}` }) };
}

/** A second job took over the employee of the first one while that one was not done yet. */
async function takenOver(database: (typeof kinds)[number]) {
  const world = await employPerson({ database, isOpen: true });
  const { id: first, begin, applyFor, employOnce, answerAs, refOf } = world;
  const second = await begin(await applyFor(0));
  await answerAs(await refOf(second), await employOnce(second), 'transfer');
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  return { ...world, first, second };
}

/** The create happens, and its answer is lost. */
function withoutAnswer(hris: OwnHris): OwnHris {
  const create: OwnHris['employees']['create'] = async (...given) => {
    await hris.employees.create(...given);
    throw new ConnectorError({ code: 'NO_ANSWER', action: 'unknown', message: 'no answer' });
  };
  return { ...hris, employees: { ...hris.employees, create } };
}

/** The person has a second job by now, with the same employee. */
async function twoJobs() {
  const world = await withStream();
  const { begin, applyFor, answer, employOnce, finish, refOf } = world;
  const second = await begin(await applyFor(0));
  await answer(await employOnce(second), 'same-employee', await refOf(second));
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  return { ...world, second };
}

/** Another tenant of the company with the same HR system takes the next job, and acme the others. */
async function shareWithBeta(fleet: World['fleet'], row: World['row']): Promise<void> {
  const own = (await row())?.job_id;
  const jobs = (await fleet.sandbox.partner.readAll(contract.jobs.list)).items.map(({ id }) => String(id));
  const [next, ...others] = jobs.filter((id) => id !== own);
  await fleet.apply('acme', `scope: { jobs: ${JSON.stringify([own, ...others])} }\n`);
  await fleet.apply('beta', `scope: { jobs: ["${next}"] }\n`);
  await fleet.reconcile('beta');
}

async function linked({ store }: World['fleet']): Promise<string[]> {
  const links = await store.kysely.selectFrom(employedRows(store).as('known')).select('job_candidate_id').execute();
  return links.map((link) => link.job_candidate_id);
}

/** The employee was amended before. */
async function addPair({ store }: World['fleet'], employeeId: string): Promise<void> {
  const pair = { tenant_id: 'acme', stream: 'amendments', pair_id: employeeId, bases: '{}', sent: '{}' };
  const rest = { settles_at: 0, version: 1, updated_at: 0, missing_side: null, missing_run: null, gone_at: null };
  await store.kysely
    .insertInto('exchange_pairs')
    .values({ ...pair, ...rest })
    .execute();
}
