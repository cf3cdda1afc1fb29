import { afterEach, describe, expect, test } from 'vitest';
import { formOf } from '../../src/exchange/see-fields.ts';
import { readFailed } from '../../src/operator/failed.ts';
import { startApiServer } from '../../src/sandbox/server.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { retryLeftOutPairs } from '../../src/store/linked-pairs.ts';
import { CALM } from '../convergence/calm.ts';
import type { TwoWayField } from '../convergence/fields.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { type RawHr, sqliteHr } from './raw-hr.ts';

// One value in two spellings, and sides that keep values in a spelling of their own.

let world: World;
let hr: RawHr;
let server: Awaited<ReturnType<typeof startApiServer>>;
let person: Person;
let runs = 0;
/** Requests that changed something at the partner. */
let changes = 0;
afterEach(async () => {
  await server.close();
  await world.close();
});

const ofProfile = (name: string, property: string): TwoWayField => {
  return { name, column: name, type: 'text', owner: 'either', at: { property }, value: () => null };
};
const mail = ofProfile('mail', 'email');
const city = ofProfile('city', 'city');
const store = () => world.store.connect(async () => undefined);

/** An HR system's own way of writing cities, whoever writes them. */
const written = (as: string): string => `create trigger own_spelling after update of city on employees
  when new.city <> (${as}) begin update employees set city = (${as}) where id = new.id; end`;

/** Both sides hold ada1@example.com and Berlin; further statements are the HR system's own. */
async function begin(rules: string, ...statements: string[]): Promise<void> {
  hr = await sqliteHr();
  const text = `fields:
  mail: { from: candidate.email, direction: both, ${rules} }
  city: { from: candidate.city, direction: both, ${rules} }\n`;
  world = await createWorld(text, { ...exchanged, fields: [mail, city] }, { url: hr.url });
  const onRequest = ({ method }: { method: string }): void => void (changes += method === 'PATCH' ? 1 : 0);
  server = await startApiServer(world.state, { port: 0, onRequest });
  person = await world.hire();
  await hr.run(`update employees set mail = email, city = 'Berlin'`, ...statements);
  changes = 0;
}

async function exchange() {
  world.clock.advance(120_000);
  runs += 1;
  const { state, counts } = await world.exchange(`run ${runs}`, {
    ...CALM,
    partnerAt: `http://127.0.0.1:${server.port}`,
  });
  return { state, ...counts };
}

/** Five passes; what they wrote on either side. */
async function fivePasses(): Promise<{ partner: number; hris: number }> {
  const before = { partner: changes, hris: world.writes.hris };
  for (let n = 0; n < 5; n += 1) await exchange();
  return { partner: changes - before.partner, hris: world.writes.hris - before.hris };
}

async function shown(name: string): Promise<unknown[]> {
  const held = await world.read(person);
  return [held?.partner[name], held?.hris[name]];
}

const conflicts = async (all = true) =>
  (await listConflicts(store(), { tenantId: 'acme', all })).map(({ field, kind, code }) => [field, kind, code]);

const OWNERS = ['owner: partner', 'owner: hris', 'owner: either, conflict: hold', 'owner: either, conflict: partner'];

describe.each(OWNERS)('%s', (rules) => {
  test('an address in capitals and a city with a blank behind it are equal when the sides first meet', async () => {
    await begin(rules, `update employees set mail = ' Ada1@Example.COM', city = 'Berlin '`);
    expect(await exchange()).toMatchObject({ state: 'done', unchanged: 1 });
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await conflicts()).toEqual([]);
    expect(await shown('mail')).toEqual(['ada1@example.com', ' Ada1@Example.COM']);
  });

  test('a value that the other side keeps in its own spelling is written once, and nobody edited it', async () => {
    await begin(rules, written('upper(trim(new.city))'));
    await exchange();
    if (rules === 'owner: hris') await world.editHris(person, mail, 'Grace@Example.ORG');
    else world.editPartner(person, city, 'Bonn ');
    expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await conflicts()).toEqual([]);
    if (rules === 'owner: hris') expect(await shown('mail')).toEqual(['grace@example.org', 'Grace@Example.ORG']);
    else expect(await shown('city')).toEqual(['Bonn ', 'BONN']);
  });
});

test('an edit on either side still flows where one of them has a spelling of its own', async () => {
  await begin('owner: either, conflict: hold', written('upper(new.city)'));
  await exchange();
  world.editPartner(person, city, 'Bonn');
  await exchange();
  await exchange();
  await world.editHris(person, city, 'Rom');
  await exchange();
  expect(await shown('city')).toEqual(['ROM', 'ROM']);
  world.editPartner(person, city, 'Rom');
  await exchange();
  expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
  expect(await shown('city')).toEqual(['Rom', 'ROM']);
  world.editPartner(person, city, 'Oslo');
  await exchange();
  expect(await shown('city')).toEqual(['Oslo', 'OSLO']);
  expect(await conflicts()).toEqual([]);
});

