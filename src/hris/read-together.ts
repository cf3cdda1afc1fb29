import { setImmediate } from 'node:timers/promises';
import type { EmployeeRecord } from './port.ts';
import { type SharedWork, shareWork } from './share-work.ts';

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
