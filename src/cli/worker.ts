import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { boundHeapGrowth } from '../../activities/heap-growth.ts';
import { example, placesOf, port } from './options.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

export function defineWorker(command: Command): void {
  command
    .description('Do the work: relay stored webhooks, follow hires, reconcile. Needs Temporal.')
    .option(
      '--health-port <n>',
      'port of /healthz, /readyz and /metrics on loopback (default 8789; 0 takes a free one)',
      port,
    )
    .addHelpText('after', example('TEMPORAL_ADDRESS=temporal.internal:7233 hirebridge worker'))
    .action(runWorkerCommand);
}

async function runWorkerCommand(options: { healthPort?: number }, command: Command): Promise<void> {
  keepHeapSmall();
  const stop = stopSignal();
  const { runWorker } = await import('../app.ts');
  const worker = await runWorker({ ...(await placesOf(command)), ...options });
  announce({ health: worker.healthUrl });
  // A worker that fails ends the process with its error, and its supervisor starts it again.
  await Promise.race([whenStopped(stop), worker.failed]);
  await worker.close();
}

/** V8's space for new objects, megabytes, twice. V8 reads it only at a process's start, so the starter must pass it. */
const NEW_SPACE = '--max-semi-space-size=8';

/** Node options for a part that is started with these arguments; bin/hirebridge.mjs repeats them. */
export function heapOptions([command]: readonly string[]): string[] {
  return command === 'worker' ? [NEW_SPACE] : [];
}

/**
 * A page's records are garbage once it has landed, but V8 prefers to let the heap grow: a run over 30,000 candidates
 * took 136 MB above idle without this, and 36 MB with it. If the starter did not bound the space for new objects, it
 * stays at its initial size instead of growing to 64 MB: 5,000 candidates then take 145 collections instead of 20.
 */
function keepHeapSmall(): void {
  boundHeapGrowth();
  if (!process.execArgv.includes(NEW_SPACE)) setFlagsFromString('--semi-space-growth-factor=1');
}
