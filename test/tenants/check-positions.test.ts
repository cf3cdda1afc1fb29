import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

let dir: string;
beforeEach(async () => {
  dir = await makeTenantsFolder();
});
afterEach(() => removeTenantsFolder(dir));

const TABLE = '  createTable: true\n  requisitions: { fields: { costCentre: { column: cost_centre } } }\n';
const STREAM = 'streams: { positions: { every: 1h, mapping: positions.yaml } }\n';
const RULE = 'fields:\n  costCentre: { from: "job.customFields[cf-1]", direction: both, owner: hris }\n';

/** What is wrong with acme, one line a problem. */
async function problemsOf(more: string, rules = RULE): Promise<string[]> {
  await writeFile(join(dir, 'acme.yaml'), ACME.replace('  createTable: true\n', TABLE) + STREAM + more);
  await writeFile(join(dir, 'positions.yaml'), rules);
  const error: unknown = await loadTenants(dir).catch((reason: unknown) => reason);
  return error instanceof Error ? error.message.split('\n').map((line) => line.replaceAll(`${dir}/`, '')) : [];
}

test('positions with a custom field of their own are taken', async () => {
  expect(await problemsOf('requisitions: { reference: cf-9 }\n')).toEqual([]);
});

test('positions without jobs that were made of them are refused', async () => {
  expect(await problemsOf('')).toContainEqual(
    expect.stringMatching(/^acme\.yaml:17:\d+ positions exchanges values of jobs that the stream requisitions made/),
  );
});

test.each([
  ['reference: cf-1', 18],
  ['reference: cf-9, values: [{ customFieldId: cf-1, field: costCentre }]', 18],
])('a custom field that requisitions writes as well is refused: %s', async (section, line) => {
  expect(await problemsOf(`requisitions: { ${section} }\n`)).toContainEqual(
    expect.stringMatching(
      new RegExp(`^acme\\.yaml:${line}:\\d+ the mapping of "costCentre" in streams.positions writes cf-1 as well`),
    ),
  );
});

test.each([
  ['costCentre: { from: job.title, direction: toPartner }', 'job.title cannot be changed at the partner'],
  ['costCentre: { from: candidate.city }', 'candidate.city is not available here: this mapping reads job'],
  ['colour: { from: job.title }', '"colour"'],
])('a rule that no position could follow is refused with its place: %s', async (rule, reason) => {
  const problems = await problemsOf('requisitions: { reference: cf-9 }\n', `fields:\n  ${rule}\n`);
  expect(problems).toContainEqual(expect.stringMatching(/^positions\.yaml:2:\d+ /));
  expect(problems.join('\n')).toContain(reason);
});
