import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { knownIn } from '../../../src/hire/hire.ts';
import { held } from '../../../src/hire/holds.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { employedAs } from '../../store/known-people.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson, readTable, runIn } from './employed-person.ts';

/** A hire whose employee exists and whose ID the partner was not told yet. */
async function employed(database: (typeof kinds)[number] = 'sqlite') {
  const world = await employPerson({ database });
  const id = await world.begin();
  expect(await world.employOnce(id)).toMatchObject({ verdict: 'employee' });
  const ref = await world.refOf(id);
  const employeeId = (await world.row(id))?.employee_id ?? '';
  return { ...world, id, ref, employeeId, finishOnce: () => finishHire(world.fleet.deps, ref) };
}

test.each(kinds)(
  'an employee whom HR merged into another record before the write-back is asked about, not told, in %s',
  async (database) => {
    const { change, finishOnce, answerAs, shown, row, id, ref, employeeId, fleet, employees } =
      await employed(database);
    await change(`update employees set id = 700 where id = ${employeeId}`);
    const merged = (await employees()).find((one) => one.id === 700);
    const asked = await finishOnce();
    expect(asked).toMatchObject({ hold: { code: 'EMPLOYEE_GONE', details: { employeeId } } });
    expect(await shown(id)).toBeNull();
    expect(await answerAs(ref, asked, 'link', '700')).toMatchObject({ next: 'same' });
    expect(await finishOnce()).toEqual({ verdict: 'verified' });
    expect(await row(id)).toMatchObject({
      state: 'done',
      employee_id: '700',
      employee_number: merged?.employee_number,
    });
    expect(await shown(id)).toMatchObject({ employeeId: merged?.employee_number });
    expect(await employedAs(fleet.store, 'hr', employeeId)).toBeUndefined();
    expect(await employedAs(fleet.store, 'hr', '700')).toMatchObject({ hire: { jobCandidateId: id } });
  },
);

test('the employee of another person is not taken for one that is gone', async () => {
  const { change, finishOnce, answerAs, ref, employeeId, employees } = await employed();
  await change(`delete from employees where id = ${employeeId}`);
  const [first] = await employees();
  await answerAs(ref, await finishOnce(), 'link', String(first?.id));
  const differs = await finishOnce();
  expect(differs).toMatchObject({ hold: { code: 'RELINK_OTHER_NAME', details: { employeeId: String(first?.id) } } });
  await answerAs(ref, differs, 'link-anyway');
  expect(await finishOnce()).toMatchObject({
    hold: { code: 'EMPLOYEE_GONE', message: expect.stringContaining('another person') },
  });
  await answerAs(ref, await finishOnce(), 'link', '999');
  expect(await finishOnce()).toMatchObject({ hold: { details: { employeeId: '999' } } });
});

test.each(kinds)(
  'a record with the same id that is somebody else by now is asked about, and its number not told, in %s',
  async (database) => {
    const { change, finishOnce, answerAs, shown, row, id, ref, employeeId } = await employed(database);
    await change(`update employees set external_ref = 'acme:1' where id = ${employeeId}`);
    const asked = await finishOnce();
    expect(asked).toMatchObject({
      hold: { code: 'EMPLOYEE_GONE', message: expect.stringContaining('no longer has our reference') },
    });
    expect(await shown(id)).toBeNull();
    await answerAs(ref, asked, 'link', employeeId);
    expect(await finishOnce()).toEqual({ verdict: 'verified' });
    expect(await shown(id)).toMatchObject({ employeeId: (await row(id))?.employee_number });
  },
);

/** Somebody moves to a second job while HR merged their record into 700. */
async function movedWhileMerged(database?: (typeof kinds)[number]) {
  const world = await employPerson({ ...(database && { database }) });
  const { change, employeeId, begin, applyFor, employOnce, answerAs, refOf } = world;
  await change(`update employees set id = 700 where id = ${employeeId}`);
  const second = await begin(await applyFor(0));
  const ref = await refOf(second);
  await answerAs(ref, await employOnce(second), 'transfer');
  return { ...world, second, ref, employSecond: () => employOnce(second) };
}

