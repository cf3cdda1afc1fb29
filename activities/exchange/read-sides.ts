import pLimit from 'p-limit';
import type { Employee, EmployeeFields } from '../../src/hire/hire.ts';
import { isUnread, readApart, type Unread } from '../../src/hris/read-apart.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { LinkedPair, PairEntity } from '../../src/store/linked-pairs.ts';
import { readClock, type Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import { type FetchedRecord, fetchPeople } from './fetch-people.ts';
import type { JobsList } from './jobs-list.ts';
import { positionsIn } from './positions-in.ts';

/** How many employees are read at once. */
const AT_ONCE = 8;
const READ_MS = 30_000;

/** Everything needed to read pairs. */
export interface Reading {
  connection: Connection;
  /** The partner's kind of record that holds the values. */
  entity: PairEntity;
  /** The partner's custom fields as last read. */
  defined: readonly FieldDefinition[];
  /** Jobs can be read only as a list, which many pages of pairs share. */
  jobs: JobsList;
}

/** The HR system's record of a pair. */
export interface HeldRecord {
  fields: EmployeeFields;
  /** Fields whose value does not have their type, with a code that says why. */
  unreadable?: Readonly<Record<string, string>>;
  /** The reference that the record stores. */
  reference?: string;
  /** Whether the employment has ended; absent if the HR system does not say. */
  former?: boolean;
}

/** A record that could not be read while others could; it must not stop the run. */
export interface UnreadRecord {
  failed: string;
  /** It may be read soon: it fails, but is not refused. */
  isBrief: boolean;
}

/** Both sides of some pairs, in their order. */
interface BothSides {
  /** When the reading began, by the database's clock. */
  readAt: number;
  partner: FetchedRecord[];
  hris: (HeldRecord | UnreadRecord | undefined)[];
}

/** Reads some pairs: the partner's side with one call per hundred, employees one by one, positions together. */
export function readSides(store: Store, reading: Reading, pairs: readonly LinkedPair[]): Promise<BothSides> {
  return reading.entity === 'job' ? readPositions(reading, pairs) : readPeople(store, reading, pairs);
}

async function readPeople(
  store: Store,
  { connection, defined }: Reading,
  pairs: readonly LinkedPair[],
): Promise<BothSides> {
  const readAt = await readClock(store);
  const limit = pLimit(AT_ONCE);
  const { employees, probe } = connection.hris;
  const read = (pair: LinkedPair) => limit(() => employees.read(employeeOfPair(pair), AbortSignal.timeout(READ_MS)));
  const answers = async () => (await probe(AbortSignal.timeout(READ_MS))).ok;
  const [partner, hris] = await Promise.all([fetchPeople(connection, pairs, defined), readApart(pairs, read, answers)]);
  return { readAt, partner, hris: hris.map(asHeld) };
}

/** The pair's employee; pairs of candidates always name one. */
export function employeeOfPair({ pairId, employee }: Pick<LinkedPair, 'pairId' | 'employee'>): Employee {
  if (employee === undefined) throw new Error(`pair ${pairId} names no employee`);
  return employee;
}

function asHeld<Record>(given: Record | Unread): Record | UnreadRecord {
  return isUnread(given) ? { failed: given.reason, isBrief: given.refused.action === 'retry' } : given;
}

async function readPositions({ connection, jobs }: Reading, pairs: readonly LinkedPair[]): Promise<BothSides> {
  const ids = pairs.map(({ pairId }) => pairId);
  const { readAt, jobOf } = await jobs.read();
  const open = await positionsIn(connection).read(ids, AbortSignal.timeout(READ_MS));
  const byId = new Map(open.map((one) => [one.id, one]));
  return { readAt, partner: pairs.map(({ partnerId }) => jobOf(partnerId)), hris: ids.map((id) => byId.get(id)) };
}
