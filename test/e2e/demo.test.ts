import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { scratchDir, startCli } from '../cli/cli-process.ts';
import { patience } from '../harness/pace.ts';
import { temporalForTests } from '../harness/temporal.ts';

const FIVE = {
  hires: 5,
  enrolments: 5,
  creditsSpent: 5,
  employees: 5,
  distinctEmployeeNumbers: 5,
  writeBacksVerified: 5,
  pulled: { jobs: { partner: 3, hris: 3 }, candidates: { partner: 50, hris: 50 } },
  streams: {
    'second/requisitions': { read: 1, quarantined: 0, held: 0 },
    'demo/employment': { quarantined: 0, held: 0 },
  },
  diverged: 0,
};

/** Every name part, e-mail and phone of the sandbox's people that is long enough to be looked for. */
function personalWords(sandboxFile: string): string[] {
  const database = new DatabaseSync(sandboxFile, { readOnly: true, timeout: 60_000 });
  const rows = database.prepare('select email, body from candidates').all() as { email: string; body: string }[];
  database.close();
  const words = rows.flatMap(({ email, body }) => {
    const { firstName, lastName, phone, phoneNumber } = JSON.parse(body) as Record<string, string | undefined>;
    return [email, firstName, lastName, phone, phoneNumber];
  });
  return [...new Set(words.filter((word) => word !== undefined && word.length > 3))] as string[];
}

function mentioned(words: readonly string[], text: string): string[] {
  return words.filter((word) =>
    new RegExp(`(?<!\\p{L})${word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?!\\p{L})`, 'u').test(text),
  );
}

test('the demo ends with one employee a hire, names nobody anywhere, and leaves nothing running', async () => {
  const { cliPath } = await temporalForTests();
  const data = await scratchDir();
  const report = join(data, 'report.json');
  const demo = startCli(['demo', '--data', data, '--report', report], { TEMPORAL_CLI_PATH: cliPath });
  await expect
    .poll(() => demo.out.stdout, { timeout: patience(280_000), interval: 200 })
    .toContain('Stays until Ctrl-C');

  const dir = join(data, (await readdir(data)).find((name) => name.startsWith('demo-')) ?? '');
  const words = personalWords(join(dir, 'sandbox.db'));
  expect(words.length).toBeGreaterThan(100);
  const metrics = await Promise.all(
    [...demo.out.stdout.matchAll(/health\s+(http\S+)\/readyz/g)].map(async ([, url]) =>
      (await fetch(`${url}/metrics`)).text(),
    ),
  );
  expect(metrics).toHaveLength(2);
  const log = await readFile(join(dir, 'demo.log'), 'utf8');
  const history = await readFile(join(dir, 'data', 'temporal.db'), 'latin1');
  // Proves that ids can be read there in clear, so that names could.
  expect(history).toContain('/hire/demo/');
  for (const text of [log, history, demo.out.stdout, ...metrics]) expect(mentioned(words, text)).toEqual([]);
  expect(mentioned(['hire done'], log)).toHaveLength(1);

  demo.child.kill('SIGINT');
  const { code } = await demo.exited;
  expect(code).toBe(0);
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject(FIVE);
  expect((await readdir(data)).filter((name) => name.startsWith('demo-'))).toEqual([]);
});

test('a demo that is stopped while it starts ends without an error', async () => {
  const { cliPath } = await temporalForTests();
  const demo = startCli(['demo', '--data', await scratchDir()], { TEMPORAL_CLI_PATH: cliPath });
  await expect.poll(() => demo.out.stdout, { timeout: patience(60_000) }).toContain('A hiring platform');
  demo.child.kill('SIGINT');
  const { code, stderr } = await demo.exited;
  expect([code, stderr]).toEqual([130, expect.not.stringContaining('error:')]);
});
