import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import { modulePlace } from '../../src/hris/module.ts';
import { openHris } from '../../src/hris/registry.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { refusal, signal } from './profile.ts';

/** A module beside a tenant file, which it is named from. */
async function placed(text: string, name = 'acme-hr.ts'): Promise<string> {
  const folder = await scratchFolder();
  await writeFile(join(folder, name), text);
  return modulePlace(`./${name}`, join(folder, 'acme.yaml'));
}

const ADAPTER = `
export const adapter = {
  optionsSchema: () => ({ safeParse: (data: object) => ({ success: true, data }) }),
  systemOf: () => ({}),
  employeeFields: () => [],
  open: async ({ room }: { room: string }) => ({
    capabilities: { storesReference: false, readLagMs: 0 },
    employees: {},
    probe: async () => ({ ok: room === 'kitchen' }),
    close: async () => undefined,
  }),
};`;

test('a module of TypeScript beside the tenant file is a kind', async () => {
  const folder = await scratchFolder();
  const zod = `import { z } from ${JSON.stringify(import.meta.resolve('zod'))};`;
  const strict = ADAPTER.replace(/optionsSchema: .*/, 'optionsSchema: () => z.strictObject({ room: z.string() }),');
  await writeFile(join(folder, 'acme-hr.ts'), zod + strict);
  const module = modulePlace('./acme-hr.ts', join(folder, 'acme.yaml'));
  const hris = await openHris('module', 'acme-hr', { module, room: 'kitchen' });
  expect(await hris.probe(signal)).toEqual({ ok: true });
  expect(await refusal(openHris('module', 'acme-hr', { module, rom: 'kitchen' }))).toMatchObject({
    code: 'HRIS_OPTIONS_INVALID',
    message: expect.stringMatching(/room.*rom/),
  });
});

test('a package installed beside the tenant file is a kind', async () => {
  const folder = await scratchFolder();
  const where = join(folder, 'node_modules', 'acme-hris');
  await mkdir(where, { recursive: true });
  await writeFile(join(where, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  await writeFile(
    join(where, 'index.js'),
    'export default { optionsSchema() {}, systemOf() {}, employeeFields() {} };',
  );
  const module = modulePlace('acme-hris', join(folder, 'acme.yaml'));
  const refused = await refusal(openHris('module', 'acme-hr', { module }));
  expect(refused).toMatchObject({
    code: 'HRIS_MODULE_INVALID',
    message: expect.stringMatching(/by default: open missing/),
  });
});

test.each([
  ['throw new Error("no key\\nin sight");', /acme-hr\.ts cannot be loaded: no key\. It must/],
  ['export const it = await 1;', /cannot be loaded: .*top-level await/],
  [
    'export const other = 1;',
    /exports no adapter of an HR system as "adapter" or by default: the adapter itself missing/,
  ],
])('%s is refused with the reason', async (text, message) => {
  const module = await placed(text);
  expect((await refusal(openHris('module', 'acme-hr', { module }))).message).toMatch(message);
});

test('what is not there is refused where it is named', () => {
  let refused: unknown;
  try {
    modulePlace('./nothing.ts', '/somewhere/acme.yaml');
  } catch (error) {
    refused = error;
  }
  expect(isConnectorError(refused, 'HRIS_MODULE_INVALID')).toBe(true);
});
