import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { writeIds } from '../../../src/operator/write-ids.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { loadTenants } from '../../../src/tenants/load-tenants.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';

/** A real hiring platform, and a tenant file that names its things as people do. */
async function setUp() {
  const sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  vi.stubEnv('WRITE_IDS_KEY', sandbox.key);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { partner } = sandbox;
  const body = { entityType: 'candidate', fieldLabel: 'Employee No', fieldType: 'text' } as const;
  await partner.customFields.create({ body });
  const [flows, fields, jobs, pipelines] = await Promise.all([
    partner.readAll(contract.onboarding.listFlows),
    partner.readAll(contract.customFields.list),
    partner.readAll(contract.jobs.list),
    partner.readAll(contract.pipelines.list),
  ]);
  const [flow, job, pipeline] = [flows.items[0], jobs.items[0], pipelines.items[0]];
  const paper = { pipelineId: Number(pipeline?.id), name: 'Paper work', type: 'OFFER' } as const;
  const { data: stage } = await partner.pipelines.saveStage({ body: paper });
  const field = fields.items.find(({ fieldLabel }) => fieldLabel === 'Employee No');
  const dir = await scratchFolder();
  const file = join(dir, 'acme.yaml');
  const text = (named: { flow: string; job: string; stage: string; field: string }) => `# ours
tenant: acme
partner: { baseUrl: "${sandbox.url}", environment: sandbox, apiKey: env:WRITE_IDS_KEY, webhooks: off,
  allowPrivateAddress: true }
hris: { kind: sql, connection: acme-hr, url: "sqlite:hr.db" }
scope:
  jobs: [${named.job}]
policies:
  enrolAt: [HIRED, ${named.stage}]
  onboarding: { flow: ${named.flow} } # agreed
writeBack:
  customField:   ${named.field}
`;
  const labels = { flow: flow?.name ?? '', job: job?.title ?? '', stage: 'Paper work', field: 'Employee No' };
  const found = { flow, job, stage, field };
  return { dir, file, text, labels, found, write: () => writeIds(dir, 'acme') };
}

test('labels become ids with the label beside them; mode and all other text stay', async () => {
  const { dir, file, text, labels, found, write } = await setUp();
  const quoted = Object.fromEntries(Object.entries(labels).map(([key, label]) => [key, JSON.stringify(label)]));
  await writeFile(file, text({ ...labels, ...quoted }));
  await chmod(file, 0o640);
  const { changes } = await write();
  const { flow, job, stage, field } = found;
  expect(changes.map(({ line, after }) => `${line} ${after}`)).toEqual([
    `7   jobs: ["${job?.id}"] # ${JSON.stringify(job?.title)}`,
    `9   enrolAt: [HIRED, "${stage.id}"] # "Paper work"`,
    `10   onboarding: { flow: "${flow?.flowId}" } # ${JSON.stringify(flow?.name)} - agreed`,
    `12   customField:   "${field?.id}" # "Employee No"`,
  ]);
  const [now, before] = [await readFile(file, 'utf8'), text({ ...labels, ...quoted })].map((one) => one.split('\n'));
  for (const { line, after } of changes) before?.splice(line - 1, 1, after);
  expect(now).toEqual(before);
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  expect(await readdir(dir)).toEqual(['acme.yaml']);
  const [tenant] = await loadTenants(dir);
  expect(tenant).toMatchObject({
    writeBack: { customField: field?.id },
    policies: { onboarding: { flow: flow?.flowId } },
  });
  expect(await write()).toEqual({ file, changes: [] });
});

test('one unclear label, and nothing of the file is written', async () => {
  const { file, text, labels, write } = await setUp();
  const before = text({ ...labels, flow: '"<flowId> or so"', job: JSON.stringify(labels.job) });
  await writeFile(file, before);
  await expect(write()).rejects.toMatchObject({ code: 'IDS_UNCLEAR', message: expect.stringContaining(`${file}:10:`) });
  expect(await readFile(file, 'utf8')).toBe(before);
});

test('a file that would be invalid with its ids too is not written', async () => {
  const { file, text, labels, write } = await setUp();
  const before = `${text({ ...labels, job: JSON.stringify(labels.job), flow: JSON.stringify(labels.flow) })}typo: 1\n`;
  await writeFile(file, before);
  await expect(write()).rejects.toMatchObject({
    code: 'TENANT_FILE_INVALID',
    message: expect.stringContaining('typo'),
  });
  expect(await readFile(file, 'utf8')).toBe(before);
});

test('an unknown tenant, and one that two files name, are rejected before anything is asked', async () => {
  const dir = await scratchFolder();
  await writeFile(join(dir, 'a.yaml'), 'tenant: acme\n');
  await expect(writeIds(dir, 'globex')).rejects.toMatchObject({ code: 'TENANT_UNKNOWN' });
  await expect(writeIds(dir, 'acme')).rejects.toMatchObject({ code: 'TENANT_FILE_INVALID' });
  await writeFile(join(dir, 'b.yaml'), 'tenant: acme\n');
  await expect(writeIds(dir, 'acme')).rejects.toMatchObject({ message: expect.stringContaining('b.yaml:1:9 another') });
});
