import { pathsRead } from './compile-rule.ts';
import type { Mapping } from './load-mapping.ts';

/** A custom field of the partner that a mapping names. */
export interface CustomFieldUse {
  /** As it is written: `candidate.customFields[Start date]`, or a key of the tenant file. */
  path: string;
  entity: string;
  /** Its label or id. */
  wanted: string;
  /** Somebody wrote it for this tenant; what stands in a default mapping alone need not exist. */
  own: boolean;
}

/** Every custom field that the mappings read, once each. */
export function customFieldsRead(mappings: readonly Mapping[]): CustomFieldUse[] {
  return usesIn(mappings, ({ fields }) => fields);
}

/** The same with those that they write. */
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

/** Those that the tenant file writes back to; ids by the schema. */
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
