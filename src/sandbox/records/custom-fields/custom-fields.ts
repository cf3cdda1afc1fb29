import { candidateSections, jobSections } from '../../../partner/contract/custom-fields.ts';
import type { Context } from '../../context.ts';
import { effect, iso } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { stableUuid } from '../../random.ts';

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

export interface CustomFieldInput {
  entityType: 'candidate' | 'job';
  fieldLabel: string;
  fieldType: string;
  options?: readonly string[] | null | undefined;
  description?: string | null | undefined;
  parentSection?: string | null | undefined;
}

/** What may change of a definition; absent means as it was. */
export type CustomFieldChange = {
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
  const options = fields.options === undefined ? field.options : fields.options;
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