test.each(kinds)(
  'a job for somebody whose record HR merged goes to the one that a person names, in %s',
  async (kind) => {
    const { employSecond, answerAs, ref, employees, employeeId, second, row } = await movedWhileMerged(kind);
    const asked = await employSecond();
    expect(asked).toMatchObject({ hold: { code: 'LINK_NOT_FOUND', details: { employeeId } } });
    const before = await employees();
    await answerAs(ref, asked, 'link', '700');
    expect(await employSecond()).toMatchObject({ verdict: 'employee' });
    const [after] = await employees();
    expect(await employees()).toHaveLength(before.length);
    expect(after?.title).not.toBe(before[0]?.title);
    expect(await row(second)).toMatchObject({ employee_id: '700' });
  },
);

test('a job for somebody whose record HR deleted gets a new one once a person says so', async () => {
  const { employSecond, answerAs, ref, change, employees, employeeId, second, row } = await movedWhileMerged();
  await change('delete from employees where id = 700');
  await answerAs(ref, await employSecond(), 'create');
  expect(await employSecond()).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
  expect((await row(second))?.employee_id).not.toBe(employeeId);
});

test('whoever says after another id was named that the person moves to the record of before is heard', async () => {
  const { employSecond, answerAs, ref, change, employeeId, id, second, row, refOf } = await movedWhileMerged();
  await answerAs(ref, await employSecond(), 'link', '999');
  expect(await employSecond()).toMatchObject({ hold: { code: 'LINK_NOT_FOUND', details: { employeeId: '999' } } });
  await change(`update employees set id = ${employeeId} where id = 700`);
  await answerAs(ref, held('PERSON_HIRED_BEFORE', { jobCandidateId: second, other: await refOf(id) }), 'transfer');
  expect(await employSecond()).toMatchObject({ verdict: 'employee' });
  expect(await row(second)).toMatchObject({ employee_id: employeeId });
});

/** The next employee gets the id of one that HR deleted, as after a restore of the HR system. */
async function idGivenAgain(database?: (typeof kinds)[number], isOpen = false) {
  const world = await employPerson({ isOpen, ...(database && { database }) });
  const { change, employeeId, begin, employOnce } = world;
  await change(`delete from employees where id = ${employeeId}`);
  await change('update sqlite_sequence set seq = 0');
  const second = await begin();
  return { ...world, second, employSecond: () => employOnce(second) };
}

test.each(kinds)('an id that HR gives to the next employee is that one’s, in %s', async (database) => {
  const { fleet, id, employeeId, second, employSecond, row, employees, finish, move, begin, applyFor, employOnce } =
    await idGivenAgain(database);
  expect(await employSecond()).toMatchObject({ verdict: 'employee' });
  await finish(second);
  expect(await employedAs(fleet.store, 'hr', employeeId)).toMatchObject({ hire: { jobCandidateId: second } });
  expect(await row(id)).toMatchObject({ state: 'kept', employee_id: null });
  await move('SCREEN');
  await fleet.reconcile('acme');
  expect(await row(second)).toMatchObject({ state: 'done', employee_id: employeeId });
  expect(await employOnce(await begin(await applyFor(0)))).toMatchObject({ hold: { code: 'PERSON_RECORDED' } });
  expect(await employees()).toHaveLength(1);
});

test('while the hire of the deleted employee is under way, that one is asked about first', async () => {
  const { fleet, ref, answerAs, employSecond, employees, second, row } = await idGivenAgain('sqlite', true);
  expect(await employSecond()).toMatchObject({ hold: { code: 'EMPLOYEE_OF_ANOTHER' } });
  const gone = await finishHire(fleet.deps, ref);
  expect(gone).toMatchObject({ hold: { code: 'EMPLOYEE_GONE', details: { isChanged: true } } });
  await answerAs(ref, gone, 'keep');
  expect(await employSecond()).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
  expect(await row(second)).toMatchObject({ employee_id: '1' });
});

test('an employee with our reference and the name of who had them is asked about', async () => {
  const world = await employPerson();
  const { fleet, employOnce, begin, employees, change, employeeId } = world;
  const [, one, two] = await listApplicants(fleet.sandbox.partner);
  const first = (await employees())[0] as unknown as Record<string, string>;
  const fields = { firstName: first['given_name'] ?? '', lastName: first['family_name'] ?? '' };
  await fleet.sandbox.control.act('editCandidate', { candidateId: one?.candidateId ?? 0, fields });
  expect(two).toBeDefined();
  await change(`delete from employees where id = ${employeeId}`);
  await change('update sqlite_sequence set seq = 0');
  const second = await begin(one?.jobCandidateId);
  expect(await employOnce(second)).toMatchObject({ hold: { code: 'EMPLOYEE_OF_ANOTHER' } });
});

