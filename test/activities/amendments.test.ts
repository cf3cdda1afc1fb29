import { afterEach, expect, test } from 'vitest';
import type { EmployeeFields, HireState } from '../../src/hire/hire.ts';
import { answerHold } from '../../src/operator/holds.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { listWrites } from '../../src/store/foreign-writes.ts';
import { insertHires } from '../../src/store/hires.ts';
import { listHolds } from '../../src/store/holds.ts';
import { insertPlan } from '../../src/store/plans.ts';
import { amendmentMapping, loadTenantMapping } from '../../src/tenants/open-hris.ts';
import { type TwoWayField, twoWayFields } from '../convergence/fields.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, type World } from '../convergence/world.ts';

const RULES = `fields:
  startDate: { from: "candidate.customFields[Probation end]", transform: [date], required: true }
  title: { from: "candidate.customFields[Cost centre]", when: [{ path: candidate.firstName, present: true }] }
  department: null
`;
const START = '2026-02-01';

let world: World;
let runs = 0;
afterEach(() => world.close());

const fieldOf = (name: string): TwoWayField => twoWayFields.find((field) => field.name === name) as TwoWayField;
const store = () => world.store.connect(async () => undefined);
const refOf = ({ jobCandidateId }: Person) => ({ tenantId: 'acme', jobCandidateId, period: 1 });

/** A tenant that asks about start dates, and applies titles where it says so. */
async function open(apply: string[] = []): Promise<Person> {
  const rules = `# applies: ${apply.join()}\n${RULES}`;
  world = await createWorld(rules, {
    stream: 'amendments',
    map: async (tenant) => amendmentMapping({ amendments: { apply } }, await loadTenantMapping(tenant), undefined),
  });
  return hired();
}

async function hired(state: HireState = 'done'): Promise<Person> {
  const person = await world.hire();
  await insertHires(store(), [{ ...refOf(person), state: 'open', candidateId: person.candidateId }]);
  world.store.all('update hires set state = ? where job_candidate_id = ?', state, person.jobCandidateId);
  atPartner(person, { startDate: START, title: 'Cook' });
  await world.hris.employees.update(person.employeeId, { title: 'Cook' }, write());
  return person;
}

const write = () => ({ signal: AbortSignal.timeout(120_000), beforeSend: () => undefined });

function atPartner(person: Person, { startDate, title }: { startDate?: string; title?: string | null }): void {
  if (startDate !== undefined) world.editPartner(person, fieldOf('probationEnd'), startDate);
  if (title !== undefined) world.editPartner(person, fieldOf('costCentre'), title);
}

function run(conditions: Partial<Conditions> = {}) {
  world.clock.advance(121_000);
  runs += 1;
  const calm = { pause: async () => undefined, mishap: () => undefined, later: () => undefined };
  return world.exchange(`run ${runs}`, { ...calm, updateMishap: () => undefined, ...conditions });
}

async function held({ employeeId }: Person): Promise<EmployeeFields> {
  const record = await world.hris.employees.read(employeeId, write().signal);
  return { startDate: record?.fields['startDate'] ?? null, title: record?.fields['title'] ?? null };
}

async function answer(word: 'apply' | 'keep'): Promise<void> {
  const [hold] = await listHolds(store());
  await answerHold(
    { store: store(), hires: undefined as never },
    {
      holdId: hold?.hold_id ?? '',
      answer: word,
      arguments: [],
      by: 'ana',
    },
  );
}

test("what stood there before is nobody's amendment, whatever the employee holds", async () => {
  const person = await open();
  await world.hris.employees.update(person.employeeId, { title: 'Chef' }, write());
  expect(await run()).toMatchObject({ state: 'done', counts: { read: 1, unchanged: 1 } });
  expect(await listHolds(store())).toEqual([]);
  expect(await held(person)).toEqual({ startDate: START, title: 'Chef' });
});

