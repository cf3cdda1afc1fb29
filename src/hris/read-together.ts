import { setImmediate } from 'node:timers/promises';
import { ConnectorError } from '../errors.ts';
import type { EmployeeRecord } from './port.ts';

type Read = (id: string, signal: AbortSignal) => Promise<EmployeeRecord | undefined>;
type Records = ReadonlyMap<string, EmployeeRecord>;

interface Asked {
  id: string;
  signal: AbortSignal;
}

/** So many are read at once at most. */
const MOST = 200;

/**
 * Employees by id, for an HRIS that reads many with the calls of one: what is asked for at the same moment is read
 * together. Nobody joins a read that has left: it might miss what was written before they asked.
 */
export function readTogether(readMany: (ids: readonly string[], signal: AbortSignal) => Promise<Records>): Read {
  let gathering: { asked: Asked[]; read: Promise<Records> } | undefined;

  async function readLater(asked: readonly Asked[]): Promise<Records> {
    await setImmediate();
    if (gathering?.asked === asked) gathering = undefined;
    const { signal, release } = untilAllStop(asked.map((one) => one.signal));
    return readMany([...new Set(asked.map(({ id }) => id))], signal).finally(release);
  }

  function join(one: Asked): Promise<Records> {
    if (gathering === undefined || gathering.asked.length >= MOST) {
      const asked: Asked[] = [];
      gathering = { asked, read: readLater(asked) };
    }
    gathering.asked.push(one);
    return gathering.read;
  }

  return async (id, signal) => (await unlessStopped(signal, join({ id, signal }))).get(id);
}

/** Aborts once nobody waits any more. */
function untilAllStop(signals: readonly AbortSignal[]): { signal: AbortSignal; release: () => void } {
  const all = new AbortController();
  const stop = (): void => {
    if (signals.every(({ aborted }) => aborted)) all.abort();
  };
  for (const signal of signals) signal.addEventListener('abort', stop);
  stop();
  const release = (): void => {
    for (const signal of signals) signal.removeEventListener('abort', stop);
  };
  return { signal: all.signal, release };
}

/** Who stops waiting takes nothing from the others. */
function unlessStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(stopped());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function stopped(): ConnectorError {
  return new ConnectorError({
    code: 'STOPPED',
    action: 'retry',
    message: 'Reading an employee was stopped by the caller. It is safe to repeat.',
  });
}
