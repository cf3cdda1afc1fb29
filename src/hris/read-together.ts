import { setImmediate } from 'node:timers/promises';
import type { EmployeeRecord } from './port.ts';
import { type SharedWork, shareWork } from './share-work.ts';

type Read = (id: string, signal: AbortSignal) => Promise<EmployeeRecord | undefined>;
type Records = ReadonlyMap<string, EmployeeRecord>;

interface Gathering {
  ids: string[];
  read: SharedWork<Records>;
}

/** So many are read at once at most. */
const MOST = 200;

/**
 * Employees by id, for an HRIS that reads many with the calls of one: what is asked for at the same moment is read
 * together. Nobody joins a read that has left: it might miss what was written before they asked.
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
