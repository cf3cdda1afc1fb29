import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { ConnectorError } from '../errors.ts';
import type { EmployeeRecord } from './port.ts';

export interface SharedWork<T> {
  /** A caller that stops waiting does not affect the others. */
  join(signal: AbortSignal): Promise<T>;
  /** All callers left before the work was done, so the next caller must start it again. */
  isStopped(): boolean;
}

/** Runs the work outside any caller's async context: the end of the first caller's activity would end it for all. */
const apart = AsyncLocalStorage.snapshot();

/** Starts the work; its signal aborts when nobody waits any more. */
export function shareWork<T>(work: (signal: AbortSignal) => Promise<T>): SharedWork<T> {
  const all = new AbortController();
  let waiting = 0;
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  const result = apart(() => work(all.signal));
  result.then(over, over);
  return {
    async join(signal) {
      waiting += 1;
      try {
        return await unlessStopped(signal, result);
      } finally {
        waiting -= 1;
        if (waiting === 0 && !isOver) all.abort();
      }
    },
    isStopped: () => all.signal.aborted,
  };
}

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
    message: 'Reading the HR system was stopped by the caller. It is safe to repeat.',
  });
}

type Read = (id: string, signal: AbortSignal) => Promise<EmployeeRecord | undefined>;
type Records = ReadonlyMap<string, EmployeeRecord>;

interface Gathering {
  ids: string[];
  read: SharedWork<Records>;
}

/** At most this many are read at once. */
const MOST = 200;

/**
 * Reads employees by id from an HRIS that reads many as cheaply as one: requests made at the same moment share a read.
 * A request never joins a read that has left, because it might miss what was written before the request.
 */
export function readTogether(readMany: (ids: readonly string[], signal: AbortSignal) => Promise<Records>): Read {
  let gathering: Gathering | undefined;

  async function readLater(ids: readonly string[], signal: AbortSignal): Promise<Records> {
    await setImmediate();
    if (gathering?.ids === ids) gathering = undefined;
    return readMany([...new Set(ids)], signal);
  }

  function gather(): Gathering {
    if (gathering !== undefined && gathering.ids.length < MOST && !gathering.read.isStopped()) return gathering;
    const ids: string[] = [];
    gathering = { ids, read: shareWork((signal) => readLater(ids, signal)) };
    return gathering;
  }

  return async (id, signal) => {
    const { ids, read } = gather();
    ids.push(id);
    return (await read.join(signal)).get(id);
  };
}
