import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import packageFile from '../../package.json' with { type: 'json' };
import type { Logger } from '../log.ts';
import type { Store } from './open-store.ts';
import { endProcess, forgetProcesses, noteAnswers, noteProcess, type Role, type Side } from './processes.ts';

export interface Presence {
  /** A side of a tenant has answered; told with the next beat. */
  answered(tenantId: string, side: Side): void;
  close(): Promise<void>;
}

/** How often a process says that it runs. */
const BEAT_MS = 10_000;
const MOST_AT_ONCE = 500;

/** Leaves word of this process in the store while it runs. What fails is said again with the next beat. */
export function keepPresence(store: Store, role: Role, log: Logger): Presence {
  const own = { processId: randomUUID(), role, version: packageFile.version, host: `${hostname()} (${process.pid})` };
  const answers = new Map<string, { tenantId: string; side: Side }>();
  let beating: Promise<void> | undefined;
  const beat = async (): Promise<void> => {
    await noteProcess(store, own);
    const told = [...answers].slice(0, MOST_AT_ONCE);
    for (const [key] of told) answers.delete(key);
    await noteAnswers(
      store,
      told.map(([, one]) => one),
    );
  };
  const tick = (): void => {
    beating ??= beat()
      .catch((error: unknown) => log.debug({ err: error }, 'no word could be left in the store'))
      .finally(() => {
        beating = undefined;
      });
  };
  tick();
  void forgetProcesses(store).catch(() => undefined);
  const timer = setInterval(tick, BEAT_MS);
  return {
    answered: (tenantId, side) => void answers.set(`${side} ${tenantId}`, { tenantId, side }),
    async close() {
      clearInterval(timer);
      await beating;
      await endProcess(store, own.processId).catch(() => undefined);
    },
  };
}
