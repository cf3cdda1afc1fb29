import { z } from 'zod';
import {
  Confirmation,
  defineEndpoint,
  errorsOf,
  invalidRequest,
  notFound,
  refusal,
  statusData,
  statusList,
  writeOutcome,
  writtenList,
} from './endpoint.ts';
import { atLeastOne, CustomFieldId, IntegerId, IsoTime, openEnum, pathInteger, pathText, TextId } from './shapes.ts';

/** Sections 2.5, 4.5: custom field definitions. */
export const entityTypes = ['candidate', 'job'] as const;
export const fieldTypes = ['text', 'number', 'date', 'select', 'multi-select', 'checkbox', 'textarea'] as const;
export const candidateSections = [
  'Personal Details',
  'Social Contacts',
  'Experience',
  'Education',
  'Skills',
  'Miscellaneous',
] as const;
export const jobSections = [
  'Job Overview',
  'Job Description',
  'Job Pipeline Stages',
  'Location',
  'Revenue Details',
  'Client Company Details',
  'Salary Details',
  'Candidate Requirements',
  'Candidate Form Requirements',
  'Screening Questions',
] as const;

export const CustomField = z
  .looseObject({
    id: CustomFieldId,
    entityType: openEnum(entityTypes),
    fieldLabel: z.string(),
    fieldType: openEnum(fieldTypes),
    options: z.array(z.string()).nullish(),
    description: z.string().nullish(),
    parentSection: z.string().nullish(),
    createdAt: IsoTime.nullish(),
    updatedAt: IsoTime.nullish(),
  })
  .meta({ id: 'CustomField' });
export type CustomField = z.infer<typeof CustomField>;

const options = z.array(z.string().min(1));

export const CustomFieldDefinition = z
  .object({
    entityType: z.enum(entityTypes),
    fieldLabel: z.string().trim().min(1),
    fieldType: z.enum(fieldTypes),
    parentSection: z.string().optional(),
    options: options.nullable().optional(),
    description: z.string().nullish(),
  })
  .refine((field) => !['select', 'multi-select'].includes(field.fieldType) || Boolean(field.options?.length), {
    path: ['options'],
    error: 'Options are required for select and multi-select',
  })
  .refine((field) => field.parentSection === undefined || isSectionOf(field.entityType, field.parentSection), {
    path: ['parentSection'],
    error: 'Section is not one of the entity',
  })
  .meta({ id: 'CustomFieldDefinition' });
export type CustomFieldDefinition = z.input<typeof CustomFieldDefinition>;

/** Whether a section belongs to the entity's list (section 2.5, F4). */
export function isSectionOf(entityType: string, section: string): boolean {
  const sections: readonly string[] = entityType === 'job' ? jobSections : candidateSections;
  return sections.includes(section);
}

const params = z.object({ customFieldId: pathText() });
const unknownField = refusal('CUSTOM_FIELD_NOT_FOUND', 'unknown custom field');
const foreignField = refusal('PERMISSION_DENIED', 'custom field of another company');