test.each([
  { word: 'apply' as const, stays: { startDate: '2026-03-01', title: 'Chef' }, writes: 2 },
  { word: 'keep' as const, stays: { startDate: START, title: 'Cook' }, writes: 0 },
])('a person is asked once, with both values, and $word is done once', async ({ word, stays, writes }) => {
  const person = await open();
  await run();
  atPartner(person, { startDate: '2026-03-01', title: 'Chef' });
  for (const _twice of [1, 2]) expect(await run()).toMatchObject({ state: 'partial', counts: { held: 1 } });
  expect(await listHolds(store())).toMatchObject([{ code: 'AMENDMENTS' }]);
  const asked = await listConflicts(store(), { tenantId: 'acme', all: false });
  expect(asked.map(({ field, partner_value, hris_value }) => [field, partner_value, hris_value]).toSorted()).toEqual([
    ['startDate', '"2026-03-01"', `"${START}"`],
    ['title', '"Chef"', '"Cook"'],
  ]);
  await answer(word);
  await run();
  for (const _twice of [1, 2]) expect(await run()).toMatchObject({ state: 'done' });
  expect(await held(person)).toEqual(stays);
  expect(world.writes).toEqual({ partner: 0, hris: writes });
  expect(await listHolds(store())).toEqual([]);
});

test('by policy a title is applied at once, and taken down with both values', async () => {
  const person = await open(['title']);
  await run();
  atPartner(person, { title: 'Chef' });
  for (const _twice of [1, 2]) expect(await run()).toMatchObject({ state: 'done' });
  expect(await held(person)).toEqual({ startDate: START, title: 'Chef' });
  expect(world.writes.hris).toBe(1);
  const noted = await listWrites(store(), { tenantId: 'acme', recordId: person.jobCandidateId });
  expect(noted).toMatchObject([{ outcome: 'done', changes: '{"title":{"old":"Cook","new":"Chef"}}' }]);
});

test.each([
  ['the HR system was edited, too', { title: 'Baker' }, 'Chef'],
  ['it was emptied', {}, null],
])('even by policy a person is asked where %s', async (_, edit, title) => {
  const person = await open(['title']);
  await run();
  await world.hris.employees.update(person.employeeId, edit, write());
  atPartner(person, { title });
  expect(await run()).toMatchObject({ state: 'partial', counts: { held: 1 } });
  expect(await held(person)).toMatchObject({ title: 'Cook', ...edit });
});

test('a person is asked about another value in a custom field that was deleted and created again', async () => {
  const person = await open(['title']);
  await run();
  const { at } = fieldOf('costCentre');
  const field = { entityType: 'candidate', fieldLabel: 'label' in at ? at.label : '', fieldType: 'text' };
  const createAgain = (): void => {
    world.call('DELETE', `/custom-fields/${world.ids.get('costCentre')}`);
    world.ids.set('costCentre', String(world.call('POST', '/custom-fields', field)['id']));
  };
  createAgain();
  atPartner(person, { title: 'Cook' });
  expect(await run()).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
  createAgain();
  atPartner(person, { title: 'Chef' });
  for (const _twice of [1, 2]) expect(await run()).toMatchObject({ state: 'partial', counts: { held: 1 } });
  expect(await held(person)).toMatchObject({ title: 'Cook' });
  await answer('apply');
  await run();
  expect(await held(person)).toMatchObject({ title: 'Chef' });
});

test.each([
  ['the first look', async () => undefined],
  [
    'the employee is first shown',
    async (person: Person) => {
      world.removeEmployee(person);
      expect(await run()).toMatchObject({ counts: { skipped: 1 } });
      world.returnEmployee(person);
    },
  ],
])('a change between the hire and %s counts', async (_until, happens) => {
  const person = await open(['title']);
  const change = { kind: 'create', fields: { title: 'Cook', startDate: START }, reference: 'r' };
  await insertPlan(store(), refOf(person), { mappingHash: 'one', change });
  atPartner(person, { title: 'Chef' });
  await happens(person);
  await run();
  expect(await held(person)).toMatchObject({ title: 'Chef' });
});

