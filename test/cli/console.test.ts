import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startUpConsole } from '../../src/cli/up.ts';
import { openStore } from '../../src/store/open-store.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchDir, startCli, tenantDir } from './cli-process.ts';

async function dataDir(): Promise<string> {
  const data = await scratchDir();
  await (await openStore(`sqlite:${join(data, 'store.db')}`)).close();
  return data;
}

async function signsIn(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/?token=${token}`, { redirect: 'manual' })).status;
}

test('console prints an address on loopback with a token that opens it, and ends when asked to', async () => {
  const places = ['--data', await dataDir(), '--tenants', await tenantDir()];
  const { child, out, urls, exited } = startCli(['console', '--port', '0', ...places]);
  const { console: url = '' } = await urls();
  await expect.poll(() => /token=([\w-]{43})\n/.exec(out.stdout)?.[1]).toBeTruthy();
  const token = /token=([\w-]{43})\n/.exec(out.stdout)?.[1] ?? '';
  expect(out.stdout).toBe(`console  ${url}/?token=${token}\n`);
  expect([new URL(url).hostname, await signsIn(url, token), await signsIn(url, 'x')]).toEqual(['127.0.0.1', 303, 403]);
  child.kill('SIGTERM');
  const { code, stderr } = await exited;
  expect([code, stderr.includes(token)]).toEqual([0, false]);
});

test('a token of a setting is taken and never printed; one that could be guessed is refused', async () => {
  const places = ['--data', await dataDir(), '--tenants', await tenantDir()];
  const file = join(await scratchDir(), 'token');
  const env = { HIREBRIDGE_CONSOLE_TOKEN: `file:${file}` };
  await writeFile(file, 'short\n');
  const refused = await runCommand(['console', '--port', '0', ...places], env);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('fewer than 20 characters')]);
  await writeFile(file, 'a-token-of-a-file-0123456789\n');
  const { out, urls } = startCli(['console', '--port', '0', ...places], env);
  const { console: url = '' } = await urls();
  expect(await signsIn(url, 'a-token-of-a-file-0123456789')).toBe(303);
  expect(out.stdout + out.stderr).not.toContain('a-token-of-a-file');
});

test('console does not create a store where there is none', async () => {
  const data = await scratchDir();
  const { code } = await runCommand(['console', '--port', '0', '--data', data, '--tenants', await tenantDir()]);
  expect({ code, files: await readdir(data) }).toEqual({ code: 2, files: [] });
});

test('up starts the pages with a token of its own; a second one on this machine takes another port', async () => {
  const places = { dataDir: await dataDir(), tenantsDir: await tenantDir() };
  const addresses: URL[] = [];
  for (const port of [undefined, undefined]) {
    const pages = await startUpConsole(places, { port, env: {} });
    onTestFinished(() => pages.close());
    addresses.push(new URL(pages.address));
  }
  expect(new Set(addresses.map(({ port }) => port)).size).toBe(2);
  for (const { origin, searchParams } of addresses)
    expect(await signsIn(origin, searchParams.get('token') ?? '')).toBe(303);
});
