import type { CustomField } from '../partner/contract/custom-fields.ts';
import type { FieldDefinition } from '../store/fields.ts';

/** A custom field of the partner in the form in which it is stored. */
export function definitionOf(field: CustomField): FieldDefinition {
  const { id, entityType, fieldLabel, fieldType, parentSection, options } = field;
  return {
    id,
    entity: entityType,
    label: fieldLabel,
    type: fieldType,
    section: parentSection ?? null,
    options: options ?? null,
  };
}
