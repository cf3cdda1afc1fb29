import { z } from 'zod';
import { entityTypes, fieldTypes } from '../../partner/contract/custom-fields.ts';
import { renderValue, upsertValue } from '../records/custom-fields/custom-field-values.ts';
import { createCustomField, deleteCustomField, listCustomFields } from '../records/custom-fields/custom-fields.ts';
import { defineAction } from './action.ts';

export const customFields = {
  createCustomField: defineAction({
    summary: 'Define a custom field of candidates or jobs',
    input: z.strictObject({
      entityType: z.enum(entityTypes),
      fieldLabel: z.string().min(1),
      fieldType: z.enum(fieldTypes),
      options: z.array(z.string()).optional(),
      parentSection: z.string().optional(),
    }),
    run: (ctx, input) => createCustomField(ctx, input),
  }),

  deleteCustomField: defineAction({
    summary: 'Delete a definition; values stay',
    input: z.strictObject({ customFieldId: z.string() }),
    run(ctx, { customFieldId }) {
      deleteCustomField(ctx, customFieldId);
      return { deleted: customFieldId };
    },
  }),

  setCustomFieldValue: defineAction({
    summary: 'Set a value, the field named by id or label',
    input: z.strictObject({
      customFieldId: z.string().optional(),
      fieldLabel: z.string().optional(),
      entityType: z.enum(entityTypes),
      entityId: z.int(),
      value: z.unknown(),
    }),
    run(ctx, { customFieldId, fieldLabel, entityType, entityId, value }) {
      const id =
        customFieldId ?? listCustomFields(ctx, entityType).find((field) => field.fieldLabel === fieldLabel)?.id;
      return renderValue(upsertValue(ctx, { customFieldId: id ?? '', entityType, entityId, value }));
    },
  }),
};
