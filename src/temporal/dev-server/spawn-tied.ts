import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process';

/**
 * The shell waits for the end of its standard input in a background subshell and becomes the program itself, so that
 * the child's pid and exit code are the program's own. Our end of the pipe closes however we die: SIGKILL runs no
 * handler, and Linux's parent death signal exists neither elsewhere nor in Node.
 */
const TIE = `
signal=$1; shift
exec 3<&0
( trap '' INT TERM
  cat <&3 >/dev/null
  kill -s "$signal" $$ || exit 0
  waited=0
  while [ $waited -lt 50 ] && kill -0 $$; do sleep 0.1; waited=$((waited + 1)); done
  kill -KILL $$
) >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-`;

export interface TiedOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  /** The signal that the child receives when we die; SIGKILL follows 5 s later. */
  signal?: NodeJS.Signals;
  /** Standard output and error; pipes by default. */
  output?: 'pipe' | 'ignore' | number;
}

/**
 * Starts a program that ends when this process ends, even by SIGKILL. It leads its own session, so that Ctrl-C on the
 * terminal reaches us and not the program: the caller decides in which order things end.
 */
export function spawnTied(command: string, args: readonly string[], options: TiedOptions = {}): ChildProcess {
  const { signal = 'SIGTERM', output = 'pipe', ...rest } = options;
  const stdio: StdioOptions = ['pipe', output, output];
  if (process.platform === 'win32') {
    return spawn(command, args, { ...rest, stdio });
  }
  const name = signal.replace(/^SIG/, '');
  const child = spawn('/bin/sh', ['-c', TIE, 'sh', name, command, ...args], { ...rest, stdio, detached: true });
  child.stdin?.on('error', () => undefined);
  child.once('exit', () => child.stdin?.destroy());
  return child;
}

/** Ends a child and waits for it: sends `signal`, then SIGKILL after `graceMs`. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM', graceMs = 5000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await ended;
  clearTimeout(timer);
}
