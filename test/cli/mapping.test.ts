import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { runCommand } from '../harness/run-command.ts';
import { TENANT, tenantDir } from './cli-process.ts';

const ROOT = join(import.meta.dirname, '../..');
let dir: string;

beforeEach(async () => {
  dir = await tenantDir();
  await writeFile(join(dir, 'acme.yaml'), `${TENANT}mapping: acme-mapping.yaml\n`);
  const [, mapping = '', cases = ''] =
    /```yaml\n(.*?)```.*```yaml\n(.*?)```/s.exec(await readFile(join(ROOT, 'docs/mapping.md'), 'utf8')) ?? [];
  await writeFile(join(dir, 'acme-mapping.yaml'), mapping);
  await writeFile(join(dir, 'acme-mapping.cases.yaml'), cases);
  await writeFile(join(dir, 'group.yaml'), 'fields:\n  employmentType: { constant: temporary }\n');
  await writeFile(join(dir, 'departments.csv'), 'partner,hris\nKitchen,KIT\n');
});

const mapping = (verb: string, ...more: string[]) => runCommand(['mapping', verb, 'acme', ...more, '--tenants', dir]);

test('mapping show names for each rule the file and line it comes from', async () => {
  const { code, stdout } = await mapping('show', '--json');
  expect(code).toBe(0);
  const { rules } = JSON.parse(stdout) as { rules: { field: string; rule: string; file: string; line: number }[] };
  const from = (field: string): string => {
    const found = rules.find((rule) => rule.field === field);
    return found === undefined
      ? 'nowhere'
      : `${found.file.replace(`${dir}/`, '').replace(`${ROOT}/`, '')}:${found.line}`;
  };
  expect(['email', 'startDate', 'employmentType', 'title', 'city'].map(from)).toEqual([
    'mappings/base/employee.yaml:7',
    'acme-mapping.yaml:6',
    'acme-mapping.yaml:9',
    'acme-mapping.yaml:4',
    'nowhere',
  ]);
});

test('mapping show, check and test know what a new job gets of a requisition', async () => {
  const tenant = TENANT.replace(
    /^hris:\n/m,
    'hris:\n  requisitions: { fields: { costCentre: { column: cost_centre } } }\n',
  );
  await writeFile(
    join(dir, 'acme.yaml'),
    `${tenant}streams: { requisitions: { mapping: jobs.yaml } }\nrequisitions: { reference: Requisition }\n`,
  );
  await writeFile(join(dir, 'jobs.yaml'), 'fields:\n  state: { from: requisition.city, required: true }\n');
  const one = 'cases:\n  - { name: Oslo, record: { requisition: { city: Oslo } }, fields: { state: Bergen } }\n';
  await writeFile(join(dir, 'jobs.cases.yaml'), one);
  const { stdout } = await mapping('show', 'requisitions', '--json');
  const { rules } = JSON.parse(stdout) as { rules: { field: string; file: string }[] };
  expect(rules.find(({ field }) => field === 'state')?.file).toBe(join(dir, 'jobs.yaml'));
  expect((await mapping('check')).stdout).toMatch(/^ok {4}requisitions: /m);
  expect((await mapping('test')).stdout).toContain('state is "Oslo", expected "Bergen"');
});

test('mapping check passes the files of the guide and names each mapping with its version', async () => {
  const { code, stdout } = await mapping('check');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {4}employee: \d+ fields, version [0-9a-f]{12}\n/)]);
});

test('mapping test runs the cases beside the file, and names what differs', async () => {
  expect(await mapping('test')).toMatchObject({ code: 0, stdout: expect.stringContaining('a cook in Berlin') });
  await writeFile(join(dir, 'departments.csv'), 'partner,hris\nKitchen,COOKS\n');
  const { code, stdout } = await mapping('test');
  expect(code).toBe(2);
  expect(stdout).toContain('department is "COOKS", expected "KIT"');
  // Nobody who reads a pipe sees colours.
  expect(stdout).not.toContain('\u001b');
  const [result] = JSON.parse((await mapping('test', '--json')).stdout) as { name: string; wrong: string[] }[];
  expect(result).toMatchObject({ name: 'a cook in Berlin', wrong: [expect.stringContaining('COOKS')] });
});

test('a case that names no field of the mapping is refused with its place', async () => {
  const file = join(dir, 'acme-mapping.cases.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace('department: KIT', 'departmant: KIT'));
  const { code, stderr } = await mapping('test');
  expect(code).toBe(2);
  expect(stderr).toMatch(/acme-mapping\.cases\.yaml:6:\d+ "departmant" is not a field of this mapping/);
});

test('mapping schema prints the schema that is kept for editors', async () => {
  const { stdout } = await runCommand(['mapping', 'schema']);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(await readFile(join(ROOT, 'mappings/mapping.schema.json'), 'utf8')));
});

test('a mapping file of another tenant beside it, and its cases, are no tenant files', async () => {
  await copyFile(join(dir, 'acme-mapping.cases.yaml'), join(dir, 'other.cases.yaml'));
  expect(await mapping('check')).toMatchObject({ code: 0 });
});
