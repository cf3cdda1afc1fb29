import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import type { RowChange } from '../../src/hris/port.ts';
import { saveConsents } from '../../src/store/consents.ts';
import { BY_ITSELF } from '../../src/store/foreign-writes.ts';
import { assertMayWrite } from '../../src/store/freezes.ts';
import { readHints } from '../../src/store/hints.ts';
import { type Quarantined, readQuarantine } from '../../src/store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../../src/store/schema.ts';
import {
  allowedCodes,
  beginRun,
  type CommittedPage,
  commitPage,
  heldCodes,
  holdStream,
  isOfPart,
  keepParts,
  type NewRun,
  readStream,
  readStreamState,
  refuseRun,
  type StreamKey,
  type StreamState,
} from '../../src/store/streams.ts';
import { EMPTY_TALLY, judgeChanges, type Tally, tallyPage } from '../../src/streams/change-limits.ts';
import { rowOfConsent, withConsents } from '../../src/streams/consents.ts';
import { type Recognition, recognitionOf } from '../../src/streams/known-records.ts';
import {
  type Destination,
  type LandedPage,
  landPage,
  lookupLanding,
  mappingOfTable,
  NOTHING_LANDED,
  noLanding,
  settleOpenWrites,
} from '../../src/streams/land-page.ts';
import { advance } from '../../src/streams/page-outcome.ts';
import { type Parts, type RecordPage, type RowFacts, readParts } from '../../src/streams/read-page.ts';
import { type PullStream, withTables } from '../../src/streams/stream.ts';
import type { StreamStep } from '../../src/streams/stream-activities.ts';
import { isLookup, type PullName, pullStreams, type StreamName } from '../../src/streams/streams.ts';
import { refusedRecords } from '../../src/streams/without-erased.ts';
import { type ActivityDeps, type Connection, keepMapping } from '../connections.ts';
import { currentRecords, fittedMapping } from '../fields/custom-fields.ts';
import { guarded } from '../guarded.ts';

/** One activity's part of a run. */
export interface Reading {
  deps: ActivityDeps;
  connection: Connection;
  key: StreamKey & { stream: PullName };
  stream: PullStream;
  destination: Destination;
  /** Undefined if every record must be read. */
  recognition: Recognition | undefined;
  /** The run as stored. */
  run: StreamRow;
  /** The stream's stored state when this part began. */
  state: StreamState | undefined;
  /** Counts of the pages landed so far. */
  tally: Tally;
  quarantine: QuarantineRow[];
  /** Ids of the page before. */
  before: string | undefined;
  /** Pages fetched at the same time. */
  ahead: number;
  /** Whether each page is settled alone. */
  isSingly: boolean;
  rereads: number;
  /** Number of reads so far; tells which of two observations is newer. */
  reads: number;
  /** Records read by id, with the number of the read. */
  readById: Map<string, number>;
  beat: Beat;
}

/**
 * The hints of a stream, oldest first, whose records the partner surely shows. A webhook may come earlier: its hint is
 * left, and read again soon.
 */
export function readShownHints({ deps, key }: Pick<Reading, 'deps'> & { key: StreamKey }, limit?: number) {
  return readHints(deps.store, key.tenantId, key.stream, limit, deps.limits.partnerLagMs);
}

/** When the hints that a run left can be read, if there are any. What comes during a run signals the workflow. */
export async function leftHints(
  { deps, key }: Pick<Reading, 'deps'> & { key: StreamKey },
  run: StreamRow,
): Promise<Pick<StreamStep, 'againInMs'>> {
  const { partnerLagMs } = deps.limits;
  const began = Number(run.started_at);
  const hints = await readHints(deps.store, key.tenantId, key.stream);
  const isLeft = hints.some(({ hintedAt }) => hintedAt > began - partnerLagMs && hintedAt < began);
  return isLeft ? { againInMs: partnerLagMs } : {};
}

