import { clearHintsUntil } from '../../src/store/hints.ts';
import { changeQuarantine } from '../../src/store/quarantine.ts';
import {
  addMissing,
  believeMissing,
  forgetMissing,
  type Missing,
  readMissing,
  readSeenIds,
  type SeenIds,
} from '../../src/store/stream-missing.ts';
import { completePass } from '../../src/store/stream-states.ts';
import { judgeMissing } from '../../src/streams/change-limits.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import { stopAt } from './land-within-limits.ts';
import { NO_PAGE, type Reading } from './reading.ts';
import { removeGone } from './remove-gone.ts';

const HRIS_MS = 60_000;
/** Ids a read: a million rows at once would be more than all else that a worker holds of them. */
const IDS_A_READ = 10_000;

/**
 * The whole list was read: who was landed and stands on no page is missing, and whom two passes missed is gone. Says
 * how many of those are left alone.
 */
export async function endPass(reading: Reading): Promise<number> {
  const { deps, key, run, destination, tally } = reading;
  const seen = await readSeenIds(deps.store, key);
  const { landed, missing } = await compareLanded(reading, seen);
  const gone = tally.isUnsure ? [] : await settleMissing(reading, landed, missing);
  const removed = await removeGone(reading, gone);
  await releaseUnlisted(reading, seen);
  const { stream } = reading;
  const until = Number(run.started_at);
  const about = stream.fetch === undefined ? undefined : [WHOLE_LIST];
  await clearHintsUntil(deps.store, { ...key, until }, about);
  await completePass(deps.store, key, {
    whole_at: until,
    listed: seen.size,
    landed: landed - removed,
    mapping_hash: destination.origin.mappingHash,
  });
  return gone.length - removed;
}

/** How many rows are landed, and which of them nobody saw. */
async function compareLanded(
  { destination, key }: Reading,
  seen: SeenIds,
): Promise<{ landed: number; missing: string[] }> {
  const missing: string[] = [];
  let landed = 0;
  let after: string | undefined;
  do {
    const some = { tenant: key.tenantId, signal: AbortSignal.timeout(HRIS_MS), after, most: IDS_A_READ };
    const ids = await destination.landing.ids(key.stream, some);
    landed += ids.length;
    missing.push(...ids.filter((id) => !seen.has(id)));
    after = ids.length < IDS_A_READ ? undefined : ids.at(-1);
  } while (after !== undefined);
  return { landed, missing };
}

/** Notes who is missing, and returns who is believed to be gone. */
async function settleMissing(reading: Reading, landed: number, missing: readonly string[]): Promise<string[]> {
  const { deps, key, run } = reading;
  const known = new Map((await readMissing(deps.store, key)).map((one) => [one.recordId, one]));
  const isBelieved = (id: string): boolean => known.get(id)?.isBelieved === true;
  const unbelieved = missing.filter((id) => !isBelieved(id));
  const excess = judgeMissing(unbelieved.length, landed - missing.length + unbelieved.length);
  if (excess !== undefined) await stopAt(reading, excess, unbelieved.length);
  const again = unbelieved.filter((id) => wasMissedBefore(known.get(id), run.run_id));
  const first = unbelieved.filter((id) => !known.has(id));
  await addMissing(deps.store, key, { runId: run.run_id, ids: first, believed: false });
  await believeMissing(deps.store, key, again);
  const stillMissing = new Set(missing);
  await forgetMissing(
    deps.store,
    key,
    [...known.keys()].filter((id) => !stillMissing.has(id)),
  );
  return [...missing.filter(isBelieved), ...again];
}

function wasMissedBefore(missing: Missing | undefined, runId: string): boolean {
  return missing !== undefined && missing.runId !== runId;
}

/** Read by id before, left out, and no longer in the list. */
async function releaseUnlisted({ deps, key, run, quarantine }: Reading, seen: SeenIds): Promise<void> {
  const over = quarantine.filter((row) => row.page === NO_PAGE && !seen.has(row.record_key));
  if (over.length === 0) return;
  const change = { page: NO_PAGE, over: over.map((row) => row.record_key), news: [] };
  await changeQuarantine(deps.store, key, run.run_id, change);
}
