import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { StreamName } from '../../src/hris/port.ts';
import type { ListEndpoint, Page } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { Connection } from '../connections.ts';

/** Where a stream comes from: the partner's list, and the name of one of its records in a mapping. */
export const streamSources: Record<StreamName, { list: ListEndpoint; record: 'job' | 'candidate' }> = {
  jobs: { list: contract.jobs.list as ListEndpoint, record: 'job' },
  candidates: { list: contract.candidates.list as ListEndpoint, record: 'candidate' },
};

/** Records a page: the most that section 8 allows. */
export const PAGE_SIZE = 100;
const MOST_TURNS = 5;

export function firstPageOf(stream: StreamName): number {
  return streamSources[stream].list.list.paging?.firstPage ?? 0;
}

/** One page of the partner's list; undefined behind the last. A page refused for being too fast is asked for again: the rate limit says when. */
export async function readPage(
  { partner }: Connection,
  stream: StreamName,
  page: number,
): Promise<Page<Record<string, unknown>> | undefined> {
  const { list } = streamSources[stream];
  for (let turn = 1; ; turn += 1) {
    try {
      const pages = partner.pages(list, {}, { from: page, size: PAGE_SIZE, priority: 'bulk' });
      const { value } = await pages.next();
      return value as Page<Record<string, unknown>> | undefined;
    } catch (error) {
      // Giving the activity back would throw away the pages fetched ahead, and they would be paid for twice.
      if (!isConnectorError(error) || error.action !== 'throttle' || turn === MOST_TURNS) throw error;
    }
  }
}

/** A partner that ignores the page number would be read for ever. */
export function assertMoved(stream: StreamName, page: number, ids: string, before: string | undefined): void {
  if (ids === '' || ids !== before) return;
  throw new ConnectorError({
    code: 'PAGE_REPEATED',
    action: 'reject',
    message: `${streamSources[stream].list.id} gave the same records for page ${page} as for the page before. Check the tenant's readings of section ${streamSources[stream].list.section}.`,
  });
}
