import { isDeepStrictEqual } from 'node:util';
import { observableAssumptions } from '../../partner/client/observe-assumptions.ts';
import type { Assumption } from '../../partner/contract/assumptions/assumption.ts';
import { assumptions } from '../../partner/contract/assumptions.ts';
import { defaultOverrides } from '../../partner/contract/overrides.ts';
import type { Evidence } from '../../store/evidence.ts';
import type { Tenant } from '../../tenants/schema.ts';

export interface AssumptionRow {
  key: string;
  section: string;
  choice: string;
  /** Key of the tenant file that overrides it; null where nothing can. */
  override: string | null;
  /** What tenants have set there. */
  setBy: Record<string, unknown>;
  /** What answers of tenants showed; whatever one of them contradicts is contradicted. */
  evidence: 'contradicted' | 'confirmed' | 'not seen yet' | 'cannot be observed';
  contradictedBy: string[];
}

/** Every assumption with what overrides it, which of these tenants do, and what their partners' answers showed. */
export function assumptionRows(tenants: readonly Tenant[], evidence: readonly Evidence[]): AssumptionRow[] {
  const names = new Set(tenants.map(({ tenant }) => tenant));
  const known = Map.groupBy(
    evidence.filter(({ tenantId }) => names.has(tenantId)),
    ({ assumption }) => assumption,
  );
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
      ...judgeEvidence(key, known.get(key) ?? [], Object.fromEntries(set)),
    };
  });
}

/** A contradiction from before a tenant overrode the assumption is settled. */
function judgeEvidence(
  key: string,
  evidence: readonly Evidence[],
  setBy: Record<string, unknown>,
): Pick<AssumptionRow, 'evidence' | 'contradictedBy'> {
  const against = evidence.filter(({ verdict, tenantId }) => verdict === 'contradicted' && !(tenantId in setBy));
  const contradictedBy = against.map(({ tenantId }) => tenantId).sort();
  if (contradictedBy.length > 0) return { evidence: 'contradicted', contradictedBy };
  if (!observableAssumptions.has(key)) return { evidence: 'cannot be observed', contradictedBy };
  const isConfirmed = evidence.some(({ verdict }) => verdict === 'confirmed');
  return { evidence: isConfirmed ? 'confirmed' : 'not seen yet', contradictedBy };
}

/** Worth a look: contradicted, not seen yet, or set otherwise by a tenant. */
export function isOpen({ evidence, setBy }: AssumptionRow): boolean {
  return evidence === 'contradicted' || evidence === 'not seen yet' || Object.keys(setBy).length > 0;
}
