import { hash } from 'node:crypto';
import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import type { EmployeeFields, FieldValue } from '../hire/hire.ts';
import type { FieldDef, Landed, Landing, LandingRow, RowChange, StoredRow } from '../hris/port.ts';
import { isWhole } from '../mapping/compile-rule.ts';
import { evaluateMapping } from '../mapping/evaluate.ts';
import { compileMapping, type Mapping } from '../mapping/load-mapping.ts';
import type { SourcePath } from '../mapping/source-fields.ts';
import {
  concludeWrites,
  type FieldChange,
  forgetWrites,
  type NewWrite,
  readOpenWrites,
  recordWrites,
  settleWrites,
  type WriteOrigin,
} from '../store/foreign-writes.ts';
import { listLookupIds, readLookupRows, removeLookupRows, saveLookupRows } from '../store/lookup-rows.ts';
import { batchesOf, type Store } from '../store/open-store.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { parseYaml } from '../yaml/yaml-file.ts';
import { filledIn, type RecordPage, type RowFacts } from './read-page.ts';
import { type PullStream, RECORD } from './stream.ts';
import { isLookup, type PullName, pullStreams } from './streams.ts';

export interface LandedPage extends Landed {
  /** Rows that exist after landing. */
  rows: readonly RowFacts[];
  quarantined: Quarantined[];
}

export const NOTHING_LANDED: LandedPage = { unchanged: 0, created: 0, updated: 0, rows: [], quarantined: [] };

const READ_MS = 30_000;

/** One record to land: its row's current and new values. */
export interface RowPlan {
  before: Pick<StoredRow, 'hash' | 'fields'> | null;
  after: Pick<LandingRow, 'hash' | 'fields'>;
}

/** Where a plan's records come from and go to. */
export interface PlanEnds {
  landing: Landing;
  mapping: Mapping;
  tenant: string;
  stream: PullName;
}

/** The rows that landing one page would write, by id, and the records it would leave out. Writes nothing. */
export async function planPage(
  ends: PlanEnds,
  page: RecordPage,
): Promise<{ changes: Map<string, RowPlan>; leftOut: Quarantined[] }> {
  const { rows, leftOut } = mapPage(ends, page);
  const stored = await readStored(ends, [...rows.keys()]);
  const changes = new Map<string, RowPlan>();
  for (const { id, hash, fields } of rows.values()) {
    const row = stored.get(id);
    if (row?.hash === hash) continue;
    const before = row === undefined ? null : { hash: row.hash, fields: row.fields };
    changes.set(id, { before, after: { hash, fields } });
  }
  return { changes, leftOut };
}

/** The page's records as they would land. */
export function mapPage(
  { mapping, stream }: Pick<PlanEnds, 'mapping' | 'stream'>,
  page: RecordPage,
): { rows: Map<string, LandingRow>; leftOut: Quarantined[] } {
  const rows = new Map<string, LandingRow>();
  const leftOut = leftOutOf(page);
  for (const item of page.items) {
    const before = page.rowsBefore && (page.rowsBefore.get(String(item['id'])) ?? {});
    const mapped = mapRecord(mapping, stream, item, before);
    if ('hash' in mapped) rows.set(mapped.id, mapped);
    else leftOut.push(mapped);
  }
  return { rows, leftOut };
}

export async function readStored(
  { landing, stream, tenant }: Omit<PlanEnds, 'mapping'>,
  ids: readonly string[],
): Promise<Map<string, StoredRow>> {
  if (ids.length === 0) return new Map();
  const stored = await landing.read(stream, ids, { tenant, signal: AbortSignal.timeout(READ_MS) });
  return new Map(stored.map((row) => [row.id, row]));
}

/**
 * Whether a row is unchanged since it was planned. Compares values too, because an edit by hand leaves the hash
 * unchanged.
 */
export function isAsPlanned(before: RowPlan['before'], row: StoredRow | undefined): boolean {
  if (before === null || row === undefined) return before === null && row === undefined;
  return before.hash === row.hash && areSame(before.fields, row.fields);
}

/** Whether a row already holds its planned values. */
export function isDone({ after }: RowPlan, row: StoredRow | undefined): boolean {
  return row !== undefined && row.hash === after.hash && areSame(row.fields, after.fields);
}

function areSame(one: EmployeeFields, other: EmployeeFields): boolean {
  return Object.keys(fieldChanges(one, other)).length === 0;
}

/**
 * Maps one page and lands it; `onRows` gets the rows that will exist. Records that cannot be read, mapped or stored are
 * quarantined with the reason; the others land.
 */
