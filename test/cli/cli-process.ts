import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { collect, type Finished } from '../harness/run-command.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** A directory that is gone after the test. */
export async function scratchDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-cli-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The real CLI as a process that is killed with the test at the latest. */
export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, LOG_FORMAT: 'json', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { out, exited } = collect(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  /** The addresses it announces once it listens; an early end is an error with what it wrote. */
  async function urls(): Promise<Record<string, string>> {
    const ended = exited.then((end) => Promise.reject(new Error(`ended with ${end.code}: ${end.stderr}`)));
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [{ facts: Record<string, string> }];
    return message.facts;
  }
  return { child, out, exited, urls };
}

/** The CLI where no file takes more than 1,024 bytes: a longer one is written in part, and then refused. */
export function onFullDisk(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Finished> {
  const child = spawn('sh', ['-c', 'ulimit -f 2; exec "$@"', 'sh', process.execPath, MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return collect(child).exited;
}

export const WEBHOOK_KEY = 'whk_cli_test_0123456789';

/** A directory with one good tenant file; its secrets are in files beside it. */
export async function tenantDir(): Promise<string> {
  const dir = await scratchDir();
  await writeFile(join(dir, 'partner.key'), 'sandbox_key_0123456789\n');
  await writeFile(join(dir, 'webhook.key'), `${WEBHOOK_KEY}\n`);
  await writeFile(join(dir, 'acme.yaml'), TENANT);
  return dir;
}

export const TENANT = `tenant: acme
partner:
  baseUrl: http://127.0.0.1:1/v1/partner
  environment: sandbox
  apiKey: file:partner.key
  webhookKeys: [file:webhook.key]
  allowPrivateAddress: true
hris:
  kind: sql
  connection: acme-hr
  url: sqlite:hris.db
policies:
  onboarding: { flow: flow-1 }
`;
