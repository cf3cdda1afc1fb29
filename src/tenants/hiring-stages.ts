import type { Tenant } from './schema.ts';

/**
 * Stages in which somebody counts as hired: where they are enrolled or where their employee is made. Whoever skips the
 * first or has moved on to the second is no less hired.
 */
export function hiringStagesOf({ policies }: { policies: Pick<Tenant['policies'], 'enrolAt' | 'createAt'> }): string[] {
  return [...new Set([...policies.enrolAt, ...policies.createAt])];
}
