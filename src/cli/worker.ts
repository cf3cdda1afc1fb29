import type { Command } from 'commander';
import { announce } from './announce.ts';
import { example, placesOf, port } from './options.ts';
import { stopSignal, whenStopped } from './until-stopped.ts';
import { keepHeapSmall } from './worker-heap.ts';

export function addWorker(program: Command): void {
  program
    .command('worker')
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
