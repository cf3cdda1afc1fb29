import type { CompiledField } from '../mapping/compile-rule.ts';
import {
  customFieldsMapped,
  customFieldsWritten,
  definitionOf,
  type FieldTrouble,
  matchFields,
} from '../mapping/custom-fields.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { foldLabel } from '../mapping/source-fields.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import type { CallOptions } from '../partner/client/types.ts';
import type { CustomFieldDefinition } from '../partner/contract/custom-fields.ts';
import { contract } from '../partner/contract/index.ts';
import { type FieldChange, type FieldDefinition, listFieldChanges, readMatches } from '../store/fields.ts';
import { assertMayWrite } from '../store/freezes.ts';
import type { Store } from '../store/open-store.ts';
import { loadEveryMapping } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { CALL_MS, openHris } from './open-tenant.ts';

/** What both sides of a tenant offer for its files to name. */
export interface Discovered {
  customFields: FieldDefinition[];
  /** Custom fields named in the tenant's files that do not, or no longer, mean the same field. */
  troubles: FieldTrouble[];
  /** Recorded changes of the custom fields, latest first. */
  changes: FieldChange[];
  stages: { pipelineId: string; pipeline: string; stageId: string; stage: string; type: string }[];
  flows: { flowId: string; name: string; status: string }[];
  users: { userId: string; email: string; status: string; role: string }[];
  hrisFields: FieldDefinition[];
}

const LIVE: CallOptions = { priority: 'live' };
const MOST_CHANGES = 20;

/** Reads both sides; writes nothing. Without a store no earlier state is known. */
export async function discover(tenant: Tenant, partner: PartnerClient, store: Store | undefined): Promise<Discovered> {
  const customFields = await readCustomFields(partner);
  const [stages, flows, users, hrisFields] = await Promise.all([
    readStages(partner),
    readFlows(partner),
    readUsers(partner),
    describeHris(tenant, store),
  ]);
  const changes = store === undefined ? [] : await listFieldChanges(store, tenant.tenant, 'partner', MOST_CHANGES);
  const troubles = await judgeCustomFields(tenant, customFields, store);
  return { customFields, troubles, changes, stages, flows, users, hrisFields };
}

/** Faults of the custom fields that the tenant's files name. */
export async function judgeCustomFields(
  tenant: Tenant,
  defined: readonly FieldDefinition[],
  store: Store | undefined,
): Promise<FieldTrouble[]> {
  const uses = [...customFieldsMapped(await loadEveryMapping(tenant)), ...customFieldsWritten(tenant.writeBack)];
  const known = store === undefined ? new Map<string, FieldDefinition>() : await readMatches(store, tenant.tenant);
  return matchFields(uses, defined, known).troubles;
}

export async function readCustomFields(partner: PartnerClient): Promise<FieldDefinition[]> {
  const { items } = await partner.readAll(contract.customFields.list, {}, LIVE);
  return items.map(definitionOf);
}

export async function readStages(partner: PartnerClient): Promise<Discovered['stages']> {
  const { items } = await partner.readAll(contract.pipelines.list, {}, LIVE);
  return items.flatMap(({ id: pipelineId, name: pipeline, stages }) =>
    stages.map(({ id: stageId, name: stage, type }) => ({ pipelineId, pipeline, stageId, stage, type })),
  );
}

export async function readFlows(partner: PartnerClient): Promise<Discovered['flows']> {
  const { items } = await partner.readAll(contract.onboarding.listFlows, {}, LIVE);
  return items.map(({ flowId, name, status }) => ({ flowId, name: name ?? '', status: status ?? '' }));
}

async function readUsers(partner: PartnerClient): Promise<Discovered['users']> {
  const { items } = await partner.readAll(contract.users.list, {}, LIVE);
  return items.map(({ id, email, status, role }) => ({
    userId: id,
    email: email ?? '',
    status: status ?? '',
    role: role ?? '',
  }));
}

/** The HR system's description of an employee's fields; empty if it has none. */
async function describeHris(tenant: Tenant, store: Store | undefined): Promise<FieldDefinition[]> {
  const hris = await openHris(tenant, store);
  try {
    const described = (await hris.describe?.('employee', AbortSignal.timeout(CALL_MS))) ?? [];
    return described.map(({ key: id, isField: _isField, ...rest }) => ({ id, entity: 'employee', ...rest }));
  } finally {
    await hris.close();
  }
}

