import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import { pathsRead } from '../../src/mapping/compile-rule.ts';
import { type CustomFieldUse, customFieldsRead } from '../../src/mapping/custom-fields-in-use.ts';
import { areShown, decodeCustomFields } from '../../src/mapping/decode-custom-fields.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { type FieldTrouble, type MatchedFields, matchFields } from '../../src/mapping/match-fields.ts';
import { type MappingSources, readSource } from '../../src/mapping/read-source.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { CustomFieldValue } from '../../src/partner/contract/custom-field-values.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { encodeValue } from '../../src/partner/custom-field-forms.ts';
import type { TargetValue } from '../../src/plan/plan-write-back.ts';
import { type FieldDefinition, readMatches } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import type { HireContext } from '../hire/with-hire.ts';
import { fieldsInUse, judgeFields, latestDefinitions, readDefinitions } from './custom-fields.ts';

/** Definitions older than this are read again, no matter what the records show. */
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
 * Encodes values in the form that each custom field takes now; reads the definitions for this write. Throws `reject`,
 * which becomes a hold, if a field is gone or cannot take its value: nothing of this candidate is written then.
 */
export async function encodeTargets(
  { deps, connection }: HireContext,
  values: readonly TargetValue[],
): Promise<TargetValue[]> {
  const { fields } = await readDefinitions(connection);
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
  return new ConnectorError({
    code: 'CUSTOM_FIELD_NOT_FOUND',
    action: 'reject',
    message:
      `The hiring platform has no candidate custom field ${id}, which the tenant file writes back to. Define it ` +
      'again and name its id in writeBack, or remove it there; then answer retry.',
  });
}

function valueMisfit({ id, label, type }: FieldDefinition, wrong: string): ConnectorError {
  return new ConnectorError({
    code: 'VALUE_MISFIT',
    action: 'reject',
    message:
      `Custom field "${label}" (${id}, ${type}) ${wrong}, and the HR system's value does not fit. Correct the ` +
      'value there, add the option in the hiring platform, or name another field in writeBack; then answer retry.',
  });
}

/** Parent types of values, by the list that holds the entries (section 2.5). */
const PARENTS: Readonly<Record<string, string>> = { workExperiences: 'work_experience', educations: 'education' };

/** Partners whose records have shown a custom field of a candidate that a mapping reads. */
const showing = new WeakSet<PartnerClient>();

/**
 * Adds custom fields of the candidate that the records do not show: those of work experiences and educations, which no
 * record does, and the candidate's own at a partner whose records have shown none (K15). Makes the call only then.
 */
export async function withFieldValues(
  partner: PartnerClient,
  mappings: readonly Mapping[],
  shown: { candidate: Record<string, unknown>; jobCandidate: Record<string, unknown> },
): Promise<Record<string, unknown>> {
  const { candidate, jobCandidate } = shown;
  const paths = mappings.flatMap(({ fields }) => fields.flatMap(pathsRead));
  const lists = new Set(
    paths.flatMap((path) => ('customField' in path && path.of !== undefined ? [path.of.list] : [])),
  );
  const own = paths.filter((path) => path.source === 'candidate' && 'customField' in path && path.of === undefined);
  if (own.some((path) => isShown(readSource(path, shown)))) showing.add(partner);
  const isHidden = own.length > 0 && !showing.has(partner);
  if (lists.size === 0 && !isHidden) return candidate;
  const values = await readValues(partner, String(jobCandidate['candidateId']), lists.size === 0);
  const filled = [...lists].map((list) => {
    const entries = Array.isArray(candidate[list]) ? (candidate[list] as Record<string, unknown>[]) : [];
    const withValues = entries.map((entry) => {
      const nested = values.filter(
        (one) => one.parentEntityType === PARENTS[list] && String(one.parentEntityId) === String(entry['id']),
      );
      const customFields = Object.fromEntries(nested.map(({ customFieldId, value }) => [customFieldId, { value }]));
      return { ...entry, customFields };
    });
    return [list, withValues] as const;
  });
  const customFields = isHidden ? { customFields: await withLabels(partner, values) } : {};
  return { ...candidate, ...customFields, ...Object.fromEntries(filled) };
}

/** The candidate's own values as a record would show them. */
async function withLabels(partner: PartnerClient, values: readonly CustomFieldValue[]) {
  const own = values.filter(({ parentEntityType }) => !parentEntityType);
  const { fields } = own.length === 0 ? { fields: [] } : await readDefinitions({ partner });
  const labels = new Map(fields.filter(({ entity }) => entity === 'candidate').map(({ id, label }) => [id, label]));
  return Object.fromEntries(
    own.map(({ customFieldId, value }) => [customFieldId, { label: labels.get(customFieldId), value }]),
  );
}

/** The candidate's values. Where they `mayBeRefused`, the records show all that there is. */
async function readValues(
  partner: PartnerClient,
  candidateId: string,
  mayBeRefused: boolean,
): Promise<readonly CustomFieldValue[]> {
  const query = { entityType: 'candidate', entityId: candidateId } as const;
  try {
    return (await partner.readAll(contract.customFieldValues.list, { query }, { priority: 'live' })).items;
  } catch (error) {
    if (mayBeRefused && isConnectorError(error) && error.action === 'reject') return [];
    throw error;
  }
}

function isShown(read: ReturnType<typeof readSource>): boolean {
  return !('value' in read) || read.value !== undefined;
}
