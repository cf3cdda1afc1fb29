// A worker of workflows that do nothing. Argument: the address of Temporal. Tells its parent when it polls.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { BARE_QUEUE } from './floor-hire.ts';

const silent = () => undefined;
const logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };
Runtime.install({ logger, telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } } });

const workflowsPath = fileURLToPath(new URL('./bare-hire.ts', import.meta.url));
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.argv[2] ?? '' }),
  taskQueue: BARE_QUEUE,
  workflowBundle: await bundleWorkflowCode({ workflowsPath, logger }),
  activities: { nothing: async () => undefined },
  // As the product's worker.
  maxConcurrentActivityTaskExecutions: 200,
  maxCachedWorkflows: 500,
});
process.send?.('ready');
await worker.run();