test('a number that the HR system gives after the create is what the partner is told', async () => {
  const { finishOnce, shown, row, id, fleet } = await employed();
  const { employee_number: number } = (await row(id)) ?? {};
  await fleet.store.kysely
    .updateTable('hires')
    .set({ employee_number: null })
    .where('job_candidate_id', '=', id)
    .execute();
  expect(await finishOnce()).toEqual({ verdict: 'verified' });
  expect(await row(id)).toMatchObject({ employee_number: number });
  expect(await shown(id)).toMatchObject({ employeeId: number });
});

test('a number that comes minutes after the employee is waited for before a person is asked', async () => {
  const { finishOnce, shown, row, id, ref, fleet } = await employed();
  const { employee_number: number } = (await row(id)) ?? {};
  const { kysely } = fleet.store;
  await kysely.updateTable('hires').set({ employee_number: null }).where('job_candidate_id', '=', id).execute();
  const unnumbered = () => finishHire(withoutNumbers(fleet.deps), ref);
  for (const _try of [1, 2])
    await expect(unnumbered()).rejects.toMatchObject({ code: 'EMPLOYEE_NUMBER_PENDING', action: 'retry' });
  const earlier = 16 * 60_000;
  await kysely
    .updateTable('intents')
    .set((eb) => ({ decided_at: eb('decided_at', '-', earlier) }))
    .execute();
  await kysely
    .updateTable('person_keys')
    .set((eb) => ({ at: eb('at', '-', earlier) }))
    .execute();
  expect(await unnumbered()).toMatchObject({ hold: { code: 'EMPLOYEE_NUMBER_MISSING' } });
  expect(await finishOnce()).toEqual({ verdict: 'verified' });
  expect(await shown(id)).toMatchObject({ employeeId: number });
});

/** The HR system shows nobody's number yet. */
function withoutNumbers(deps: ActivityDeps): ActivityDeps {
  const of: ActivityDeps['connections']['of'] = async (tenantId) => {
    const connection = await deps.connections.of(tenantId);
    const { hris } = connection;
    const read: OwnHris['employees']['read'] = async (...given) => {
      const shown = await hris.employees.read(...given);
      return shown && { ...shown, ref: knownIn(shown.ref.connection, { id: shown.ref.id }) };
    };
    return { ...connection, hris: { ...hris, employees: { ...hris.employees, read } } };
  };
  return { ...deps, connections: { ...deps.connections, of } };
}

test('a restored store that does not know the employee of a hire begins it anew, and asks about nobody', async () => {
  const { finishOnce, fleet } = await employed();
  await fleet.store.kysely.updateTable('hires').set({ step: 'onboard', employee_id: null }).execute();
  await expect(finishOnce()).rejects.toMatchObject({ code: 'HIRE_BEHIND' });
});

/** As in a restored store: the hire is enrolled, and what came after that is not known. */
async function restored() {
  const world = await employed();
  const { fleet, id, finishOnce, forget, row } = world;
  expect(await finishOnce()).toEqual({ verdict: 'verified' });
  const told = (await row(id))?.employee_number ?? '';
  await forget();
  await fleet.store.kysely.deleteFrom('intents').where('verb', 'not like', 'enrol:%').execute();
  await fleet.store.kysely
    .updateTable('hires')
    .set({ state: 'open', step: 'onboard', ended_at: null, employee_id: null, employee_number: null })
    .where('job_candidate_id', '=', id)
    .execute();
  return { ...world, told };
}

test('an employee unknown to a restored store is found by our reference, and nobody is asked', async () => {
  const { employOnce, id, employees, row, employeeId } = await restored();
  const before = await employees();
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toEqual(before);
  expect(await row(id)).toMatchObject({ employee_id: employeeId });
});

