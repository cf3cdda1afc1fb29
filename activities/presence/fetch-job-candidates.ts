import { isConnectorError } from '../../src/errors.ts';
import { isNotShown, isRefusedByPartner } from '../../src/partner/client/read-answer.ts';
import type { Page } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import type { Connection } from '../connections.ts';

type PartnerSide = Pick<Connection, 'partner'>;

/**
 * The partner's answer for one id: the record, or why it cannot be read. Empty if it shows nothing, which proves
 * nothing.
 */
export interface Fetched {
  jobCandidate?: JobCandidate;
  unreadable?: string;
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
