import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type SuperviseOptions, supervise } from '../../src/cli/supervise.ts';
import { patience } from '../harness/pace.ts';
import { scratchDir } from './cli-process.ts';

const PARENT = fileURLToPath(new URL('./supervised-parent.ts', import.meta.url));
const SANDBOX = { name: 'sandbox', args: ['sandbox', '--port', '0', '--control-port', '0'] };

/** A supervisor whose children are gone after the test, with what it saw. */
function watch(args: readonly string[] = SANDBOX.args, options: SuperviseOptions = {}) {
  const lines: string[] = [];
  const pids: number[] = [];
  const messages: unknown[] = [];
  const supervisor = supervise([{ name: 'sandbox', args }], {
    print: (line) => lines.push(line),
    onStart: (_name, child) => pids.push(child.pid ?? 0),
    onMessage: (_name, message) => messages.push(message),
    ...options,
  });
  onTestFinished(() => supervisor.stop());
  return { supervisor, lines, pids, messages };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilListening(seen: { messages: unknown[] }, times: number): Promise<void> {
  await vi.waitFor(() => expect(seen.messages).toHaveLength(times), { timeout: patience(30_000) });
}

/** A parent process with one child; resolves with the child's pid once it listens. */
async function startParent(): Promise<{ parent: ChildProcess; childPid: number }> {
  const parent = fork(PARENT, { stdio: 'ignore' });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [{ pid }] = (await once(parent, 'message')) as [{ pid: number }];
  await once(parent, 'message');
  return { parent, childPid: pid };
}

test('a killed parent takes its children with it', async () => {
  const { parent, childPid } = await startParent();
  expect(isAlive(childPid)).toBe(true);
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(isAlive(childPid)).toBe(false), { timeout: patience(30_000) });
});

test('a parent told to stop drains its children and ends with 0', async () => {
  const { parent, childPid } = await startParent();
  parent.kill('SIGTERM');
  const [code] = await once(parent, 'exit');
  expect(code).toBe(0);
  expect(isAlive(childPid)).toBe(false);
});

test('a child that crashes is started again', async () => {
  const seen = watch();
  await untilListening(seen, 1);
  process.kill(seen.pids[0] ?? 0, 'SIGKILL');
  await untilListening(seen, 2);
  expect(seen.pids[1]).not.toBe(seen.pids[0]);
});

test('a suspended child stays down until it is resumed', async () => {
  const seen = watch();
  await untilListening(seen, 1);
  await seen.supervisor.suspend('sandbox');
  expect(isAlive(seen.pids[0] ?? 0)).toBe(false);
  expect(seen.supervisor.child('sandbox')).toBeUndefined();
  seen.supervisor.resume('sandbox');
  await untilListening(seen, 2);
});

test("each line of a child is printed under the child's name", async () => {
  const { lines, ...seen } = watch();
  await untilListening(seen, 1);
  await vi.waitFor(() => expect(lines.some((line) => line.startsWith('sandbox | partner API'))).toBe(true), {
    timeout: patience(30_000),
  });
});

test('a child that refuses its input is not started again, and the refusal goes on to the parent', async () => {
  const data = await scratchDir();
  const ports = ['--port', '0', '--health-port', '0'];
  const { supervisor, pids, lines } = watch(['serve', '--tenants', '/nowhere/tenants', '--data', data, ...ports]);
  await expect(supervisor.failed).rejects.toMatchObject({ code: 'PART_ENDED', action: 'reject' });
  expect(pids).toHaveLength(1);
  await vi.waitFor(() => expect(lines.join('\n')).toContain('/nowhere/tenants'), { timeout: patience(30_000) });
});
