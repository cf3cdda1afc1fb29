import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { applyPlan } from '../../../activities/hire/apply-plan.ts';
import { endEmployment, handOver, judgeDeparture } from '../../../activities/hire/departure.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { planEmployee } from '../../../activities/hire/plan-employee.ts';
import { unlessEnded } from '../../../activities/hire/read-employee.ts';
import { personOf, reread, withHire } from '../../../activities/hire/with-hire.ts';
import { startClock } from '../../../activities/hire/write-once.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { dayOf } from '../../../src/day-of.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { employeeIn } from '../../../src/hire/hire.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { latestHire } from '../../../src/store/hires.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { latestIntent } from '../../../src/store/intents.ts';
import { changePerson } from '../../../src/store/persons.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson, movedToSecond } from './employed-person.ts';

const BEFORE_START = { verdict: 'hold', hold: { code: 'LEFT_BEFORE_START' } };
const NOT_ENDED = { verdict: 'hold', hold: { code: 'EMPLOYMENT_NOT_ENDED' } };

test('who leaves before the first day is a question; from that day on nothing is asked', async () => {
  const { move, judge, update, row, fleet } = await employPerson();
  await move('SCREEN');
  expect(await judge()).toMatchObject(BEFORE_START);
  expect(await row()).toMatchObject({ state: 'done' });
  await update({ startDate: '2020-01-01' });
  expect(await judge()).toEqual({ verdict: 'over' });
  expect(await row()).toMatchObject({ state: 'left' });
  expect(await listHolds(fleet.store)).toEqual([]);
});

test.each([
  ['Pacific/Kiritimati', 'sqlite', { verdict: 'over' }],
  ['Pacific/Niue', 'postgres', BEFORE_START],
] as const)(
  'whether the days after the first one are over is told by the tenant’s day, in %s and %s',
  async (timezone, database, expected) => {
    const policies = `timezone: ${timezone}, noShow: { within: 3d }`;
    const { move, judge, update } = await employPerson({ policies, database });
    await move('SCREEN');
    // These two never have the same day; the days of grace end today where it is later.
    await update({ startDate: dayOf(Date.now() - 3 * 86_400_000, 'Pacific/Niue') });
    expect(await judge()).toMatchObject(expected);
  },
);

test.each([
  ['Pacific/Kiritimati', true],
  ['Pacific/Niue', false],
])('whether an employment has ended is told by the tenant’s day, in %s', async (timezone, former) => {
  const { terminate, employeeId, fleet } = await employPerson({ policies: `timezone: ${timezone}` });
  // Where it is later, this day is over.
  await terminate(dayOf(Date.now(), 'Pacific/Niue'));
  const { hris } = await fleet.deps.connections.of('acme');
  expect(await hris.employees.read(employeeIn('hr', employeeId), AbortSignal.timeout(60_000))).toMatchObject({
    former,
  });
});

test('an employment without a first day ends on the tenant’s day', async () => {
  for (const timezone of ['Pacific/Kiritimati', 'Pacific/Niue']) {
    const { move, end, change, employees } = await employPerson({ policies: `timezone: ${timezone}` });
    await move('SCREEN');
    await change(`update employees set start_date = ''`);
    expect(await end()).toEqual({ verdict: 'over' });
    expect(await employees()).toMatchObject([{ last_day: dayOf(Date.now(), timezone) }]);
  }
});

test('what was asked before the first day stays asked after it, and ends with the employment', async () => {
  const { move, judge, update, terminate, row, ref, fleet } = await employPerson();
  await move('SCREEN');
  const asked = await judge();
  if (asked.verdict !== 'hold') throw new Error('not held');
  const { holdId } = await openHold(fleet.deps, { ...ref, hold: asked.hold });
  await update({ startDate: '2020-01-01' });
  expect(await judge()).toMatchObject(BEFORE_START);
  expect(await row()).toMatchObject({ state: 'done' });
  await terminate('2020-01-02');
  expect(await judge()).toEqual({ verdict: 'over' });
  expect(await row()).toMatchObject({ state: 'left' });
  expect(await listHolds(fleet.store)).toEqual([]);
  expect(await takeAnswer(fleet.deps, { ...ref, holdId })).toMatchObject({ verdict: 'answered', next: 'same' });
});

