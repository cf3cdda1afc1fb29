import { sideKeptBy } from '../../activities/hear-answer.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { NOT_KEPT, NOT_SHOWN, TAKEN } from '../exchange/plan-pair.ts';
import { count } from '../in-words.ts';
import { audit } from '../store/audit.ts';
import { type ConflictFilter, listConflicts } from '../store/field-conflicts.ts';
import { addHints } from '../store/hints.ts';
import { listHolds } from '../store/holds.ts';
import { listDeliveries, retryDeliveries } from '../store/inbox.ts';
import { type LeftOutPairs, readLeftOutPairs, retryLeftOutPairs } from '../store/linked-pairs.ts';
import type { Store } from '../store/open-store.ts';
import { readQuarantine } from '../store/quarantine.ts';
import type { QuarantineRow, StreamRow } from '../store/schema.ts';
import type { FieldConflictRow } from '../store/stream-tables.ts';
import { isRefusedBeside, listStreamStates, listStreams, type StreamState } from '../store/streams.ts';
import { WHOLE_LIST } from '../streams/stream.ts';
import { type StreamName, streamNames } from '../streams/streams.ts';
import { hintStream } from '../temporal/schedules.ts';
import type { OperatorParts } from './open-tenant.ts';
import { assertKnownStream } from './streams.ts';
import { knownTenant } from './tenants.ts';

/** Something that was not delivered, and why: ids, field names and codes. */
export interface Failed {
  /** A stream, or `inbox`. */
  where: string;
  /** A record, a delivery, `(stream)` for all of it, or the number of records with this reason. */
  what: string;
  since: string;
  reason: string;
}

const MOST_DELIVERIES = 1_000;

/** Streams that are stopped, records that were left out, and deliveries that could not be relayed. */
export async function readFailed(store: Store, tenantId: string): Promise<Failed[]> {
  const [runs, states, rows, pairs, lost] = await Promise.all([
    listStreams(store, [tenantId]),
    listStreamStates(store, [tenantId]),
    readQuarantine(store, { tenantId }),
    readLeftOutPairs(store, tenantId),
    listDeliveries(store, { states: ['undeliverable'], tenantId, limit: MOST_DELIVERIES }),
  ]);
  const streams = streamNames.flatMap((stream) => {
    const isOwn = (row: { stream: string }): boolean => row.stream === stream;
    const failed = failedOf(runs.find(isOwn), states.find(isOwn), rows.filter(isOwn));
    return failed.map((one) => ({ where: stream, ...one }));
  });
  const deliveries = lost.map(({ bodyHash, receivedAt, event, lastError }) => {
    const reason = `${event}: ${lastError ?? 'unknown'}`;
    return { where: 'inbox', what: bodyHash.slice(0, 12), since: iso(receivedAt), reason };
  });
  return [...streams, ...pairs.map(ofPairs), ...deliveries];
}

function failedOf(
  run: StreamRow | undefined,
  state: StreamState | undefined,
  rows: readonly QuarantineRow[],
): Omit<Failed, 'where'>[] {
  const left = rows.map((row) => ({ what: row.record_key, since: iso(row.since), reason: row.reason }));
  const stops = [
    ...(state?.held_code ? [{ at: state.held_at, why: state.held_message, code: state.held_code }] : []),
    ...(run !== undefined && isRefusedBeside(run, state)
      ? [{ at: run.ended_at, why: run.refused_message, code: run.refused_code }]
      : []),
  ].map(({ at, why, code }) => ({ what: '(stream)', since: iso(at ?? 0), reason: `${why ?? ''} [${code ?? ''}]` }));
  return [...stops, ...left];
}

function ofPairs({ stream, count: pairs, since, why }: LeftOutPairs): Failed {
  return {
    where: stream,
    what: `(${count(pairs, 'pair')})`,
    since: iso(since),
    reason: reasonOf(why),
  };
}

