import { type SharedAddresses, startWorld } from './world.ts';

/** The receiver and the worker that end-to-end tests share, each test with a tenant of its own, as in life. */
export interface FleetAddresses extends SharedAddresses {
  temporalAddress: string;
  workerHealth: string;
}

/** Goes on within seconds after what failed was mended. */
const env = { HIREBRIDGE_RETRY_MS: '200', HIREBRIDGE_PAUSED_MS: '1000', HIREBRIDGE_GIVE_UP_MS: '8000' };

/** Runs in the run's main process. It has one tenant of its own: without any tenant file a worker does not start. */
export async function startFleet(temporalAddress: string) {
  const world = await startWorld({ temporalAddress, tenant: 'keeper', jobs: 1, candidates: 2, env });
  const [, worker] = await Promise.all([world.startReceiver(), world.startWorker()]);
  const { dataDir, storeUrl, logFile, webhookUrl } = world;
  const webhookPort = Number(new URL(webhookUrl).port);
  const answer: FleetAddresses = {
    temporalAddress,
    dataDir,
    storeUrl,
    logFile,
    env: world.env,
    webhookPort,
    workerHealth: worker.facts['health'] ?? '',
  };
  return { answer, stop: world.close };
}
