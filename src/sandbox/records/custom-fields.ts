import { candidateSections, jobSections, readMultiSelect } from '../../partner/contract/custom-fields.ts';
import { ApiError, type Context, effect, invalidRequest, iso, notFound, refuse } from '../context.ts';
import { stableUuid } from '../random.ts';

export interface CustomField {
  id: string;
  companyId: number;
  entityType: 'candidate' | 'job';
  fieldLabel: string;
  fieldType: string;
  options: string[] | null;
  description: string | null;
  parentSection: string | null;
  createdAt: number;
  updatedAt: number;
}

interface CustomFieldInput {
  entityType: 'candidate' | 'job';
  fieldLabel: string;
  fieldType: string;
  options?: readonly string[] | null | undefined;
  description?: string | null | undefined;
  parentSection?: string | null | undefined;
}

/** The changeable parts of a definition; absent ones stay. */
type CustomFieldChange = {
  [Key in 'fieldLabel' | 'options' | 'description' | 'parentSection']?: CustomField[Key] | undefined;
};

type Row = Omit<CustomField, 'options'> & { options: string | null };

const FIELD = `select id, company_id as companyId, entity_type as entityType, field_label as fieldLabel,
  field_type as fieldType, options, description,
  parent_section as parentSection, created_at as createdAt, updated_at as updatedAt from custom_fields`;

/** Field types whose options must be given (section 2.5). */
export const SELECT_TYPES: ReadonlySet<string> = new Set(['select', 'multi-select']);

function toField(row: Row): CustomField {
  return { ...row, options: row.options === null ? null : (JSON.parse(row.options) as string[]) };
}

