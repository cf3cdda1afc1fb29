import { ConnectorError, isConnectorError, rejected, unlessRefused } from '../../src/errors.ts';
import type { DescribedField } from '../../src/hris/port.ts';
import { foldLabel } from '../../src/in-words.ts';
import type { Logger } from '../../src/log.ts';
import { pathsRead } from '../../src/mapping/compile-rule.ts';
import {
  areShown,
  type CustomFieldUse,
  customFieldsMapped,
  customFieldsRead,
  customFieldsWritten,
  decodeCustomFields,
  definitionOf,
  encodeValue,
  type MatchedFields,
  matchFields,
} from '../../src/mapping/custom-fields.ts';
import { fitMapping, type Misfit } from '../../src/mapping/fit-mapping.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { MappingSources } from '../../src/mapping/source-fields.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { CustomFieldValue } from '../../src/partner/contract/custom-fields.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { TargetValue } from '../../src/plan/plan-write-back.ts';
import { clearTrouble, listAlarms, noteTrouble, type Trouble } from '../../src/store/alarms.ts';
import { type FieldDefinition, readMatches, saveFields, saveMatches } from '../../src/store/fields.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { AlarmKind } from '../../src/store/schema.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import type { HireContext } from '../hire/with-hire.ts';
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
function latestDefinitions({ partner }: PartnerSide, maxAgeMs: number): Definitions | undefined {
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
function fieldsInUse({ mapping, landings, exchanges, tenant }: MappedSide) {
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
async function judgeFields(
  { store, log }: Watcher,
  tenantId: string,
  uses: readonly CustomFieldUse[],
  defined: readonly FieldDefinition[],
): Promise<MatchedFields> {
  await saveFields(store, { tenantId, side: 'partner' }, defined);
  const known = await readMatches(store, tenantId);
  const matched = matchFields(uses, defined, known);
  const isNew = ([path, match]: [string, FieldDefinition]): boolean =>
    JSON.stringify(known.get(path)) !== JSON.stringify(match);
  const news = [...matched.matches].filter(isNew);
  await saveMatches(store, tenantId, new Map(news));
  const troubles = matched.troubles.map(({ path: subject, reason, message }) => ({ subject, reason, message }));
  await settleAlarms({ store, log }, { tenantId, kind: 'field-changed', about: '' }, troubles);
  return matched;
}

/** Fields of an HR system change rarely, and it refuses values that do not fit. */
const FRESH_MS = 600_000;
const READ_MS = 30_000;

type Deps = Pick<ActivityDeps, 'store' | 'log' | 'limits'>;

const kept = new WeakMap<Connection['hris'], Map<string, { at: number; mapping: Mapping }>>();

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
  // An HR system that refuses to describe its fields judges each value when it is written.
  const described = (await hris.describe(subject, AbortSignal.timeout(READ_MS)).catch(unlessRefused)) ?? [];
  const fitted = fitMapping(mapping, described);
  await note(deps, connection.tenant.tenant, subject, { described, misfits: fitted.misfits });
  const [first] = fitted.misfits;
  if (first !== undefined)
    throw new ConnectorError({
      code: 'MAPPING_MISFIT',
      action: 'throttle',
      message: first.text,
      retryAfterMs: deps.limits.pausedMs,
    });
  const fittings = kept.get(hris) ?? new Map<string, { at: number; mapping: Mapping }>();
  kept.set(hris, fittings.set(version, { at, mapping: fitted.mapping }));
  return fitted.mapping;
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

/**
 * Raises an alarm for each trouble and ends those of its kind, with subjects that begin with `about`, whose trouble is
 * over. Without changes it reads once and writes nothing.
 */
async function settleAlarms(
  { store, log }: Watcher,
  { tenantId, kind, about }: { tenantId: string; kind: AlarmKind; about: string },
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

/** Definitions older than this are read again, regardless of the records. */
const DEFINED_MS = 60_000;

/**
 * Prepares records that were just read for a mapping: checks that each custom field the mapping names is still the
 * intended one, and decodes its value by its type. If the records show those fields with the id and label of a minute
 * ago, no call is needed; otherwise one call, which the tenant's hires share. Throws `throttle` while a field is not
 * the one it was: work that reads it waits until it is corrected.
 */
export async function currentRecords<T extends MappingSources>(
  deps: Deps,
  connection: Connection,
  mapping: Mapping,
  records: readonly T[],
): Promise<MappingSources[]> {
  const uses = customFieldsRead([mapping]);
  if (uses.length === 0) return [...records];
  const defined =
    (await shownDefinitions(deps, connection, uses, records)) ?? (await readAgain(deps, connection, uses));
  return records.map((record) => decodeCustomFields(record, defined));
}

/**
 * The same for a person who looks at values and writes none: a field that is no longer the one it was is only decoded.
 */
export async function decodedRecords<T extends MappingSources>(
  connection: PartnerSide,
  mappings: readonly Mapping[],
  records: readonly T[],
): Promise<MappingSources[]> {
  if (customFieldsRead(mappings).length === 0) return [...records];
  const { fields } = latestDefinitions(connection, DEFINED_MS) ?? (await readDefinitions(connection));
  return records.map((record) => decodeCustomFields(record, fields));
}

/**
 * The partner's current custom fields, for work that reads and writes them. Throws `throttle` while one of `uses` is
 * not the field it was.
 */
export async function definitionsInUse(
  deps: Deps,
  connection: Connection,
  uses: readonly CustomFieldUse[],
): Promise<readonly FieldDefinition[]> {
  return uses.length === 0 ? [] : readAgain(deps, connection, uses);
}

/** The definitions of the last minute, if every record shows that they still hold. */
async function shownDefinitions(
  { store }: Deps,
  connection: Connection,
  uses: readonly CustomFieldUse[],
  records: readonly MappingSources[],
): Promise<readonly FieldDefinition[] | undefined> {
  const known = latestDefinitions(connection, DEFINED_MS);
  if (known === undefined) return undefined;
  const { matches, troubles } = matchFields(uses, known.fields, await readMatches(store, connection.tenant.tenant));
  if (troubles.some(({ blocks }) => blocks)) return undefined;
  const wanted = [...matches.values()];
  if (!records.every((record) => areShown(record, known.fields, wanted))) return undefined;
  return known.fields;
}

async function readAgain(
  deps: Deps,
  connection: Connection,
  uses: readonly CustomFieldUse[],
): Promise<readonly FieldDefinition[]> {
  const { fields } = await readDefinitions(connection);
  // A hire may keep an earlier mapping than the tenant's current one.
  const all = new Map([...fieldsInUse(connection), ...uses].map((use) => [use.path, use]));
  const { troubles } = await judgeFields(deps, connection.tenant.tenant, [...all.values()], fields);
  const paths = new Set(uses.map(({ path }) => path));
  const first = troubles.find(({ path, blocks }) => blocks && paths.has(path));
  if (first === undefined) return fields;
  const { reason: code, message } = first;
  throw new ConnectorError({ code, action: 'throttle', message, retryAfterMs: deps.limits.pausedMs });
}

/**
 * Encodes values in the form that each custom field takes now; reads the definitions for this write, unless those read
 * within `maxAgeMs` do. Throws `reject`, which becomes a hold, if a field is gone or cannot take its value: nothing of
 * this candidate is written then.
 */
export async function encodeTargets(
  { deps, connection }: Pick<HireContext, 'deps' | 'connection'>,
  values: readonly TargetValue[],
  { maxAgeMs = 0 } = {},
): Promise<TargetValue[]> {
  const { fields } = latestDefinitions(connection, maxAgeMs) ?? (await readDefinitions(connection));
  await judgeChanged(deps, connection, fields);
  return values.map(({ customFieldId: id, value }) => {
    const field = fields.find((one) => one.id === id && one.entity === 'candidate');
    if (field === undefined)
      throw rejected(
        'CUSTOM_FIELD_NOT_FOUND',
        `The hiring platform has no candidate custom field ${id}, which the tenant file writes back to. Define it ` +
          'again and name its id in writeBack, or remove it there.',
      );
    const encoded = encodeValue(field, value);
    if ('wrong' in encoded)
      throw rejected(
        'VALUE_MISFIT',
        `Custom field "${field.label}" (${id}, ${field.type}) ${encoded.wrong}, and the HR system's value does ` +
          'not fit. Correct the value there, add the option in the hiring platform, or name another field in ' +
          'writeBack.',
      );
    return { customFieldId: id, value: encoded.sent };
  });
}

/** Definitions that were found correct, and when. */
const inOrder = new WeakMap<Connection, { text: string; at: number }>();

/**
 * Judges definitions unless the same text was found correct a minute ago, because each judgement reads three tables.
 */
async function judgeChanged(
  deps: HireContext['deps'],
  connection: Connection,
  fields: readonly FieldDefinition[],
): Promise<void> {
  const [text, at] = [JSON.stringify(fields), performance.now()];
  const known = inOrder.get(connection);
  if (known?.text === text && at - known.at <= DEFINED_MS) return;
  inOrder.delete(connection);
  const { troubles } = await judgeFields(deps, connection.tenant.tenant, fieldsInUse(connection), fields);
  if (troubles.length === 0) inOrder.set(connection, { text, at });
}

/** Parent types of values, by the list that holds the entries (section 2.5). */
const PARENTS: Readonly<Record<string, string>> = { workExperiences: 'work_experience', educations: 'education' };

/** How a partner's records show the custom fields of candidates, as far as known. */
interface Showing {
  /** Paths of mappings whose field a record has shown, with a value or without. */
  paths: Set<string>;
  /** Records that were compared with their values and lacked none; `never` once one lacked any. */
  complete: number | 'never';
}

const showing = new WeakMap<PartnerClient, Showing>();

/** Whether a record of this partner was found to lack values that the partner keeps. */
export function lacksValues(partner: PartnerClient): boolean {
  return showing.get(partner)?.complete === 'never';
}

/** So many complete records tell that a field which no record has shown is merely empty (section 2.4). */
const COMPLETE_RECORDS = 3;

/**
 * Adds custom fields of the candidate that the records do not show: those of work experiences and educations, which no
 * record does, and the candidate's own that no record of this partner has shown so far (K15). Makes the call only then.
 * Values that a record shows stay as they are.
 */
export async function withFieldValues(
  connection: Pick<Connection, 'partner' | 'log'>,
  mappings: readonly Pick<Mapping, 'fields'>[],
  shown: Shown,
): Promise<Fields> {
  const { candidate, jobCandidate } = shown;
  const read = mappings.flatMap(({ fields }) => fields.flatMap(pathsRead));
  const paths = read.flatMap((path) => ('customField' in path ? [path] : []));
  const lists = new Set(paths.flatMap(({ of }) => (of === undefined ? [] : [of.list])));
  const fields = shownFields(shown);
  const known = showing.get(connection.partner) ?? { paths: new Set(), complete: 0 };
  showing.set(connection.partner, known);
  const unseen = paths.filter(({ source, of, customField, text }) => {
    if (source !== 'candidate' || of !== undefined) return false;
    if (isAmong(fields, customField)) known.paths.add(text);
    return !known.paths.has(text);
  });
  const asksOwn = unseen.length > 0 && (known.complete === 'never' || known.complete < COMPLETE_RECORDS);
  if (lists.size === 0 && !asksOwn) return candidate;
  const values = await readValues(connection, String(jobCandidate['candidateId']), lists.size === 0);
  if (values === undefined) return candidate;
  // Values of the candidate itself in fields that no record shows.
  const isShown = ({ customFieldId: id }: CustomFieldValue): boolean => Object.hasOwn(fields, id);
  const isUnshown = (one: CustomFieldValue): boolean =>
    !isShown(one) && one.value !== undefined && one.value !== null && one.value !== '';
  const own = asksOwn ? await definedAmong(connection, ownValues(values).filter(isUnshown)) : {};
  if (Object.keys(own).length > 0) known.complete = 'never';
  else if (asksOwn && known.complete !== 'never' && ownValues(values).some(isShown)) known.complete += 1;
  const filled = [...lists].map((list) => [list, withNested(candidate[list], PARENTS[list], values)] as const);
  return {
    ...candidate,
    ...(Object.keys(own).length === 0 ? {} : { customFields: { ...fieldsOf(candidate['customFields']), ...own } }),
    ...Object.fromEntries(filled),
  };
}

type Fields = Record<string, unknown>;

/** The records that may show a candidate's custom fields (section 2.4). */
interface Shown {
  candidate: Fields;
  jobCandidate: Fields;
}

function shownFields({ candidate, jobCandidate }: Shown): Fields {
  return { ...fieldsOf(jobCandidate['customFields']), ...fieldsOf(candidate['customFields']) };
}

/** Whether the records show this custom field, with a value or without. */
export function showsField(shown: Shown, wanted: string): boolean {
  return isAmong(shownFields(shown), wanted);
}

/** The custom fields that a record shows. */
function fieldsOf(shown: unknown): Fields {
  return typeof shown === 'object' && shown !== null ? (shown as Fields) : {};
}

/** Whether a record shows this field, which is named by its id or its label. */
function isAmong(fields: Fields, wanted: string): boolean {
  if (Object.hasOwn(fields, wanted)) return true;
  const label = foldLabel(wanted);
  return Object.values(fields).some((field) => {
    const own = fieldsOf(field)['label'];
    return typeof own === 'string' && foldLabel(own) === label;
  });
}

/** Values of the record itself, without those of its work experiences and educations (section 2.5). */
export function ownValues(values: readonly CustomFieldValue[]): CustomFieldValue[] {
  return values.filter(({ parentEntityType, parentEntityId }) => !parentEntityType && !parentEntityId);
}

/** Such values as a record would show them; those whose field was deleted since are left out. */
async function definedAmong(
  { partner }: Pick<Connection, 'partner'>,
  values: readonly CustomFieldValue[],
): Promise<Fields> {
  if (values.length === 0) return {};
  const { fields } = await readDefinitions({ partner });
  const labels = new Map(fields.filter(({ entity }) => entity === 'candidate').map(({ id, label }) => [id, label]));
  const defined = values.filter(({ customFieldId }) => labels.has(customFieldId));
  return Object.fromEntries(
    defined.map(({ customFieldId, value }) => [customFieldId, { label: labels.get(customFieldId), value }]),
  );
}

/** The entries of a list with the values that hang on each. */
function withNested(list: unknown, parent: string | undefined, values: readonly CustomFieldValue[]): Fields[] {
  const entries = Array.isArray(list) ? (list as Fields[]) : [];
  return entries.map((entry) => {
    const nested = values.filter(
      (one) => one.parentEntityType === parent && String(one.parentEntityId) === String(entry['id']),
    );
    const added = Object.fromEntries(nested.map(({ customFieldId, value }) => [customFieldId, { value }]));
    return { ...entry, customFields: { ...fieldsOf(entry['customFields']), ...added } };
  });
}

/** The candidate's values; undefined where they `mayBeRefused` and are: then the records show all that there is. */
async function readValues(
  { partner, log }: Pick<Connection, 'partner' | 'log'>,
  candidateId: string,
  mayBeRefused: boolean,
): Promise<readonly CustomFieldValue[] | undefined> {
  const query = { entityType: 'candidate', entityId: candidateId } as const;
  try {
    return (await partner.readAll(contract.customFieldValues.list, { query }, { priority: 'live' })).items;
  } catch (error) {
    if (!mayBeRefused || !isConnectorError(error) || error.action !== 'reject') throw error;
    log?.warn(
      { candidateId, code: error.code, reason: error.withoutWords() },
      'values of custom fields not read: what no record shows counts as empty',
    );
    return undefined;
  }
}
