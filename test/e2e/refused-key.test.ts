import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type FleetTenant, joinFleet } from '../harness/fleet.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { readStatus } from '../harness/hiring.ts';
import { until } from '../harness/world.ts';

async function join(): Promise<FleetTenant> {
  const world = await joinFleet();
  onTestFinished(world.close);
  return world;
}

/** Hires one person, breaks the partner's side before, and mends it after the tenant is seen paused. */
async function pausesAndResumes(
  world: FleetTenant,
  breakIt: () => Promise<unknown>,
  codes: readonly string[],
  mendIt: () => Promise<unknown>,
): Promise<void> {
  const [applicant] = await world.applicants();
  if (applicant === undefined) throw new Error('the sandbox has nobody to hire');
  await breakIt();
  const traffic = startTraffic(world, [applicant]);
  await traffic.keep(1);
  const paused = await until('the pause', async () => (await readStatus(world)).paused ?? undefined);
  expect(codes).toContain(paused);
  expect(await world.effects('enrolment')).toEqual([]);
  const pauses = (await world.logs())
    .split('\n')
    .filter((line) => line.includes('tenant paused') && line.includes(world.tenant));
  expect(pauses).toHaveLength(1);
  await mendIt();
  await until('the Employee ID', async () => (await traffic.inFlight()).length === 0);
  await traffic.close();
  expect(await world.employees()).toHaveLength(1);
}

test('a key that is deactivated pauses the tenant once, and its work goes on when the key works again', async () => {
  const built = await join();
  await pausesAndResumes(
    built,
    () => built.control.act('deactivateKey'),
    ['UNAUTHORIZED'],
    () => built.control.act('activateKey'),
  );
});

test.each([
  [
    'a key answered with 403',
    { act: 'setFaults', input: { faults: [{ kind: 'inactive-account' }] } },
    { act: 'clearFaults' },
  ],
  ['an inactive account', { act: 'deactivateAccount' }, { act: 'reactivateAccount' }],
] as const)('%s pauses the tenant until it works again', async (_what, broken, mended) => {
  const world = await join();
  const act = (step: { act: string; input?: object }) => world.control.act(step.act as 'move', step.input as never);
  await pausesAndResumes(
    world,
    () => act(broken),
    ['ACCOUNT_INACTIVE'],
    () => act(mended),
  );
});

test('a key put anew behind its reference is taken without a restart', async () => {
  const built = await join();
  await pausesAndResumes(
    built,
    async () => {
      const { key } = (await built.control.act('regenerateKey')) as { key: string };
      await writeFile(path.join(built.dir, 'new.key'), `${key}\n`);
    },
    ['UNAUTHORIZED'],
    async () =>
      writeFile(
        path.join(built.tenantsDir, 'secrets', 'partner.key'),
        await readFile(path.join(built.dir, 'new.key'), 'utf8'),
      ),
  );
});
