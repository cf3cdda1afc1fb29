import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { resolveSecret } from '../../src/tenants/secrets.ts';

const SECRET = 'sk-very-secret-1234';

afterEach(() => vi.unstubAllEnvs());

test('a secret is read from the environment', () => {
  vi.stubEnv('TEST_KEY', SECRET);
  expect(resolveSecret('env:TEST_KEY')).toBe(SECRET);
});

test('a secret is read from a file without its line end', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-secret-'));
  await writeFile(join(dir, 'key'), `${SECRET}\n`);
  expect(resolveSecret(`file:${join(dir, 'key')}`)).toBe(SECRET);
  await rm(dir, { recursive: true });
});

test('an empty secret is a missing one, named by its reference', () => {
  vi.stubEnv('TEST_KEY', '');
  expect(() => resolveSecret('env:TEST_KEY')).toThrow(/env:TEST_KEY is missing or empty/);
});

test('what is no reference is not repeated', () => {
  expect(() => resolveSecret(SECRET)).toThrow(/^(?!.*sk-very)/);
});
