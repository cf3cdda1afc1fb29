import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import type { DescribedField, HrisConnection } from '../../src/hris/port.ts';
import type { Logger } from '../../src/log.ts';
import {
  type CustomFieldUse,
  customFieldsMapped,
  customFieldsWritten,
  definitionOf,
  type MatchedFields,
  matchFields,
} from '../../src/mapping/custom-fields.ts';
import { fitMapping, type Misfit } from '../../src/mapping/fit-mapping.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { clearTrouble, listAlarms, noteTrouble, type Trouble } from '../../src/store/alarms.ts';
import { type FieldDefinition, readMatches, saveFields, saveMatches } from '../../src/store/fields.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { AlarmKind } from '../../src/store/schema.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { shareReads } from '../presence/fetch-job-candidates.ts';

/** The partner's custom fields, and when the reading began. */
interface Definitions {
  fields: readonly FieldDefinition[];
  at: number;
}

type PartnerSide = Pick<Connection, 'partner'>;

const latest = new WeakMap<PartnerClient, Definitions>();

/**
 * Looks that come together share one call, which begins after each of them was asked for. A tenant whose secrets
 * changed has a new client, so readings with the old key do not count.
 */
const readTogether = shareReads<PartnerSide, Definitions>(
  ({ partner }) => partner,
  async (looks) => {
    const read = await readNow(looks[0] as PartnerSide);
    return looks.map(() => read);
  },
);

/** Reads the partner's current definitions, with one call for both kinds of record. */
export function readDefinitions(connection: PartnerSide): Promise<Definitions> {
  return readTogether(connection);
}

/** The last reading, if it is not older than `maxAgeMs`. */
export function latestDefinitions({ partner }: PartnerSide, maxAgeMs: number): Definitions | undefined {
  const known = latest.get(partner);
  return known !== undefined && performance.now() - known.at <= maxAgeMs ? known : undefined;
}

async function readNow({ partner }: PartnerSide): Promise<Definitions> {
  const at = performance.now();
  const { items } = await partner.readAll(contract.customFields.list, {}, { priority: 'live' });
  const fields = items.map(definitionOf);
  const read = { fields, at };
  latest.set(partner, read);
  return read;
}

type Watcher = { store: Store; log: Logger };

type MappedSide = Pick<Connection, 'mapping' | 'landings' | 'exchanges' | 'tenant'>;

/** Every custom field of the partner that the tenant's files name. */
export function fieldsInUse({ mapping, landings, exchanges, tenant }: MappedSide) {
  const mapped = customFieldsMapped([mapping, ...Object.values(landings), ...Object.values(exchanges)]);
  return [...mapped, ...customFieldsWritten(tenant.writeBack)];
}

/**
 * Checks the partner's custom fields once, if the tenant uses any. If the partner refuses to show them, everything else
 * is still reconciled; only work that reads such a field is refused.
 */
export async function watchFields(watcher: Watcher, connection: Connection): Promise<void> {
  const uses = fieldsInUse(connection);
  if (uses.length === 0) return;
  try {
    const { fields } = await readDefinitions(connection);
    await judgeFields(watcher, connection.tenant.tenant, uses, fields);
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    watcher.log.warn(
      { tenantId: connection.tenant.tenant, code: error.code, reason: error.withoutWords() },
      'fields not read',
    );
  }
}

/** Stores the definitions, matches the uses with them, and raises or ends alarms. */
export async function judgeFields(
  { store, log }: Watcher,
  tenantId: string,
  uses: readonly CustomFieldUse[],
  defined: readonly FieldDefinition[],
): Promise<MatchedFields> {
  await saveFields(store, { tenantId, side: 'partner' }, defined);
  const known = await readMatches(store, tenantId);
  const matched = matchFields(uses, defined, known);
  const news = [...matched.matches].filter(([path, match]) => !isSame(known.get(path), match));
  await saveMatches(store, tenantId, new Map(news));
  const troubles = matched.troubles.map(({ path: subject, reason, message }) => ({ subject, reason, message }));
  await settleAlarms({ store, log }, { tenantId, kind: 'field-changed', about: '' }, troubles);
  return matched;
}

function isSame(known: FieldDefinition | undefined, now: FieldDefinition): boolean {
  return JSON.stringify(known) === JSON.stringify(now);
}

/** Fields of an HR system change rarely, and it refuses values that do not fit. */
const FRESH_MS = 600_000;
const READ_MS = 30_000;

