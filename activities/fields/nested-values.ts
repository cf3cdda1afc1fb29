import { pathsRead } from '../../src/mapping/compile-rule.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';

/** How the entries of a list are called as parents of a value (section 2.5). */
const PARENTS: Readonly<Record<string, string>> = { workExperiences: 'work_experience', educations: 'education' };

/**
 * The candidate with the custom fields of its work experiences and educations, which no record shows. Only a mapping
 * that reads one costs the call.
 */
export async function withNestedValues(
  partner: PartnerClient,
  mappings: readonly Mapping[],
  candidateId: string,
  candidate: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const paths = mappings.flatMap(({ fields }) => fields.flatMap(pathsRead));
  const lists = new Set(
    paths.flatMap((path) => ('customField' in path && path.of !== undefined ? [path.of.list] : [])),
  );
  if (lists.size === 0) return candidate;
  const query = { entityType: 'candidate', entityId: candidateId } as const;
  const { items } = await partner.readAll(contract.customFieldValues.list, { query }, { priority: 'live' });
  const filled = [...lists].map((list) => {
    const entries = Array.isArray(candidate[list]) ? (candidate[list] as Record<string, unknown>[]) : [];
    const withValues = entries.map((entry) => {
      const own = items.filter(
        (one) => one.parentEntityType === PARENTS[list] && String(one.parentEntityId) === String(entry['id']),
      );
      const customFields = Object.fromEntries(own.map(({ customFieldId, value }) => [customFieldId, { value }]));
      return { ...entry, customFields };
    });
    return [list, withValues] as const;
  });
  return { ...candidate, ...Object.fromEntries(filled) };
}
