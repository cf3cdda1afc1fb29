import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { ConnectorError, isConnectorError } from '../errors.ts';
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
        return await unlessAborted(signal, result, stopped);
      } finally {
        waiting -= 1;
        if (waiting === 0 && !isOver) all.abort();
      }
    },
    isStopped: () => all.signal.aborted,
  };
}

/** The work's outcome, unless the signal aborts first. The work goes on: drivers cannot be stopped. */
export function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  reason = (): Error => signal.reason as Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(reason());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Whether the time of a search is over; any other end of a signal is the caller's own. */
export function isLate({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Error && reason.name === 'TimeoutError';
}

function stopped(): ConnectorError {
  return new ConnectorError({
    code: 'STOPPED',
    action: 'retry',
    message: 'Reading the HR system was stopped by the caller. It is safe to repeat.',
  });
}

/**
 * Work on many at once that never overlaps itself: what comes while it runs is its next round, and never joins the
 * round that runs, which might miss what was written before the request.
 */
export function inRounds<Given, Result>(
  work: (given: readonly Given[], signal: AbortSignal) => Promise<readonly Result[]>,
): (one: Given, signal: AbortSignal) => Promise<Result> {
  let next: { given: Given[]; shared: SharedWork<readonly Result[]> } | undefined;
  let last = Promise.resolve();

  function begin(): NonNullable<typeof next> {
    const [given, before, { promise, resolve }] = [[] as Given[], last, Promise.withResolvers<void>()];
    last = promise;
    const shared = shareWork(async (signal) => {
      try {
        await before;
        // What is asked at the same moment comes a few turns later.
        await setImmediate();
        if (next?.given === given) next = undefined;
        signal.throwIfAborted();
        return await work(given, signal);
      } finally {
        resolve();
      }
    });
    return { given, shared };
  }

  return async (one, signal) => {
    if (next === undefined || next.shared.isStopped()) next = begin();
    const { given, shared } = next;
    const place = given.push(one) - 1;
    return (await shared.join(signal))[place] as Result;
  };
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

/** A record that the HR system does not show although it shows others. */
interface Unread {
  refused: ConnectorError;
  /** What people are told: codes and the request, never its answer. */
  reason: string;
}

/** So many records alone may fail before the HR system is to blame and not the records. */
const MOST_ALONE = 2;

/**
 * Reads records one by one. One that is refused or fails is set aside and stops no other, if the HR system shows others
 * or, where hardly any were asked for, answers its probe.
 * @throws ConnectorError the first error otherwise
 */
export async function readApart<Key, Record>(
  keys: readonly Key[],
  read: (key: Key) => Promise<Record>,
  answers: () => Promise<boolean>,
): Promise<(Record | Unread)[]> {
  let failing = 0;
  const readOne = (key: Key): Promise<Record | Unread> =>
    read(key).catch((error: unknown): Unread => {
      if (!isOfRecord(error)) throw error;
      // Without this, an HR system that hangs would be waited for once for each record.
      if (error.action === 'retry' && !isFault(error) && (failing += 1) > MOST_ALONE) throw error;
      return { refused: error, reason: reasonOf(error) };
    });
  const given = await Promise.all(keys.map(readOne));
  const apart = given.filter(isUnread).filter(({ refused }) => !isFault(refused));
  const [first] = apart;
  if (first === undefined) return given;
  const showsOthers = given.some((one) => one !== undefined && !isUnread(one));
  const isDoubtful = !showsOthers || apart.some(({ refused }) => refused.action !== 'reject');
  if (!showsOthers && apart.length > MOST_ALONE) throw first.refused;
  if (isDoubtful && !(await answers())) throw first.refused;
  return given;
}

/** What became of the records with these ids. */
export function sortRead<Record>(
  ids: readonly string[],
  given: readonly (Record | Unread | undefined)[],
): { employees: Record[]; gone: string[]; unread: { id: string; reason: string }[] } {
  const employees: Record[] = [];
  const gone: string[] = [];
  const unread: { id: string; reason: string }[] = [];
  for (const [n, id] of ids.entries()) {
    const one = given[n];
    if (one === undefined) gone.push(id);
    else if (isUnread(one)) unread.push({ id, reason: one.reason });
    else employees.push(one);
  }
  return { employees, gone, unread };
}

export function isUnread(given: unknown): given is Unread {
  return typeof given === 'object' && given !== null && 'refused' in given;
}

/** Some systems keep single records from an integration, which says nothing about its key. */
function isOfRecord(error: unknown): error is ConnectorError {
  if (!isConnectorError(error) || error.code === 'STOPPED') return false;
  return error.action === 'reject' || error.action === 'retry' || error.code === 'HRIS_FORBIDDEN';
}

/** An adapter's own error is about the record it read. */
function isFault(error: ConnectorError): boolean {
  return error.code === 'HRIS_ADAPTER_FAULT';
}

function reasonOf(error: ConnectorError): string {
  if (isFault(error)) return error.message;
  const how = error.status === undefined ? error.code : `status ${error.status}`;
  return `the HR system shows others, but not this record (${how}): ask there why`;
}
