import { contract } from '../../src/partner/contract/index.ts';
import type { Store } from '../../src/store/open-store.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import type { Connection } from '../connections.ts';
import type { FetchedRecord } from './fetch-people.ts';

/** All jobs of the partner as one reading of their list showed them. */
interface JobsRead {
  /** When it began, by the database's clock. */
  readAt: number;
  jobOf: (id: string) => FetchedRecord;
  /** Not one job is there. */
  isEmpty: boolean;
}

/** The list of jobs, read when it is first asked for. */
export interface JobsList {
  read(): Promise<JobsRead>;
  /** Whether the next reading answers with what was read before. */
  isRead(): boolean;
  /** The next reading is a new one. */
  forget(): void;
}

/** Nothing reads jobs by their ids (section 4.2), so one reading serves all pairs of a step. */
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
  // One that does not even show its id may be any of those that are not there.
  const nameless = unreadable.find(({ id }) => id === undefined);
  const absent: FetchedRecord = nameless === undefined ? {} : { unreadable: nameless.reason };
  const isEmpty = items.length + unreadable.length === 0;
  return { readAt, isEmpty, jobOf: (id) => jobs.get(id) ?? absent };
}
