import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { Landing, StoredRow } from '../../src/hris/port.ts';
import { listAppliedTenants } from '../../src/store/applied-tenants.ts';
import { assertNoLegalHold, noteFound } from '../../src/store/erasures.ts';
import { assertMayWrite, observes } from '../../src/store/freezes.ts';
import { batchesOf, type Store } from '../../src/store/open-store.ts';
import { STREAM_IDS, type Subject } from '../../src/store/person-data.ts';
import { idsOf, nameOf } from '../../src/store/person-marks.ts';
import type { ErasureRow } from '../../src/store/tenant-tables.ts';
import { landedNames, type PullName } from '../../src/streams/streams.ts';
import { peopleNamedIn } from '../../src/streams/without-erased.ts';
import { parseTenant } from '../../src/tenants/load-tenants.ts';
import { loadStreamMapping, openTenantHris } from '../../src/tenants/open-hris.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';

/** Fields in which a record may name people. */
const FIELDS_OF_PEOPLE = ['candidateId', 'jobCandidateId', 'entityId'] as const;

// Rows in the customer's landing tables: those of a person, and those of a whole tenant.

const HRIS_MS = 30_000;

/** Options for one call, or one page of it. */
function ofTenant(tenant: string): { tenant: string; signal: AbortSignal } {
  return { tenant, signal: AbortSignal.timeout(HRIS_MS) };
}

const OBSERVED =
  'Landing tables were not touched: the tenant only observes, so nothing is written for it. Rows from a time ' +
  'when it was live are still there.';

const UNKNOWN =
  'Landing tables were not touched: the store was put back from a backup that does not know the tenant, so nothing ' +
  'tells where they are.';

/** Removes the tenant's rows from the landing tables. Returns what is left of them. @throws ConnectorError */
export async function removeTables(store: Store, row: ErasureRow): Promise<string[]> {
  if (await onlyObserves(store, row.tenant_id)) return [OBSERVED];
  await assertMayEmpty(store, row.tenant_id);
  const each = eachTable(store, row.tenant_id, async ({ landing, tenant, stream }) => {
    for (let after: string | undefined, all = 0; ; ) {
      const options = { ...ofTenant(row.tenant_id), after, most: PAGE, withGone: true };
      const ids = await ifThere(tenant, stream, () => landing.ids(stream, options));
      if (ids.length === 0) return;
      all += ids.length;
      await noteFound(store, row, [{ place: `landing table of ${stream}`, count: all }]);
      // A freeze or a legal hold that came since the last page spares the rest.
      await assertMayEmpty(store, row.tenant_id);
      await landing.remove(stream, ids, { ...ofTenant(row.tenant_id), mark: false });
      after = ids.at(-1);
    }
  });
  const isKnown = await each.catch((error: unknown) => {
    if (FORBIDDEN.some((code) => isConnectorError(error, code))) throw error;
    throw tablesUnreachable(row.tenant_id, error, 'LANDING_NOT_ERASED');
  });
  return isKnown ? [] : [UNKNOWN];
}

const FORBIDDEN = ['LEGAL_HOLD', 'TENANT_FROZEN', 'TENANT_OBSERVES'];

async function assertMayEmpty(store: Store, tenantId: string): Promise<void> {
  await assertNoLegalHold(store, tenantId);
  await assertMayWrite(store, tenantId);
}

/**
 * Reads one row of each landing table before the tenant is removed: afterwards nobody can open the tables for it.
 * @throws ConnectorError LANDING_UNREACHABLE
 */
export async function assertTablesAnswer(store: Store, tenantId: string): Promise<void> {
  if (await onlyObserves(store, tenantId)) return;
  const ask = async ({ landing, tenant, stream }: LandingTable): Promise<void> => {
    await ifThere(tenant, stream, () => landing.ids(stream, { ...ofTenant(tenantId), most: 1, withGone: true }));
  };
  await eachTable(store, tenantId, ask).catch((error: unknown) => {
    throw tablesUnreachable(tenantId, error, 'LANDING_UNREACHABLE');
  });
}