/** Page number in the quarantine for records that were read by id. */
export const NO_PAGE = -1;

/** Pages fetched ahead; a worker that is killed loses at most these and the page being written. */
const AHEAD = 8;

/** @throws ConnectorError NO_LANDING */
export async function openReading(
  deps: ActivityDeps,
  connection: Connection,
  key: Reading['key'],
  run: StreamRow,
): Promise<Reading> {
  const { tenantId, stream } = key;
  const { store } = deps;
  const { landing, mapping } = isLookup(stream)
    ? { landing: lookupLanding(store), mapping: mappingOfTable(stream, pullStreams[stream]) }
    : await openLanding(deps, connection, key);
  const origin = { tenantId, runId: run.run_id, mappingHash: mapping.hash, by: BY_ITSELF };
  const destination = { landing, mapping, tenant: tenantId, stream, force: run.is_full === 1, store, origin };
  const parts = await partsOfRun(deps, connection, key, run);
  const kept = run.tally === null ? EMPTY_TALLY : (JSON.parse(run.tally) as Tally);
  const tally = { ...kept, mapping: kept.mapping ?? mapping.hash };
  return {
    deps,
    connection,
    key,
    stream: parts === undefined ? pullStreams[stream] : { ...pullStreams[stream], segments: parts.segments },
    destination,
    // A table is small, and one of its records may be inside another. A list of applications shows no consent.
    recognition:
      isLookup(stream) || stream === 'consents'
        ? undefined
        : recognitionOf(stream, mapping, connection.overrides.fieldNames[pullStreams[stream].list.id]),
    run,
    state: await readStreamState(store, key),
    tally: parts?.isUnsure === true ? { ...tally, isUnsure: true } : tally,
    quarantine: await readQuarantine(store, key),
    before: undefined,
    ahead: AHEAD,
    isSingly: false,
    rereads: 0,
    reads: 0,
    readById: new Map(),
    beat: () => undefined,
  };
}

/** The parts stay the same during a run, no matter which process continues it, because its cursor counts them. */
async function partsOfRun(
  { store }: ActivityDeps,
  { partner }: Connection,
  key: Reading['key'],
  run: StreamRow,
): Promise<Parts | undefined> {
  const { parent } = pullStreams[key.stream];
  if (parent === undefined || run.mode === 'incremental') return undefined;
  if (run.cursor !== null) return JSON.parse(run.cursor) as Parts;
  const parts = await readParts(partner, parent);
  return JSON.parse(await keepParts(store, key, run.run_id, JSON.stringify(parts))) as Parts;
}

async function openLanding(deps: ActivityDeps, connection: Connection, { tenantId, stream }: Reading['key']) {
  const { store } = deps;
  const { landing } = connection.hris;
  const mapping = connection.landings[stream];
  if (landing === undefined || mapping === undefined) throw noLanding(connection.tenant.hris.kind, stream);
  await keepMapping(store, connection.tenant, { subject: stream, mapping });
  await settleOpenWrites(store, landing, { tenant: tenantId, stream });
  const fitted = await fittedMapping(deps, connection, stream, mapping);
  return { landing, mapping: await withTables(store, tenantId, fitted) };
}

/** Advances the run past the landed records. Returns false if another run took over. */
export async function commit(reading: Reading, page: CommittedPage): Promise<boolean> {
  const { deps, key, run, tally } = reading;
  const committed = { ...page, seenSoFar: run.seen, tally: JSON.stringify(tally) };
  if (!(await commitPage(deps.store, key, run.run_id, committed))) {
    if (!(await isStillOurs(reading))) return false;
    // An attempt whose heartbeat came too late runs on beside the next attempt. If both counted pages, the list would
    // end before its last pages.
    throw new ConnectorError({
      code: 'ATTEMPTED_TWICE',
      action: 'retry',
      message:
        `An earlier attempt is still reading ${key.tenantId} ${key.stream}. This one continues from where that one ` +
        'is.',
    });
  }
  reading.run = advance(run, committed);
  return true;
}