function reasonOf(why: LeftOutPairs['why']): string {
  if (why.kind === 'in doubt')
    return 'it is unknown whether a write arrived: hirebridge looks, and repeats it if it is missing';
  if (why.kind === 'refused') {
    const told = [wordsOf(why.code) ?? [], why.code, 'each is listed by hirebridge conflicts'].flat();
    return `${why.field}: ${told.join('; ')}`;
  }
  const whose = why.side === 'partner' ? 'the hiring platform shows no application' : 'the HR system shows no employee';
  return `${whose} any more: believed once a second run confirms it`;
}

/** The meaning of a code, and what follows. Most codes from the sides themselves need no words. */
export function wordsOf(code: string): string | undefined {
  if (!TAKEN.includes(code)) return WORDS[code];
  return 'another record has this value; each pass tries again; to swap two values, set one to a third value first';
}

const WORDS: Readonly<Record<string, string>> = {
  [NOT_KEPT]: 'written, but it came back different; left alone until somebody edits it',
  [NOT_SHOWN]: 'written and accepted, but the old value is still shown there; left alone until somebody edits it',
  RECORD_OF_ANOTHER: 'the record no longer has our reference, so its id may mean somebody else by now',
  NOT_A_TEXT: 'the HR system holds bytes where a text belongs',
  BROKEN_TEXT: 'the text holds a character that no database keeps',
  TOO_LONG: 'the text is too long',
  NOT_A_NUMBER: 'the HR system holds no number',
  NOT_A_DAY: 'the HR system holds no day of the calendar',
  NOT_TRUE_OR_FALSE: 'the HR system holds neither yes nor no',
  NOT_A_LIST: 'the HR system holds no list of texts',
  UNREADABLE: 'the HR system holds something that cannot be read',
  WRONG_TYPE: 'the hiring platform holds a value of another type',
  NOT_AN_OPTION: 'the value is none of the options in the HR system',
  VALUE_MISFIT: 'the field of the hiring platform does not take this value',
  RECORD_NOT_SHOWN: 'the rule reads a record that is not shown at the moment',
  AMBIGUOUS_LABEL: 'several custom fields have this label',
  CUSTOM_FIELD_UNCLEAR: 'no custom field has this label, or several have it',
  ENTRY_UNCLEAR: 'no entry is the one that the rule means, or several are',
  MISSING: 'the mapping requires a value, and the source is empty',
  TOO_PRECISE: 'the number has more decimals than the field of the HR system',
  TWICE_IN_TABLE: 'two records of the table of the hiring platform have the value',
  NOT_IN_LOOKUP: 'the lookup of the mapping does not have the value',
  NOT_IN_TABLE: 'the table of the hiring platform does not have the value',
  AMBIGUOUS_DATE: 'the date can be read in two ways',
  NOT_A_DATE: 'the value is no date',
  NOT_AN_INSTANT: 'the value is no point in time',
  NOT_AN_AMOUNT: 'the value is no amount of money',
  NOT_A_BOOLEAN: 'the value is neither yes nor no',
  NOT_A_COUNTRY: 'the value is no country',
  NOT_A_PHONE: 'the value is no phone number',
  NOT_A_LOGIN: 'no user name can be made of the value',
  NOT_EXACT: 'the number would be rounded',
  NOT_INVERTIBLE: 'the value of the HR system cannot be turned back into one of the hiring platform',
  NOT_CANONICAL: 'the value of the HR system would be changed on its way to the hiring platform',
  CANNOT_BE_EMPTY: 'the hiring platform must have a value here; fill it in in the HR system',
  INVALID_REQUEST:
    'the write was refused; if the hiring platform refuses every custom field value, it may want them under a key: ' +
    'set partner.overrides.valuesBulkKey',
};

function iso(at: number): string {
  return new Date(Number(at)).toISOString();
}

/**
 * Reads the left-out records and pairs of one stream, or of all, again; without a stream it also relays undeliverable
 * deliveries again. Returns how many, by stream.
 * @throws ConnectorError TENANT_UNKNOWN, STREAM_UNKNOWN
 */
