import { type HrisSource, hrisSources } from '../../src/counterparts/hris-sources.ts';

/** Nothing for `sql`, whose table every world makes for itself. */
export async function startHrisSource(kind: string): Promise<HrisSource | undefined> {
  const start = new Map(Object.entries(hrisSources)).get(kind);
  if (start === undefined && kind !== 'sql')
    throw new Error(`No counterpart plays "${kind}" here. Known: sql, ${Object.keys(hrisSources).join(', ')}.`);
  return start?.();
}
