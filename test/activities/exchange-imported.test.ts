import { afterEach, expect, test } from 'vitest';
import { type EmployeeFields, employeeIn } from '../../src/hire/hire.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { importLinks, mergeCandidates } from '../../src/store/people.ts';
import { CALM } from '../convergence/calm.ts';
import { twoWayFields } from '../convergence/fields.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, type World } from '../convergence/world.ts';

let world: World;
afterEach(() => world.close());

/** As `hirebridge link import` leaves it: of an application nothing is known. */
async function importOne(): Promise<Person> {
  const person = await world.hire();
  world.store.all(
    `update person_keys set job_candidate_id = '', period = 0 where kind = 'employee' and value = ?`,
    person.employeeId,
  );
  return person;
}

async function exchange(runId: string, conditions: Partial<Conditions> = {}) {
  world.clock.advance(120_000);
  return world.exchange(runId, { ...CALM, ...conditions });
}

async function edit(person: Person, name: string, side: 'partner' | 'hris', value: EmployeeFields[string]) {
  const field = twoWayFields.find((one) => one.name === name);
  if (field === undefined) throw new Error(`there is no field ${name}`);
  if (side === 'partner') world.editPartner(person, field, value ?? null);
  else await world.editHris(person, field, value ?? null);
}

test('somebody linked by import is exchanged both ways beside those who were hired', async () => {
  world = await createWorld();
  const [hired, imported] = [await world.hire(), await importOne()];
  for (const person of [hired, imported]) {
    await edit(person, 'city', 'partner', 'Utrecht');
    await edit(person, 'shifts', 'partner', ['Early', 'Night']);
    await edit(person, 'costCentre', 'hris', 'CC-7');
  }
  expect(await exchange('first')).toMatchObject({ state: 'done', counts: { updated: 2, skipped: 0 } });
  const same = { city: 'Utrecht', shifts: ['Early', 'Night'], costCentre: 'CC-7' };
  for (const person of [hired, imported]) expect(await world.read(person)).toMatchObject({ partner: same, hris: same });
  const { partner, hris } = world.writes;
  expect(await exchange('second')).toMatchObject({ state: 'done', counts: { unchanged: 2 } });
  expect(world.writes).toEqual({ partner, hris });
});

test('their custom fields cost one call each, their profiles one together', async () => {
  world = await createWorld();
  for (let n = 0; n < 5; n += 1) await importOne();
  const calls: string[] = [];
  const pause = async (point: string) => void calls.push(...(point.endsWith('/before') ? [point] : []));
  await exchange('first', { pause });
  const callsOf = (path: string) => calls.filter((point) => point.includes(path)).length;
  expect([callsOf('/candidates/bulk-fetch'), callsOf('/job-candidates/'), callsOf('/custom-field-values?')]).toEqual([
    1, 0, 5,
  ]);
});

test('one who is deleted is believed gone after a second run, and the others go on', async () => {
  world = await createWorld();
  const [gone, stays] = [await importOne(), await importOne()];
  await exchange('first');
  world.state.run('delete from candidates where id = ?', Number(gone.candidateId));
  await edit(stays, 'costCentre', 'hris', 'CC-8');
  expect(await exchange('second')).toMatchObject({ state: 'partial', counts: { updated: 1, skipped: 1 } });
  expect(await exchange('third')).toMatchObject({ counts: { skipped: 1 } });
  expect(await exchange('fourth')).toMatchObject({ state: 'done', counts: { unchanged: 1, skipped: 0 } });
  expect((await world.read(stays))?.partner).toMatchObject({ costCentre: 'CC-8' });
});

test('a value of theirs that cannot be read is not taken for emptied', async () => {
  world = await createWorld();
  const imported = await importOne();
  await edit(imported, 'shifts', 'partner', ['Early', 'Night']);
  await exchange('first');
  const refuses: Conditions['refuses'] = (method, path) => {
    if (method !== 'GET' || !path.includes('/custom-field-values?')) return undefined;
    const values = world.call('GET', path.replace('/v1/partner', '')) as unknown as object[];
    const data = values.map((one) => ({ ...one, customFieldId: null }));
    return { status: 200, headers: {}, body: JSON.stringify({ status: 'success', data }) };
  };
  const second = await exchange('second', { refuses });
  expect(second).toMatchObject({ state: 'partial', counts: { read: 1, updated: 0, quarantined: 1 } });
  expect((await world.read(imported))?.hris).toMatchObject({ shifts: ['Early', 'Night'] });
  expect(await exchange('third')).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
});

/** Another candidate of the same human; their profile has no city. */
function addOther(): string {
  const profile = { firstName: 'Ada', lastName: 'Lovelace', email: 'countess@example.com' };
  return String(world.call('POST', '/candidates', { ...profile, shouldParseResume: false })['id']);
}

const ofCompany = (candidateId: string) => ({ company: '1', candidateId });

test('values agreed with a candidate say nothing about the one into whom the partner merged them', async () => {
  world = await createWorld();
  const person = await importOne();
  await edit(person, 'city', 'partner', 'Utrecht');
  await exchange('first');
  await edit(person, 'level', 'partner', 'Senior');
  await edit(person, 'shifts', 'hris', ['Early']);
  await exchange('second');
  const other = addOther();
  const { store } = world.open(CALM);
  const [from, to] = [ofCompany(person.candidateId), ofCompany(other)];
  await mergeCandidates(store, { tenantId: 'acme', jobCandidateId: '' }, { connection: 'acme-hr', from, to });
  await exchange('third');
  const merged = await world.read({ ...person, candidateId: other });
  expect(merged?.hris).toMatchObject({ city: 'Utrecht', level: 'Senior', shifts: ['Early'] });
  expect(merged?.partner).toMatchObject({ level: 'Senior', shifts: ['Early'] });
  expect(await listConflicts(store, { tenantId: 'acme', all: false })).toMatchObject([
    { field: 'city', kind: 'diverged' },
  ]);
});

test('an employee whose candidate was gone is exchanged again once an import names another candidate', async () => {
  world = await createWorld();
  const [person] = [await importOne(), await importOne()];
  await exchange('first');
  world.state.run('delete from candidates where id = ?', Number(person.candidateId));
  await exchange('second');
  await exchange('third');
  expect(await exchange('fourth')).toMatchObject({ counts: { read: 1 } });
  const other = addOther();
  const { store } = world.open(CALM);
  const is = { employee: employeeIn('acme-hr', person.employeeId), number: null };
  const [candidate, instead] = [ofCompany(other), ofCompany(person.candidateId)];
  const link = { connection: 'acme-hr', candidate, is, instead };
  expect(await importLinks(store, { tenantId: 'acme', by: 'ada', details: '' }, [link])).toBe(true);
  await edit(person, 'costCentre', 'hris', 'CC-9');
  expect(await exchange('fifth')).toMatchObject({ state: 'done', counts: { read: 2 } });
  expect((await world.read({ ...person, candidateId: other }))?.partner).toMatchObject({ costCentre: 'CC-9' });
});
