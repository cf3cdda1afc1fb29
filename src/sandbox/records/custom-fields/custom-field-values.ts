import type { Context } from '../../context.ts';
import { effect, iso } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { named, storedForm } from './custom-field-forms.ts';
import { requireParent } from './custom-field-parents.ts';
import type { CustomField } from './custom-fields.ts';
import { findCustomField, listCustomFields } from './custom-fields.ts';

export interface ValueInput {
  customFieldId: string;
  entityType: string;
  entityId: string | number;
  parentEntityType?: string | null | undefined;
  parentEntityId?: string | number | null | undefined;
  value: unknown;
}

export interface CustomFieldValue {
  id: number;
  customFieldId: string;
  entityType: string;
  entityId: string;
  /** Empty when the value hangs on the entity itself. */
  parentEntityType: string;
  parentEntityId: string;
  /** JSON text of the stored form. */
  value: string;
  createdAt: number;
  updatedAt: number;
}

/** What a job or job candidate shows of a value. */
export type ShownValues = Record<string, { label: string; value: unknown; parentSection: string | null }>;

const VALUE = `select id, custom_field_id as customFieldId, entity_type as entityType, entity_id as entityId,
  parent_entity_type as parentEntityType,
  parent_entity_id as parentEntityId, value, created_at as createdAt, updated_at as updatedAt from custom_field_values`;

/** Sets a value by its full key. 404 unknown field or entity, 400 when it does not fit the type. */
export function upsertValue(ctx: Context, input: ValueInput): CustomFieldValue {
  const field = findCustomField(ctx, input.customFieldId);
  if (field.entityType !== input.entityType)
    throw invalidRequest('The custom field is of another entityType', { entityType: `must be ${field.entityType}` });
  requireEntity(ctx, input.entityType, input.entityId);
  requireParent(ctx, input);
  const { state, company, now } = ctx;
  const key = [
    input.entityType,
    String(input.entityId),
    field.id,
    input.parentEntityType ?? '',
    String(input.parentEntityId ?? ''),
  ] as const;
  state.run(
    `insert into custom_field_values
       (id, company_id, entity_type, entity_id, custom_field_id, parent_entity_type, parent_entity_id, value,
         created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (company_id, entity_type, entity_id, custom_field_id, parent_entity_type, parent_entity_id)
     do update set value = excluded.value, updated_at = excluded.updated_at`,
    state.nextId('custom-field-value', 80_001),
    company.id,
    ...key,
    JSON.stringify(storedForm(field, input.value)),
    now,
    now,
  );
  const saved = state.one<CustomFieldValue>(
    `${VALUE} where company_id = ? and entity_type = ? and entity_id = ? and custom_field_id = ?
       and parent_entity_type = ?
       and parent_entity_id = ?`,
    company.id,
    ...key,
  ) as CustomFieldValue;
  effect(ctx, 'custom-field-value', saved.id, {
    customFieldId: field.id,
    entityType: input.entityType,
    entityId: String(input.entityId),
  });
  return saved;
}

/** A customFields object of a job or candidate: `{ id: value }` (J12, assumed). */
export function upsertValuesOf(
  ctx: Context,
  entityType: string,
  entityId: number,
  values: Record<string, unknown>,
): void {
  for (const [customFieldId, value] of Object.entries(values))
    named(
      () => `customFields.${customFieldId}`,
      () => upsertValue(ctx, { customFieldId, entityType, entityId, value }),
    );
}

/** Sets many in order; a refusal names the entry. */
export function upsertValues(ctx: Context, entries: readonly Parameters<typeof upsertValue>[1][]): CustomFieldValue[] {
  return entries.map((entry, index) =>
    named(
      (field) => `[${String(index)}].${field}`,
      () => upsertValue(ctx, entry),
    ),
  );
}

/** A condition only where something is given: one that may be null is answered by reading every value there is. */
export function valuesOf(ctx: Context, entityType?: string, entityId?: string | number): CustomFieldValue[] {
  const given = { entity_type: entityType, entity_id: entityId === undefined ? undefined : String(entityId) };
  const used = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const where = ['company_id = ?', ...used.map(([column]) => `${column} = ?`)].join(' and ');
  return ctx.state.all<CustomFieldValue>(
    `${VALUE} where ${where} order by id`,
    ctx.company.id,
    ...used.map(([, value]) => value),
  );
}

/** 404 when unknown or another company's. */
export function findValue(ctx: Context, id: number): CustomFieldValue {
  const value = ctx.state.one<CustomFieldValue>(`${VALUE} where id = ? and company_id = ?`, id, ctx.company.id);
  if (value === undefined) throw notFound('Custom field value');
  return value;
}

export function removeValues(ctx: Context, values: readonly CustomFieldValue[]): void {
  for (const { id } of values) {
    ctx.state.run('delete from custom_field_values where id = ?', id);
    effect(ctx, 'custom-field-value-removed', id);
  }
}

export function renderValue(value: CustomFieldValue): Record<string, unknown> {
  return {
    id: value.id,
    customFieldId: value.customFieldId,
    entityType: value.entityType,
    entityId: value.entityId,
    parentEntityType: value.parentEntityType === '' ? null : value.parentEntityType,
    parentEntityId: value.parentEntityId === '' ? null : value.parentEntityId,
    value: JSON.parse(value.value) as unknown,
    createdAt: iso(value.createdAt),
    updatedAt: iso(value.updatedAt),
  };
}

/** Every job custom field of the company, an empty string where none is set (section 2.2). */
export function customFieldsOfJob(ctx: Context, jobId: number): ShownValues {
  const values = ownValues(ctx, 'job', jobId);
  const fields = listCustomFields(ctx, 'job');
  return Object.fromEntries(fields.map((field) => [field.id, shown(field, values.get(field.id) ?? '')]));
}

/** The candidate's values, only those that exist; undefined when none does (K15, assumed). */
export function customFieldsOfJobCandidate(
  ctx: Context,
  jobCandidate: { candidateId: number },
): ShownValues | undefined {
  const values = ownValues(ctx, 'candidate', jobCandidate.candidateId);
  if (values.size === 0) return undefined;
  const fields = listCustomFields(ctx, 'candidate').filter((field) => values.has(field.id));
  return fields.length === 0
    ? undefined
    : Object.fromEntries(fields.map((field) => [field.id, shown(field, values.get(field.id))]));
}

/** The values of a record itself, by the id of their field; those that hang on a part of it are left out. */
export function ownValues(ctx: Context, entityType: string, entityId: number): Map<string, unknown> {
  const own = valuesOf(ctx, entityType, entityId).filter((value) => value.parentEntityType === '');
  const set = own.map((value) => [value.customFieldId, JSON.parse(value.value) as unknown] as const);
  return new Map(set.filter(([, value]) => value !== null));
}

function shown(field: CustomField, value: unknown): ShownValues[string] {
  return { label: field.fieldLabel, value, parentSection: field.parentSection };
}

/** 404 unless the job or candidate exists in the company. */
export function requireEntity(ctx: Context, entityType: string, entityId: string | number): void {
  const table = entityType === 'job' ? 'jobs' : 'candidates';
  // Only as an id is written: "1e3" and "01" would be kept under a key that nobody asks for.
  const found =
    /^[1-9]\d{0,14}$/.test(String(entityId)) &&
    ctx.state.one(`select 1 from ${table} where id = ? and company_id = ?`, Number(entityId), ctx.company.id);
  if (found === undefined || found === false) throw notFound(entityType === 'job' ? 'Job' : 'Candidate');
}
