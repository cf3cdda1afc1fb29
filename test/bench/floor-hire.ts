import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';

export const BARE_QUEUE = 'bare-hires';

export interface BareHires {
  /** So many at once, begun as a hire is: by a signal that starts. Seconds until the last has ended. */
  play(count: number, shape: { activities: number; signals: number }): Promise<number>;
  stop(): void;
}

export async function startBareHires(client: Client, address: string): Promise<BareHires> {
  const child = fork(fileURLToPath(new URL('./floor-hire-process.ts', import.meta.url)), [address]);
  await once(child, 'message');
  let started = 0;
  return {
    async play(count, shape) {
      const beganAt = performance.now();
      const ids = Array.from({ length: count }, () => `bare-hire/${(started += 1)}`);
      // All of them, also where one fails: a call that goes on beyond its connection ends the process.
      const ended = await Promise.allSettled(ids.map((workflowId) => playOne(client, workflowId, shape)));
      const failed = ended.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return (performance.now() - beganAt) / 1000;
    },
    stop: () => void child.kill(),
  };
}

async function playOne(
  client: Client,
  workflowId: string,
  shape: { activities: number; signals: number },
): Promise<void> {
  const start = { workflowId, taskQueue: BARE_QUEUE, args: [shape], signal: 'hint' };
  const handle = await client.workflow.signalWithStart('bareHire', start);
  for (let signal = 1; signal < shape.signals; signal += 1) await handle.signal('hint');
  await handle.result();
}
