import { findPairs } from '../../src/store/linked-pairs.ts';
import { changeQuarantine, readQuarantine } from '../../src/store/quarantine.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { scopeOf } from './open-context.ts';
import type { ReadPair } from './read-pairs.ts';

/** Names pairs that cannot be read, with the reason, and takes those off the list that can be read again. */
export async function noteUnread(
  { deps, key, runId }: ExchangeContext,
  read: readonly Pick<ReadPair, 'pair' | 'found'>[],
): Promise<void> {
  const known = new Map((await readQuarantine(deps.store, key)).map((row) => [row.record_key, row.reason]));
  const news = read.flatMap(({ pair, found }) =>
    'unreadable' in found && known.get(pair.pairId) !== found.unreadable
      ? [{ key: pair.pairId, reason: found.unreadable }]
      : [],
  );
  const over = read.flatMap(({ pair, found }) =>
    'unreadable' in found || !known.has(pair.pairId) ? [] : [pair.pairId],
  );
  if (news.length + over.length > 0) await changeQuarantine(deps.store, key, runId, { page: 0, over, news });
}

/** Takes pairs off the list that are not linked any more: no run reads them again. */
export async function forgetUnlinked(context: ExchangeContext): Promise<void> {
  const { deps, key, runId } = context;
  const ids = (await readQuarantine(deps.store, key)).map((row) => row.record_key);
  const linked = new Set((await findPairs(deps.store, scopeOf(context), ids)).map(({ pairId }) => pairId));
  const over = ids.filter((id) => !linked.has(id));
  if (over.length > 0) await changeQuarantine(deps.store, key, runId, { page: 0, over, news: [] });
}
