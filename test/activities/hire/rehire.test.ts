import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import { openHire } from '../../../activities/hire/open-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { employeeIn, IMPORTED_PERIOD } from '../../../src/hire/hire.ts';
import { noteRestored } from '../../../src/store/backups.ts';
import { findHireRow, insertHires } from '../../../src/store/hires.ts';
import { decideIntent, latestIntent, openIntent } from '../../../src/store/intents.ts';
import { changePerson } from '../../../src/store/persons.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { finishOnboardings } from '../../harness/world-people.ts';
import { openBamboo } from '../../hris/identity/kinds.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson, readTable, stepsIn, withHris } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const PAST = '2020-01-31';

test('a former employee who is hired again is made active again with the new job, and nobody is asked', async () => {
  const { terminate, begin, applyFor, employOnce, finish, row, employees, employeeId } = await employPerson();
  await terminate(PAST);
  const second = await begin(await applyFor(0));
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  expect(await row(second)).toMatchObject({ state: 'done', employee_id: employeeId });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test('a rehire whose answer is lost is looked up, made once, and asks nobody', async () => {
  const { terminate, begin, applyFor, employOnce, employees, letPass, refOf, fleet } = await employPerson();
  await terminate(PAST);
  const second = await begin(await applyFor(0));
  await expect(employOnce(second, answerLost)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await letPass(120_000);
  expect(await employOnce(second, forbidden)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
  const intent = await latestIntent(fleet.store, await refOf(second), 'rehire-employee');
  expect(intent).toMatchObject({ attempt: 1, outcome: 'done' });
});

test('in BambooHR a rehire for a day to come is made once although its answer is lost, and written back', async () => {
  const { settings, company } = await openBamboo();
  const world = await employPerson({ hris: settings });
  const { terminate, begin, applyFor, employOnce, letPass, finish, row, shown, employeeId } = world;
  await terminate(PAST);
  const second = await begin(await applyFor(0));
  await expect(employOnce(second, answerLost)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await letPass(120_000);
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  expect(await row(second)).toMatchObject({ state: 'done', employee_id: employeeId });
  expect([...company.employees.keys()]).toEqual([employeeId]);
  expect(company.statuses.get(employeeId)).toMatchObject([
    { date: PAST, employmentStatus: 'Terminated' },
    { date: '2099-01-11', employmentStatus: 'Full-Time' },
  ]);
  expect(company.statuses.get(employeeId)).toHaveLength(2);
  const { employeeNumber } = company.employees.get(employeeId) ?? {};
  expect(await shown(second)).toMatchObject({ status: 'hired', employeeId: employeeNumber });
});

test('a rehire that never arrived is sent again after its deadline', async () => {
  const { terminate, begin, applyFor, employOnce, employees, letPass } = await employPerson();
  await terminate(PAST);
  const second = await begin(await applyFor(0));
  await expect(employOnce(second, forbidden)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(await employees()).toMatchObject([{ last_day: PAST }]);
  await letPass(120_000);
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

describe.each(kinds)('a rehire that was sent, and whose hire does not get to its end, in %s', (database) => {
  /** Their first hire is over, and the second one has not sent anything yet. */
  async function begun() {
    const world = await employPerson({ database });
    const { terminate, move, judge, row, begin, applyFor, refOf, moveTo, answerAs, fleet } = world;
    await terminate(PAST);
    await move('SCREEN');
    expect(await judge()).toEqual({ verdict: 'over' });
    const candidateId = Number((await row())?.candidate_id);
    const second = await begin(await applyFor(0));
    const ref = await refOf(second);
    return {
      ...world,
      second,
      own: ref,
      /** A rule needs a field by now that somebody emptied. */
      async need() {
        await fleet.sandbox.control.act('editCandidate', { candidateId, fields: { city: '' } });
        await fleet.write('acme-mapping.yaml', 'fields:\n  department: { from: candidate.city, required: true }\n');
        await fleet.apply('acme', 'mapping: acme-mapping.yaml\n');
      },
      leave: () => moveTo('SCREEN', second),
      cancel: (hr?: (hris: OwnHris) => OwnHris) => cancelHire(withHris(fleet.deps, hr), ref),
      answerEnd: (verdict: { verdict: string }, answer: string) => answerAs(ref, verdict, answer),
    };
  }

  /** Nobody knows yet what became of the rehire, and its deadline is over. */
  async function sent(course: (hris: OwnHris) => OwnHris) {
    const world = await begun();
    await expect(world.employOnce(world.second, course)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await world.letPass(120_000);
    return world;
  }

  test.each(['stored', 'lost'])('is asked about once they left: the answer is %s', async (answer) => {
    const { fleet, own, leave, cancel, answerEnd, row, second, employees, employeeId } = await sent(answerLost);
    const intent = await latestIntent(fleet.store, own, 'rehire-employee');
    // As a worker leaves it that is killed before it links the employee.
    if (answer === 'stored' && intent !== undefined) await decideIntent(fleet.store, intent, 'done', null);
    await leave();
    const asked = await cancel();
    expect(asked).toMatchObject({ verdict: 'hold', hold: { code: 'LEFT_AFTER_EMPLOYEE', details: { employeeId } } });
    expect(await row(second)).toMatchObject({ state: 'open', employee_id: employeeId });
    expect(await employees()).toMatchObject([{ last_day: null }]);
    expect(await answerEnd(asked, 'keep')).toMatchObject({ ends: 'kept' });
  });

  test('is asked about where nothing shows whether it arrived, and sent again if they come back', async () => {
    const world = await sent(forbidden);
    const { leave, cancel, answerEnd, moveTo, employOnce, row, second, employees, employeeId } = world;
    await leave();
    const asked = await cancel();
    expect(asked).toMatchObject({ hold: { code: 'LEFT_AFTER_EMPLOYEE', details: { employeeId } } });
    expect(await cancel()).toEqual(asked);
    expect(await employees()).toMatchObject([{ last_day: PAST }]);
    await answerEnd(asked, 'retry');
    await moveTo('HIRED', second);
    expect(await cancel()).toEqual({ verdict: 'back' });
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: employeeId });
    expect(await employees()).toMatchObject([{ last_day: null }]);
  });

  test('is finished before a field that is missing by now is asked about', async () => {
    const { need, employOnce, row, second, employeeId } = await sent(answerLost);
    await need();
    expect(await employOnce(second, forbidden)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: employeeId });
  });

  test('is not forgotten when somebody cancels who was asked about a missing field', async () => {
    const { need, employOnce, cancel, answerEnd, row, second, employeeId } = await sent(answerLost);
    await need();
    const asked = await employOnce(second, showsFormer);
    expect(asked).toMatchObject({ hold: { code: 'MAPPING_INCOMPLETE' } });
    expect(await answerEnd(asked, 'cancel')).toMatchObject({ next: 'cancel' });
    const exists = await cancel();
    expect(exists).toMatchObject({ hold: { code: 'EMPLOYEE_EXISTS' } });
    expect(await row(second)).toMatchObject({ state: 'open', employee_id: employeeId });
    expect(await answerEnd(exists, 'keep')).toMatchObject({ ends: 'kept' });
  });

  test('is no longer asked about once somebody cancels who saw that the employee is another person’s', async () => {
    const { fleet, own, forget, leave, cancel, answerEnd, employeeId } = await sent(answerLost);
    await forget();
    const candidate = { company: '17', candidateId: '999' };
    const is = { employee: employeeIn('hr', employeeId), number: null };
    const hire = { ...own, jobCandidateId: '', period: IMPORTED_PERIOD };
    const event = { kind: 'link', hire, candidate, is, how: 'imported', shownAfterMs: 0 } as const;
    await changePerson(fleet.store, { connection: 'hr', candidate }, event);
    await leave();
    const asked = await cancel();
    expect(asked).toMatchObject({ hold: { code: 'EMPLOYEE_OF_ANOTHER' } });
    await answerEnd(asked, 'cancel');
    expect(await cancel()).toEqual({ verdict: 'cancelled', state: 'cancelled' });
  });

  test('is asked about if a late worker sends it while the hire ends', async () => {
    const { fleet, own, leave, cancel, employeeId } = await begun();
    await leave();
    const late = async () => {
      const pinned = { employeeId, shown: true };
      const rehire = { ...own, verb: 'rehire-employee', attempt: 1, pinned, budgetMs: 1_000 };
      const intent = await openIntent(fleet.store, rehire);
      if (intent !== undefined) await decideIntent(fleet.store, intent, 'done', null);
    };
    const meanwhile = (hris: OwnHris): OwnHris => {
      const find: OwnHris['employees']['find'] = async (...args) => {
        const found = await hris.employees.find(...args);
        await late();
        return found;
      };
      return { ...hris, employees: { ...hris.employees, find } };
    };
    await expect(cancel(meanwhile)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await cancel()).toMatchObject({ hold: { code: 'LEFT_AFTER_EMPLOYEE', details: { employeeId } } });
  });
});

test('who did not start and is hired after all is made active again, though the last day is to come', async () => {
  const { move, end, begin, applyFor, employOnce, employees } = await employPerson();
  await move('SCREEN');
  expect(await end()).toEqual({ verdict: 'over' });
  const second = await begin(await applyFor(0));
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test('who did not start, and whom the HR system still shows as employed, is made active again', async () => {
  const { move, end, begin, applyFor, employOnce, employees, fleet } = await employPerson();
  await move('SCREEN');
  await end();
  await fleet.store.kysely
    .updateTable('intents')
    .set({ pinned: JSON.stringify({ lastDay: PAST }) })
    .where('verb', '=', 'terminate-employee')
    .execute();
  const second = await begin(await applyFor(0));
  expect(await employOnce(second, showsLate)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test.each(kinds)(
  'an earlier period that stayed open beside a later one is over once its workflow looks, on %s',
  async (database) => {
    const fleet = await fleetAtSandbox({ database });
    await fleet.apply('acme');
    await fleet.reconcile('acme');
    const id = await fleet.hire();
    await fleet.open('acme', id);
    const first = { tenantId: 'acme', jobCandidateId: id, period: 1 };
    // As two processes insert both at once after a restore.
    await insertHires(fleet.store, [{ ...first, period: 2, state: 'open' }]);
    expect(await fleet.open('acme', id)).toMatchObject({ verdict: 'open', period: 2 });
    expect(await findHireRow(fleet.store, first)).toMatchObject({ state: 'left' });
  },
);

test.each(kinds)(
  'after a restore nobody is made before the HR system shows who was made since the backup, on %s',
  async (database) => {
    const { fleet, begin, employOnce, employees } = await employPerson({ database });
    const another = await begin();
    const lagging = (readLagMs: number) => (hris: OwnHris) => ({
      ...hris,
      capabilities: { ...hris.capabilities, readLagMs },
    });
    const restored = { code: 'STORE_JUST_RESTORED', action: 'retry' };
    const { giveUpMs } = fleet.deps.limits;
    const at = sql<number>`${fleet.store.now} - ${giveUpMs}`;
    await fleet.store.kysely.insertInto('audit').values({ by: 'ada', act: 'restored', at }).execute();
    await expect(employOnce(another, lagging(60_000))).rejects.toMatchObject(restored);
    expect(await employees()).toHaveLength(1);
    expect(await employOnce(another, lagging(0))).toMatchObject({ verdict: 'employee' });
    // A worker that was killed for this restore may have sent a create that the HR system still works on.
    await noteRestored(fleet.store, 'ada');
    await expect(employOnce(await begin(), lagging(0))).rejects.toMatchObject(restored);
    expect(await employees()).toHaveLength(2);
  },
);

test('a former employee of before go-live is found by our reference alone', async () => {
  const { terminate, begin, applyFor, employOnce, employees, forget } = await employPerson();
  await terminate(PAST);
  await forget();
  const second = await begin(await applyFor(0));
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toMatchObject([{ last_day: null }]);
});

test('where the HR system takes no rehire a person is asked, and told what to do there', async () => {
  const { terminate, begin, applyFor, employOnce, employees, forget } = await employPerson();
  await terminate(PAST);
  await forget();
  const second = await begin(await applyFor(0));
  expect(await employOnce(second, withoutRehire)).toMatchObject({ hold: { code: 'FORMER_EMPLOYEE' } });
  expect(await employees()).toMatchObject([{ last_day: PAST }]);
});

test('what is foreseen of a former employee is what would happen: a rehire', async () => {
  const { terminate, fleet, applyFor, row, employeeId } = await employPerson();
  await terminate(PAST);
  await fleet.apply('acme', 'mode: observe\n');
  const second = await fleet.hire(await applyFor(0));
  expect(await fleet.open('acme', second)).toMatchObject({ verdict: 'closed' });
  expect(JSON.parse((await row(second))?.observed ?? '')).toMatchObject({ would: 'rehire', employeeId });
});

test.each(kinds)(
  'nobody is made active whose record became somebody else: a person is asked, on %s',
  async (database) => {
    const { terminate, change, begin, applyFor, employOnce, answerAs, refOf, employees, employeeId, row } =
      await employPerson({ database });
    await terminate(PAST);
    await change(`update employees set external_ref = '99:5001', email = 'liv@example.org' where id = ${employeeId}`);
    const second = await begin(await applyFor(0));
    const asked = await employOnce(second);
    expect(asked).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
    await answerAs(await refOf(second), asked, 'new-employment');
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toMatchObject([{ last_day: PAST }, { last_day: null }]);
    expect((await row(second))?.employee_id).not.toBe(employeeId);
  },
);

test('who still works there is asked about as before', async () => {
  const { begin, applyFor, employOnce } = await employPerson();
  const second = await begin(await applyFor(0));
  expect(await employOnce(second)).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
});

type Rehire = NonNullable<OwnHris['employees']['rehire']>;

const noAnswer = new ConnectorError({ code: 'HRIS_NO_ANSWER', action: 'unknown', message: 'No answer came.' });

/** The write is made, and its answer never comes. */
function answerLost(hris: OwnHris): OwnHris {
  return rehiring(hris, async (...args) => {
    await hris.employees.rehire?.(...args);
    throw noAnswer;
  });
}

/** The write never arrives. */
function forbidden(hris: OwnHris): OwnHris {
  return rehiring(hris, async () => {
    throw noAnswer;
  });
}

function rehiring(hris: OwnHris, rehire: Rehire): OwnHris {
  return { ...hris, employees: { ...hris.employees, rehire } };
}

/** As an HR system that shows who is active again only from the first day. */
function showsFormer(hris: OwnHris): OwnHris {
  const read: OwnHris['employees']['read'] = async (...args) => {
    const shown = await hris.employees.read(...args);
    return shown && { ...shown, former: true };
  };
  return { ...hris, employees: { ...hris.employees, read } };
}

/** As a roster that shows a write hours later. */
function showsLate(hris: OwnHris): OwnHris {
  const read: OwnHris['employees']['read'] = async (...args) => {
    const shown = await hris.employees.read(...args);
    return shown && { ...shown, former: false };
  };
  const capabilities = { ...hris.capabilities, shownWithinMs: 3_600_000 };
  return { ...hris, capabilities, employees: { ...hris.employees, read } };
}

function withoutRehire(hris: OwnHris): OwnHris {
  const { rehire: _, ...employees } = hris.employees;
  return { ...hris, employees };
}

describe.each(kinds)('who left and was hired again after the backup that knows their first hire, in %s', (database) => {
  /** As the workflow of the second hire begins anew. */
  async function restored() {
    const world = await employPerson({ database });
    const { fleet, ref } = world;
    const again = { ...ref, period: 2 };
    const { tenantId, jobCandidateId } = again;
    return {
      ...world,
      again,
      beginAnew: () => openHire(fleet.deps, { tenantId, jobCandidateId, adopt: false, watch: true, behind: 2 }),
      first: () => findHireRow(fleet.store, ref),
      onboard: () => finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner),
    };
  }

  test('their second hire goes on, and the first one is over', async () => {
    const { beginAnew, first, onboard, terminate, employOnce, finish, row, id, employees, employeeId, again } =
      await restored();
    await terminate(PAST);
    expect(await beginAnew()).toMatchObject({ verdict: 'open', period: 2, step: 'enrol' });
    expect(await first()).toMatchObject({ state: 'left', employee_id: employeeId });
    await onboard();
    expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
    await finish(id);
    expect(await row()).toMatchObject({ period: again.period, state: 'done', employee_id: employeeId });
    expect(await employees()).toMatchObject([{ last_day: null }]);
  });

  test('their second hire goes on where the backup knows the first one as open and without its employee', async () => {
    const { fleet, id, row, refOf, employOnce, onboard, employees, made } = await openInBackup(database);
    const first = await refOf(id);
    const { tenantId, jobCandidateId } = first;
    const asked = { tenantId, jobCandidateId, adopt: false, watch: true, behind: 2 };
    expect(await openHire(fleet.deps, asked)).toMatchObject({ period: 2, enrolled: { verdict: 'enrolled' } });
    expect(await findHireRow(fleet.store, first)).toMatchObject({ state: 'left', employee_id: null });
    await onboard();
    expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
    expect(await row(id)).toMatchObject({ period: 2, employee_id: made });
    expect(await employees()).toHaveLength(1);
  });

  test('who left again is asked about, as the second hire may have made them active', async () => {
    const { beginAnew, first, move, fleet, again, employeeId } = await restored();
    await move('SCREEN');
    expect(await beginAnew()).toMatchObject({ verdict: 'open', period: 2 });
    expect(await first()).toMatchObject({ state: 'left' });
    const hold = { code: 'LEFT_AFTER_EMPLOYEE', details: { employeeId } };
    expect(await cancelHire(fleet.deps, again)).toMatchObject({ verdict: 'hold', hold });
  });

  test('who left again after their employment had ended is over', async () => {
    const { beginAnew, move, terminate, fleet, again, employees } = await restored();
    await terminate(PAST);
    await move('SCREEN');
    await beginAnew();
    expect(await cancelHire(fleet.deps, again)).toEqual({ verdict: 'cancelled', state: 'left' });
    expect(await employees()).toMatchObject([{ last_day: PAST }]);
  });

  test('who did not start, came back and left again is over, though their last day is ahead', async () => {
    const { fleet, again, employees } = await noShowAgain(database);
    expect(await cancelHire(fleet.deps, again)).toEqual({ verdict: 'cancelled', state: 'left' });
    expect(await employees()).toMatchObject([{ last_day: '2099-01-11' }]);
  });

  test('the same after a restore is asked about, as the second hire may have made them active', async () => {
    const { fleet, again } = await noShowAgain(database);
    await noteRestored(fleet.store, 'ada');
    expect(await cancelHire(fleet.deps, again)).toMatchObject({ hold: { code: 'LEFT_AFTER_EMPLOYEE' } });
  });

  test('whose end the backup does not know is over once seen out of the stage, and hired anew when back', async () => {
    const { fleet, ref, id, move, end } = await employPerson({ database });
    const { tenantId, jobCandidateId } = ref;
    const look = () => openHire(fleet.deps, { tenantId, jobCandidateId, adopt: false, watch: true });
    await move('SCREEN');
    expect(await end()).toEqual({ verdict: 'over' });
    await fleet.store.kysely.updateTable('hires').set({ state: 'done' }).execute();
    await fleet.store.kysely.deleteFrom('intents').where('verb', '=', 'terminate-employee').execute();
    expect(await look()).toMatchObject({ period: 1, step: 'watch-done' });
    await noteRestored(fleet.store, 'ada');
    await move('HIRED');
    expect(await look()).toMatchObject({ period: 1, step: 'watch-done' });
    await move('SCREEN');
    expect(await look()).toEqual({ verdict: 'closed', period: 1, state: 'left' });
    await move('HIRED');
    expect(await fleet.open('acme', id)).toMatchObject({ verdict: 'open', period: 2 });
  });

  test('who left again long after their first day is the HR system’s matter', async () => {
    const { beginAnew, move, update, fleet, again } = await restored();
    await update({ startDate: '2020-01-01' });
    await move('SCREEN');
    await beginAnew();
    expect(await cancelHire(fleet.deps, again)).toEqual({ verdict: 'cancelled', state: 'left' });
  });
});

/** Their employment was ended before the first day; then they were in the stage for a while, in a second hire. */
async function noShowAgain(database: (typeof kinds)[number]) {
  const world = await employPerson({ database });
  const { fleet, id, ref, move, end } = world;
  await move('SCREEN');
  expect(await end()).toEqual({ verdict: 'over' });
  await move('HIRED');
  expect(await fleet.open('acme', id)).toMatchObject({ verdict: 'open', period: 2 });
  await move('SCREEN');
  return { ...world, again: { ...ref, period: 2 } };
}

/** The backup knows the first hire as enrolled; its employee was made later, and only the HR system knows them. */
async function openInBackup(database: (typeof kinds)[number]) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
  const fleet = await fleetAtSandbox({ database, jobs: 3, hris });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const steps = stepsIn(fleet);
  const id = await steps.begin();
  const { candidate_id: candidateId } = (await steps.row(id)) ?? {};
  const { hris: hr } = await fleet.deps.connections.of('acme');
  const fields = { givenName: 'Ada', familyName: 'Byron', email: 'ada@work.example', startDate: '2099-01-01' };
  const guard = { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined };
  const made = await hr.employees.create(fields, `17:${candidateId}`, guard);
  return {
    fleet,
    id,
    ...steps,
    made: made.kind === 'created' ? made.ref.id : '',
    employees: () => readTable(url),
    onboard: () => finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner),
  };
}