export function createCustomField(ctx: Context, input: CustomFieldInput): CustomField {
  const { state, company, now } = ctx;
  const seq = state.nextId('custom-field');
  const id = stableUuid(state.seed, 'custom-field', seq);
  const options = SELECT_TYPES.has(input.fieldType) ? JSON.stringify(input.options ?? []) : null;
  state.run(
    `insert into custom_fields (id, company_id, seq, entity_type, field_label, field_type, options, description,
      parent_section, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    input.entityType,
    input.fieldLabel,
    input.fieldType,
    options,
    input.description ?? null,
    input.parentSection ?? (input.entityType === 'job' ? jobSections[0] : candidateSections[0]),
    now,
    now,
  );
  effect(ctx, 'custom-field', id);
  return findCustomField(ctx, id);
}

/** 404 when unknown or deleted, 403 when another company's (section 7). */
export function findCustomField(ctx: Context, id: string): CustomField {
  const row = ctx.state.one<Row>(`${FIELD} where id = ? and deleted = 0`, id);
  if (row === undefined) throw refuse('CUSTOM_FIELD_NOT_FOUND', 'Custom field not found');
  if (row.companyId !== ctx.company.id)
    throw refuse('PERMISSION_DENIED', 'The custom field belongs to another company');
  return toField(row);
}

export function listCustomFields(ctx: Context, entityType?: string): CustomField[] {
  return ctx.state
    .all<Row>(
      `${FIELD} where company_id = ? and deleted = 0 and (? is null or entity_type = ?) order by seq`,
      ctx.company.id,
      entityType ?? null,
      entityType ?? null,
    )
    .map(toField);
}

export function updateCustomField(ctx: Context, id: string, fields: CustomFieldChange): CustomField {
  const field = findCustomField(ctx, id);
  const options = fields.options ?? field.options;
  ctx.state.run(
    `update custom_fields set field_label = ?, options = ?, description = ?, parent_section = ?, updated_at = ?
      where id = ?`,
    fields.fieldLabel ?? field.fieldLabel,
    SELECT_TYPES.has(field.fieldType) && options !== null ? JSON.stringify(options) : null,
    fields.description === undefined ? field.description : fields.description,
    fields.parentSection === undefined ? field.parentSection : fields.parentSection,
    ctx.now,
    id,
  );
  effect(ctx, 'custom-field-updated', id);
  return findCustomField(ctx, id);
}

/** Deletes the definition; its values stay (section 2.5). */
export function deleteCustomField(ctx: Context, id: string): void {
  findCustomField(ctx, id);
  ctx.state.run('update custom_fields set deleted = 1, updated_at = ? where id = ?', ctx.now, id);
  effect(ctx, 'custom-field-removed', id);
}

export function renderCustomField(field: CustomField): Record<string, unknown> {
  const { companyId: _company, createdAt, updatedAt, ...own } = field;
  return { ...own, createdAt: iso(createdAt), updatedAt: iso(updatedAt) };
}

interface ValueInput {
  customFieldId: string;
  entityType: string;
  entityId: string | number;
  parentEntityType?: string | null | undefined;
  parentEntityId?: string | number | null | undefined;
  value: unknown;
}

interface CustomFieldValue {
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

/** The part of a value that a job or job candidate shows. */
type ShownValues = Record<string, { label: string; value: unknown; parentSection: string | null }>;

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

/** Adds a condition only for given values: SQLite answers one that may be null by reading every value. */
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

/** Only work_experience is shown in section 2.5; the other entries of a profile that have ids go the same way (F9). */
const LISTS: Record<string, string> = {
  work_experience: 'workExperiences',
  education: 'educations',
  project_experience: 'projectExperiences',
  certification: 'certifications',
};

interface Nested {
  entityType: string;
  entityId: string | number;
  parentEntityType?: string | null | undefined;
  parentEntityId?: string | number | null | undefined;
}

/** A nested value hangs on an entry of the candidate's profile: 400 unless it names one, 404 when there is none. */
function requireParent(ctx: Context, { entityType, entityId, ...parent }: Nested): void {
  const { parentEntityType: type, parentEntityId: id } = parent;
  if ((type ?? id ?? undefined) === undefined) return;
  if (id === null || id === undefined)
    throw invalidRequest('A parentEntityType needs the id of the parent', { parentEntityId: 'is required' });
  if (type === null || type === undefined)
    throw invalidRequest('A parentEntityId needs the type of the parent', { parentEntityType: 'is required' });
  const list = LISTS[type];
  if (list === undefined || entityType !== 'candidate') {
    const known = entityType === 'candidate' ? `must be one of ${Object.keys(LISTS).join(', ')}` : 'is for candidates';
    throw invalidRequest('There is no such parent', { parentEntityType: known });
  }
  if (!hasEntry(ctx, { candidateId: Number(entityId), list, id: String(id) }))
    throw refuse('NOT_FOUND', 'Parent not found', { parentEntityId: `is no ${type} of the candidate` });
}

function hasEntry(ctx: Context, { candidateId, list, id }: { candidateId: number; list: string; id: string }): boolean {
  const found = ctx.state.one(
    `select 1 from candidates c, json_each(c.body, '$.' || ?) entry where c.id = ? and c.company_id = ?
      and case when entry.type = 'object' then cast(entry.value ->> 'id' as text) end = ?`,
    list,
    candidateId,
    ctx.company.id,
    id,
  );
  return found !== undefined;
}

/** Section 2.5, value storage: what each type accepts, and the form it is kept and answered in (F1, assumed). */
const STORED: Record<string, (value: unknown, field: CustomField) => unknown> = {
  text: (value) => asText(value),
  textarea: (value) => asText(value),
  select: (value, field) => asOption(value, field),
  'multi-select': (value, field) =>
    JSON.stringify((readMultiSelect(value) ?? fail('an array of options')).map((one) => asOption(one, field))),
  number: (value) => asNumber(value),
  date: (value) => (typeof value === 'string' && isDate(value) ? value : fail('a date as YYYY-MM-DD')),
  checkbox: (value) => (typeof value === 'boolean' ? value : fail('true or false')),
};

/** Null clears a value: it is stored as null (F11, assumed). */
export function storedForm(field: CustomField, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  const toStored = STORED[field.fieldType];
  return toStored === undefined ? value : toStored(value, field);
}

/** Details name each field by its whole path (G15, assumed): `value` alone would be ambiguous. */
function named<T>(pathOf: (field: string) => string, upsert: () => T): T {
  try {
    return upsert();
  } catch (error) {
    if (!(error instanceof ApiError) || error.details === undefined) throw error;
    const details = Object.entries(error.details).map(([field, words]) => [pathOf(field), words]);
    const { status, code, type, message } = error;
    throw new ApiError({ status, code, type, message, details: Object.fromEntries(details) });
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : fail('a text');
}

function asNumber(value: unknown): number {
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : fail('a number');
}

/** A value outside the options is refused (F2, assumed). */
function asOption(value: unknown, field: CustomField): string {
  return typeof value === 'string' && (field.options ?? []).includes(value)
    ? value
    : fail(`one of ${(field.options ?? []).join(', ')}`);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function fail(expected: string): never {
  throw invalidRequest('The value does not fit the field type', { value: `must be ${expected}` });
}
