import { createHash } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { changeHris } from '../../src/store/change-hris.ts';
import { listConflicts } from '../../src/store/field-conflicts.ts';
import { CALM } from '../convergence/calm.ts';
import { mappingText, twoWayFields } from '../convergence/fields.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, type World } from '../convergence/world.ts';
import { bothValues, exchangeLater, fieldOf } from './in-exchange.ts';

// What both sides agreed on belongs to one field of each side. Another field is met for the first time, and at a first
// meeting an empty side never empties the other.

let world: World;
afterEach(() => world.close());

const exchange = (conditions: Partial<Conditions> = {}) => exchangeLater(world, conditions);
const valuesOf = (person: Person, name: string) => bothValues(world, person, name);

async function listed(): Promise<[string, string][]> {
  const store = world.store.connect(async () => undefined);
  const open = await listConflicts(store, { tenantId: 'acme', all: false });
  return open.map(({ field, kind }) => [field, kind]);
}

/** Somebody deletes the definition and creates it again, as the alarm about the deleted one advises. */
function createAgain(name: string, type?: string): void {
  const { at } = fieldOf(name);
  if ('property' in at) throw new Error(`${name} is no custom field`);
  world.call('DELETE', `/custom-fields/${world.ids.get(name)}`);
  const made = world.call('POST', '/custom-fields', {
    entityType: 'candidate',
    fieldLabel: at.label,
    fieldType: type ?? at.fieldType,
    options: at.options,
  });
  world.ids.set(name, String(made['id']));
}

const ownedByPartner = (name: string): string =>
  mappingText().replace(new RegExp(`(${name}: .*)owner: either, conflict: \\w+`), '$1owner: partner');

test('a custom field that is deleted and created again empties nothing, and is filled where it may be', async () => {
  world = await createWorld();
  const person = await world.hire();
  world.editPartner(person, fieldOf('level'), 'Senior');
  await exchange();
  createAgain('level');
  await exchange();
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual(['Senior', 'Senior']);
});

test('where the partner owns the field, the value stays and the difference is listed', async () => {
  world = await createWorld(ownedByPartner('level'));
  const person = await world.hire();
  world.editPartner(person, fieldOf('level'), 'Senior');
  await exchange();
  createAgain('level');
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual([null, 'Senior']);
  expect(await listed()).toEqual([['level', 'diverged']]);
  world.editPartner(person, fieldOf('level'), 'Lead');
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual(['Lead', 'Lead']);
  expect(await listed()).toEqual([['level', 'put-back']]);
  await exchange();
  world.editPartner(person, fieldOf('level'), null);
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual([null, null]);
});

test('a rule that is pointed at another custom field, still empty, empties nothing', async () => {
  world = await createWorld(ownedByPartner('notes'));
  const person = await world.hire();
  world.editPartner(person, fieldOf('notes'), 'knows Haskell');
  await exchange();
  world.call('POST', '/custom-fields', { entityType: 'candidate', fieldLabel: 'Remarks', fieldType: 'textarea' });
  await world.remap(ownedByPartner('notes').replace('[Notes]', '[Remarks]'));
  await exchange();
  expect((await world.read(person))?.hris['notes']).toBe('knows Haskell');
});

test('a rule that is pointed at another column, still empty, empties nothing at the partner', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'hirebridge-identity-'));
  world = await createWorld(undefined, exchanged, { url: `sqlite:${path.join(folder, 'hr.db')}` });
  const person = await world.hire();
  await world.editHris(person, fieldOf('costCentre'), 'CC-7');
  await exchange();
  const columns = Object.fromEntries(twoWayFields.map(({ name, column, type }) => [name, { column, type }]));
  await world.remap(mappingText(), { fields: { ...columns, costCentre: { column: 'department', type: 'text' } } });
  await exchange();
  expect((await valuesOf(person, 'costCentre'))[0]).toBe('CC-7');
});

