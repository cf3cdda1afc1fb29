import type { FieldDefinition } from '../store/fields.ts';
import { evaluateField } from './evaluate.ts';
import type { Mapping } from './load-mapping.ts';
import { foldLabel } from './read-source.ts';

/** Options of the partner's custom fields that a mapping cannot carry over, each with the reason. */
export function optionGaps({ fields }: Mapping, defined: readonly FieldDefinition[]): string[] {
  return fields.flatMap((field) => {
    const [path, ...more] = field.from;
    // With several sources, a condition or a table, the result depends on more than the option.
    if (path === undefined || !('customField' in path) || field.table !== undefined) return [];
    if (more.length + field.when.length > 0) return [];
    const wanted = defined.find(
      ({ entity, id, label }) =>
        entity === path.source && (id === path.customField || foldLabel(label) === foldLabel(path.customField)),
    );
    return (wanted?.options ?? []).flatMap((option) => {
      const value = wanted?.type === 'multi-select' ? [option] : option;
      const customFields = { [wanted?.id ?? '']: { label: wanted?.label, value } };
      const result = evaluateField(field, { [path.source]: { customFields } });
      return 'code' in result ? [`option "${option}": ${result.text}`] : [];
    });
  });
}