/** A definition that the tenant's mappings need and the partner lacks: a field, or options of a field. */
type MissingDefinition =
  | { what: 'field'; body: CustomFieldDefinition }
  | { what: 'options'; fieldId: string; label: string; options: string[] };

/** Lookup files list the HR system's values; only a table within a rule is short enough to become options. */
const MOST_OPTIONS = 50;

/**
 * Custom fields that mappings name and the partner never had, and options that lookups name or that were removed. Plans
 * only for the partner: an HR system's values are never changed.
 */
function planDefinitions(
  mappings: readonly Mapping[],
  defined: readonly FieldDefinition[],
  { troubles, known }: { troubles: readonly FieldTrouble[]; known: ReadonlyMap<string, FieldDefinition> },
): MissingDefinition[] {
  const planned = new Map<string, MissingDefinition>();
  for (const { field, path } of mappings.flatMap(fieldPaths)) {
    const unknown = troubles.some((one) => one.path === path.text && one.reason === 'FIELD_UNKNOWN');
    const there = defined.find((one) => isMeant(one, path));
    const missing = unknown
      ? { what: 'field' as const, body: definitionFor(field, path.source, path.customField) }
      : there && extension(field, there, known.get(path.text));
    if (missing !== undefined && !planned.has(path.text)) planned.set(path.text, missing);
  }
  return [...planned.values()];
}

function fieldPaths({ fields }: Mapping) {
  return fields.flatMap((field) => field.from.flatMap((path) => ('customField' in path ? [{ field, path }] : [])));
}

function extension(
  field: CompiledField,
  there: FieldDefinition,
  known: FieldDefinition | undefined,
): MissingDefinition | undefined {
  const options = missingOptions(field, there, known);
  if (options.length === 0) return undefined;
  return { what: 'options', fieldId: there.id, label: there.label, options: [...(there.options ?? []), ...options] };
}

/** Creates what is missing at the partner, and returns it. Refuses a frozen tenant. */
export async function applyMissingDefinitions(
  tenant: Tenant,
  partner: PartnerClient,
  store: Store | undefined,
): Promise<MissingDefinition[]> {
  if (store !== undefined) await assertMayWrite(store, tenant.tenant);
  const defined = await readCustomFields(partner);
  const troubles = await judgeCustomFields(tenant, defined, store);
  const known = store === undefined ? new Map<string, FieldDefinition>() : await readMatches(store, tenant.tenant);
  const missing = planDefinitions(await loadEveryMapping(tenant), defined, { troubles, known });
  for (const one of missing) await make(partner, one);
  return missing;
}

/** Makes one call; a repeat would find nothing missing. */
async function make(partner: PartnerClient, one: MissingDefinition): Promise<void> {
  if (one.what === 'field') await partner.customFields.create({ body: one.body }, { priority: 'live' });
  else
    await partner.customFields.update(
      { params: { customFieldId: one.fieldId }, body: { options: one.options } },
      { priority: 'live' },
    );
}

function isMeant(
  { id, entity, label }: Pick<FieldDefinition, 'id' | 'entity' | 'label'>,
  { source, customField }: { source: string; customField: string },
): boolean {
  return entity === source && (id === customField || foldLabel(label) === foldLabel(customField));
}

/** A field of the type that fits the HR system's field; the keys of a lookup become its options. */
function definitionFor(field: CompiledField, entity: string, fieldLabel: string): CustomFieldDefinition {
  const entityType = entity === 'job' ? 'job' : 'candidate';
  const options = lookupKeys(field) ?? field.def.options;
  if (options !== undefined)
    return { entityType, fieldLabel, fieldType: field.def.type === 'list' ? 'multi-select' : 'select', options };
  const types = { text: 'text', number: 'number', date: 'date', boolean: 'checkbox', list: 'textarea' } as const;
  return { entityType, fieldLabel, fieldType: types[field.def.type] };
}

function missingOptions(
  field: CompiledField,
  { options }: FieldDefinition,
  known: FieldDefinition | undefined,
): string[] {
  if (!options?.length) return [];
  const wanted = new Set([...(known?.options ?? []), ...(lookupKeys(field) ?? [])]);
  return [...wanted].filter((option) => !options.includes(option));
}

/** With transforms, the options differ from the lookup's keys. */
function lookupKeys({ lookup, transforms }: CompiledField): string[] | undefined {
  const keys = Object.keys(lookup ?? {});
  return keys.length === 0 || keys.length > MOST_OPTIONS || transforms.length > 0 ? undefined : keys;
}
