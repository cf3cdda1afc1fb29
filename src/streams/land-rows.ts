import { ConnectorError, isConnectorError } from '../errors.ts';
import type { EmployeeFields, FieldValue } from '../hire/employee.ts';
import type { Landed, Landing, LandingRow, RowChange } from '../hris/port.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import {
  type FieldChange,
  forgetWrites,
  type NewWrite,
  recordWrites,
  settleWrites,
  type WriteOrigin,
} from '../store/foreign-writes.ts';
import type { Store } from '../store/open-store.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { isLookup, type PullName } from './streams.ts';

const LAND_MS = 30_000;

/** Where the pages of one run land, how, and where what they change is written down. */
export interface Destination {
  landing: Landing;
  mapping: Mapping;
  tenant: string;
  stream: PullName;
  force: boolean;
  store: Store;
  origin: WriteOrigin;
  /** Awaited before rows are written; nothing is where it throws. */
  guard?: (changes: readonly RowChange[]) => Promise<void>;
}

export type LandedRows = Landed & { refused: Quarantined[] };

/** Refusals about a value, not about the table: another record may do. */
const ofOneRow: ReadonlySet<string> = new Set(['INVALID_VALUE', 'MISSING_FIELD', 'DUPLICATE_VALUE']);

/** Lands rows whole; those that the HRIS refuses are halved until the rows are found that it does not take. */
export async function landRows(destination: Destination, rows: LandingRow[]): Promise<LandedRows> {
  if (rows.length === 0) return { unchanged: 0, created: 0, updated: 0, refused: [] };
  try {
    return { ...(await landTogether(destination, rows)), refused: [] };
  } catch (error) {
    if (!isConnectorError(error) || !ofOneRow.has(error.code)) throw error;
    if (rows.length <= 1) return refusedRow(rows[0]?.id ?? '', error);
    const half = Math.ceil(rows.length / 2);
    const left = await landRows(destination, rows.slice(0, half));
    return sum(left, await landRows(destination, rows.slice(half)));
  }
}

/** Old and new values are in the store before the statement leaves, so that no write goes without its row. */
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
    // A right that is missing lets nothing through, either.
    const refused = isConnectorError(error) && (error.action === 'reject' || error.action === 'reauthorize');
    if (batchId !== undefined && refused) await forgetWrites(store, batchId);
    throw error;
  }
}

/** Trouble of the store is not to be taken for trouble of the HRIS, in whose course it comes. */
async function recordSafely(store: Store, origin: WriteOrigin, writes: readonly NewWrite[]): Promise<string> {
  try {
    return await recordWrites(store, origin, writes);
  } catch (cause) {
    throw new ConnectorError({
      code: 'STORE_UNREACHABLE',
      action: 'retry',
      message: 'The store did not take down what was about to be written, so nothing was written. It is tried again.',
      cause,
    });
  }
}

function writesOf({ mapping, stream }: Destination, changes: readonly RowChange[]): NewWrite[] {
  const sensitive = mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  return changes.map(({ row, before }) => ({
    target: stream,
    recordId: row.id,
    kind: before === undefined ? 'create' : 'update',
    changes: fieldChanges(before?.fields, row.fields),
    sensitive,
    rowHash: row.hash,
  }));
}

/** The fields that differ; a field that is not named is empty. */
export function fieldChanges(before: EmployeeFields | undefined, after: EmployeeFields): Record<string, FieldChange> {
  const changes: Record<string, FieldChange> = {};
  for (const name of Object.keys(before === undefined ? after : { ...after, ...before })) {
    const [old, now] = [before?.[name] ?? null, after[name] ?? null];
    if (!isSame(old, now)) changes[name] = { old, new: now };
  }
  return changes;
}

/** Lists are compared as text, and instants by the moment: a database spells them in its own way. */
function isSame(old: FieldValue, now: FieldValue): boolean {
  if (old === now) return true;
  if (Array.isArray(old) && Array.isArray(now)) return JSON.stringify(old) === JSON.stringify(now);
  const moment = instantOf(old);
  return moment !== undefined && moment === instantOf(now);
}

/** Without a zone it is UTC, as we wrote it. */
function instantOf(value: FieldValue): number | undefined {
  const text = typeof value === 'string' ? value : '';
  const [, day, time, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(text) ?? [];
  if (day === undefined) return undefined;
  const moment = Date.parse(`${day}T${time}${/^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone}`);
  return Number.isNaN(moment) ? undefined : moment;
}

function refusedRow(key: string, { message, code }: ConnectorError): LandedRows {
  return { unchanged: 0, created: 0, updated: 0, refused: [{ key, reason: `${message} [${code}]` }] };
}

function sum(left: LandedRows, right: LandedRows): LandedRows {
  return {
    unchanged: left.unchanged + right.unchanged,
    created: left.created + right.created,
    updated: left.updated + right.updated,
    refused: [...left.refused, ...right.refused],
  };
}
