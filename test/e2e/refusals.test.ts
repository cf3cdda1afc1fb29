import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scratchDir, tenantDir } from '../cli/cli-process.ts';
import { joinFleet } from '../harness/fleet.ts';
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
      // The usual ports may be taken on this machine.
      const port = ['--health-port', '0', ...(part === 'serve' ? ['--port', '0'] : [])];
      const { code, stderr } = await runCommand([part, '--tenants', tenants, '--data', data, ...port]);
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

test('an HR system that cannot be reached is one hold of the tenant, and hires finish once it answers', async () => {
  const world = await joinFleet();
  onTestFinished(world.close);
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
