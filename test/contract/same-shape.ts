/** Keys whose object maps ids to values: the ids differ, so one entry stands for all. */
const MAPS = new Set(['customFields', 'metadata']);

/** Ids whose type the specification does not show. */
const FREE_IDS = new Set(['flowCandidateId', 'clientId']);

/** What was sent under a key, and the value that stands for it in the pair. */
export type Echoes = ReadonlyMap<string, { shown: unknown; sent: unknown }>;

type Kind = 'null' | 'array' | 'object' | 'string' | 'number' | 'boolean' | 'nothing';

/**
 * Every way in which `actual` is not of the form that `shown` has: a key that is missing, a value of another type, an
 * empty list where an item is shown. A null stands for any type on either side. `echoes` must come back with the value
 * that was sent.
 */
export function formDifferences(shown: unknown, actual: unknown, echoes: Echoes, path = 'body'): string[] {
  const [kind, found] = [kindOf(shown), kindOf(actual)];
  if (found === 'nothing') return [`${path} is missing`];
  if (kind === 'null' || found === 'null') return [];
  const key = path.split('.').at(-1) ?? '';
  if (kind !== found && FREE_IDS.has(key)) return [];
  if (kind !== found) return [`${path} is ${found}, not ${kind}`];
  if (kind === 'array') return listDifferences(shown as unknown[], actual as unknown[], echoes, path);
  if (kind !== 'object') {
    const echo = echoes.get(key);
    return echo !== undefined && echo.shown === shown && echo.sent !== actual
      ? [`${path} is not the ${key} that was sent`]
      : [];
  }
  if (MAPS.has(key)) return [];
  return Object.entries(shown as object).flatMap(([name, value]) =>
    formDifferences(value, (actual as Record<string, unknown>)[name], echoes, `${path}.${name}`),
  );
}

function listDifferences(shown: unknown[], actual: unknown[], echoes: Echoes, path: string): string[] {
  if (shown.length === 0) return [];
  return actual.length === 0 ? [`${path} is empty`] : formDifferences(shown[0], actual[0], echoes, `${path}[0]`);
}

function kindOf(value: unknown): Kind {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as Kind);
}