type Deps = Pick<ActivityDeps, 'store' | 'log' | 'limits'>;

interface Fitted {
  at: number;
  mapping: Mapping;
}

const kept = new WeakMap<Connection['hris'], Map<string, Fitted>>();

/**
 * Fits a mapping to the HR system's own fields, as read in the last ten minutes. Throws `throttle` while it does not
 * fit: nothing is written then, and waiting work goes on once the mapping or the field is corrected.
 */
export async function fittedMapping(
  deps: Deps,
  connection: Connection,
  subject: string,
  mapping: Mapping,
): Promise<Mapping> {
  const { hris } = connection;
  if (hris.describe === undefined) return mapping;
  const version = `${subject} ${mapping.hash}`;
  const known = kept.get(hris)?.get(version);
  if (known !== undefined && performance.now() - known.at <= FRESH_MS) return known.mapping;
  const at = performance.now();
  const described = await describe(hris.describe, subject);
  const fitted = fitMapping(mapping, described);
  await note(deps, connection.tenant.tenant, subject, { described, misfits: fitted.misfits });
  const [first] = fitted.misfits;
  if (first !== undefined) throw misfit(first, deps.limits.pausedMs);
  kept.set(hris, (kept.get(hris) ?? new Map<string, Fitted>()).set(version, { at, mapping: fitted.mapping }));
  return fitted.mapping;
}

/** An HR system that refuses to describe its fields judges each value when it is written. */
async function describe(ask: NonNullable<HrisConnection['describe']>, subject: string): Promise<DescribedField[]> {
  try {
    return await ask(subject, AbortSignal.timeout(READ_MS));
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return [];
  }
}

async function note(
  { store, log }: Deps,
  tenantId: string,
  subject: string,
  { described, misfits }: { described: readonly DescribedField[]; misfits: readonly Misfit[] },
): Promise<void> {
  if (described.length > 0) {
    const fields = described.map(({ key: id, isField: _isField, ...rest }) => ({ id, entity: subject, ...rest }));
    await saveFields(store, { tenantId, side: 'hris', entity: subject }, fields);
  }
  const troubles = misfits.map(({ field, text }) => ({
    subject: `${subject} ${field}`,
    reason: 'MAPPING_MISFIT',
    message: text,
  }));
  await settleAlarms({ store, log }, { tenantId, kind: 'mapping-misfit', about: `${subject} ` }, troubles);
}

function misfit({ text }: Misfit, pausedMs: number): ConnectorError {
  return new ConnectorError({ code: 'MAPPING_MISFIT', action: 'throttle', message: text, retryAfterMs: pausedMs });
}

/** Alarms of one kind whose subjects begin with `about`. */
interface Settled {
  tenantId: string;
  kind: AlarmKind;
  about: string;
}

/**
 * Raises an alarm for each trouble and ends the alarms whose trouble is over. Without changes it reads once and writes
 * nothing.
 */
async function settleAlarms(
  { store, log }: { store: Store; log: Logger },
  { tenantId, kind, about }: Settled,
  troubles: ReadonlyArray<Pick<Trouble, 'subject' | 'reason' | 'message'>>,
): Promise<void> {
  for (const trouble of troubles) {
    const { raised } = await noteTrouble(store, { tenantId, kind, ...trouble }, 0);
    const { subject, reason: code, message: reason } = trouble;
    if (raised) log.error({ tenantId, subject, code, reason }, 'alarm raised');
  }
  const standing = new Set(troubles.map(({ subject }) => subject));
  for (const { kind: other, subject } of await listAlarms(store, tenantId)) {
    if (other !== kind || !subject.startsWith(about) || standing.has(subject)) continue;
    await clearTrouble(store, { tenantId, kind, subject });
    log.info({ tenantId, subject }, 'alarm over');
  }
}

/**
 * The custom field that a section of the tenant file names.
 * @throws ConnectorError CUSTOM_FIELD_NOT_FOUND if the partner has no field with that id
 */
export function namedField(
  fields: readonly FieldDefinition[],
  { entity, id, section }: { entity: FieldDefinition['entity']; id: string; section: string },
): FieldDefinition {
  const field = fields.find((one) => one.entity === entity && one.id === id);
  if (field !== undefined) return field;
  throw rejected(
    'CUSTOM_FIELD_NOT_FOUND',
    `The hiring platform has no ${entity} custom field ${id}, which the tenant file names under ${section}. ` +
      'Define it there, or name the right one.',
  );
}