async function onlyObserves({ kysely }: Store, tenantId: string): Promise<boolean> {
  const tenant = kysely.selectFrom('tenants').select('receives').where('tenant_id', '=', tenantId);
  const row = await tenant.executeTakeFirst();
  return row !== undefined && observes(row);
}

interface LandingTable {
  landing: Landing;
  tenant: Tenant;
  stream: string;
}

/** Opens each landing table of the tenant's last definition; false where there is none. @throws ConnectorError */
async function eachTable(
  store: Store,
  tenantId: string,
  use: (table: LandingTable) => Promise<void>,
): Promise<boolean> {
  const applied = (await listAppliedTenants(store)).find((one) => one.tenantId === tenantId);
  if (applied === undefined || applied.file === '') return false;
  const tenant = await parseTenant(applied);
  const hris = await openTenantHris(tenant);
  try {
    const { landing } = hris;
    if (landing === undefined) return true;
    for (const stream of landedNames)
      if ((await loadStreamMapping(tenant, stream)) !== undefined) await use({ landing, tenant, stream });
    return true;
  } finally {
    await hris.close();
  }
}

/** A missing table holds nobody, unless the tenant has a stream for it: then the table has a problem. */
async function ifThere<T>({ streams }: Tenant, stream: string, read: () => Promise<T[]>): Promise<T[]> {
  try {
    return await read();
  } catch (error) {
    const isNeeded = streams[stream as PullName].every !== undefined;
    if (isConnectorError(error, 'LANDING_UNUSABLE') && !isNeeded) return [];
    throw error;
  }
}

/** Removes the person's rows that this tenant landed in the customer's tables. */
export async function removeLanded(
  store: Store,
  row: ErasureRow,
  of: Subject,
  connection: Connection | undefined,
): Promise<void> {
  const landing = connection?.hris.landing;
  if (connection === undefined || landing === undefined) return;
  for (const [stream, ids] of await landedOf(of, connection)) {
    if (ids.length === 0) continue;
    await noteFound(store, row, [{ place: `landing table of ${stream}`, count: ids.length }]);
    const options = { ...ofTenant(row.tenant_id), mark: false };
    for (const some of batchesOf(ids)) await landing.remove(stream, some, options);
  }
}

/** Reads a person's rows in the customer's tables, by stream. */
export async function readLanded(
  of: Subject,
  connection: Connection,
): Promise<{ stream: string; rows: StoredRow[] }[]> {
  const found: { stream: string; rows: StoredRow[] }[] = [];
  // A person with `records` was already looked for in every row.
  const known = (stream: string): [string, string[]] => [stream, STREAM_IDS[stream]?.(of) ?? []];
  const all = of.records === undefined ? await landedOf(of, connection) : Object.keys(connection.landings).map(known);
  for (const [stream, ids] of all) {
    const options = ofTenant(of.tenantId);
    const read = async () => (await connection.hris.landing?.read(stream, ids, options)) ?? [];
    const rows = ids.length === 0 ? [] : await ifThere(connection.tenant, stream, read);
    if (rows.length > 0) found.push({ stream, rows });
  }
  return found;
}

/** Adds the landed records that name the person but have an id of their own, and whom their applications name. */
export async function withRecords(of: Subject, connection: Connection): Promise<Subject> {
  const all = await landedOf(of, connection);
  const records = Object.fromEntries(
    [...all].filter(([stream, ids]) => NAMING.has(stream) && stream !== 'applications' && ids.length > 0),
  );
  const more = all.get('applications') ?? [];
  const { landing } = connection.hris;
  const rows = more.length === 0 ? [] : await landing?.read('applications', more, ofTenant(of.tenantId));
  const named = rows?.flatMap(({ fields }) => peopleNamedIn(fields)).filter(({ kind }) => kind === 'candidate') ?? [];
  return {
    ...of,
    candidates: [...new Set([...of.candidates, ...named.map(({ id }) => id)])],
    jobCandidates: [...new Set([...of.jobCandidates, ...more])],
    records: { ...of.records, ...records },
  };
}

