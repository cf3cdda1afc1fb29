/** Sections 2.5, 4.5: custom field definitions. */
import { z } from 'zod';
import { Confirmation, defineEndpoint, errorsOf, refusal, statusData, statusList } from './endpoint.ts';
import { atLeastOne, CustomFieldId, IsoTime, openEnum, pathText } from './shapes.ts';
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
