import { foldLabel } from '../mapping/read-source.ts';
import type { SourcePath } from '../mapping/source-fields.ts';
import { encodeValue } from '../partner/custom-field-forms.ts';
import type { FieldDefinition } from '../store/fields.ts';
import type { Value } from '../values/transforms.ts';

/** One place in a partner record and the value sent for it; null clears a custom field. */
export type PartnerValue = { customFieldId: string; sent: Value | null } | { property: string; sent: Value };

/** Encodes a value as its place at the partner takes it now, or says why it cannot. */
export function sayToPartner(
  path: SourcePath | undefined,
  value: Value | null,
  defined: readonly FieldDefinition[],
): PartnerValue | { code: string } {
  if (path === undefined) return { code: 'NOT_INVERTIBLE' };
  if (!('customField' in path)) return sayProperty(path.field, value);
  const definition = customFieldOf(path, defined);
  if (definition === undefined) return { code: 'CUSTOM_FIELD_UNCLEAR' };
  if (value === null) return { customFieldId: definition.id, sent: null };
  const encoded = encodeValue(definition, value);
  return 'wrong' in encoded ? { code: 'VALUE_MISFIT' } : { customFieldId: definition.id, sent: encoded.sent };
}

/**
 * Finds the field by id, or by its label if only one field has it. A job may have a custom field with the same label.
 */
export function customFieldOf(
  { source, customField: wanted }: { source: string; customField: string },
  defined: readonly FieldDefinition[],
): FieldDefinition | undefined {
  const entity = source === 'jobCandidate' ? 'candidate' : source;
  const own = defined.filter((one) => one.entity === entity);
  const byId = own.find(({ id }) => id === wanted);
  const hits = byId ? [byId] : own.filter(({ label }) => foldLabel(label) === foldLabel(wanted));
  return hits.length === 1 ? hits[0] : undefined;
}

/** Profile fields take no null; an empty text empties them, except for fields that must hold an address or a date. */
function sayProperty(property: string, value: Value | null): PartnerValue | { code: string } {
  if (value !== null) return { property, sent: Array.isArray(value) ? value : String(value) };
  if (property === 'email' || property === 'dateOfBirth') return { code: 'CANNOT_BE_EMPTY' };
  return { property, sent: '' };
}
