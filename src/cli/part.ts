import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { z } from 'zod';
import { boundHeapGrowth } from '../../activities/heap-growth.ts';
import { within } from '../within.ts';
import { example, placesOf, port } from './command.ts';

/** `supervise` sets it for its children: when their channel closes, the parent is gone. */
export const SUPERVISED = 'HIREBRIDGE_SUPERVISED';

/** Aborts when the process should end: Ctrl-C, SIGTERM, or the parent's death. A second signal ends it at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(130);
    void import('../log.ts').then(({ log }) => log.debug({ signal }, 'stopping'));
    stop.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  if (process.env[SUPERVISED] !== undefined) watchParent(() => stop.abort());
  return stop.signal;
}

/**
 * A parent killed with SIGKILL cannot tell its children, but the kernel closes its end of the channel. A drain that
 * exceeds the grace period is cut short.
 */
function watchParent(stop: () => void): void {
  process.once('disconnect', () => {
    stop();
    setTimeout(() => process.exit(1), 5_000).unref();
  });
}

export function whenStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // Signal handlers do not keep the event loop alive, so a command that only waits would end.
    const alive = setInterval(() => undefined, 2 ** 30);
    signal.addEventListener('abort', () => {
      clearInterval(alive);
      resolve();
    });
  });
}

/** How long a part may go on starting once it should end, ms: with its closing, less than five seconds. */
const START_MS = 300;

/**
 * The part once it is up. Undefined if it should end before: a start can wait a minute for a migration, and longer for
 * a server that hangs, and is left there.
 */
async function untilUp<Part>(stop: AbortSignal, starting: Promise<Part>): Promise<Part | undefined> {
  return Promise.race([starting, whenStopped(stop).then(() => within(START_MS, starting))]);
}

/** A supervised part's message to its parent once it listens: addresses and ids by name. */
export const Announcement = z.object({ kind: z.literal('listening'), facts: z.record(z.string(), z.string()) });
export type Announcement = z.infer<typeof Announcement>;

/** Sends the facts to the supervising parent, if there is one. */
export function announce(facts: Record<string, string>): void {
  // Flush now: normally that happens at exit, but a process that runs for months or is killed never exits.
  flushCompileCache();
  process.send?.({ kind: 'listening', facts } satisfies Announcement);
}

interface ServeOptions {
  port?: number;
  host?: string;
  healthPort?: number;
  reusePort?: boolean;
}

export const commands = { serve: defineServe, worker: defineWorker };

function defineServe(command: Command): void {
  command
    .description('Receive webhooks: verify, store, answer. Needs no Temporal.')
    .option('--port <n>', 'port of the webhook address (default 8787, or HIREBRIDGE_PORT; 0 takes a free one)', port)
    .option('--host <address>', 'address to listen on (default 127.0.0.1, or HIREBRIDGE_HOST)')
    .option('--health-port <n>', 'port of /healthz, /readyz and /metrics on loopback (default 8788)', port)
    .option('--reuse-port', 'let a second receiver listen on the same port and take over without a gap (Linux)')
    .addHelpText('after', example('hirebridge serve --host 0.0.0.0 --port 8787'))
    .action(runServe);
}

async function runServe(options: ServeOptions, command: Command): Promise<void> {
  const stop = stopSignal();
  const { runReceiver } = await import('../app-receiver.ts');
  const receiver = await untilUp(stop, runReceiver({ ...(await placesOf(command)), ...options }));
  if (receiver === undefined) return;
  announce({ webhooks: receiver.url, health: receiver.healthUrl });
  await Promise.race([whenStopped(stop), receiver.failed]);
  await receiver.close();
}

function defineWorker(command: Command): void {
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
  const worker = await untilUp(stop, runWorker({ ...(await placesOf(command)), ...options }));
  if (worker === undefined) return;
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