test('a question outlives the plan of its hire', async () => {
  const person = await open();
  const change = { kind: 'create', fields: { title: 'Cook', startDate: START }, reference: 'r' };
  await insertPlan(store(), refOf(person), { mappingHash: 'one', change });
  atPartner(person, { startDate: '2026-03-01', title: 'Chef' });
  await run();
  world.store.all('delete from plans');
  expect(await run()).toMatchObject({ state: 'partial', counts: { held: 1 } });
});

test.each<HireState>(['open', 'left', 'cancelled'])('nobody is amended whose hire is %s', async (state) => {
  await open(['title']);
  const other = await hired(state);
  await run();
  atPartner(other, { title: 'Chef' });
  expect(await run()).toMatchObject({ state: 'done', counts: { read: 1 } });
  expect(await held(other)).toMatchObject({ title: 'Cook' });
});

test.each(['lost-before', 'lost-answer'] as const)(
  'a write that is %s is looked up before it is sent again',
  async (what) => {
    const person = await open(['title']);
    await run();
    atPartner(person, { title: 'Chef' });
    let mishaps = 0;
    const updateMishap = () => ((mishaps += 1) === 1 ? what : undefined);
    expect(await run({ updateMishap })).toMatchObject({ counts: { skipped: 1 } });
    await run({ updateMishap });
    expect(await run({ updateMishap })).toMatchObject({ state: 'done' });
    expect(await held(person)).toMatchObject({ title: 'Chef' });
    expect(world.writes.hris).toBe(1);
  },
);

test('an edit of the HR system between our read and our write is not overwritten, and then asked about', async () => {
  const person = await open(['title']);
  await run();
  atPartner(person, { title: 'Chef' });
  const pause = async (point: string) => {
    if (point === 'hris.update/before')
      await world.hris.employees.update(person.employeeId, { title: 'Baker' }, write());
  };
  expect(await run({ pause })).toMatchObject({ counts: { skipped: 1 } });
  expect(await run()).toMatchObject({ state: 'partial', counts: { held: 1 } });
  expect(await held(person)).toMatchObject({ title: 'Baker' });
});

test('killed at any step, a later run has the amendment there once', async () => {
  const person = await open(['title']);
  await run();
  let steps = 0;
  for (let died = true; died; steps += 1) {
    const title = `Title ${steps}`;
    atPartner(person, { title });
    died = await runKilledAt(steps);
    for (const _thrice of [1, 2, 3]) await run();
    expect(await held(person), `killed at step ${steps}`).toMatchObject({ title });
    expect(world.writes.hris, `killed at step ${steps}`).toBe(steps + 1);
  }
  expect(steps).toBeGreaterThan(10);
});

/** A process that comes no further than so many steps; false where it came to its end. */
async function runKilledAt(step: number): Promise<boolean> {
  const death = Promise.withResolvers<boolean>();
  let passed = 0;
  const pause = async () => {
    passed += 1;
    if (passed <= step) return;
    death.resolve(true);
    await new Promise<never>(() => undefined);
  };
  return Promise.race([run({ pause }).then(() => false), death.promise]);
}

test('an amendment that was written a moment ago is not counted as left out', async () => {
  const person = await open(['title']);
  await run();
  atPartner(person, { title: 'Chef' });
  expect(await run()).toMatchObject({ state: 'done', counts: { updated: 1, skipped: 0 } });
  const calm = { pause: async () => undefined, mishap: () => undefined, later: () => undefined };
  const atOnce = await world.exchange('at once', { ...calm, updateMishap: () => undefined });
  expect(atOnce).toMatchObject({ state: 'done', counts: { unchanged: 1, skipped: 0 } });
  expect(await held(person)).toMatchObject({ title: 'Chef' });
});