/**
 * Another run may have taken over while this process stood still; this one's reading is then older than the stored
 * data.
 */
export async function isStillOurs({ deps, key, run }: Reading): Promise<boolean> {
  return (await readStream(deps.store, key))?.run_id === run.run_id;
}

/** Several pages together would change too much; landed one by one, the pages before the offending one are written. */
export const TOO_MUCH_AS_ONE = 'TOO_MUCH_AS_ONE';

/**
 * Lands one page unless the run would then change too much; in that case nothing of the page is written.
 * @throws ConnectorError TOO_MUCH_AS_ONE if it is several pages
 */
export async function landWithinLimits(reading: Reading, page: RecordPage | undefined, pages = 1): Promise<LandedPage> {
  if (page === undefined) return NOTHING_LANDED;
  const changes = new Map<string, RowChange>();
  let rows: readonly RowFacts[] = [];
  const { deps, connection, key } = reading;
  const tallied = () => tallyPage(reading.tally, rows, [...changes.values()]);
  const guard = async (some: readonly RowChange[]): Promise<void> => {
    for (const change of some) changes.set(change.row.id, change);
    if (!(await isStillOurs(reading)))
      throw new ConnectorError({
        code: 'RUN_TAKEN_OVER',
        action: 'retry',
        message: `Another run of ${key.tenantId} ${key.stream} took over. This one writes no more.`,
      });
    // There may be a known reason for every row to change: another mapping, or a person's request.
    const { run, state, destination } = reading;
    if (run.is_full === 1 || state === undefined || state.mapping_hash !== destination.origin.mappingHash) return;
    const excess = judgeChanges(tallied(), reading.state?.landed ?? null);
    if (excess === undefined) return;
    if (pages > 1)
      throw new ConnectorError({
        code: TOO_MUCH_AS_ONE,
        action: 'retry',
        message:
          `${pages} pages of ${key.tenantId} ${key.stream} would change too much at once: they are landed one at a ` +
          'time.',
      });
    await stopAt(reading, excess, changes.size);
  };
  const { items: current, leftOut } = await currentItems(reading, reading.destination, page.items);
  const refused = await refusedRecords(deps.store, connection.tenant, key.stream, current);
  const items = refused.size === 0 ? current : current.filter((item) => !refused.has(String(item['id'])));
  const landed = await landPage({ ...reading.destination, guard }, { ...page, items }, (facts) => {
    rows = facts;
  });
  const toConsent = (item: Record<string, unknown>) => rowOfConsent(key.tenantId, item);
  if (key.stream === 'consents') await saveConsents(deps.store, key.tenantId, items.map(toConsent));
  reading.tally = tallied();
  return { ...landed, quarantined: [...landed.quarantined, ...leftOut] };
}

/** A run that its limits may stop. */
interface Limited {
  deps: Pick<ActivityDeps, 'store'>;
  key: StreamKey;
  state: StreamState | undefined;
}

/**
 * Holds the stream until a person resumes it, unless a person allowed exactly this. `lifts` names what they then allow,
 * if that is less than everything the code means; it is held besides anything held already.
 * @throws ConnectorError with the limit's code
 */
export async function stopAt(
  run: Limited,
  { code, message, lifts = code }: { code: string; message: string; lifts?: string },
  held: number,
): Promise<void> {
  const { deps, key, state } = run;
  if (lifts.split(' ').every((one) => allowedCodes(state).includes(one))) return;
  const whole = ' Nothing more is written until a person has looked.';
  const part = ' Nothing more of it is written until a person has looked; the rest goes on.';
  const allow = ` If it is right, allow it for the next pass: hirebridge resume ${key.tenantId} ${key.stream}`;
  const end = `${isOfPart(lifts) ? part : whole}${allow}`;
  // Parts that are held already stay held.
  const before = (state?.held_message ?? '').replace(end, ' ');
  const told = `${before}${message}${end}`;
  await holdStream(deps.store, key, { code: [...heldCodes(state), lifts].join(' '), message: told });
  throw rejected(code, told, { details: { held } });
}

