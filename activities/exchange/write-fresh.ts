import { giversFirst } from '../../src/exchange/givers-first.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { type ReadPair, readPairs } from './read-pairs.ts';
import { assertWithinLimits } from './within-limits.ts';
import { busyIn, type PlannedPair, plannedIn, type WrittenPair, writePairs } from './write-pairs.ts';

/** Pairs whose values are sent one pair after the other: so many are sent soon after they were read. */
const SOON = 10;

/**
 * Writes what the plans say. No API here writes under a condition, so an edit that somebody makes between our reading
 * and our write is overwritten and never seen. Where both sides own a field, what was read some time ago is therefore
 * read and decided again directly before it is written; `check` sees all pairs as they were read last, before anything
 * of it is. Returns the pairs as they were read last.
 */
export async function writeFresh(
  context: ExchangeContext,
  first: readonly ReadPair[],
  { isListOld, check }: { isListOld: boolean; check: (read: readonly ReadPair[]) => Promise<void> },
): Promise<{ read: ReadPair[]; written: WrittenPair[] }> {
  const busy = giversFirst(busyIn(plannedIn(first)));
  const later = writtenLater(context, busy, isListOld);
  const now = busy.filter((one) => !later.includes(one));
  const written = now.length === 0 ? [] : await writePairs(context, now);
  const again = new Map<string, ReadPair>();
  const latest = (): ReadPair[] => first.map((one) => again.get(one.pair.pairId) ?? one);
  const size = context.entity === 'job' ? later.length : SOON;
  for (let from = 0; from < later.length; from += size) {
    context.jobs.forget();
    const pairs = later.slice(from, from + size).map(({ pair }) => pair);
    const read = await readPairs(context, pairs);
    for (const one of read) again.set(one.pair.pairId, one);
    await check(latest());
    const some = busyIn(plannedIn(read));
    if (some.length === 0) continue;
    await assertWithinLimits(context, some);
    written.push(...(await writePairs(context, some)));
  }
  return { read: latest(), written };
}

/** Jobs are listed once for many pages; people are written one after the other, but for values sent in bulk. */
function writtenLater(context: ExchangeContext, busy: readonly PlannedPair[], isListOld: boolean): PlannedPair[] {
  const shared = new Set(
    context.mapping.back.filter(({ rule }) => rule.owner === 'either').map(({ target }) => target),
  );
  const isShared = ({ field }: { field: string }): boolean => shared.has(field);
  if (context.entity === 'job') return isListOld ? busy.filter(({ plan }) => plan.toPartner.some(isShared)) : [];
  const isSlow = ({ plan }: PlannedPair): boolean =>
    plan.toHris.some(isShared) || plan.toPartner.some((one) => 'property' in one.at && isShared(one));
  return busy.filter(isSlow).slice(SOON);
}
