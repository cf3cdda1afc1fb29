import { type ChildProcess, fork } from 'node:child_process';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox.ts';
import type { HostReply, HostRequest } from './host-process.ts';

export interface HostedSandbox extends Omit<Sandbox, 'close'> {
  /** Ends it; the answer is what went wrong inside and never should. */
  close(): Promise<string[]>;
}

/**
 * Starts a sandbox in the process that this file's tests share, so that client and sandbox share sockets and nothing
 * else.
 */
export async function hostSandbox(options: SandboxOptions): Promise<HostedSandbox> {
  const { id, reply } = ask((number) => ({ id: number, start: options }));
  const answer = await reply;
  if (!('started' in answer)) throw new Error('the sandbox was not started');
  return {
    ...answer.started,
    async close() {
      const closed = await ask((number) => ({ id: number, close: id })).reply;
      return 'defects' in closed ? closed.defects : [];
    },
  };
}

let host: ChildProcess | undefined;
let last = 0;
const waiting = new Map<number, { resolve: (reply: HostReply) => void; reject: (error: Error) => void }>();

function ask(make: (id: number) => HostRequest): { id: number; reply: Promise<HostReply> } {
  host ??= startHost();
  last += 1;
  const request = make(last);
  const reply = new Promise<HostReply>((resolve, reject) => waiting.set(request.id, { resolve, reject }));
  host.channel?.ref();
  host.send(request);
  return { id: request.id, reply };
}

/**
 * Ends with the process that started it: its channel is closed then. It keeps that process from ending only while an
 * answer is awaited.
 */
function startHost(): ChildProcess {
  const child = fork(new URL('host-process.ts', import.meta.url), { execArgv: [], serialization: 'advanced' });
  child.on('message', (reply: HostReply) => {
    const one = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (waiting.size === 0) child.channel?.unref();
    if ('refused' in reply) one?.reject(Object.assign(new Error(reply.refused.message), reply.refused));
    else one?.resolve(reply);
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.values())
      reject(new Error(`the host of the sandboxes ended with ${String(code)}`));
  });
  child.unref();
  return child;
}