test.each([
  ['a moment ago', 0, BEFORE_START, 'done'],
  ['weeks ago, about an earlier departure', 30 * 86_400_000, { verdict: 'over' }, 'left'],
])('what was asked in time and is to be looked at again stays a question: %s', async (_when, ago, expected, state) => {
  const { move, judge, update, answer, row, fleet } = await employPerson();
  await move('SCREEN');
  expect(await answer(await judge(), 'retry')).toMatchObject({ next: 'same' });
  await update({ startDate: '2020-01-01' });
  await fleet.store.kysely
    .updateTable('holds')
    .set((eb) => ({ answered_at: eb('answered_at', '-', ago) }))
    .execute();
  expect(await judge()).toMatchObject(expected);
  expect(await row()).toMatchObject({ state });
});

test('no-show ends the employment on its first day, and the partner shows that the person left', async () => {
  const { move, judge, answer, end, row, employees, shown } = await employPerson();
  const { employeeId } = (await shown()) as { employeeId: string };
  await move('SCREEN');
  expect(await answer(await judge(), 'no-show')).toMatchObject({ next: 'end-employment' });
  expect(await end()).toEqual({ verdict: 'over' });
  expect(await employees()).toMatchObject([{ last_day: '2099-01-11' }]);
  expect(await shown()).toMatchObject({ employeeId, status: 'left' });
  expect(await row()).toMatchObject({ state: 'left' });
  expect(await end()).toEqual({ verdict: 'over' });
});

test.each([
  ['no reference', 'null'],
  ["another's reference", "'99:5001'"],
])('an id that means somebody else by now, with %s, ends nobody', async (_whose, reference) => {
  const { move, end, change, employees, employeeId, row } = await employPerson();
  await move('SCREEN');
  await change(`update employees set external_ref = ${reference}, given_name = 'Liv' where id = ${employeeId}`);
  expect(await end()).toMatchObject(NOT_ENDED);
  expect(await employees()).toMatchObject([{ last_day: null }]);
  expect(await row()).toMatchObject({ state: 'done' });
});

test('nor does it end anybody for the hire that took the employee over', async () => {
  const { second, moveTo, refOf, fleet, change, employees, employeeId, row } = await movedToSecond();
  await moveTo('SCREEN', second);
  await change(`update employees set external_ref = '99:5001' where id = ${employeeId}`);
  expect(await endEmployment(fleet.deps, await refOf(second))).toMatchObject(NOT_ENDED);
  expect(await employees()).toMatchObject([{ last_day: null }]);
  expect(await row(second)).toMatchObject({ state: 'done' });
});