export async function landPage(
  destination: Destination,
  page: RecordPage,
  onRows: (rows: readonly RowFacts[]) => void = () => undefined,
): Promise<LandedPage> {
  const { rows, leftOut: quarantined } = mapPage(destination, page);
  const { unchanged = [] } = page;
  const facts = [...unchanged, ...[...rows.values()].map(factsOf)];
  onRows(facts);
  const landed = await landRows(destination, [...rows.values()]);
  const refused = new Set(landed.refused.map((one) => one.key));
  // A list that moved while it was read may show a record twice.
  const twice = page.items.length - rows.size - (quarantined.length - page.unreadable.length);
  return {
    created: landed.created,
    updated: landed.updated,
    unchanged: unchanged.length + landed.unchanged + twice,
    rows: facts.filter(({ id }) => !refused.has(id)),
    quarantined: [...quarantined, ...landed.refused],
  };
}

export function factsOf({ id, hash, fields }: LandingRow): RowFacts {
  return { id, hash, filled: filledIn(fields) };
}

/** Records of a page that cannot be read. */
export function leftOutOf({ page, unreadable }: RecordPage): Quarantined[] {
  return unreadable.map(({ id, index, reason }) => ({
    key: id ?? `page ${page}, record ${index + 1}`,
    reason: `does not fit the contract: ${reason}`,
  }));
}

export function noLanding(kind: string, stream: PullName): ConnectorError {
  return rejected(
    'NO_LANDING',
    `An HRIS of kind ${kind} has no table or no mapping for ${stream}. Add a landing database beside the HRIS ` +
      `("landing: { kind: sql, url: env:NAME }"), name a mapping file in streams.${stream}, or remove the stream ` +
      'from the tenant file.',
  );
}

/**
 * Maps one partner record to its row, or says why it cannot land. `before`: the current row of a record that was read
 * by id; fields that only the list shows keep that row's values.
 */
export function mapRecord(
  mapping: Mapping,
  stream: PullName,
  record: Record<string, unknown>,
  before?: EmployeeFields,
): LandingRow | Quarantined {
  const id = String(record['id']);
  const stays = before === undefined ? [] : listOnlyTargets(mapping, stream);
  const { fields: mapped, problems: all } = evaluateMapping(mapping, { [pullStreams[stream].record.name]: record });
  const problems = all.filter(({ field }) => !stays.includes(field));
  if (problems.length > 0)
    return { key: id, reason: problems.map(({ field, code, text }) => `${field}: ${text} [${code}]`).join(' ') };
  const fields = stays.length === 0 ? mapped : withStanding(mapping, mapped, { stays, before });
  return { id, hash: rowHash(fields), fields };
}

/** Fields of the HR system that are mapped from values that only the list shows. */
export function listOnlyTargets(mapping: Mapping, stream: PullName): string[] {
  const { listOnly = [] } = pullStreams[stream];
  const tells = (path: SourcePath): boolean => 'field' in path && listOnly.includes(path.field);
  const depends = mapping.fields.filter(({ from, when }) => from.some(tells) || when.some(({ path }) => tells(path)));
  return depends.map(({ target }) => target);
}

/** Merges in the mapping's field order, which the row's hash depends on. */
function withStanding(
  { fields }: Mapping,
  mapped: EmployeeFields,
  { stays, before = {} }: { stays: readonly string[]; before: EmployeeFields | undefined },
): EmployeeFields {
  const values = fields.map(
    ({ target }) => [target, (stays.includes(target) ? before : mapped)[target] ?? null] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== null));
}

/** Hash of a row's fields in the order of its mapping; tells a changed record from one that is already stored. */
export function rowHash(fields: EmployeeFields): string {
  return hash('sha256', JSON.stringify(fields), 'base64url');
}

const LAND_MS = 30_000;

/** Where and how the pages of one run land, and where their changes are recorded. */
export interface Destination {
  landing: Landing;
  mapping: Mapping;
  tenant: string;
  stream: PullName;
  force: boolean;
  store: Store;
  origin: WriteOrigin;
  /** Awaited before rows are written; if it throws, nothing is written. */
  guard?: (changes: readonly RowChange[]) => Promise<void>;
}

type LandedRows = Landed & { refused: Quarantined[] };

/** Refusals about a value rather than the table, so another record may land. */
const ofOneRow: ReadonlySet<string> = new Set(['INVALID_VALUE', 'MISSING_FIELD', 'DUPLICATE_VALUE']);