export const customFields = {
  list: defineEndpoint({
    id: 'customFields.list',
    method: 'GET',
    path: '/custom-fields',
    section: '4.5',
    summary: 'List custom field definitions',
    query: z.object({ entityType: z.enum(entityTypes).optional() }),
    status: 200,
    envelope: 'status-data',
    response: statusList('data.customFields', 'customFields'),
    list: { itemsAt: 'data', item: CustomField, idKey: 'id' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'invalid entityType')),
  }),
  get: defineEndpoint({
    id: 'customFields.get',
    method: 'GET',
    path: '/custom-fields/:customFieldId',
    section: '4.5',
    summary: 'Get a custom field definition',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusData(CustomField),
    errors: errorsOf(unknownField, foreignField),
  }),
  create: defineEndpoint({
    id: 'customFields.create',
    method: 'POST',
    path: '/custom-fields',
    section: '4.5',
    summary: 'Define a custom field',
    body: CustomFieldDefinition,
    status: 200,
    envelope: 'status-data',
    response: statusData(CustomField),
    errors: errorsOf(
      refusal(
        'INVALID_REQUEST',
        'entityType, fieldLabel or fieldType missing or invalid; options empty for select types',
      ),
    ),
    assumed: ['G1', 'F4', 'F8'],
  }),
  update: defineEndpoint({
    id: 'customFields.update',
    method: 'PUT',
    path: '/custom-fields/:customFieldId',
    section: '4.5',
    summary: 'Update a custom field; its type and entity never change',
    params,
    body: atLeastOne(
      z.object({
        fieldLabel: z.string().trim().min(1).optional(),
        parentSection: z.string().optional(),
        options: options.nullable().optional(),
        description: z.string().nullable().optional(),
      }),
    ),
    status: 200,
    envelope: 'status-data',
    response: statusData(CustomField),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'no updatable field; empty options for select types'),
      unknownField,
      foreignField,
    ),
    assumed: ['F4', 'F7'],
  }),
  remove: defineEndpoint({
    id: 'customFields.remove',
    method: 'DELETE',
    path: '/custom-fields/:customFieldId',
    section: '4.5',
    summary: 'Delete a definition; values are kept',
    params,
    status: 200,
    envelope: 'status-data',
    response: Confirmation,
    errors: errorsOf(unknownField, foreignField),
  }),
};

/** Sections 2.5, 4.5: custom field values, upserted on their full key. */

/** Section 2.5: how custom field values look inside records, and how they are set on create and update. */
/** A value as sent: text, number, boolean, list of options, or null to clear it (F11). */
export const CustomFieldInput = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);
export type CustomFieldInput = z.infer<typeof CustomFieldInput>;

/** `customFields` of a create or update: custom field id to value (J12). */
export const CustomFieldInputs = z.record(z.string(), CustomFieldInput).meta({ id: 'CustomFieldInputs' });

/** `customFields` of a record: custom field id to its label, stored value and section. */
export const CustomFieldsShown = z
  .record(
    z.string(),
    z.looseObject({ label: z.string().nullish(), value: z.unknown().optional(), parentSection: z.string().nullish() }),
  )
  .meta({ id: 'CustomFieldsShown' });

/** The same where the form is not shown, as of a candidate: bare values are read too, and anything else as none. */
export const CustomFieldsOfCandidate = z.preprocess((given: unknown) => asShown(given), CustomFieldsShown);

function asShown(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return {};
  return Object.fromEntries(Object.entries(given).map(([id, one]) => [id, isShown(one) ? one : { value: one }]));
}

function isShown(one: unknown): boolean {
  return typeof one === 'object' && one !== null && !Array.isArray(one);
}

/** Stored form (section 2.5); multi-select is a JSON-stringified array, see `readMultiSelect` (F1). */
export const CustomFieldValue = z
  .looseObject({
    id: IntegerId,
    customFieldId: CustomFieldId,
    entityType: openEnum(entityTypes),
    entityId: TextId,
    parentEntityType: z.string().nullish(),
    parentEntityId: TextId.nullish(),
    value: z.unknown().optional(),
    createdAt: IsoTime.nullish(),
    updatedAt: IsoTime.nullish(),
  })
  .meta({ id: 'CustomFieldValue' });
export type CustomFieldValue = z.infer<typeof CustomFieldValue>;

const sentId = z.union([z.int(), z.string().min(1)]);

export const CustomFieldValueInput = z
  .object({
    customFieldId: z.string().min(1),
    entityType: z.enum(entityTypes),
    entityId: sentId,
    parentEntityType: z.string().min(1).nullish(),
    parentEntityId: sentId.nullish(),
    value: CustomFieldInput,
  })
  .meta({ id: 'CustomFieldValueInput' });
export type CustomFieldValueInput = z.input<typeof CustomFieldValueInput>;

