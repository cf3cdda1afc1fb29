import { afterEach, expect, test } from 'vitest';
import { exchangePairs } from '../../activities/exchange/exchange-pairs.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { CALM } from '../convergence/calm.ts';
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
