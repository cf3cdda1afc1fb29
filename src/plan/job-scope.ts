/** Which jobs a tenant takes: exactly one of these criteria. */
export interface JobScope {
  /** Ids. */
  jobs?: readonly string[] | undefined;
  countries?: readonly string[] | undefined;
  /** Ids. */
  teams?: readonly string[] | undefined;
  customField?: { name: string; values: readonly string[] } | undefined;
}

/**
 * Whether a tenant takes a job that shows these values for the scope's criterion. Every value must be one of the
 * scope's: a job with two would otherwise be taken by two tenants whose scopes have nothing in common. A job that shows
 * none is nobody's.
 */
export function takesJob(scope: JobScope | undefined, shown: readonly string[]): boolean {
  if (scope === undefined) return true;
  const { values } = meaningOf(scope);
  const folded = shown.map(fold).filter((value) => value !== '');
  return folded.length > 0 && folded.every((value) => values.has(value));
}

/** Whether no job can be in both, as far as the scopes alone can tell: the same criterion, no value in common. */
export function areDisjoint(one: JobScope | undefined, other: JobScope | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [first, second] = [meaningOf(one), meaningOf(other)];
  return first.criterion === second.criterion && first.values.isDisjointFrom(second.values);
}

function meaningOf({ jobs, countries, teams, customField }: JobScope): { criterion: string; values: Set<string> } {
  const set = (values: readonly string[] = []) => new Set(values.map(fold));
  if (jobs !== undefined) return { criterion: 'jobs', values: set(jobs) };
  if (countries !== undefined) return { criterion: 'countries', values: set(countries) };
  if (teams !== undefined) return { criterion: 'teams', values: set(teams) };
  return { criterion: `customField ${fold(customField?.name ?? '')}`, values: set(customField?.values) };
}

/** People write them. */
function fold(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
