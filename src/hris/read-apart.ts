import { type ConnectorError, isConnectorError } from '../errors.ts';

/** A record that the HR system does not show although it shows others. */
export interface Unread {
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
