import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World, type WorldOptions, writtenBack } from '../harness/world.ts';

let address: string;
let world: World | undefined;

beforeAll(async () => {
  ({ address } = await temporalForTests());
});

afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function build(options: Partial<WorldOptions> = {}): Promise<World> {
  world = await startWorld({
    temporalAddress: address,
    ...options,
    env: { HIREBRIDGE_PAUSED_MS: '1000', ...options.env },
  });
  return world;
}

async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')));
}

async function statusText({ cli }: World): Promise<string> {
  return (await cli(['status'])).stdout;
}

describe('invalid files are rejected with exit code 2, the place and the next step; nothing is made', () => {
  const cases: Array<[string, (world: World) => Promise<unknown>, RegExp]> = [
    [
      'a tenant file with an unknown key',
      (one) => edit(join(one.tenantsDir, 'acme.yaml'), (text) => text.replace('environment:', 'enviroment:')),
      /acme\.yaml:4:3.*enviroment.*environment/s,
    ],
    [
      'a mapping file with a source that does not exist',
      async (one) => {
        await writeFile(join(one.tenantsDir, 'map.yaml'), 'fields:\n  givenName: { from: candidate.givenname }\n');
        await edit(join(one.tenantsDir, 'acme.yaml'), (text) =>
          text.replace('policies:', 'mapping: map.yaml\npolicies:'),
        );
      },
      /map\.yaml:2:\d+.*givenname/s,
    ],
    [
      'a secret that is not there',
      (one) =>
        edit(join(one.tenantsDir, 'acme.yaml'), (text) => text.replace('file:secrets/partner.key', 'env:NO_SUCH_KEY')),
      /NO_SUCH_KEY.*Set the environment variable/s,
    ],
  ];

  test.each(cases)('%s', async (_what, spoil, words) => {
    const built = await build();
    await spoil(built);
    for (const part of ['worker', 'serve']) {
      const { code, stderr } = await built.cli([part]);
      expect(stderr).toMatch(words);
      expect(stderr).not.toContain('    at ');
      expect(code).toBe(2);
      // The receiver opens the store while it reads its files, so that its port is never closed for long.
      if (part === 'worker') expect(existsSync(join(built.dataDir, 'store.db'))).toBe(false);
    }
  });
});

test('a Temporal address where nothing listens ends the worker with exit code 1 and the address', async () => {
  const built = await build();
  const { code, stderr } = await built.cli(['worker'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(code).toBe(1);
  expect(stderr).toContain('127.0.0.1:1');
  expect(existsSync(join(built.dataDir, 'store.db'))).toBe(false);
});

test('an HR system that cannot be reached is one hold of the tenant, and hires finish once it answers', async () => {
  const built = await build({ hris: { createTable: true } });
  const file = join(built.tenantsDir, 'acme.yaml');
  const good = await readFile(file, 'utf8');
  await edit(file, (text) => text.replace(/url: "sqlite.*"/, 'url: postgres://nobody@127.0.0.1:1/none'));
  const worker = await built.startWorker();
  const text = await until('the hold', async () => {
    const shown = await statusText(built);
    return shown.includes('HRIS_') ? shown : undefined;
  });
  expect(text).toContain('HRIS_UNREACHABLE');
  await writeFile(file, good);
  await built.cli(['tenant', 'apply', '--yes']);
  // A worker that starts asks at once; one that runs would wait for its back-off.
  await worker.stop();
  await built.startWorker();
  await until('the hold to close by itself', async () => (await statusText(built)).includes('No holds.'));
});

/** Hires one person, breaks the partner's side before, and mends it after the tenant is seen paused. */
async function pausesAndResumes(
  built: World,
  breakIt: () => Promise<unknown>,
  code: string,
  mendIt: () => Promise<unknown>,
): Promise<void> {
  await built.startReceiver();
  await built.startWorker();
  await until('the baseline', async () => (await statusText(built)).includes('done'));
  const [applicant] = await built.applicants();
  if (applicant === undefined) throw new Error('the sandbox has nobody to hire');
  await breakIt();
  await built.control.act('move', { jobCandidateIds: [applicant.jobCandidateId], stageType: 'HIRED' });
  const paused = await until('the pause', async () => {
    const shown = await statusText(built);
    return shown.includes('is paused') ? shown : undefined;
  });
  expect(paused).toContain(code);
  expect(await built.effects('enrolment')).toEqual([]);
  const pauses = (await built.logs()).split('\n').filter((line) => line.includes('tenant paused'));
  expect(pauses).toHaveLength(1);
  await mendIt();
  await until('the enrolment', async () => (await built.effects('enrolment')).length === 1);
  await built.finishOnboardings().catch(() => undefined);
}

test('a key that is deactivated pauses the tenant once, and its work goes on when the key works again', async () => {
  const built = await build();
  await pausesAndResumes(
    built,
    () => built.control.act('deactivateKey'),
    'UNAUTHORIZED',
    () => built.control.act('activateKey'),
  );
  await until('the write-back', async () => (await writtenBack(built)).size === 1);
  expect(await built.employees()).toHaveLength(1);
});

test('a key answered with 403 pauses the tenant too', async () => {
  const built = await build();
  await pausesAndResumes(
    built,
    () => built.control.act('setFaults', { faults: [{ kind: 'inactive-account' }] }),
    'ACCOUNT_INACTIVE',
    () => built.control.act('clearFaults'),
  );
});

test('an inactive account pauses the tenant until it is active again', async () => {
  const built = await build();
  await pausesAndResumes(
    built,
    () => built.control.act('deactivateAccount'),
    'ACCOUNT_INACTIVE',
    () => built.control.act('reactivateAccount'),
  );
});

test('a key put anew behind its reference is taken without a restart', async () => {
  const built = await build();
  await pausesAndResumes(
    built,
    async () => {
      const { key } = (await built.control.act('regenerateKey')) as { key: string };
      await writeFile(join(built.dir, 'new.key'), `${key}\n`);
    },
    'is paused',
    async () =>
      writeFile(join(built.tenantsDir, 'secrets', 'partner.key'), await readFile(join(built.dir, 'new.key'), 'utf8')),
  );
});