/** Ids of the landed rows by stream: rows with the person's own ids, and rows that name them. */
export async function landedOf(of: Subject, connection: Connection): Promise<Map<string, string[]>> {
  const landing = connection.hris.landing;
  const found = new Map<string, string[]>();
  if (landing === undefined) return found;
  for (const stream of Object.keys(connection.landings)) {
    const known = STREAM_IDS[stream]?.(of) ?? [];
    const options = ofTenant(of.tenantId);
    const ids = await ifThere(connection.tenant, stream, async () => {
      const rows = known.length === 0 ? [] : await landing.read(stream, known, options);
      const more = NAMING.has(stream) ? await rowsNaming(stream, of, connection) : [];
      return [...rows.map(({ id }) => id), ...more];
    });
    found.set(stream, [...new Set(ids)]);
  }
  return found;
}

const PAGE = 1_000;
/** Streams whose rows name people and cannot be found by a person's ids alone. */
const NAMING: ReadonlySet<string> = new Set(['applications', 'interviews', 'screenings', 'bookings']);

const NAMED_BY = {
  interviews: ['jobCandidateId'],
  screenings: ['jobCandidateId'],
  bookings: ['entityType', 'entityId'],
};

/** Landing tables where nobody is found, because the tenant's own mapping leaves out whom a row is about. */
export function blindTables({ landings }: Connection): string[] {
  return Object.entries(NAMED_BY).flatMap(([stream, names]) => {
    const fields = landings[stream as PullName]?.fields.map(({ target }) => target);
    const missing = names.filter((name) => fields?.includes(name) === false);
    if (missing.length === 0) return [];
    const why = `its mapping leaves out ${missing.join(' and ')}, so rows about the person could not be found`;
    return [`Landing table of ${stream}: ${why}; delete them there.`];
  });
}

async function rowsNaming(stream: string, of: Subject, { hris: { landing } }: Connection): Promise<string[]> {
  const found: string[] = [];
  if (landing === undefined) return found;
  const own = new Set(idsOf(of).map(nameOf));
  const naming = { fields: FIELDS_OF_PEOPLE, values: [...of.candidates, ...of.jobCandidates] };
  for (let after: string | undefined; ; ) {
    const options = ofTenant(of.tenantId);
    const ids = await landing.ids(stream, { ...options, after, most: PAGE, withGone: true, naming });
    if (ids.length === 0) return found;
    const rows = await landing.read(stream, ids, options);
    for (const { id, fields } of rows) if (peopleNamedIn(fields).some((one) => own.has(nameOf(one)))) found.push(id);
    after = ids.at(-1);
  }
}

function tablesUnreachable(
  tenantId: string,
  error: unknown,
  code: 'LANDING_UNREACHABLE' | 'LANDING_NOT_ERASED',
): ConnectorError {
  const why = isConnectorError(error) ? error.withoutWords() : `${error instanceof Error ? error.name : 'unknown'}.`;
  const state =
    code === 'LANDING_UNREACHABLE'
      ? 'Nothing was changed.'
      : 'Everything else of the tenant is erased; a worker tries these again in a minute.';
  return new ConnectorError({
    code,
    action: code === 'LANDING_UNREACHABLE' ? 'reject' : 'retry',
    message:
      `The landing tables of tenant ${tenantId} cannot be emptied: ${why} ${state} Restore its HR system and ` +
      `secrets, or leave these rows to the customer: hirebridge tenant remove ${tenantId} --erase --landing keep ` +
      '--reason TEXT',
    cause: error,
  });
}
