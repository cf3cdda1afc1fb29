import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeNewFiles } from '../../../src/operator/new-tenant.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';

test('a secret and its folder may be read by their owner alone', async () => {
  const path = join(await scratchFolder(), 'secrets', 'partner.key');
  await writeNewFiles([{ path, text: 'not-a-key\n', isSecret: true }]);
  const modes = [join(path, '..'), path].map((one) => (statSync(one).mode & 0o777).toString(8));
  expect(modes).toEqual(['700', '600']);
});
