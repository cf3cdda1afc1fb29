import { isDeepStrictEqual } from 'node:util';
import type { Assumption } from '../partner/contract/assumptions/assumption.ts';
import { assumptions } from '../partner/contract/assumptions.ts';
import { defaultOverrides } from '../partner/contract/overrides.ts';
import type { Tenant } from '../tenants/schema.ts';

export interface AssumptionRow {
  key: string;
  section: string;
  choice: string;
  /** Key of the tenant file that overrides it; null where nothing can. */
  override: string | null;
  /** What tenants have set there. */
  setBy: Record<string, unknown>;
}

/** Every assumption with what overrides it, and which of these tenants do. */
export function assumptionRows(tenants: readonly Tenant[]): AssumptionRow[] {
  return Object.entries<Assumption>(assumptions).map(([key, { section, choice, override }]) => {
    const set = tenants.flatMap(({ tenant, partner }) => {
      const value = override === undefined ? undefined : partner.overrides[override];
      // A tenant that sets one override has the defaults of all others filled in.
      const isDefault = override === undefined || isDeepStrictEqual(value, defaultOverrides[override]);
      return value === undefined || isDefault ? [] : [[tenant, value]];
    });
    return {
      key,
      section,
      choice,
      override: override === undefined ? null : `partner.overrides.${override}`,
      setBy: Object.fromEntries(set) as Record<string, unknown>,
    };
  });
}