/** Lands all rows together; if the HRIS refuses them, splits them in halves until the refused rows are found. */
export async function landRows(destination: Destination, rows: LandingRow[]): Promise<LandedRows> {
  if (rows.length === 0) return { unchanged: 0, created: 0, updated: 0, refused: [] };
  try {
    return { ...(await landTogether(destination, rows)), refused: [] };
  } catch (error) {
    if (!isConnectorError(error) || !ofOneRow.has(error.code)) throw error;
    if (rows.length <= 1) {
      const refused = { key: rows[0]?.id ?? '', reason: `${error.message} [${error.code}]` };
      return { unchanged: 0, created: 0, updated: 0, refused: [refused] };
    }
    const half = Math.ceil(rows.length / 2);
    const left = await landRows(destination, rows.slice(0, half));
    const right = await landRows(destination, rows.slice(half));
    return {
      unchanged: left.unchanged + right.unchanged,
      created: left.created + right.created,
      updated: left.updated + right.updated,
      refused: [...left.refused, ...right.refused],
    };
  }
}

/** Stores old and new values before the statement is sent, so that no write lacks its record. */
async function landTogether(destination: Destination, rows: LandingRow[]): Promise<Landed> {
  const { landing, stream, tenant, force, store, origin, guard } = destination;
  let batchId: string | undefined;
  const beforeWrite = async (changes: readonly RowChange[]): Promise<void> => {
    await guard?.(changes);
    if (isLookup(stream)) return;
    batchId = await recordSafely(store, origin, writesOf(destination, changes));
  };
  try {
    const signal = AbortSignal.timeout(LAND_MS);
    const landed = await landing.land(stream, rows, { tenant, force, beforeWrite, signal });
    if (batchId !== undefined) await settleWrites(store, batchId, 'done');
    return landed;
  } catch (error) {
    // A missing permission blocks every row, too.
    const refused = isConnectorError(error) && (error.action === 'reject' || error.action === 'reauthorize');
    if (batchId !== undefined && refused) await forgetWrites(store, batchId);
    throw error;
  }
}

/** Keeps an error of our store from being taken for an error of the HRIS, in whose call it occurs. */
async function recordSafely(store: Store, origin: WriteOrigin, writes: readonly NewWrite[]): Promise<string> {
  try {
    return await recordWrites(store, origin, writes);
  } catch (cause) {
    throw new ConnectorError({
      code: 'STORE_UNREACHABLE',
      action: 'retry',
      message: 'The store could not record the write before it was made, so nothing was written. It is tried again.',
      cause,
    });
  }
}

function writesOf({ mapping, stream }: Destination, changes: readonly RowChange[]): NewWrite[] {
  const sensitive = sensitiveIn(mapping);
  return changes.map(({ row, before }) => ({
    target: stream,
    recordId: row.id,
    kind: before === undefined ? 'create' : 'update',
    changes: digested(fieldChanges(before?.fields, row.fields), mapping),
    sensitive,
    rowHash: row.hash,
  }));
}

/**
 * Removes rows or marks them as gone, and returns how many; rows that are marked already stay. Recorded before sending,
 * like every write. `signal` limits each call. Without a mapping, nothing but the rows' ids is known.
 */
export async function removeRows(
  {
    landing,
    store,
    origin,
    stream,
    mapping,
  }: Omit<Destination, 'mapping' | 'force' | 'tenant'> & { mapping?: Mapping },
  ids: readonly string[],
  { mark, signal }: { mark: boolean; signal: () => AbortSignal },
): Promise<number> {
  const { tenantId: tenant } = origin;
  const rows = await landing.read(stream, ids, { tenant, signal: signal() });
  const there = rows.filter((row) => row.hash !== '');
  if (there.length === 0) return 0;
  const writes = there.map(({ id, fields }): NewWrite => {
    const ended = { target: stream, recordId: id, kind: 'end', sensitive: sensitiveIn(mapping) } as const;
    if (mark) return { ...ended, changes: {}, rowHash: '' };
    const emptied = Object.entries(fields).map(([name, old]): [string, FieldChange] => [name, { old, new: null }]);
    return { ...ended, changes: digested(Object.fromEntries(emptied), mapping) };
  });
  const batchId = isLookup(stream) ? undefined : await recordWrites(store, origin, writes);
  const known = there.map(({ id }) => id);
  await landing.remove(stream, known, { tenant, mark, signal: signal() });
  if (batchId !== undefined) await settleWrites(store, batchId, 'done');
  return known.length;
}

function sensitiveIn(mapping: Mapping | undefined): string[] {
  return (mapping?.fields ?? []).filter((field) => field.sensitive).map((field) => field.target);
}

/**
 * For a field that holds a whole record, the log stores only hashes: the full text would be stored twice per change.
 */
