import type { Tenant } from './schema.ts';

/**
 * Stages in which a person counts as hired: those that enrol them and those that make their employee. A person who
 * skips the former, or has moved on to the latter, is hired all the same.
 */
export function hiringStagesOf({ policies }: { policies: Pick<Tenant['policies'], 'enrolAt' | 'createAt'> }): string[] {
  return [...new Set([...policies.enrolAt, ...policies.createAt])];
}
