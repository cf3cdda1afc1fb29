import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Store } from '../../src/store/open-store.ts';
import { type FaultProxy, startFaultProxy } from '../harness/fault-proxy.ts';
import type { Process, World } from '../harness/world.ts';
import { addNeighbour, NEIGHBOUR, type Neighbour, type NeighbourOptions } from './neighbour.ts';
import { type NeighbourHris, startNeighbourHris } from './neighbour-hris.ts';
import type { Scene } from './trouble-steps.ts';
import type { Trouble } from './troubles.ts';

/** A world with room for the tenant in trouble. */
export interface Stage {
  /** Makes the tenant in trouble; its file is taken with the first start, or when it is applied. */
  add(): Promise<void>;
  /** Starts receiver and worker, anew where they run. */
  start(): Promise<void>;
  worker(): Process;
  receiver(): Process;
  /** Once the tenant in trouble is there. */
  scene(): Scene;
  close(): Promise<void>;
}

export interface StageOptions {
  world: World;
  store: Store;
  scale: number;
  postgres: () => Promise<string>;
}

export async function buildStage(trouble: Trouble, options: StageOptions): Promise<Stage> {
  const { world, store, scale } = options;
  const notified = await startAddress();
  const hris = trouble.asksHris === true ? await startNeighbourHris(await options.postgres()) : undefined;
  let neighbour: Neighbour | undefined;
  const running: { worker?: Process; receiver?: Process } = {};
  const start = async (): Promise<void> => {
    await Promise.all([running.worker?.stop(), running.receiver?.stop()]);
    [running.receiver, running.worker] = await Promise.all([world.startReceiver(), world.startWorker()]);
  };
  const cli = async (...args: string[]): Promise<void> => {
    const { code, stdout, stderr } = await world.cli(args);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  };
  return {
    async add() {
      neighbour = await addNeighbour(world, neighbourOptions(trouble, scale, { notified: notified.line, hris }));
    },
    start,
    worker: () => there(running.worker),
    receiver: () => there(running.receiver),
    scene: () => ({
      neighbour: there(neighbour),
      store,
      scale,
      notified: notified.line,
      ...(hris === undefined ? {} : { hris }),
      apply: () => cli('tenant', 'apply', '--yes', '--unchecked'),
      tenant: (verb) => cli(...(verb === 'remove' ? ['tenant', verb] : [verb]), NEIGHBOUR),
      restart: start,
    }),
    close: async () => void (await Promise.all([neighbour?.close(), hris?.line.close(), notified.close()])),
  };
}

function there<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('It has not been started yet.');
  return thing;
}

interface Ends {
  notified: FaultProxy;
  hris: NeighbourHris | undefined;
}

function neighbourOptions(trouble: Trouble, scale: number, { notified, hris }: Ends): NeighbourOptions {
  return {
    candidates: 80,
    hired: 0,
    ...trouble.options?.(scale),
    ...(trouble.notifies === true ? { notify: `http://127.0.0.1:${notified.port}/` } : {}),
    ...(hris === undefined ? {} : { hrisUrl: hris.url }),
  };
}

/** An address that answers everything, behind a line that is silent at first. */
async function startAddress(): Promise<{ line: FaultProxy; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const line = await startFaultProxy((server.address() as AddressInfo).port);
  line.fallSilent();
  return {
    line,
    async close() {
      await line.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