test('an employee unknown to a restored store, and whom HR deleted, is asked about and not made again', async () => {
  const { employOnce, answerAs, change, ref, id, employees, employeeId, told } = await restored();
  await change(`delete from employees where id = ${employeeId}`);
  const left = (await employees()).length;
  const asked = await employOnce(id);
  expect(asked).toMatchObject({ hold: { code: 'EMPLOYEE_TOLD', details: { told } } });
  expect(await employees()).toHaveLength(left);
  expect(await answerAs(ref, asked, 'create')).toMatchObject({ next: 'same' });
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(left + 1);
});

test('an employee unknown to a restored store, and whom HR merged, is the one that a person names', async () => {
  const { employOnce, answerAs, change, ref, id, employees, employeeId, row } = await restored();
  await change(`delete from employees where id = ${employeeId}`);
  const [stays] = await employees();
  await answerAs(ref, await employOnce(id), 'link', String(stays?.id));
  const before = await employees();
  await answerAs(ref, await employOnce(id), 'link-anyway');
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  expect(await row(id)).toMatchObject({ employee_id: String(stays?.id) });
  expect((await employees()).map((one) => one.id)).toEqual(before.map((one) => one.id));
});

/** HR keeps no reference, and gave the id of an employee whom it deleted to the next one. */
async function madeAsAnothers() {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true, referenceColumn: none`;
  const world = await employPerson({ hris, policies: 'identity: { sameName: create }' });
  const run = (sql: string) => runIn(url, sql);
  await run(`delete from employees where id = ${world.employeeId}`);
  await run('update sqlite_sequence set seq = 0');
  const second = await world.begin();
  const asked = await world.employOnce(second);
  expect(asked).toMatchObject({ hold: { code: 'EMPLOYEE_OF_ANOTHER', details: { employeeIds: ['1'] } } });
  const ref = await world.refOf(second);
  const rows = async () => (await readTable(url)).map(({ id }) => String(id));
  expect(await rows()).toEqual(['1']);
  return {
    ...world,
    second,
    ref,
    rows,
    run,
    answerIt: (...given: [string, ...string[]]) => world.answerAs(ref, asked, ...given),
  };
}

test.each(['at once', 'after another look'])(
  'an employee made as another’s is denied %s: a new one is made',
  async (when) => {
    const { answerIt, answerAs, employOnce, ref, second, rows, row, employeeId, fleet } = await madeAsAnothers();
    if (when === 'at once') await answerIt('create');
    else {
      await answerIt('retry');
      const again = await employOnce(second);
      expect(await rows()).toEqual(['1']);
      await answerAs(ref, again, 'create');
    }
    expect(await employOnce(second)).toEqual({ verdict: 'stale' });
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
    expect(await rows()).toEqual(['1', '2']);
    expect(await row(second)).toMatchObject({ employee_id: '2' });
    expect(await employedAs(fleet.store, 'hr', employeeId)).not.toMatchObject({ hire: { jobCandidateId: second } });
  },
);

test('an employee made as another candidate’s is somebody else: the right one is named', async () => {
  const { answerIt, employOnce, second, rows, row, run } = await madeAsAnothers();
  await run('update employees set id = 70 where id = 1');
  await answerIt('link', '70');
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  expect(await rows()).toEqual(['70']);
  expect(await row(second)).toMatchObject({ employee_id: '70' });
});

test('an employee made as another candidate’s stays theirs, and a person ends the hire', async () => {
  const { answerIt, ref, rows, row, second, fleet, employeeId, id } = await madeAsAnothers();
  await answerIt('cancel');
  expect(await cancelHire(fleet.deps, ref)).toMatchObject({ verdict: 'cancelled' });
  expect(await rows()).toEqual(['1']);
  expect(await row(second)).toMatchObject({ employee_id: null });
  expect(await employedAs(fleet.store, 'hr', employeeId)).toMatchObject({ hire: { jobCandidateId: id } });
});

test('an employee whom a hire made, and had no time to link, counts as made by it', async () => {
  const { fleet, id, employeeId, employOnce, employees, forget } = await employPerson({ isOpen: true });
  await forget();
  const lost = { employee_id: null, employee_number: null, connection: null };
  await fleet.store.kysely.updateTable('hires').set(lost).where('job_candidate_id', '=', id).execute();
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
  expect(await employedAs(fleet.store, 'hr', employeeId)).toMatchObject({ how: 'made' });
});
