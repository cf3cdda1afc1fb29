import { pathsRead } from './compile-rule.ts';
import type { Mapping } from './load-mapping.ts';

/** A custom field of the partner that a mapping names. */
export interface CustomFieldUse {
  /** As written in the file: `candidate.customFields[Start date]`, or a key of the tenant file. */
  path: string;
  entity: string;
  /** Its label or id. */
  wanted: string;
  /** Whether the tenant's own files name it; a field named only by a default mapping need not exist. */
  own: boolean;
}

/** Every custom field that the mappings read, each once. */
export function customFieldsRead(mappings: readonly Mapping[]): CustomFieldUse[] {
  return usesIn(mappings, ({ fields }) => fields);
}

/** Every custom field that the mappings read or write, each once. */
export function customFieldsMapped(mappings: readonly Mapping[]): CustomFieldUse[] {
  return usesIn(mappings, ({ fields, back }) => [...fields, ...back]);
}

function usesIn(mappings: readonly Mapping[], rulesOf: (mapping: Mapping) => Mapping['fields']): CustomFieldUse[] {
  const uses = new Map<string, CustomFieldUse>();
  for (const mapping of mappings)
    for (const field of rulesOf(mapping))
      for (const path of pathsRead(field)) {
        if (!('customField' in path)) continue;
        const own = Object.hasOwn(mapping.files, field.at.file) || uses.get(path.text)?.own === true;
        uses.set(path.text, { path: path.text, entity: path.source, wanted: path.customField, own });
      }
  return [...uses.values()];
}

/** Custom fields that the tenant file writes back to; the schema makes sure they are ids. */
export function customFieldsWritten({
  customField,
  employeeUrl,
  holdReason,
  values,
}: {
  customField?: string | undefined;
  employeeUrl?: string | undefined;
  holdReason?: string | undefined;
  values: ReadonlyArray<{ customFieldId: string }>;
}): CustomFieldUse[] {
  const named = Object.entries({ customField, employeeUrl, holdReason }).flatMap(([key, wanted]) =>
    wanted === undefined ? [] : [{ path: `writeBack.${key}`, wanted }],
  );
  const mapped = values.map(({ customFieldId }) => ({
    path: `writeBack.values[${customFieldId}]`,
    wanted: customFieldId,
  }));
  return [...named, ...mapped].map((use) => ({ ...use, entity: 'candidate', own: true }));
}