test('capitals that a person corrects are an edit like any other', async () => {
  await begin('owner: either, conflict: hold');
  await exchange();
  world.editPartner(person, city, 'bonn');
  await exchange();
  await exchange();
  await world.editHris(person, city, 'Bonn');
  await exchange();
  expect(await shown('city')).toEqual(['Bonn', 'Bonn']);
});

test('a spelling is learned of a write whose end nobody saw, too', async () => {
  await begin('owner: either, conflict: hold', written('upper(new.city)'));
  await exchange();
  world.editPartner(person, city, 'Bonn');
  world.clock.advance(120_000);
  const updateMishap = () => 'lost-answer' as const;
  await world.exchange('in doubt', { ...CALM, updateMishap });
  expect(await shown('city')).toEqual(['Bonn', 'BONN']);
  expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
  expect(await shown('city')).toEqual(['Bonn', 'BONN']);
  expect(await conflicts()).toEqual([]);
});

test('a correction of capitals that never arrived is sent again', async () => {
  await begin('owner: either, conflict: hold');
  await exchange();
  world.editPartner(person, city, 'BERLIN');
  world.clock.advance(120_000);
  await world.exchange('lost', { ...CALM, updateMishap: () => 'lost-before' as const });
  expect(await shown('city')).toEqual(['BERLIN', 'Berlin']);
  await exchange();
  expect(await shown('city')).toEqual(['BERLIN', 'BERLIN']);
});

const OTHERWISE = `case new.city when 'Köln' then 'Cologne' else new.city end`;

test('what comes back as another value three times is said once and sent no more', async () => {
  await begin('owner: partner', written(OTHERWISE));
  await exchange();
  world.editPartner(person, city, 'Köln');
  expect(await fivePasses()).toEqual({ partner: 0, hris: 3 });
  expect(await exchange()).toMatchObject({ state: 'partial', quarantined: 1 });
  expect(await shown('city')).toEqual(['Köln', 'Cologne']);
  expect(await conflicts(false)).toEqual([['city', 'quarantined', 'NOT_KEPT']]);
  const [failed, ...more] = await readFailed(store(), 'acme');
  expect(failed?.reason).toMatch(/^city: written, but it came back different; .*until.*edit/);
  expect(more).toEqual([]);
  world.editPartner(person, city, 'Bonn');
  expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
  expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
  expect(await shown('city')).toEqual(['Bonn', 'Bonn']);
  expect(await readFailed(store(), 'acme')).toEqual([]);
});

describe('where both sides may edit and each writes the value its own way', () => {
  const bounced = async (): Promise<void> => {
    await begin('owner: either, conflict: hris', written(OTHERWISE));
    world.state.run(`create trigger own_spelling after update of body on candidates
      when json_extract(new.body, '$.city') = 'Cologne'
      begin update candidates set body = json_set(new.body, '$.city', 'Köln') where id = new.id; end`);
    await exchange();
    world.editPartner(person, city, 'Köln');
    const { partner, hris } = await fivePasses();
    expect(partner + hris).toBe(1);
    expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
    expect(await shown('city')).toEqual(['Köln', 'Cologne']);
    expect(await conflicts(false)).toEqual([['city', 'quarantined', 'NOT_KEPT']]);
  };

  test.each(['partner', 'hris'] as const)(
    'it goes neither to nor fro, and an edit on the side %s ends it',
    async (side) => {
      await bounced();
      if (side === 'partner') world.editPartner(person, city, 'Oslo');
      else await world.editHris(person, city, 'Oslo');
      expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
      expect(await shown('city')).toEqual(['Oslo', 'Oslo']);
      expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
      expect(await conflicts(false)).toEqual([]);
    },
  );
});

test('what was not kept is written once more where somebody asks for it, and then arrives', async () => {
  await begin('owner: partner', written(OTHERWISE));
  await exchange();
  world.editPartner(person, city, 'Köln');
  await fivePasses();
  await hr.run('drop trigger own_spelling');
  expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
  expect(await retryLeftOutPairs(store(), { tenantId: 'acme', stream: 'employees' })).toEqual([person.employeeId]);
  expect(await exchange()).toMatchObject({ state: 'done', updated: 1 });
  expect(await shown('city')).toEqual(['Köln', 'Köln']);
  expect(await fivePasses()).toEqual({ partner: 0, hris: 0 });
});

test('what an earlier version agreed on letter by letter is still agreed on', async () => {
  await begin('owner: either, conflict: hris');
  world.editPartner(person, city, 'Berlin ');
  await world.editHris(person, city, 'Berlin ');
  await exchange();
  const salt = JSON.stringify([person.employeeId, 'city']);
  world.store.all('update exchange_pairs set bases = ?', JSON.stringify({ city: formOf(salt, 'Berlin ') }));
  world.editPartner(person, city, 'Bonn');
  await exchange();
  expect(await shown('city')).toEqual(['Bonn', 'Bonn']);
});