test('an end whose answer is lost is sent again after its deadline, and ends the employment once', async () => {
  const { move, end, employees, letPass, fleet } = await employPerson();
  await move('SCREEN');
  await expect(end(answerLost)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await expect(end()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await letPass(120_000);
  expect(await end()).toEqual({ verdict: 'over' });
  expect(await employees()).toMatchObject([{ last_day: '2099-01-11' }]);
  const intents = await fleet.store.kysely.selectFrom('intents').selectAll().execute();
  const ends = intents.filter(({ verb }) => verb === 'terminate-employee');
  expect(ends.map(({ outcome }) => outcome)).toEqual(['absent', 'done']);
});

test('an end that took place stays one, although the person is back before it is known', async () => {
  const { move, end, terminate, letPass, row, shown } = await employPerson();
  await move('SCREEN');
  await expect(end(answerLost)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await terminate('2020-01-01');
  await letPass(120_000);
  await move('HIRED');
  expect(await end()).toEqual({ verdict: 'over' });
  expect(await row()).toMatchObject({ state: 'left' });
  expect(await shown()).toMatchObject({ status: 'left' });
});

test('an end that nobody can prove is asked about where the person is back meanwhile', async () => {
  const { move, end, letPass, row } = await employPerson();
  await move('SCREEN');
  await expect(end(answerLost)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await letPass(120_000);
  await move('HIRED');
  expect(await end()).toMatchObject(NOT_ENDED);
  expect(await row()).toMatchObject({ state: 'done' });
});

test('where the HR system cannot end an employment a person does, and says so', async () => {
  const { move, end, answer, employees, shown, row } = await employPerson({ endColumn: '' });
  await move('SCREEN');
  const asked = await end();
  expect(asked).toMatchObject(NOT_ENDED);
  expect(await end()).toMatchObject(NOT_ENDED);
  await answer(asked, 'ended');
  expect(await end()).toEqual({ verdict: 'over' });
  expect(await shown()).toMatchObject({ status: 'left' });
  expect(await row()).toMatchObject({ state: 'left' });
  expect(await employees()).toHaveLength(1);
});

test('who is back before a person says that the employment is ended is hired anew by the next reconcile', async () => {
  const { fleet, id, move, end, answer, row } = await employPerson({ endColumn: '' });
  await move('SCREEN');
  await fleet.reconcile('acme');
  const asked = await end();
  await move('HIRED');
  await fleet.reconcile('acme');
  await answer(asked, 'ended');
  expect(await end()).toEqual({ verdict: 'over' });
  expect(await row()).toMatchObject({ state: 'left' });
  fleet.signalled.length = 0;
  await fleet.reconcile('acme');
  expect(fleet.signalled).toMatchObject([{ jobCandidateId: id }]);
});

test('a refused end is asked about, in words that Temporal is not told, and not sent again by itself', async () => {
  const { fleet, move, end, answer, row } = await employPerson();
  await move('SCREEN');
  const asked = await end(refusing);
  expect(asked).toMatchObject({ hold: { code: 'EMPLOYMENT_NOT_ENDED', details: { said: expect.anything() } } });
  expect(JSON.stringify(asked)).not.toContain('Ada');
  expect(await answer(asked, 'keep')).toMatchObject({ next: 'ended', ends: 'kept' });
  const holds = await fleet.store.kysely.selectFrom('holds').selectAll().execute();
  expect(holds.map(({ message }) => message)).toEqual([
    expect.stringContaining('was not ended. It refused the end. It said: The period of Ada is closed.'),
  ]);
  expect(JSON.stringify(holds.map(({ details }) => details))).not.toContain('Ada');
  expect(await row()).toMatchObject({ state: 'kept' });
});

test('nobody is ended who stands in the stage again', async () => {
  const { move, judge, answer, end, row, employees } = await employPerson();
  await move('SCREEN');
  await answer(await judge(), 'no-show');
  await move('HIRED');
  expect(await end()).toEqual({ verdict: 'back' });
  expect(await row()).toMatchObject({ state: 'done' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test('keep leaves employee and link as they are, and ends the question for this period', async () => {
  const { move, judge, answer, row, employees, employeeId } = await employPerson();
  await move('SCREEN');
  expect(await answer(await judge(), 'keep')).toMatchObject({ next: 'ended', ends: 'kept' });
  expect(await row()).toMatchObject({ state: 'kept', employee_id: employeeId });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test('moved answers what the hire on the other job asks: the same employee takes it', async () => {
  const world = await employPerson();
  const { move, judge, answer, ref, row, begin, applyFor, employOnce, enrolAnswered, finish } = world;
  const { employees, employeeId, fleet } = world;
  await move('SCREEN');
  const second = await begin(await applyFor(0));
  const asked = await employOnce(second);
  expect(asked).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
  const { jobCandidateId, ...own } = { ...ref, jobCandidateId: second };
  if (asked.verdict !== 'hold') throw new Error('not held');
  const { holdId } = await openHold(fleet.deps, { ...own, jobCandidateId, hold: asked.hold });
  expect(await answer(await judge(), 'moved')).toMatchObject({ next: 'hand-over' });
  expect(await handOver(fleet.deps, ref)).toEqual({ verdict: 'over' });
  expect(fleet.signalled.at(-1)).toMatchObject({ jobCandidateId: second });
  expect(await takeAnswer(fleet.deps, { ...own, jobCandidateId, holdId })).toMatchObject({ next: 'same' });
  await enrolAnswered({ ...own, jobCandidateId });
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  expect(await row(second)).toMatchObject({ state: 'done', employee_id: employeeId });
  expect(await row()).toMatchObject({ state: 'left', employee_id: employeeId });
  expect(await employees()).toHaveLength(1);
});

test('moved answers a question that was asked while an earlier job had the employee', async () => {
  const { ref, begin, applyFor, answer, employOnce, finish, moveTo, employees, refOf, fleet } = await employPerson();
  const third = await begin(await applyFor(1));
  const asked = await employOnce(third);
  expect(asked).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE', details: { other: ref } } });
  if (asked.verdict !== 'hold') throw new Error('not held');
  const { holdId } = await openHold(fleet.deps, { ...(await refOf(third)), hold: asked.hold });
  const second = await begin(await applyFor(0));
  const own = await refOf(second);
  await answer(await employOnce(second), 'same-employee', own);
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  await moveTo('SCREEN', second);
  await answer(await judgeDeparture(fleet.deps, own), 'moved', own);
  expect(await handOver(fleet.deps, own)).toEqual({ verdict: 'over' });
  expect(await takeAnswer(fleet.deps, { ...(await refOf(third)), holdId })).toMatchObject({ next: 'same' });
  expect(await employOnce(third)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
});

test('moved answers no question about somebody with the same id in another HR system', async () => {
  const { fleet, ref, move, judge, answer, begin, employOnce, refOf } = await employPerson();
  const stranger = await begin();
  expect(await employOnce(stranger)).toMatchObject({ verdict: 'employee' });
  const { employee_id: id } = (await latestHire(fleet.store, 'acme', ref.jobCandidateId)) ?? {};
  const former = fleet.store.kysely.updateTable('hires').set({ connection: 'former', employee_id: id ?? '' });
  await former.where('job_candidate_id', '=', stranger).execute();
  const asking = await refOf(await begin());
  const asked = holdOf('PERSON_HIRED_BEFORE', { ...asking, other: await refOf(stranger) });
  const { holdId } = await openHold(fleet.deps, { ...asking, hold: asked });
  await move('SCREEN');
  await answer(await judge(), 'moved');
  expect(await handOver(fleet.deps, ref)).toEqual({ verdict: 'over' });
  expect(await takeAnswer(fleet.deps, { ...asking, holdId })).toEqual({ verdict: 'waiting' });
});

test('who was said to move is recognised on the next job, without a question; a third job asks', async () => {
  const { second, moveTo, ref, row, begin, applyFor, employOnce, employees, employeeId, fleet } = await movedToSecond();
  expect(await row(second)).toMatchObject({ state: 'done', employee_id: employeeId });
  await moveTo('SCREEN', second);
  expect(await judgeDeparture(fleet.deps, { ...ref, jobCandidateId: second })).toMatchObject(BEFORE_START);
  const third = await begin(await applyFor(1));
  expect(await employOnce(third)).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
  expect(await employees()).toHaveLength(1);
});

test('an employee whom another hire has taken over is neither asked about nor ended', async () => {
  const { move, judge, answer, end, begin, applyFor, employOnce, finish, row, employees, ref } = await employPerson();
  const second = await begin(await applyFor(0));
  await answer(await employOnce(second), 'transfer', { ...ref, jobCandidateId: second });
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  await move('SCREEN');
  expect(await end()).toEqual({ verdict: 'over' });
  expect(await judge()).toEqual({ verdict: 'over' });
  expect(await row()).toMatchObject({ state: 'left' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test.each(['the answer comes', 'the answer is lost'])(
  'an employment that is ended during a transfer to another job goes on there: %s',
  async (course) => {
    const { move, answer, end, begin, applyFor, employOnce, row, employees, letPass, ref } = await employPerson();
    await move('SCREEN');
    const second = await begin(await applyFor(0));
    await answer(await employOnce(second), 'transfer', { ...ref, jobCandidateId: second });
    const transferring = employOnce(second, (hris) => {
      const update: OwnHris['employees']['update'] = async (...args) => {
        await hris.employees.update(...args);
        if (course === 'the answer comes') await end();
        else await expect(end(answerLost)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      };
      return { ...hris, employees: { ...hris.employees, update } };
    });
    if (course === 'the answer comes') expect(await transferring).toEqual({ verdict: 'stale' });
    else await expect(transferring).rejects.toMatchObject({ code: 'EMPLOYEE_BEING_ENDED' });
    if (course === 'the answer is lost') {
      await letPass(120_000);
      expect(await end()).toEqual({ verdict: 'over' });
    }
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toMatchObject([{ last_day: null }]);
    expect(await row(second)).toMatchObject({ employee_id: (await row())?.employee_id });
  },
);

describe.each(kinds)('somebody ends an employment while the person takes another job, in %s', (database) => {
  /** The first hire ends by an answer; the second one was answered, and does the rest. */
  async function twoAnswers(answer: 'transfer' | 'same-employee') {
    const world = await employPerson({ database });
    const { fleet, move, begin, applyFor, answerAs, employOnce, refOf } = world;
    await move('SCREEN');
    const second = await begin(await applyFor(0));
    const own = await refOf(second);
    await answerAs(own, await employOnce(second), answer);
    /** Another worker does this after the plan, before anything is linked. */
    const afterPlan = (work: () => Promise<unknown>) =>
      withHire(fleet.deps, own, async (hire) => {
        const planned = await planEmployee(hire);
        if (planned.verdict !== 'plan') throw new Error(planned.verdict);
        await work();
        return applyPlan(await reread(hire), planned);
      });
    return { ...world, second, afterPlan };
  }

  test.each(['transfer', 'same-employee'] as const)(
    'it is not ended once the other hire has them: %s',
    async (answer) => {
      const { fleet, ref, end, employOnce, second, row, employees, employeeId } = await twoAnswers(answer);
      // Nobody had the employee yet when this was asked, and the intent is not written yet.
      const ending = end(atRead(2, () => employOnce(second)));
      await expect(ending).rejects.toMatchObject({ code: 'EMPLOYEE_TAKEN_OVER' });
      expect(await latestIntent(fleet.store, ref, 'terminate-employee')).toMatchObject({ outcome: 'absent' });
      expect(await end()).toEqual({ verdict: 'over' });
      expect(await row(second)).toMatchObject({ state: 'open', employee_id: employeeId });
      expect(await employees()).toMatchObject([{ last_day: null }]);
    },
  );

  test('nobody is linked who was ended after the plan: they are made active again', async () => {
    const { end, afterPlan, employOnce, second, row, employees, employeeId } = await twoAnswers('same-employee');
    expect(await afterPlan(end)).toEqual({ verdict: 'stale' });
    expect(await row(second)).toMatchObject({ employee_id: null });
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toMatchObject([{ last_day: null }]);
  });

  test('nobody is linked whose new job was written before they were ended', async () => {
    const { fleet, end, employOnce, second, row, employees, employeeId } = await twoAnswers('transfer');
    // The number is looked up last of all.
    await fleet.store.kysely.updateTable('person_keys').set({ employee_number: null }).execute();
    expect(await employOnce(second, atRead(3, end))).toEqual({ verdict: 'stale' });
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toMatchObject([{ last_day: null }]);
  });

  test('nobody is linked whose end is under way, or whose end nobody has looked up yet', async () => {
    const { end, afterPlan, employOnce, letPass, row, second, employees } = await twoAnswers('same-employee');
    const ending = () => expect(end(answerLost)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await expect(afterPlan(ending)).rejects.toMatchObject({ code: 'EMPLOYEE_BEING_ENDED' });
    await letPass(120_000);
    await expect(afterPlan(async () => {})).rejects.toMatchObject({ code: 'EMPLOYEE_BEING_ENDED' });
    expect(await row(second)).toMatchObject({ employee_id: null });
    expect(await end()).toEqual({ verdict: 'over' });
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toMatchObject([{ last_day: null }]);
  });

  test('an end that begins while they are linked waits for the link, and sends nothing', async () => {
    const { fleet, end, refOf, second, row, employees, employeeId } = await twoAnswers('same-employee');
    let ending: Promise<unknown> = Promise.resolve();
    await withHire(fleet.deps, await refOf(second), (hire) => {
      const employee = employeeIn('hr', employeeId);
      const { connection, candidate } = personOf(hire.connection.tenant, hire.row.candidate_id ?? '');
      const is = { employee, number: null };
      const event = { kind: 'link', hire: hire.ref, candidate, is, how: 'linked', shownAfterMs: 0 } as const;
      return unlessEnded(hire, { employee, sinceRead: startClock() }, async (store) => {
        ending = end().catch((error: unknown) => error);
        // It comes as far as it can meanwhile.
        await setTimeout(500);
        return changePerson(store, { connection, candidate }, event);
      });
    });
    await ending;
    expect(await row(second)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toMatchObject([{ last_day: null }]);
  });

  test('who was made active again and ended since is made active once more', async () => {
    const { terminate, end, employOnce, second, row, employees, employeeId } = await twoAnswers('transfer');
    await terminate('2020-01-31');
    const endedAfter = (hris: OwnHris): OwnHris => {
      const rehire: OwnHris['employees']['rehire'] = async (...args) => {
        await hris.employees.rehire?.(...args);
        expect(await end()).toEqual({ verdict: 'over' });
      };
      return { ...hris, employees: { ...hris.employees, rehire } };
    };
    expect(await employOnce(second, endedAfter)).toEqual({ verdict: 'stale' });
    expect(await row(second)).toMatchObject({ employee_id: null });
    expect(await employees()).toMatchObject([{ last_day: expect.anything() }]);
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toMatchObject([{ last_day: null }]);
  });
});

/** Does this once the HR system has answered so many reads. */
function atRead(nth: number, work: () => Promise<unknown>) {
  let reads = 0;
  return (hris: OwnHris): OwnHris => {
    const read: OwnHris['employees']['read'] = async (...args) => {
      const shown = await hris.employees.read(...args);
      reads += 1;
      if (reads === nth) await work();
      return shown;
    };
    return { ...hris, employees: { ...hris.employees, read } };
  };
}

test('an employee whom an earlier hire still has is not ended by itself', async () => {
  const { moveTo, answer, begin, applyFor, employOnce, finish, employees, ref, fleet } = await employPerson();
  const second = await begin(await applyFor(0));
  const own = { ...ref, jobCandidateId: second };
  await answer(await employOnce(second), 'transfer', own);
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  await moveTo('SCREEN', second);
  expect(await endEmployment(fleet.deps, own)).toMatchObject(NOT_ENDED);
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

/** The write is made, and its answer never comes. */
function answerLost(hris: OwnHris): OwnHris {
  const terminate: OwnHris['employees']['terminate'] = async (...args) => {
    await hris.employees.terminate?.(...args);
    throw new ConnectorError({ code: 'HRIS_NO_ANSWER', action: 'unknown', message: 'No answer came.' });
  };
  return { ...hris, employees: { ...hris.employees, terminate } };
}

function refusing(hris: OwnHris): OwnHris {
  const terminate: OwnHris['employees']['terminate'] = async () => {
    const said = 'The period of Ada is closed.';
    throw new ConnectorError({
      code: 'CLOSED',
      action: 'reject',
      message: `It refused the end. It said: ${said}`,
      said,
    });
  };
  return { ...hris, employees: { ...hris.employees, terminate } };
}
