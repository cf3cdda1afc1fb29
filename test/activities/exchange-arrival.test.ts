import { afterEach, describe, expect, test } from 'vitest';
import { readFailed } from '../../src/operator/failed.ts';
import { startApiServer } from '../../src/sandbox/server.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { retryLeftOutPairs } from '../../src/store/linked-pairs.ts';
import { CALM } from '../convergence/calm.ts';
import type { TwoWayField } from '../convergence/fields.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { type RawHr, sqliteHr } from './raw-hr.ts';

// A side that takes a write and shows it late, never, or as something else: nobody edited what it shows instead.

let server: Awaited<ReturnType<typeof startApiServer>>;
let world: World;
let hr: RawHr;
let person: Person;
/** Requests that changed something at the partner. */
let changes = 0;
let runs = 0;

afterEach(async () => {
  await world.close();
  await server.close();
});

const DAY = 86_400_000;
const city: TwoWayField = {
  name: 'city',
  column: 'city',
  type: 'text',
  owner: 'either',
  at: { property: 'city' },
  value: () => null,
};
const store = () => world.store.connect(async () => undefined);

/** The HR system takes a change into its books by night, and shows the old value until then. */
const BY_NIGHT = [
  'create table books (employee integer, city text)',
  `create trigger by_night after update of city on employees when new.city is not old.city begin
    insert into books values (new.id, new.city); update employees set city = old.city where id = new.id; end`,
];

/** The first of what waits is shown from now on, as the HR system keeps it. */
async function night(as = 'city'): Promise<void> {
  await hr.run(
    'drop trigger by_night',
    `update employees set city = (select ${as} from books order by rowid limit 1)`,
    'delete from books where rowid = (select min(rowid) from books)',
    BY_NIGHT[1] ?? '',
  );
}

/** Both sides hold Berlin; further statements are the HR system's own. */
async function begin(rules: string, ...statements: string[]): Promise<void> {
  hr = await sqliteHr();
  const text = `fields:\n  city: { from: candidate.city, direction: both, ${rules} }\n`;
  world = await createWorld(text, { ...exchanged, fields: [city] }, { url: hr.url });
  const onRequest = ({ method }: { method: string }): void => void (changes += method === 'PATCH' ? 1 : 0);
  server = await startApiServer(world.state, { port: 0, onRequest });
  person = await world.hire();
  await hr.run(`update employees set city = 'Berlin'`);
  await exchange();
  await exchange();
  expect(await shown()).toEqual(['Berlin', 'Berlin']);
  await hr.run(...statements);
  changes = 0;
}

async function exchange(afterMs = 120_000, conditions: Partial<Conditions> = {}) {
  world.clock.advance(afterMs);
  runs += 1;
  const partnerAt = `http://127.0.0.1:${server.port}`;
  const { state, counts } = await world.exchange(`run ${runs}`, { ...CALM, ...conditions, partnerAt });
  return { state, ...counts };
}

/** Five passes; what they wrote on either side. */
async function fivePasses(): Promise<{ partner: number; hris: number }> {
  const before = { partner: changes, hris: world.writes.hris };
  for (let n = 0; n < 5; n += 1) await exchange();
  return { partner: changes - before.partner, hris: world.writes.hris - before.hris };
}

async function shown(): Promise<unknown[]> {
  const held = await world.read(person);
  return [held?.partner['city'] || null, held?.hris['city'] || null];
}

const said = async () =>
  (await listConflicts(store(), { tenantId: 'acme', all: false })).map(({ field, kind, code }) => [field, kind, code]);

/** What was taken may be shown days later, as from rosters. */
function showsWithin(ms: number): void {
  Object.assign(world.hris.capabilities, { shownWithinMs: ms });
}

const EITHER = ['hold', 'partner', 'hris'].map((who) => `owner: either, conflict: ${who}`);

