import type { Traffic } from './hire-traffic.ts';
import type { Applicant, Process, World } from './world.ts';

export interface Kill {
  point: string;
  /** Whether the worker died by SIGKILL, at this point and nowhere else. */
  died: boolean;
  /** Whose hires were under way when it died. */
  inFlight: Applicant[];
}

/**
 * Starts a worker that kills itself at `point` (`#N` for the Nth time it comes there), with so many hires under way,
 * and waits for its death.
 */
export async function killWorkerAt(
  world: World,
  traffic: Traffic,
  point: string,
  { inFlight, timeoutMs = 20_000 }: { inFlight: number; timeoutMs?: number },
): Promise<Kill> {
  // Some more than asked for: others end while one comes to the point.
  await traffic.keep(inFlight + 4);
  const how = await lifeOf(world, point, timeoutMs);
  return { point, died: how === 'SIGKILL', inFlight: await traffic.inFlight() };
}

/** How a worker with this point armed ended; undefined if it never came there, not even while it was stopped. */
async function lifeOf(
  world: World,
  point: string,
  timeoutMs: number,
): Promise<number | NodeJS.Signals | null | undefined> {
  let worker: Process;
  try {
    worker = await world.startWorker({ HIREBRIDGE_FAILPOINT_KILL: point });
  } catch (error) {
    // Points that it passes before it is ready.
    if (error instanceof Error && error.message.includes('ended with SIGKILL')) return 'SIGKILL';
    throw error;
  }
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  const how = await Promise.race([worker.ended, late]);
  clearTimeout(timer);
  if (how !== undefined) return how;
  await worker.stop();
  // Some points are passed only while it ends.
  return (await worker.ended) === 'SIGKILL' ? 'SIGKILL' : undefined;
}