/** Somebody whose level was edited in the hiring platform, and is the same on both sides by now. */
async function agreedOnLevel() {
  world = await createWorld();
  const person = await world.hire();
  world.editPartner(person, fieldOf('level'), 'Senior');
  await exchange();
  await exchange();
  return person;
}

test('an HR system that gets another name keeps its fields: an emptied value flows', async () => {
  const person = await agreedOnLevel();
  const { store, tenant } = world.open(CALM);
  await changeHris(store, { tenantId: 'acme', from: 'acme-hr', to: 'renamed', way: 'keep' });
  tenant.hris.connection = 'renamed';
  world.editPartner(person, fieldOf('level'), null);
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual([null, null]);
});

test('fields that an earlier version knew with the name of the HR system are the same fields', async () => {
  const person = await agreedOnLevel();
  const identitiesOf = () => {
    const [row] = world.store.all<{ identities: string }>('select identities from exchange_pairs');
    return JSON.parse(row?.identities ?? '') as Record<string, string>;
  };
  const now = identitiesOf();
  const { column, type } = fieldOf('level');
  const definition = ['candidate', 'customFields', world.ids.get('level'), 'select'];
  const earlier = JSON.stringify([[definition], 'acme-hr', `employees.${column}`, type]);
  const level = createHash('sha256').update(earlier).digest('base64url').slice(0, 10);
  world.store.all('update exchange_pairs set identities = ?', JSON.stringify({ ...now, level }));
  world.editPartner(person, fieldOf('level'), null);
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual([null, null]);
  expect(identitiesOf()).toEqual(now);
});

/** What becomes of a write of another field in the same run. */
const ends: Record<string, Partial<Conditions>> = {
  arrived: {},
  'in doubt': { updateMishap: () => 'lost-answer' },
};
const DECIDED = 'what a person decided of one field says nothing about the one that has its place by now';

test.each(Object.entries(ends))(`${DECIDED}; another write has %s`, async (_end, conditions) => {
  world = await createWorld(mappingText().replace('owner: either, conflict: partner', 'owner: either, conflict: hold'));
  const person = await world.hire();
  world.editPartner(person, fieldOf('level'), 'Senior');
  await world.editHris(person, fieldOf('level'), 'Lead');
  await exchange();
  expect(await listed()).toEqual([['level', 'held']]);
  world.store.all(`update field_conflicts set kept = 'hris'`);
  createAgain('level');
  world.editPartner(person, fieldOf('level'), 'Senior');
  world.editPartner(person, fieldOf('city'), 'Bonn');
  await exchange(conditions);
  await exchange();
  await exchange();
  expect(await valuesOf(person, 'level')).toEqual(['Senior', 'Lead']);
  expect(await listed()).toEqual([['level', 'held']]);
});

const meanwhile: Record<string, () => void> = {
  'renamed, and back again later': () =>
    void world.call('PUT', `/custom-fields/${world.ids.get('level')}`, { fieldLabel: 'Grade' }),
  'deleted and created again': () => createAgain('level'),
};

test.each(Object.entries(meanwhile))(
  'a custom field %s while the records are read empties nothing',
  async (_what, happens) => {
    world = await createWorld(ownedByPartner('level'));
    const person = await world.hire();
    world.editPartner(person, fieldOf('level'), 'Senior');
    await exchange();
    let isOver = false;
    const mishap = (_method: string, asked: string): undefined => {
      if (isOver || !asked.endsWith('/bulk-fetch')) return;
      isOver = true;
      happens();
    };
    await exchange({ mishap }).catch(() => undefined);
    await exchange().catch(() => undefined);
    expect((await world.read(person))?.hris['level']).toBe('Senior');
    expect(isOver).toBe(true);
  },
);

test('a pass without edits writes nothing on either side, and nothing of any pair into the store', async () => {
  await agreedOnLevel();
  const before = { ...world.writes };
  const states = () => world.store.all('select pair_id, version from exchange_pairs');
  const known = states();
  await exchange();
  expect(world.writes).toEqual(before);
  expect(states()).toEqual(known);
});
