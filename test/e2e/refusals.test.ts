import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scratchDir, tenantDir } from '../cli/cli-process.ts';
import { type FleetTenant, joinFleet } from '../harness/fleet.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { readStatus, untilHired } from '../harness/hiring.ts';
import { runCommand } from '../harness/run-command.ts';
import { until } from '../harness/world.ts';

async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')));
}

describe('invalid files are rejected with exit code 2, the place and the next step; nothing is made', () => {
  const cases: Array<[string, (tenants: string) => Promise<unknown>, RegExp]> = [
    [
      'a tenant file with an unknown key',
      (tenants) => edit(path.join(tenants, 'acme.yaml'), (text) => text.replace('environment:', 'enviroment:')),
      /acme\.yaml:4:3.*enviroment.*environment/s,
    ],
    [
      'a mapping file with a source that does not exist',
      async (tenants) => {
        await writeFile(path.join(tenants, 'map.yaml'), 'fields:\n  givenName: { from: candidate.givenname }\n');
        await edit(path.join(tenants, 'acme.yaml'), (text) =>
          text.replace('policies:', 'mapping: map.yaml\npolicies:'),
        );
      },
      /map\.yaml:2:\d+.*givenname/s,
    ],
    [
      'a secret that is not there',
      (tenants) => edit(path.join(tenants, 'acme.yaml'), (text) => text.replace('file:partner.key', 'env:NO_SUCH_KEY')),
      /NO_SUCH_KEY.*Set the environment variable/s,
    ],
  ];

  test.each(cases)('%s', async (_what, spoil, words) => {
    const [tenants, data] = [await tenantDir(), await scratchDir()];
    await spoil(tenants);
    for (const part of ['worker', 'serve']) {
      const { code, stderr } = await runCommand([part, '--tenants', tenants, '--data', data]);
      expect(stderr).toMatch(words);
      expect(stderr).not.toContain('    at ');
      expect(code).toBe(2);
      // The receiver opens the store while it reads its files, so that its port is never closed for long.
      if (part === 'worker') expect(existsSync(path.join(data, 'store.db'))).toBe(false);
    }
  });
});

test('a Temporal address where nothing listens ends the worker with exit code 1 and the address', async () => {
  const [tenants, data] = [await tenantDir(), await scratchDir()];
  const { code, stderr } = await runCommand(['worker', '--tenants', tenants, '--data', data], {
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });
  expect(code).toBe(1);
  expect(stderr).toContain('127.0.0.1:1');
  expect(existsSync(path.join(data, 'store.db'))).toBe(false);
});

async function join(): Promise<FleetTenant> {
  const world = await joinFleet();
  onTestFinished(world.close);
  return world;
}

test('an HR system that cannot be reached is one hold of the tenant, and hires finish once it answers', async () => {
  const world = await join();
  const file = path.join(world.tenantsDir, `${world.tenant}.yaml`);
  const good = await readFile(file, 'utf8');
  await edit(file, (text) => text.replace(/url: "sqlite.*"/, 'url: postgres://nobody@127.0.0.1:1/none'));
  await world.cli(['tenant', 'apply', '--yes', '--unchecked']);
  await until('the hold', async () => (await readStatus(world)).holds.includes('HRIS_UNREACHABLE'));
  const [applicant] = await world.applicants();
  await world.control.act('move', { jobCandidateIds: [applicant?.jobCandidateId ?? 0], stageType: 'HIRED' });
  await writeFile(file, good);
  // Somebody is known under the wrong address by now.
  await until('an enrolment, before which the person is claimed', async () => {
    return (await world.effects('enrolment')).length === 1;
  });
  const asked = await world.cli(['tenant', 'apply', '--yes']);
  expect(asked).toMatchObject({ code: 2, stdout: expect.stringContaining('--hris keep') });
  expect(await world.cli(['tenant', 'apply', '--yes', '--hris', 'keep'])).toMatchObject({ code: 0 });
  await untilHired(world, 1);
  await until('the hold to close by itself', async () => (await readStatus(world)).holds.length === 0);
  expect(await world.employees()).toHaveLength(1);
});

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
