import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../harness/run-command.ts';
import { scriptedPartner, testKey } from '../partner/client/scripted-partner.ts';
import { scratchDir } from './cli-process.ts';

const FLOWS = [
  { flowId: 'flow-1', name: 'Standard', status: 'ACTIVE' },
  { flowId: 'flow-2', name: 'Interns', status: 'ACTIVE' },
];

test('discover --write shows the lines that it changes, and says when there are none', async () => {
  const { baseUrl } = await scriptedPartner(({ query }) => ({
    json: { status: 'success', data: Number(query['page'] ?? 1) > 1 ? [] : FLOWS },
  }));
  const dir = await scratchDir();
  const file = join(dir, 'acme.yaml');
  const write = (...more: string[]) => runCommand(['--tenants', dir, 'discover', 'acme', '--write', ...more]);
  const text = (flow: string) =>
    `tenant: acme
partner: { baseUrl: "${baseUrl}", environment: sandbox, apiKey: file:key, webhooks: off, allowPrivateAddress: true }
hris: { kind: sql, connection: acme-hr, url: "sqlite:hr.db" }
policies:
  onboarding: { flow: ${flow} }
`;
  await writeFile(join(dir, 'key'), testKey);
  await writeFile(file, text('"<flowId>"'));
  const unclear = await write();
  expect(unclear).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`${file}:5:23 `) });
  expect(unclear.stderr).toContain('flow-1 ("Standard", ACTIVE), flow-2 ("Interns", ACTIVE)');

  await writeFile(file, text('Interns'));
  const [before, after] = ['  onboarding: { flow: Interns }', '  onboarding: { flow: "flow-2" } # "Interns"'];
  const written = await write();
  expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n5 - ${before}\n5 + ${after}\n`) });
  expect(written.stdout).toContain('hirebridge tenant apply');
  expect(await readFile(file, 'utf8')).toContain(after);
  expect(await write()).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is written') });
  expect(JSON.parse((await write('--json')).stdout)).toEqual({ file, changes: [] });
  expect(await write('--apply')).toMatchObject({ stderr: expect.stringContaining('cannot be used with') });
});
