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
  // A worker that fails by itself ends the process with its error, and whoever supervises starts it again.
  await Promise.race([whenStopped(stop), worker.failed]);
  await worker.close();
}

/** Megabytes for new objects, twice: V8 reads it only as a process begins, so whoever starts a worker names it. */
const NEW_SPACE = '--max-semi-space-size=8';

/** Options of Node for a part of the program that is started with these arguments; bin/hirebridge.mjs has them, too. */
export function heapOptions([command]: readonly string[]): string[] {
  return command === 'worker' ? [NEW_SPACE] : [];
}

/**
 * A page's records are garbage once it has landed, and V8 would rather let the heap grow than collect them: a run over
 * 30,000 candidates took 136 MB over idle without this and 36 MB with it. Where nobody bounded the space for new
 * objects it stays as small as it begins, for it would grow to 64 MB: 5,000 candidates then take 145 collections in
 * place of 20.
 */
function keepHeapSmall(): void {
  boundHeapGrowth();
  if (!process.execArgv.includes(NEW_SPACE)) setFlagsFromString('--semi-space-growth-factor=1');
}