describe.each(EITHER)('%s, where the HR system shows a change days after it was taken', (rules) => {
  test.each(['Bonn', null])('the old value puts nothing back at the partner: %s', async (value) => {
    await begin(rules, ...BY_NIGHT);
    showsWithin(3 * DAY);
    world.editPartner(person, city, value);
    expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await exchange(2 * DAY)).toMatchObject({ state: 'done', unchanged: 1 });
    expect(await shown()).toEqual([value, 'Berlin']);
    await night();
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await shown()).toEqual([value, value]);
    expect(await said()).toEqual([]);
    await hr.run('drop trigger by_night');
    await world.editHris(person, city, 'Oslo');
    await exchange();
    expect(await shown()).toEqual(['Oslo', 'Oslo']);
    await world.editHris(person, city, 'Berlin');
    await exchange();
    expect(await shown()).toEqual(['Berlin', 'Berlin']);
  });

  test('an edit of the partner meanwhile is written, too, and what was written before is no edit', async () => {
    await begin(rules, ...BY_NIGHT);
    showsWithin(3 * DAY);
    world.editPartner(person, city, 'Bonn');
    await exchange();
    world.editPartner(person, city, 'Rom');
    expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    await night();
    expect(await shown()).toEqual(['Rom', 'Bonn']);
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    await night();
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await shown()).toEqual(['Rom', 'Rom']);
    expect(await said()).toEqual([]);
  });

  test('what was taken back before it was shown stays taken back at the partner', async () => {
    await begin(rules, ...BY_NIGHT);
    showsWithin(3 * DAY);
    world.editPartner(person, city, 'Bonn');
    await exchange();
    world.editPartner(person, city, 'Berlin');
    await exchange();
    expect((await fivePasses()).partner).toBe(0);
    await night();
    expect((await fivePasses()).partner).toBe(0);
    expect(await shown()).toEqual(['Berlin', 'Bonn']);
    await exchange(4 * DAY);
    expect(await said()).toEqual([['city', 'quarantined', 'NOT_SHOWN']]);
    expect(await shown()).toEqual(['Berlin', 'Bonn']);
  });

  test('a third value there is an edit', async () => {
    await begin(rules, ...BY_NIGHT);
    showsWithin(3 * DAY);
    world.editPartner(person, city, 'Bonn');
    await exchange();
    await exchange();
    await hr.run('drop trigger by_night', `update employees set city = 'Oslo'`);
    await exchange();
    expect(await shown()).toEqual(['Oslo', 'Oslo']);
    expect(await said()).toEqual([]);
  });
});

describe.each(EITHER)('%s, where the HR system quietly keeps what it had', (rules) => {
  const kept = async (): Promise<void> => {
    await begin(rules, ...BY_NIGHT);
    world.editPartner(person, city, 'Bonn');
    await exchange(10_000);
    expect(await exchange(10_000)).toMatchObject({ state: 'done', unchanged: 1 });
    expect(await exchange()).toMatchObject({ state: 'partial', quarantined: 1 });
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await shown()).toEqual(['Bonn', 'Berlin']);
  };

  test('that is said once, and written no more by itself', async () => {
    await kept();
    expect(await said()).toEqual([['city', 'quarantined', 'NOT_SHOWN']]);
    const [failed, ...more] = await readFailed(store(), 'acme');
    expect(failed?.reason).toMatch(/^city: written and accepted, but the old value is still shown there; .*edits/);
    expect(more).toEqual([]);
    expect((await listConflicts(store(), { tenantId: 'acme', all: true })).length).toBe(1);
  });

  test('an edit of the partner is written, and so is one of the HR system', async () => {
    await kept();
    await hr.run('drop trigger by_night');
    world.editPartner(person, city, 'Rom');
    expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
    expect(await shown()).toEqual(['Rom', 'Rom']);
    await hr.run(BY_NIGHT[1] ?? '');
    world.editPartner(person, city, 'Bonn');
    await exchange();
    await exchange();
    await hr.run('drop trigger by_night', `update employees set city = 'Oslo'`);
    await exchange();
    expect(await shown()).toEqual(['Oslo', 'Oslo']);
    expect(await said()).toEqual([]);
  });

  test('it is written once more where somebody asks for it', async () => {
    await kept();
    await hr.run('drop trigger by_night');
    expect(await retryLeftOutPairs(store(), { tenantId: 'acme', stream: 'employees' })).toEqual([person.employeeId]);
    expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
    expect(await shown()).toEqual(['Bonn', 'Bonn']);
    expect(await said()).toEqual([]);
  });
});

/** The partner shows an edit of its city late. */
const AT_PARTNER = `create trigger late after update of body on candidates
  when json_extract(new.body, '$.city') is not json_extract(old.body, '$.city')
  begin update candidates set body = json_set(new.body, '$.city', json_extract(old.body, '$.city'))
    where id = new.id; end`;

test.each(EITHER)('%s: a partner that shows the old value for a while puts nothing back', async (rules) => {
  await begin(rules);
  await world.editHris(person, city, 'Bonn');
  world.state.run(AT_PARTNER);
  await exchange(10_000);
  expect(await exchange(10_000)).toMatchObject({ state: 'done', unchanged: 1 });
  expect(await shown()).toEqual(['Berlin', 'Bonn']);
  await world.editHris(person, city, 'Rom');
  await exchange(10_000);
  expect(await shown()).toEqual(['Berlin', 'Rom']);
  world.state.run('drop trigger late');
  world.editPartner(person, city, 'Bonn');
  await exchange(10_000);
  expect(await shown()).toEqual(['Bonn', 'Rom']);
  world.editPartner(person, city, 'Rom');
  expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
  expect(await said()).toEqual([]);
});

