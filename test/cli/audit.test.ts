import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { systemUser } from '../../src/places.ts';
import { audit, HEADS_FILE, keepAudit } from '../../src/store/audit.ts';
import { openStore } from '../../src/store/open-store.ts';
import { addTenant } from '../console/open-console.ts';
import { runCommand } from '../harness/run-command.ts';
import { unguardAudit } from '../store/stores.ts';
import { scratchDir } from './cli-process.ts';

test('audit verify and export: whole, then tampered with; the program of the guide says the same', async () => {
  const data = await scratchDir();
  const store = await openStore(`sqlite:${join(data, 'store.db')}`);
  onTestFinished(() => store.close());
  await addTenant(store, 'acme');
  for (const by of ['ann', 'bob']) await audit(store, { by, tenantId: 'acme', act: 'paused', details: `by ${by}` });
  await keepAudit(store, data);
  expect(await runCommand(['freeze', 'acme', '--as', 'eve', '--data', data])).toMatchObject({ code: 0 });
  expect(await runCommand(['conflicts', 'acme', '--data', data])).toMatchObject({ code: 0 });
  const verify = () => runCommand(['audit', 'verify', 'acme', '--data', data]);
  const whole = await verify();
  expect([whole.code, whole.stderr]).toEqual([0, '']);
  expect(whole.stdout).toMatch(/^ok {4}acme .*4 rows as they were written; noted outside the store up to row 4\nHeads/);

  // The same lines as a log has them, without the file.
  const log = join(data, 'worker.log');
  const heads = (await readFile(join(data, HEADS_FILE), 'utf8')).trim().split('\n');
  await writeFile(log, heads.map((head) => `{"level":"info","auditHead":${head},"msg":"audit trail"}\n`).join(''));
  await rm(join(data, HEADS_FILE));
  const all = await runCommand(['audit', 'verify', '--heads', log, '--data', data]);
  expect([all.code, all.stdout]).toEqual([0, expect.stringContaining('noted outside the store up to row 4') as string]);

  const [, program = ''] =
    /```js audit-verify\n(.*?)```/s.exec(await readFile(join(import.meta.dirname, '../../docs/security.md'), 'utf8')) ??
    [];
  const file = join(data, 'verify.mjs');
  await writeFile(file, program);
  const exported = join(data, 'acme.jsonl');
  const check = async (): Promise<string> => {
    const { code, stdout } = await runCommand(['audit', 'export', 'acme', '--since', '1h', '--data', data]);
    expect(code).toBe(0);
    await writeFile(exported, stdout);
    return (await promisify(execFile)(process.execPath, [file, exported])).stdout;
  };
  expect(await check()).toBe('');
  const lines = (await readFile(exported, 'utf8')).trim().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as { by?: string; actor?: string });
  expect(rows).toHaveLength(5);
  expect(rows[2]).toMatchObject({
    by: `${systemUser()} for eve`,
    actor: expect.stringMatching(/^user:\d+\/.+/) as string,
  });

  await unguardAudit('sqlite', store.kysely, async () => {
    await store.kysely.updateTable('audit').set({ by: 'mallory' }).where('seq', '=', 2).execute();
  });
  const changed = await verify();
  expect(changed.code).toBe(2);
  expect(changed.stdout).toMatch(
    /^fail {2}acme .*Row 2 of the audit trail of acme is not as it was written .*by mallory/,
  );
  expect(await check()).toBe('acme 2\n');
});
