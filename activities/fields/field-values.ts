import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { pathsRead } from '../../src/mapping/compile-rule.ts';
import {
  areShown,
  type CustomFieldUse,
  customFieldsRead,
  decodeCustomFields,
  encodeValue,
  type FieldTrouble,
  type MatchedFields,
  matchFields,
} from '../../src/mapping/custom-fields.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { foldLabel, type MappingSources } from '../../src/mapping/source-fields.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { CustomFieldValue } from '../../src/partner/contract/custom-fields.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { TargetValue } from '../../src/plan/plan-write-back.ts';
import { type FieldDefinition, readMatches } from '../../src/store/fields.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import type { HireContext } from '../hire/with-hire.ts';
import { fieldsInUse, judgeFields, latestDefinitions, readDefinitions } from './custom-fields.ts';

/** Definitions older than this are read again, regardless of the records. */
const FRESH_MS = 60_000;

type Deps = Pick<ActivityDeps, 'store' | 'log' | 'limits'>;

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
  const known = latestDefinitions(connection, FRESH_MS);
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
  assertUsable(deps, troubles, uses);
  return fields;
}

function assertUsable({ limits }: Deps, troubles: MatchedFields['troubles'], uses: readonly CustomFieldUse[]): void {
  const paths = new Set(uses.map(({ path }) => path));
  const [first] = troubles.filter(({ path, blocks }) => blocks && paths.has(path));
  if (first !== undefined) throw fieldChanged(first, limits.pausedMs);
}

function fieldChanged({ reason, message }: FieldTrouble, pausedMs: number): ConnectorError {
  return new ConnectorError({ code: reason, action: 'throttle', message, retryAfterMs: pausedMs });
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
  return values.map(({ customFieldId, value }) => {
    const field = fields.find(({ id, entity }) => id === customFieldId && entity === 'candidate');
    if (field === undefined) throw fieldMissing(customFieldId);
    const encoded = encodeValue(field, value);
    if ('wrong' in encoded) throw valueMisfit(field, encoded.wrong);
    return { customFieldId, value: encoded.sent };
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
  if (known?.text === text && at - known.at <= FRESH_MS) return;
  inOrder.delete(connection);
  const { troubles } = await judgeFields(deps, connection.tenant.tenant, fieldsInUse(connection), fields);
  if (troubles.length === 0) inOrder.set(connection, { text, at });
}

function fieldMissing(id: string): ConnectorError {
  return rejected(
    'CUSTOM_FIELD_NOT_FOUND',
    `The hiring platform has no candidate custom field ${id}, which the tenant file writes back to. Define it ` +
      'again and name its id in writeBack, or remove it there.',
  );
}

function valueMisfit({ id, label, type }: FieldDefinition, wrong: string): ConnectorError {
  return rejected(
    'VALUE_MISFIT',
    `Custom field "${label}" (${id}, ${type}) ${wrong}, and the HR system's value does not fit. Correct the ` +
      'value there, add the option in the hiring platform, or name another field in writeBack.',
  );
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

/** So many complete records tell that a field which no record has shown is merely empty (section 2.4). */
const COMPLETE_RECORDS = 3;

/**
 * Adds custom fields of the candidate that the records do not show: those of work experiences and educations, which no
 * record does, and the candidate's own that no record of this partner has shown so far (K15). Makes the call only then.
 * Values that a record shows stay as they are.
 */
export async function withFieldValues(
  connection: Pick<Connection, 'partner' | 'log'>,
  mappings: readonly Mapping[],
  shown: { candidate: Fields; jobCandidate: Fields },
): Promise<Fields> {
  const { candidate, jobCandidate } = shown;
  const read = mappings.flatMap(({ fields }) => fields.flatMap(pathsRead));
  const paths = read.flatMap((path) => ('customField' in path ? [path] : []));
  const lists = new Set(paths.flatMap(({ of }) => (of === undefined ? [] : [of.list])));
  const fields = { ...fieldsOf(jobCandidate['customFields']), ...fieldsOf(candidate['customFields']) };
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
  const own = asksOwn ? await definedAmong(connection, ownOf(values, fields)) : {};
  if (Object.keys(own).length > 0) known.complete = 'never';
  else if (asksOwn && known.complete !== 'never' && Object.keys(fields).length > 0) known.complete += 1;
  const filled = [...lists].map((list) => [list, withNested(candidate[list], PARENTS[list], values)] as const);
  return {
    ...candidate,
    ...(Object.keys(own).length === 0 ? {} : { customFields: { ...fieldsOf(candidate['customFields']), ...own } }),
    ...Object.fromEntries(filled),
  };
}

type Fields = Record<string, unknown>;

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

/** Values of the candidate itself in fields that no record shows. */
function ownOf(values: readonly CustomFieldValue[], fields: Fields): CustomFieldValue[] {
  return ownValues(values).filter(
    ({ customFieldId, value }) =>
      !Object.hasOwn(fields, customFieldId) && value !== undefined && value !== null && value !== '',
  );
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