test.each(EITHER)('%s: a partner that quietly keeps the old value empties nothing, and that is said', async (rules) => {
  await begin(rules);
  await world.editHris(person, city, 'Bonn');
  world.state.run(AT_PARTNER);
  await exchange();
  expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
  expect(await shown()).toEqual(['Berlin', 'Bonn']);
  expect(await said()).toEqual([['city', 'quarantined', 'NOT_SHOWN']]);
});

describe.each(EITHER)('%s, where the HR system makes another value of what was written', (rules) => {
  const makes: [what: string, typed: string, as: string, kept: string][] = [
    ['cuts', 'Königsberg', 'substr(new.city, 1, 5)', 'König'],
    ['rounds', '12.345', 'round(new.city, 1)', '12.3'],
    ['translates', 'Köln', `case new.city when 'Köln' then 'Cologne' else new.city end`, 'Cologne'],
  ];
  const own = (as: string) => `create trigger own after update of city on employees
    when new.city is not (${as}) begin update employees set city = (${as}) where id = new.id; end`;

  test.each(makes)('it %s: what a person typed at the partner stays there', async (_what, typed, as, keeps) => {
    await begin(rules, own(as));
    world.editPartner(person, city, typed);
    expect(await fivePasses()).toEqual({ partner: 0, hris: 1 });
    expect(await shown()).toEqual([typed, keeps]);
    expect(await said()).toEqual([['city', 'quarantined', 'NOT_KEPT']]);
    await hr.run('drop trigger own');
    await world.editHris(person, city, 'Oslo');
    await exchange();
    expect(await shown()).toEqual(['Oslo', 'Oslo']);
    expect(await said()).toEqual([]);
  });

  const ofNames = makes.filter(([what]) => what !== 'rounds');
  test.each(ofNames)(
    'it %s: an edit of the partner before that was seen goes to the HR system',
    async (_what, typed, as) => {
      await begin(rules, own(as));
      world.editPartner(person, city, typed);
      await exchange();
      world.editPartner(person, city, 'Rom');
      await exchange();
      expect(await shown()).toEqual(['Rom', 'Rom']);
    },
  );

  test.each(ofNames)('it %s: an edit of the partner whose write was lost is sent again', async (_what, typed, as) => {
    await begin(rules, own(as));
    world.editPartner(person, city, typed);
    await exchange();
    await exchange();
    world.editPartner(person, city, 'Rom');
    await exchange(120_000, { updateMishap: () => 'lost-before' });
    await exchange();
    expect(await shown()).toEqual(['Rom', 'Rom']);
  });

  test.each(makes.slice(0, 2))('it %s by night: nobody edited that, either', async (_what, typed, as, keeps) => {
    await begin(rules, ...BY_NIGHT);
    showsWithin(3 * DAY);
    world.editPartner(person, city, typed);
    await exchange();
    await night(as.replaceAll('new.city', 'city'));
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await shown()).toEqual([typed, keeps]);
    expect(await said()).toEqual([['city', 'quarantined', 'NOT_KEPT']]);
  });
});

test.each(EITHER)('%s: what was seen to arrive and is put back by a person is an edit', async (rules) => {
  await begin(rules);
  world.editPartner(person, city, 'Bonn');
  await exchange();
  await world.editHris(person, city, 'Berlin');
  await exchange();
  expect(await shown()).toEqual(['Berlin', 'Berlin']);
  expect(await said()).toEqual([]);
});

test('an employee whom the HR system does not show yet is not believed gone before it had the time to', async () => {
  await begin('owner: either, conflict: hris');
  showsWithin(DAY);
  await hr.run('update employees set id = -id');
  expect(await exchange()).toMatchObject({ state: 'partial', skipped: 1 });
  expect(await exchange()).toMatchObject({ state: 'partial', skipped: 1 });
  await hr.run('update employees set id = -id');
  world.editPartner(person, city, 'Bonn');
  expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
  expect(await shown()).toEqual(['Bonn', 'Bonn']);
  await hr.run('update employees set id = -id');
  await exchange();
  await exchange(2 * DAY);
  await hr.run('update employees set id = -id');
  expect(await exchange()).toMatchObject({ state: 'done', read: 0 });
});
