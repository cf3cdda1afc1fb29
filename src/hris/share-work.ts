import { AsyncLocalStorage } from 'node:async_hooks';
import { ConnectorError } from '../errors.ts';

/** Work that several wait for. */
export interface SharedWork<T> {
  /** Who stops waiting takes nothing from the others. */
  join(signal: AbortSignal): Promise<T>;
  /** Everybody had left before it was done; whoever comes now begins it anew. */
  isStopped(): boolean;
}

/** Nobody's context: in that of whoever asked first, the end of their work would end it for all others. */
const apart = AsyncLocalStorage.snapshot();

/** Begins the work; its signal aborts once nobody waits any more. */
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
