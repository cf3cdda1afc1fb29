import type { ConnectorError } from '../../src/errors.ts';
import { readHints } from '../../src/store/hints.ts';
import { holdStream, type StreamState } from '../../src/store/stream-states.ts';
import type { StreamMode } from '../../src/store/stream-tables.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import { countsOf, stepOf } from '../../src/streams/page-outcome.ts';
import { firstPageOf } from '../../src/streams/read-page.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import type { PullInput, StreamStep } from '../../src/streams/stream-activities.ts';
import { pullStreams } from '../../src/streams/streams.ts';
import { isWholeDue } from '../../src/streams/whole-passes.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { drainHints } from './drain-hints.ts';
import { type Beat, inRun } from './in-run.ts';
import { readList } from './read-list.ts';
import { readOne } from './read-one.ts';
import { commit, openReading, type Reading } from './reading.ts';

/**
 * One activity of a run: reads what the run's mode asks for and lands it, from the store's cursor on. The cursor moves
 * after a page is written, so a repeat writes nothing twice: the page's hashes are there by then.
 */
export function pullPages(deps: ActivityDeps, input: PullInput, beat: Beat = () => undefined): Promise<StreamStep> {
  const { tenantId, stream, rewrite = false } = input;
  const key = { tenantId, stream };
  return inRun<StreamStep>(deps, input, {
    async begins(connection, state) {
      const mode = input.begun ? input.mode : await resolveMode(deps, connection, input, state);
      return { full: rewrite, firstPage: firstPageOf(pullStreams[stream]), mode };
    },
    stepOf,
    work: async (connection, run) => readOn(await openReading(deps, connection, key, run), input, beat),
    refuses: (error, state) => refusalOf(deps, key, error, state),
  });
}

async function resolveMode(
  { store }: ActivityDeps,
  { tenant }: Connection,
  { mode, tenantId, stream }: PullInput,
  state: StreamState | undefined,
): Promise<StreamMode> {
  if (mode !== 'incremental') return mode;
  const { every, wholeWithin } = tenant.streams[stream];
  const hasHints = pullStreams[stream].fetch !== undefined && tenant.partner.webhooks === 'on';
  const wholeAt = state?.whole_at ?? null;
  if (isWholeDue({ now: await readClock(store), wholeAt, every, wholeWithin, hasHints })) return 'full';
  const hints = await readHints(store, tenantId, stream);
  return hints.some(({ recordId }) => recordId === WHOLE_LIST) ? 'full' : 'incremental';
}

async function readOn(reading: Reading, { recordId }: PullInput, beat: Beat): Promise<StreamStep> {
  const { deps, key } = reading;
  const mode = reading.run.mode ?? 'full';
  const isOurs = mode === 'full' ? await readWhole(reading, beat) : await readSome(reading, mode, recordId);
  if (!isOurs) return { state: 'superseded' };
  const { run } = reading;
  if (run.state !== 'running') deps.log.info({ ...key, mode, state: run.state, ...countsOf(run) }, 'stream synced');
  return stepOf(run);
}

async function readWhole(reading: Reading, beat: Beat): Promise<boolean> {
  if (reading.stream.fetch !== undefined && !(await drainHints(reading))) return false;
  return (await readList(reading, beat)) === 'over';
}

async function readSome(reading: Reading, mode: StreamMode, recordId: string | undefined): Promise<boolean> {
  const isOurs =
    mode === 'one' && recordId !== undefined ? await readOne(reading, recordId) : await drainHints(reading);
  if (!isOurs) return false;
  const { page, total, quarantined } = reading.run;
  const counts = { unchanged: 0, created: 0, updated: 0, quarantined: 0 };
  return commit(reading, { next: page, records: 0, total, counts, state: quarantined > 0 ? 'partial' : 'done' });
}

/** A stream that was read before and now may not be read waits for a person. */
async function refusalOf(
  { store }: ActivityDeps,
  key: Reading['key'],
  error: ConnectorError,
  state: StreamState | undefined,
): Promise<{ code: string; message: string }> {
  const wasRead = (state?.whole_at ?? null) !== null;
  if (error.status !== 403 || !wasRead) return error;
  const lost = { code: 'PERMISSION_LOST', message: permissionLost(key, error) };
  await holdStream(store, key, lost);
  return lost;
}

function permissionLost({ tenantId, stream }: Reading['key'], { code, message }: ConnectorError): string {
  return (
    `The key may no longer read ${stream}: ${message} [${code}] What was landed stays as it is. ` +
    `Give the key its permission back, then: hirebridge resume ${tenantId} ${stream}`
  );
}
