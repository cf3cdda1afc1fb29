import pLimit from 'p-limit';
import { isConnectorError } from '../../src/errors.ts';
import type { Employee, EmployeeFields } from '../../src/hire/employee.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { LinkedPair, PairEntity } from '../../src/store/linked-pairs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import type { Connection } from '../connections.ts';
import { type FetchedRecord, fetchPeople } from './fetch-people.ts';
import type { JobsList } from './jobs-list.ts';
import { positionsIn } from './positions-in.ts';

/** Employees read at the same time. */
const AT_ONCE = 8;
const READ_MS = 30_000;

/** What pairs are read with. */
export interface Reading {
  connection: Connection;
  /** What their values hang on at the partner. */
  entity: PairEntity;
  /** The partner's custom fields, as they were last read. */
  defined: readonly FieldDefinition[];
  /** Jobs are read by their list alone, which many pages of pairs share. */
  jobs: JobsList;
}

/** The HR system's record of a pair. */
export interface HeldRecord {
  fields: EmployeeFields;
  /** Fields that hold no value of their type, with the code that says why. */
  unreadable?: Readonly<Record<string, string>>;
  /** The employment has ended by now; absent where the HR system does not say. */
  former?: boolean;
}

/** A record that made the reading of it fail, while others can be read: it keeps no run from its end. */
export interface UnreadRecord {
  failed: string;
}

/** Both sides of some pairs, in their order. */
export interface BothSides {
  /** When the reading began, by the database's clock. */
  readAt: number;
  partner: FetchedRecord[];
  hris: (HeldRecord | UnreadRecord | undefined)[];
}

/** Reads some pairs: the partner's side by one call for a hundred, employees one by one, positions together. */
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
  const read = (pair: LinkedPair) =>
    connection.hris.employees.read(employeeOfPair(pair), AbortSignal.timeout(READ_MS)).catch(asUnread);
  const [partner, hris] = await Promise.all([
    fetchPeople(connection, pairs, defined),
    Promise.all(pairs.map((pair) => limit(() => read(pair)))),
  ]);
  return { readAt, partner, hris };
}

/** Pairs of candidates name their employee. */
export function employeeOfPair({ pairId, employee }: Pick<LinkedPair, 'pairId' | 'employee'>): Employee {
  if (employee === undefined) throw new Error(`pair ${pairId} names no employee`);
  return employee;
}

/** An error of an adapter's own is about the record that it read; every other one is about the HR system. */
function asUnread(error: unknown): UnreadRecord {
  if (isConnectorError(error, 'HRIS_ADAPTER_FAULT')) return { failed: error.message };
  throw error;
}

async function readPositions({ connection, jobs }: Reading, pairs: readonly LinkedPair[]): Promise<BothSides> {
  const ids = pairs.map(({ pairId }) => pairId);
  const { readAt, jobOf } = await jobs.read();
  const open = await positionsIn(connection).read(ids, AbortSignal.timeout(READ_MS));
  const byId = new Map(open.map((one) => [one.id, one]));
  return { readAt, partner: pairs.map(({ partnerId }) => jobOf(partnerId)), hris: ids.map((id) => byId.get(id)) };
}
