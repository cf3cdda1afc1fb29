import { AsyncLocalStorage } from 'node:async_hooks';
import { type ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { isNotShown, isRefusedByPartner } from '../../src/partner/client/read-answer.ts';
import type { Page } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import { countJobs, readJob } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { isAlone, noteCall } from '../activity-scope.ts';
import type { Connection } from '../connections.ts';

type PartnerSide = Pick<Connection, 'partner'>;

/**
 * The partner's answer for one id: the record, or why it cannot be read. Empty if the partner shows no record, which
 * does not prove that there is none.
 */
export interface Fetched {
  jobCandidate?: JobCandidate;
  unreadable?: string;
}

/** How long looks gather before a read: hires of one job come within moments of each other, and calls are scarce. */
const GATHER_MS = 25;

/** Reads the answers to looks that were asked together, in their order. */
type ReadTogether<Look, Answer> = (looks: readonly Look[]) => Promise<readonly Answer[]>;

interface Waiting<Look, Answer> {
  look: Look;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  /** The activity that asks. The read runs in the context of the first activity and counts as a call of each. */
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/**
 * Fetches job candidates with one call, in the order asked for. A refusal, or a broken record without an id, says
 * nothing about the other ids, so the request is split in halves until the bad id is alone.
 */
export async function fetchJobCandidates(
  connection: PartnerSide,
  ids: readonly string[],
  priority: Priority = 'live',
): Promise<Fetched[]> {
  const wanted = [...new Set(ids)];
  const found = await fetchTogether(connection, wanted, priority);
  return ids.map((id) => found.get(id) ?? {});
}

type Found = ReadonlyMap<string, Fetched>;

async function fetchTogether(connection: PartnerSide, ids: readonly string[], priority: Priority): Promise<Found> {
  const alone = ids.length === 1;
  try {
    const { items, unreadable } = await connection.partner.readAll(
      contract.jobCandidates.bulkFetch,
      { body: { jobCandidateIds: [...ids] } },
      { priority },
    );
    if (!alone && unreadable.some((item) => item.id === undefined)) return await fetchHalves(connection, ids, priority);
    const broken = unreadable.map(({ id, reason }) => [id ?? ids[0] ?? '', { unreadable: reason }] as const);
    return new Map<string, Fetched>([...broken, ...items.map((item) => [item.id, { jobCandidate: item }] as const)]);
  } catch (error) {
    if (!isConnectorError(error) || !isRefusedByPartner(error)) throw error;
    if (!alone) return fetchHalves(connection, ids, priority);
    if (isNotShown(error.code)) return new Map();
    throw error;
  }
}

async function fetchHalves(connection: PartnerSide, ids: readonly string[], priority: Priority): Promise<Found> {
  const middle = Math.ceil(ids.length / 2);
  const first = await fetchTogether(connection, ids.slice(0, middle), priority);
  return new Map([...first, ...(await fetchTogether(connection, ids.slice(middle), priority))]);
}

/** The page that a reading is at and its number of records; undefined if there is no page. */
export async function onePage<Item>(
  pages: AsyncGenerator<Page<Item>, void, undefined>,
): Promise<(Page<Item> & { records: number }) | undefined> {
  const next = await pages.next();
  if (next.done === true) return undefined;
  const { items, unreadable } = next.value;
  return { ...next.value, records: items.length + unreadable.length };
}

/**
 * Answers looks that wait at the same moment with one read, at most `most` looks with the same key. Only a read that
 * began after a look was asked may answer it: during a read, looks gather for the next one. A failed read fails all of
 * its looks. No caller's signal reaches the read, so a caller that leaves does not disturb the others. A command and
 * a tenant's only activity gather only what they ask at once.
 */
export function shareReads<Look, Answer>(
  keyOf: (look: Look) => unknown,
  read: ReadTogether<Look, Answer>,
  most = Number.POSITIVE_INFINITY,
): (look: Look) => Promise<Answer> {
  /** Waiting looks by key, while that key is being read. */
  const gathering = new Map<unknown, Waiting<Look, Answer>[]>();

  async function readOn(key: unknown, waiting: Waiting<Look, Answer>[]): Promise<void> {
    for (let waitMs = isAlone() ? 0 : GATHER_MS; waiting.length > 0; waitMs = GATHER_MS) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await answer(waiting.splice(0, most), read);
    }
    gathering.delete(key);
  }

  return (look) =>
    new Promise((resolve, reject) => {
      const key = keyOf(look);
      const one = { look, resolve, reject, inContext: AsyncLocalStorage.snapshot() };
      const others = gathering.get(key);
      if (others !== undefined) return void others.push(one);
      const waiting = [one];
      gathering.set(key, waiting);
      void readOn(key, waiting);
    });
}

const REPEAT_AFTER_MS = [50, 250];

/** Repeats a read whose answer was lost, so that its looks need not fail and retry one by one. */
export async function repeated<T>(read: () => Promise<T>): Promise<T> {
  for (const waitMs of REPEAT_AFTER_MS)
    try {
      return await read();
    } catch (error) {
      if (!isConnectorError(error) || error.action !== 'retry' || error.retryAfterMs !== undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  return read();
}

async function answer<Look, Answer>(
  together: readonly Waiting<Look, Answer>[],
  read: ReadTogether<Look, Answer>,
): Promise<void> {
  const looks = together.map((one) => one.look);
  try {
    // Chance decides which look came first, so the failpoints of a read belong to no single activity.
    const answers = await together[0]?.inContext(() => inActivity('sharedRead', () => repeated(() => read(looks))));
    for (const [index, one] of together.entries()) {
      one.inContext(noteCall);
      one.resolve(answers?.[index] as Answer);
    }
  } catch (error) {
    for (const one of together) one.reject(error);
  }
}

type JobRecord = Record<string, unknown>;

/** Jobs per page of the list; a tenant with fewer jobs reads the whole list with one call. */
const PAGE = 100;

/**
 * Reads a job as the partner shows it now, by a read that began after it was asked for; looks of one tenant that wait
 * together share the read. No call reads a job by id (section 4.2 names no shape for it), so the list is filtered by
 * the job's last title and read whole if the job is not on that page. This costs one call, or the whole list if a job
 * of a large company was renamed. Undefined if the whole list does not show the job.
 * @throws ConnectorError JOB_UNREADABLE
 */
export async function readJobNow(store: Store, connection: Connection, jobId: string): Promise<JobRecord | undefined> {
  const shared =
    sharedReads.get(connection) ??
    shareReads<string, Shown>(
      () => '',
      (ids) => readTogether(store, connection, ids),
    );
  sharedReads.set(connection, shared);
  const shown = await shared(jobId);
  if ('unreadable' in shown) throw unreadable(jobId, shown.unreadable);
  return shown.job;
}

/** What the list shows of one job. */
type Shown = { job: JobRecord | undefined } | { unreadable: string };

const sharedReads = new WeakMap<Connection, (jobId: string) => Promise<Shown>>();

async function readTogether(store: Store, connection: Connection, ids: readonly string[]): Promise<Shown[]> {
  const wanted = [...new Set(ids)];
  const shown = new Map<string, Shown>();
  const pages = Math.ceil((await countJobs(store, connection.tenant.tenant)) / PAGE);
  if (wanted.length < pages)
    for (const id of wanted) {
      const title = (await readJob(store, connection.tenant.tenant, id))?.record['title'];
      if (typeof title === 'string' && !shown.has(id)) await takeFirstPage(connection, title, shown);
    }
  if (wanted.some((id) => !shown.has(id))) await takeWholeList(connection, shown);
  return ids.map((id) => shown.get(id) ?? { job: undefined });
}

/** A partner that ignores the filter shows its first page, which may hold the job as well. */
async function takeFirstPage({ partner }: Connection, jobTitle: string, shown: Map<string, Shown>): Promise<void> {
  for await (const { items } of partner.pages(contract.jobs.list, { query: { jobTitle } }, { priority: 'live' })) {
    for (const job of items) shown.set(job.id, { job });
    return;
  }
}

async function takeWholeList({ partner }: Connection, shown: Map<string, Shown>): Promise<void> {
  const { items, unreadable: broken } = await partner.readAll(contract.jobs.list, {}, { priority: 'live' });
  for (const { id, reason } of broken) if (id !== undefined) shown.set(id, { unreadable: reason });
  for (const job of items) shown.set(job.id, { job });
}

function unreadable(jobId: string, reason: string): ConnectorError {
  return rejected(
    'JOB_UNREADABLE',
    `The partner's record of job ${jobId} does not fit the contract (${reason}), so no employee can be created ` +
      'from it. Correct it with the partner.',
  );
}