export async function retryFailed(
  { store, hires, tenants }: OperatorParts,
  {
    tenantId,
    stream,
    record,
    by,
  }: { tenantId: string; stream?: string | undefined; record?: string | undefined; by: string },
) {
  knownTenant(tenants, tenantId);
  if (stream !== undefined) assertKnownStream(stream);
  await audit(store, { by, tenantId, act: 'records-retried', details: record ?? stream ?? 'all of it' });
  const records: Partial<Record<StreamName, number>> = {};
  for (const name of stream === undefined ? streamNames : [stream as StreamName]) {
    const all = await readQuarantine(store, { tenantId, stream: name });
    const left = record === undefined ? all : all.filter((row) => row.record_key === record);
    if (record !== undefined && left.length === 0) throw notLeftOut(tenantId, name, record);
    const pairs = record === undefined ? await retryLeftOutPairs(store, { tenantId, stream: name }) : [];
    if (left.length + pairs.length === 0) continue;
    // A record without a readable id is known only by its place, so the whole list is read.
    const ids = left.map((row) => (row.record_key.startsWith('page ') ? WHOLE_LIST : row.record_key));
    await addHints(store, tenantId, name, [...new Set([...ids, ...pairs])]);
    await hintStream(hires, { tenantId, stream: name });
    records[name] = left.length + pairs.length;
  }
  const states = ['undeliverable'] as const;
  const deliveries = stream === undefined ? await retryDeliveries(store, { states, tenantId }) : 0;
  return { records, deliveries };
}

function notLeftOut(tenantId: string, stream: string, record: string): ConnectorError {
  return rejected(
    'RECORD_NOT_LEFT_OUT',
    `No record "${record}" of ${stream} is left out. hirebridge failed ${tenantId} lists those that are.`,
  );
}

/** A field whose sides differed, for display. */
export interface ConflictView extends ReturnType<typeof viewConflict> {
  /** The open hold whose answer decides the conflict, and its answers; null if there is none. */
  asked: { holdId: string; answers: string[] } | null;
}

const MASKED = '"***"';

/** A tenant's conflicts, latest first; sensitive values are masked unless `reveal` is set. */
export async function readConflicts(store: Store, filter: ConflictFilter, reveal = false): Promise<ConflictView[]> {
  const rows = await listConflicts(store, filter);
  const asked = await holdsByStream(store, filter.tenantId);
  return rows.map((row) => ({
    ...viewConflict(row, reveal),
    asked: row.kind === 'held' && row.kept === null && row.closed_at === null ? (asked.get(row.stream) ?? null) : null,
  }));
}

/** By stream, the open hold that asks whose value stays. */
async function holdsByStream(store: Store, tenantId: string): Promise<Map<string, ConflictView['asked']>> {
  const open = (await listHolds(store, { tenantId })).filter((row) => row.answered_at === null);
  return new Map(
    open.flatMap((row): [string, ConflictView['asked']][] => {
      const { stream } = JSON.parse(row.details) as { stream?: string };
      const answers = (JSON.parse(row.answers) as string[]).filter((one) => sideKeptBy(one) !== undefined);
      if (stream === undefined || row.job_candidate_id !== null || answers.length === 0) return [];
      return [[stream, { holdId: row.hold_id, answers }]];
    }),
  );
}

function viewConflict(row: FieldConflictRow, reveal: boolean) {
  const isShown = reveal || row.is_sensitive === 0;
  const shown = (value: string | null): string | null => (value === null || isShown ? value : MASKED);
  return {
    id: row.conflict_id,
    since: iso(row.since),
    /** Null while they still differ. */
    over: row.closed_at === null ? null : iso(row.closed_at),
    stream: row.stream,
    /** The HR system's id of the record. */
    record: row.pair_id,
    field: row.field,
    kind: row.kind,
    code: row.code,
    /** What the code means; null if it needs no words. */
    why: (row.code === null ? undefined : wordsOf(row.code)) ?? null,
    /** Each side's value as JSON; null after a purge. */
    partner: shown(row.partner_value),
    hris: shown(row.hris_value),
    kept: row.kept,
  };
}
