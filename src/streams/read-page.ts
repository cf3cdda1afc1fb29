import { ConnectorError, isConnectorError } from '../errors.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import type { Page } from '../partner/client/types.ts';
import type { PullStream } from './stream.ts';

export type RecordPage = Page<Record<string, unknown>>;

/** Records a page: the most that section 8 allows. */
export const PAGE_SIZE = 100;
const MOST_TRIES = 5;

export function firstPageOf({ list }: PullStream): number {
  return list.list.paging?.firstPage ?? 0;
}

/**
 * One page of the partner's list; undefined behind the last. A page refused with 429 is asked for again: the rate limit
 * says when. A wait too long for that is thrown, and the activity goes back.
 */
export async function readPage(
  partner: PartnerClient,
  { list }: PullStream,
  page: number,
): Promise<RecordPage | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const pages = partner.pages(list, {}, { from: page, size: PAGE_SIZE, priority: 'bulk' });
      const { value } = await pages.next();
      return value as RecordPage | undefined;
    } catch (error) {
      // Giving the activity back would throw away the pages fetched ahead, and they would be paid for twice.
      if (!isConnectorError(error) || error.status !== 429 || attempt === MOST_TRIES) throw error;
    }
  }
}

/** A partner that ignores the page number would be read for ever. */
export function assertMoved(
  { list }: { list: Pick<PullStream['list'], 'id' | 'section'> },
  page: number,
  ids: string,
  before: string | undefined,
): void {
  if (ids === '' || ids !== before) return;
  throw new ConnectorError({
    code: 'PAGE_REPEATED',
    action: 'reject',
    message:
      `${list.id} gave the same records for page ${page} as for the page before. ` +
      `Check the tenant's partner.overrides against section ${list.section}.`,
  });
}
