import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeFields } from '../../src/hire/employee.ts';
import type { Requisition } from '../../src/hris/port.ts';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { encodeValue } from '../../src/partner/custom-field-forms.ts';
import { mappedTargets, type TargetValue } from '../../src/plan/plan-write-back.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { Tenant } from '../../src/tenants/schema.ts';

export type RequisitionSettings = NonNullable<Tenant['requisitions']>;

/** A requisition as a job: what only its creation can say, and what stays writable. */
export interface WantedJob {
  id: string;
  fields: EmployeeFields;
  values: TargetValue[];
}

/** What the partner should hold of a requisition, or why it cannot be said: field names, never a value. */
export function wantedJob(
  requisition: Requisition,
  mapping: Mapping,
  { values }: RequisitionSettings,
  defined: readonly FieldDefinition[],
): WantedJob | { reason: string } {
  const { id } = requisition;
  const { fields, problems } = evaluateMapping(mapping, { requisition: { id, ...requisition.fields } });
  if (problems.length > 0) return { reason: problems.map(({ text }) => text).join(' ') };
  const encoded: TargetValue[] = [];
  for (const { customFieldId, value } of mappedTargets(values, requisition.fields)) {
    const field = jobField(defined, customFieldId);
    const sent = encodeValue(field, value);
    if ('wrong' in sent) return { reason: `job custom field "${field.label}" (${customFieldId}) ${sent.wrong}` };
    encoded.push({ customFieldId, value: sent.sent });
  }
  return { id, fields, values: encoded };
}

/** @throws ConnectorError CUSTOM_FIELD_NOT_FOUND where a job has no such custom field */
export function jobField(defined: readonly FieldDefinition[], id: string): FieldDefinition {
  const field = defined.find((one) => one.entity === 'job' && one.id === id);
  if (field !== undefined) return field;
  throw new ConnectorError({
    code: 'CUSTOM_FIELD_NOT_FOUND',
    action: 'reject',
    message:
      `The hiring platform has no job custom field ${id}, which the tenant file names under requisitions. ` +
      'Define it there, or name the right one.',
  });
}
