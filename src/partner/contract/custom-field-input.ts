/** Section 2.5: how custom field values look inside records, and how they are set on create and update. */
import { z } from 'zod';

/** A value as sent: text, number, boolean, list of options, or null to clear it (F11). */
export const CustomFieldInput = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);
export type CustomFieldInput = z.infer<typeof CustomFieldInput>;

/** `customFields` of a create or update: custom field id to value (J12). */
export const CustomFieldInputs = z.record(z.string(), CustomFieldInput).meta({ id: 'CustomFieldInputs' });
export type CustomFieldInputs = z.infer<typeof CustomFieldInputs>;

/** `customFields` of a record: custom field id to its label, stored value and section. */
export const CustomFieldsShown = z
  .record(
    z.string(),
    z.looseObject({ label: z.string().nullish(), value: z.unknown().optional(), parentSection: z.string().nullish() }),
  )
  .meta({ id: 'CustomFieldsShown' });
export type CustomFieldsShown = z.infer<typeof CustomFieldsShown>;