function digested(changes: Record<string, FieldChange>, mapping: Mapping | undefined): Record<string, FieldChange> {
  const whole = (mapping?.fields ?? []).filter(({ from }) => from.some(isWhole)).map(({ target }) => target);
  const digestOf = (value: unknown): FieldValue =>
    value === null ? null : `sha256:${hash('sha256', JSON.stringify(value), 'hex')}`;
  const some = Object.entries(changes).map(([name, change]) => {
    const { old, new: now } = change;
    return [name, whole.includes(name) ? { old: digestOf(old), new: digestOf(now) } : change] as const;
  });
  return Object.fromEntries(some);
}

/** The fields that differ; a missing field counts as empty. */
export function fieldChanges(before: EmployeeFields | undefined, after: EmployeeFields): Record<string, FieldChange> {
  const changes: Record<string, FieldChange> = {};
  for (const name of Object.keys(before === undefined ? after : { ...after, ...before })) {
    const [old, now] = [before?.[name] ?? null, after[name] ?? null];
    if (!isSame(old, now)) changes[name] = { old, new: now };
  }
  return changes;
}

/** Compares lists as text and times as moments, because each database formats them in its own way. */
function isSame(old: FieldValue, now: FieldValue): boolean {
  if (old === now) return true;
  if (Array.isArray(old) && Array.isArray(now)) return JSON.stringify(old) === JSON.stringify(now);
  const moment = instantOf(old);
  return moment !== undefined && moment === instantOf(now);
}

/** A time without a zone is UTC, as we wrote it. */
function instantOf(value: FieldValue): number | undefined {
  const text = typeof value === 'string' ? value : '';
  const [, day, time, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(text) ?? [];
  if (day === undefined) return undefined;
  const moment = Date.parse(`${day}T${time}${/^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone}`);
  return Number.isNaN(moment) ? undefined : moment;
}

/** Lands records in our own store, where mappings look values up; a pass over them is like any other. */
export function lookupLanding(store: Store): Landing {
  const keyOf = (stream: string, tenantId: string) => ({ tenantId, stream });
  return {
    async land(stream, rows, { tenant, force, beforeWrite }) {
      const key = keyOf(stream, tenant);
      const ids = rows.map(({ id }) => id);
      const stored = new Map((await readLookupRows(store, key, ids)).map((row) => [row.id, row]));
      const changed = rows.filter((row) => force === true || stored.get(row.id)?.hash !== row.hash);
      const created = changed.filter((row) => !stored.has(row.id)).length;
      if (changed.length > 0) {
        await beforeWrite?.(changed.map((row) => ({ row, before: stored.get(row.id) })));
        await saveLookupRows(store, key, changed);
      }
      return { created, updated: changed.length - created, unchanged: rows.length - changed.length };
    },
    read: (stream, ids, { tenant }) => readLookupRows(store, keyOf(stream, tenant), ids),
    hashes: async (stream, ids, { tenant }) =>
      new Map((await readLookupRows(store, keyOf(stream, tenant), ids)).map(({ id, hash }) => [id, hash])),
    ids: (stream, { tenant, ...which }) => listLookupIds(store, keyOf(stream, tenant), which),
    remove: (stream, ids, { tenant }) => removeLookupRows(store, keyOf(stream, tenant), ids),
  };
}

/** The mapping of a lookup table: its columns as they are. */
export function mappingOfTable(name: string, { landing, record }: PullStream): Mapping {
  const columns = Object.keys(landing);
  const fields = columns.map((key): FieldDef => ({ key, label: key, type: 'text', required: false, writable: true }));
  const rules = columns.map((key) => `  ${key}: { from: ${RECORD}.${key} }\n`).join('');
  const source = parseYaml(`${name}.yaml`, `fields:\n${rules}`);
  return compileMapping('lookup', fields, [source], { of: { name, reads: { [RECORD]: record } } });
}

const MOST_IDS = 100;

/** Settles writes left open by a process that died: the landing table shows whether they arrived. */
export async function settleOpenWrites(
  store: Store,
  landing: Landing,
  { tenant, stream }: { tenant: string; stream: PullName },
): Promise<void> {
  const open = await readOpenWrites(store, tenant, stream);
  const ids = [...new Set(open.map((row) => row.record_id))];
  const hashes = new Map<string, string>();
  for (const some of batchesOf(ids, MOST_IDS)) {
    const stored = await landing.read(stream, some, { tenant, signal: AbortSignal.timeout(READ_MS) });
    for (const { id, hash } of stored) hashes.set(id, hash);
  }
  for (const [batchId, rows] of Map.groupBy(open, (row) => row.batch_id)) {
    const absent = rows.filter((row) => hashes.get(row.record_id) !== (row.row_hash ?? undefined));
    const ids = absent.map((row) => row.record_id);
    await concludeWrites(store, batchId, ids);
  }
}
