import { contract } from '../../src/partner/contract/index.ts';
import { readClock, type Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import type { FetchedRecord } from './fetch-people.ts';

/** All jobs of the partner, as one reading of the list showed them. */
interface JobsRead {
  /** When the reading began, by the database's clock. */
  readAt: number;
  jobOf: (id: string) => FetchedRecord;
  /** The list shows no job at all. */
  isEmpty: boolean;
}

/** The list of jobs, read when first needed. */
export interface JobsList {
  read(): Promise<JobsRead>;
  /** Whether the next `read` returns an earlier reading. */
  isRead(): boolean;
  /** Makes the next `read` a new one. */
  forget(): void;
}

/** No call reads jobs by id (section 4.2), so one reading of the list serves all pairs of a step. */
export function createJobsList(store: Store, connection: Pick<Connection, 'partner'>): JobsList {
  let known: Promise<JobsRead> | undefined;
  return {
    async read() {
      const reading = known ?? readJobs(store, connection);
      known = reading;
      try {
        return await reading;
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
    isRead: () => known !== undefined,
    forget() {
      known = undefined;
    },
  };
}

async function readJobs(store: Store, { partner }: Pick<Connection, 'partner'>): Promise<JobsRead> {
  const readAt = await readClock(store);
  const { items, unreadable } = await partner.readAll(contract.jobs.list, {}, { priority: 'bulk' });
  const jobs = new Map<string, FetchedRecord>(items.map((job) => [String(job.id), { sources: { job } }]));
  for (const { id, reason } of unreadable) if (id !== undefined) jobs.set(id, { unreadable: reason });
  // A job that does not even show its id may be any of the missing ones.
  const nameless = unreadable.find(({ id }) => id === undefined);
  const absent: FetchedRecord = nameless === undefined ? {} : { unreadable: nameless.reason };
  const isEmpty = items.length + unreadable.length === 0;
  return { readAt, isEmpty, jobOf: (id) => jobs.get(id) ?? absent };
}