/** The options of a multi-select value in either form: JSON text as stored, or an array (F1). */
export function readMultiSelect(value: unknown): string[] | undefined {
  const list = typeof value === 'string' ? parseJson(value) : value;
  return Array.isArray(list) && list.every((option) => typeof option === 'string') ? list : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const valueParams = z.object({ valueId: pathInteger() });
const badValue = refusal('INVALID_REQUEST', 'a field missing, or the value does not fit its field type or options');
const parentQuery = { parentEntityType: z.string().optional(), parentEntityId: z.string().optional() };

export const customFieldValues = {
  list: defineEndpoint({
    id: 'customFieldValues.list',
    method: 'GET',
    path: '/custom-field-values',
    section: '4.5',
    summary: 'Values of an entity',
    query: z.object({ entityType: z.enum(entityTypes), entityId: pathText() }),
    status: 200,
    envelope: 'status-data',
    response: statusList('data.values', 'data.customFieldValues', 'values'),
    list: { itemsAt: 'data', item: CustomFieldValue, idKey: 'id' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'entityType or entityId missing, or invalid entityType')),
    assumed: ['F1', 'F5', 'F13', 'G6'],
  }),
  get: defineEndpoint({
    id: 'customFieldValues.get',
    method: 'GET',
    path: '/custom-field-values/:valueId',
    section: '4.5',
    summary: 'Get a value',
    params: valueParams,
    status: 200,
    envelope: 'status-data',
    response: statusData(CustomFieldValue),
    errors: errorsOf(invalidRequest, notFound('custom field value')),
    assumed: ['F1', 'F13', 'G6', 'G7', 'G8'],
  }),
  upsert: defineEndpoint({
    id: 'customFieldValues.upsert',
    method: 'POST',
    path: '/custom-field-values',
    section: '4.5',
    summary: 'Set a value',
    body: CustomFieldValueInput,
    status: 200,
    envelope: 'status-data',
    response: writeOutcome(CustomFieldValue),
    errors: errorsOf(badValue, unknownField, foreignField, notFound('entity')),
    assumed: ['G1', 'F2', 'F9', 'F11', 'F12', 'F14'],
  }),
  upsertBulk: defineEndpoint({
    id: 'customFieldValues.upsertBulk',
    method: 'POST',
    path: '/custom-field-values/bulk',
    section: '4.5',
    summary: 'Set many values, all or none',
    body: z.array(CustomFieldValueInput).min(1),
    status: 200,
    envelope: 'status-data',
    response: writtenList('data.values', 'data.customFieldValues', 'values'),
    list: { itemsAt: 'data', item: CustomFieldValue.partial(), idKey: 'id' },
    errors: errorsOf(badValue, unknownField, foreignField, notFound('entity')),
    chunk: { key: null, max: 100 },
    assumed: ['G1', 'F2', 'F3', 'F9', 'F10', 'F12'],
  }),
  remove: defineEndpoint({
    id: 'customFieldValues.remove',
    method: 'DELETE',
    path: '/custom-field-values/:valueId',
    section: '4.5',
    summary: 'Delete a value',
    params: valueParams,
    status: 200,
    envelope: 'status-data',
    response: Confirmation,
    errors: errorsOf(invalidRequest, notFound('custom field value')),
    assumed: ['G6', 'G7'],
  }),
  removeByEntity: defineEndpoint({
    id: 'customFieldValues.removeByEntity',
    method: 'DELETE',
    path: '/custom-field-values/entity/:entityType/:entityId',
    section: '4.5',
    summary: 'Delete the values of an entity',
    params: z.object({ entityType: z.enum(entityTypes), entityId: pathText() }),
    query: z.object(parentQuery),
    status: 200,
    envelope: 'status-data',
    response: Confirmation,
    errors: errorsOf(refusal('INVALID_REQUEST', 'invalid entityType'), notFound('entity')),
    assumed: ['F6', 'F9'],
  }),
};