/** The page's records, once their custom fields are known to be those that the mapping means. */
export async function currentItems(
  { deps, connection, beat }: Pick<Reading, 'deps' | 'connection'> & { beat?: Beat },
  { stream, mapping }: Pick<Destination, 'stream' | 'mapping'>,
  items: RecordPage['items'],
): Promise<{ items: RecordPage['items']; leftOut: Quarantined[] }> {
  if (stream === 'consents') {
    const read = await withConsents(deps.store, connection, items, () => beat?.({ consents: true }));
    const leftOut = read.refused.map(({ id, error }) => ({ key: id, reason: `${error.message} [${error.code}]` }));
    return { items: read.items, leftOut };
  }
  const { name } = pullStreams[stream].record;
  const records = items.map((item) => ({ [name]: item }));
  const current = await currentRecords(deps, connection, mapping, records);
  return { items: current.map((record) => record[name] ?? {}), leftOut: [] };
}

/** Tells Temporal how far an activity is; shown there and repeated by every later heartbeat. */
export type Beat = (details: unknown) => void;

/** The run that an activity is part of. */
interface RunKey {
  tenantId: string;
  stream: StreamName;
  runId: string;
  /** The run has its row in the store: if the row there is another run's, that run took over. */
  begun: boolean;
}

/** What differs between kinds of streams. */
interface RunPart<Step> {
  /** How a new run begins. */
  begins(connection: Connection, state: StreamState | undefined): Promise<Omit<NewRun, 'runId'>>;
  work(connection: Connection, run: StreamRow): Promise<Step>;
  stepOf(run: StreamRow): Step;
  /** The reason for refusing the run, if it says more than the error. */
  refuses?(error: ConnectorError, state: StreamState | undefined): Promise<{ code: string; message: string }>;
}

/**
 * Does one activity's part of a run, for any kind of stream. A cause that only a person can remove ends the run; the
 * schedule starts the next one.
 */
export function inRun<Step>(
  deps: ActivityDeps,
  { tenantId, stream, runId, begun }: RunKey,
  part: RunPart<Step>,
): Promise<Step | { state: 'refused'; code: string } | { state: 'busy' | 'superseded' }> {
  const key = { tenantId, stream };
  return guarded(deps, tenantId, async (connection) => {
    const state = await readStreamState(deps.store, key);
    // A stream that is paused, or held as a whole, does nothing until a person resumes it.
    const held = heldCodes(state).find((one) => !isOfPart(one)) ?? (state?.paused_at ? 'STREAM_PAUSED' : undefined);
    if (held !== undefined) return { state: 'refused', code: held };
    const run = await beginRun(deps.store, key, { runId, ...(await part.begins(connection, state)) });
    if (run === undefined) return { state: begun ? 'superseded' : 'busy' };
    if (run.state !== 'running') return part.stepOf(run);
    // Check before reading: data that may not be written need not be fetched.
    if (!isLookup(stream)) await assertMayWrite(deps.store, tenantId);
    try {
      return await part.work(connection, run);
    } catch (error) {
      if (isConnectorError(error, 'RUN_SUPERSEDED')) return { state: 'superseded' };
      if (!isConnectorError(error) || error.action !== 'reject') throw error;
      const refused = { code: error.code, message: error.withoutWords() };
      const { code, message } = (await part.refuses?.(error, state)) ?? refused;
      await refuseRun(deps.store, key, runId, { code, message, held: Number(error.details?.['held'] ?? 0) });
      deps.log.error({ ...key, code, reason: message }, 'stream refused');
      return { state: 'refused', code };
    }
  });
}
