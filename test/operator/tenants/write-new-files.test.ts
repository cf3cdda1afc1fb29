import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { writeNewFiles } from '../../../src/operator/new-tenant.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';

const NEW_TENANT = join(import.meta.dirname, '../../../src/operator/new-tenant.ts');

test('a secret and its folder may be read by their owner alone', async () => {
  const path = join(await scratchFolder(), 'secrets', 'partner.key');
  await writeNewFiles([{ path, text: 'not-a-key\n', isSecret: true }]);
  const modes = [join(path, '..'), path].map((one) => (statSync(one).mode & 0o777).toString(8));
  expect(modes).toEqual(['700', '600']);
});

test('what cannot be written whole is not left in part, so that the next try meets no file', async () => {
  const folder = await scratchFolder();
  const files = ['partner.key', 'acme.yaml'].map((name) => ({ path: join(folder, name), text: name, isSecret: true }));
  const code = `import { writeNewFiles } from ${JSON.stringify(NEW_TENANT)};
    await writeNewFiles(JSON.parse(process.argv[1]));`;
  const long = [...files, { path: join(folder, 'mapping.yaml'), text: 'x'.repeat(2_000), isSecret: false }];
  // No file takes more than 1,024 bytes: a longer one is written in part, as on a full disk.
  const limited = ['-c', 'ulimit -f 2; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', code];
  await expect(promisify(execFile)('sh', [...limited, JSON.stringify(long)])).rejects.toThrow('EFBIG');
  expect(await readdir(folder)).toEqual([]);
  await writeNewFiles(files);
  await expect(writeNewFiles(files)).rejects.toThrow(/partner\.key, .*acme\.yaml exists/);
});
