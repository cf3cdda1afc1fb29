import { foldLabel } from '../in-words.ts';

/** Which jobs a tenant takes, by exactly one of these criteria. */
export interface JobScope {
  /** Job ids. */
  jobs?: readonly string[] | undefined;
  countries?: readonly string[] | undefined;
  /** Team ids. */
  teams?: readonly string[] | undefined;
  customField?: { name: string; values: readonly string[] } | undefined;
}

/**
 * Whether a tenant takes a job with these values for the scope's criterion. Every value must be in the scope: otherwise
 * two tenants with disjoint scopes could both take a job with two values. No tenant takes a job without a value.
 */
export function takesJob(scope: JobScope | undefined, shown: readonly string[]): boolean {
  if (scope === undefined) return true;
  const { values } = meaningOf(scope);
  const folded = shown.map(foldLabel).filter((value) => value !== '');
  return folded.length > 0 && folded.every((value) => values.has(value));
}

/** Whether the scopes rule out that a job is in both: same criterion, no value in common. */
export function areDisjoint(one: JobScope | undefined, other: JobScope | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [first, second] = [meaningOf(one), meaningOf(other)];
  return first.criterion === second.criterion && first.values.isDisjointFrom(second.values);
}

function meaningOf({ jobs, countries, teams, customField }: JobScope): { criterion: string; values: Set<string> } {
  const set = (values: readonly string[] = []) => new Set(values.map(foldLabel));
  if (jobs !== undefined) return { criterion: 'jobs', values: set(jobs) };
  if (countries !== undefined) return { criterion: 'countries', values: set(countries) };
  if (teams !== undefined) return { criterion: 'teams', values: set(teams) };
  return { criterion: `customField ${foldLabel(customField?.name ?? '')}`, values: set(customField?.values) };
}
