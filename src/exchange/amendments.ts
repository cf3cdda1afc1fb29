import type { Change, EmployeeFields } from '../hire/hire.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { fieldForm } from './see-fields.ts';

/** Whether an exchange only amends employees. */
export function amendsOnly({ fields }: Pick<Mapping, 'fields'>): boolean {
  return fields.some(({ amends }) => amends !== undefined);
}

/** Forms of what the partner showed when the employee was made, so that a change before the first look counts. */
export function hiredForms({ fields }: Pick<Mapping, 'fields'>, pairId: string, hired: Change): Record<string, string> {
  if (hired.kind === 'link') return {};
  const known = fields.filter(({ target }) => hired.kind === 'create' || target in hired.fields);
  return Object.fromEntries(
    known.map((field) => [field.target, fieldForm(pairId, field, hired.fields[field.target] ?? null)]),
  );
}

/** The day from which an amendment counts: today, or the first day of work if that is later. */
export function amendedFrom(today: string, held: EmployeeFields, written: EmployeeFields): string {
  const start = written['startDate'] ?? held['startDate'];
  return typeof start === 'string' && start > today ? start : today;
}
