import { afterEach, expect, test } from 'vitest';
import { exchangePairs } from '../../activities/exchange/exchange-pairs.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { CALM } from '../convergence/calm.ts';
import { mappingText } from '../convergence/fields.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, type World } from '../convergence/world.ts';
import { bothValues, exchangeLater, fieldOf } from './in-exchange.ts';

let world: World;
afterEach(() => world.close());

/** A partner whose applications show no custom field of the candidate (K15); the list of values does. */
const refuses = (method: string, url: string, body: string) => {
  if (method !== 'POST' || !url.endsWith('/job-candidates/bulk-fetch')) return undefined;
  const headers = { authorization: 'Bearer sk_test_ConvergenceSeed0123456', 'content-type': 'application/json' };
  const answer = handle(world.state, { method, url, headers, body });
  const shown = JSON.parse(answer.body, (key, value: unknown) =>
    key === 'customFields' ? undefined : value,
  ) as unknown;
  return { ...answer, body: JSON.stringify(shown) };
};

test.each([
  // The partner owns it.
  ['probationEnd', '2026-06-01', '2026-05-01', '2026-07-01'],
  // Either side may, and the partner wins where they differ.
  ['level', 'Lead', 'Senior', 'Fellow'],
])(
  'a value that no application shows is not taken for empty, nor overwritten: %s',
  async (name, first, other, next) => {
    world = await createWorld();
    const person = await world.hire();
    world.editPartner(person, fieldOf(name), first);
    await world.editHris(person, fieldOf(name), other);
    expect(await exchangeLater(world, { refuses })).toMatchObject({ state: 'done' });
    expect(await bothValues(world, person, name)).toEqual([first, first]);
    world.editPartner(person, fieldOf(name), next);
    expect(await exchangeLater(world, { refuses })).toMatchObject({ state: 'done' });
    expect(await bothValues(world, person, name)).toEqual([next, next]);
  },
);

test('once a record was found to lack a value, all are asked for theirs', async () => {
  world = await createWorld();
  const [known, other] = [await world.hire(), await world.hire()];
  world.editPartner(known, fieldOf('level'), 'Lead');
  await world.editHris(known, fieldOf('level'), 'Senior');
  const open = world.open({ ...CALM, refuses });
  const run = (runId: string) => {
    world.clock.advance(120_000);
    return exchangePairs(open.deps, { tenantId: 'acme', stream: 'employees', runId, full: false, begun: true });
  };
  await run('first');
  world.editPartner(other, fieldOf('level'), 'Lead');
  await run('second');
  expect(await bothValues(world, other, 'level')).toEqual(['Lead', 'Lead']);
});

/** The HR system owns every field. */
const OWNED = mappingText().replaceAll(/owner: \w+(, conflict: \w+)?/g, 'owner: hris');

test.each([
  ['both', OWNED],
  ['toPartner', OWNED.replaceAll('direction: both, owner: hris', 'direction: toPartner')],
])(
  'a value that no application shows is known to have arrived where the HR system owns all fields: %s',
  async (_direction, rules) => {
    world = await createWorld(rules);
    const person = await world.hire();
    for (const value of ['CC-1', 'CC-2', null]) {
      await world.editHris(person, fieldOf('costCentre'), value);
      const before = world.writes.partner;
      await exchangeLater(world, { refuses });
      expect(await bothValues(world, person, 'costCentre')).toEqual([value, value]);
      for (let n = 0; n < 4; n += 1)
        expect(await exchangeLater(world, { refuses })).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
      expect(world.writes.partner).toBe(before + 1);
    }
  },
);

test('where applications show what there is, no values are asked for that the HR system owns', async () => {
  world = await createWorld(OWNED);
  const people = [await world.hire(), await world.hire()];
  const asked: string[] = [];
  const mishap = (method: string, url: string): undefined => {
    if (method === 'GET' && url.includes('/custom-field-values')) asked.push(url);
  };
  const [one, other] = people;
  for (const person of people) await world.editHris(person, fieldOf('costCentre'), 'CC-1');
  await exchangeLater(world, { mishap });
  for (const edit of [
    () => world.editHris(one as Person, fieldOf('costCentre'), 'CC-2'),
    async () => world.editPartner(one as Person, fieldOf('costCentre'), null),
    () => world.editHris(other as Person, fieldOf('costCentre'), null),
  ]) {
    await edit();
    await exchangeLater(world, { mishap });
    await exchangeLater(world, { mishap });
  }
  expect(await bothValues(world, one as Person, 'costCentre')).toEqual(['CC-2', 'CC-2']);
  expect(await bothValues(world, other as Person, 'costCentre')).toEqual([null, null]);
  expect(asked).toEqual([]);
});

test("a value that is to stay beside the HR system's is not overwritten because no application shows it", async () => {
  world = await createWorld(OWNED.replaceAll('owner: hris', 'owner: hris, report: true'));
  const person = await world.hire();
  world.editPartner(person, fieldOf('costCentre'), 'CC-8');
  await world.editHris(person, fieldOf('costCentre'), 'CC-9');
  await exchangeLater(world, { refuses });
  expect(await bothValues(world, person, 'costCentre')).toEqual(['CC-8', 'CC-9']);
});
