import { type ConnectorError, isConnectorError } from '../errors.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import type { Overrides } from '../partner/contract/assumptions.ts';
import { readConsents } from '../store/consents.ts';
import { batchesOf, type Store } from '../store/open-store.ts';
import type { ConsentRow } from '../store/tenant-tables.ts';

type Item = Record<string, unknown>;

interface Ends {
  partner: PartnerClient;
  overrides: Overrides;
  tenant: { tenant: string };
}

/** Calls in flight at once. */
const AT_ONCE = 8;

/** Whether the partner's error says that an application has no consent. */
export function hasNoConsent(error: unknown): boolean {
  return ['NO_APPLICATION', 'NO_CONSENT_RECORD'].some((code) => isConnectorError(error, code));
}

/** Applications with their consents, and those whose consent the partner refused or showed in no known form. */
interface WithConsents {
  items: Item[];
  refused: { id: string; error: ConnectorError }[];
}

/**
 * Adds the consent to each application (section 4.4), one call each. Applications that never showed a consent are left
 * out.
 * @throws ConnectorError if all are refused as not permitted: that is about the key
 */
export async function withConsents(
  store: Pick<Store, 'kysely'>,
  ends: Ends,
  applications: readonly Item[],
  beat: () => void = () => undefined,
): Promise<WithConsents> {
  const ids = applications.map(({ id }) => String(id));
  const known = await readConsents(store, ends.tenant.tenant, ids);
  const refused: WithConsents['refused'] = [];
  const read = async (one: Item): Promise<Item[]> => {
    const id = String(one['id']);
    return readConsent(ends, one, known.get(id)).catch((error: unknown) => {
      // An answer of a server between us and the partner says nothing about this consent.
      if (!isConnectorError(error) || error.action !== 'reject' || error.code === 'UNEXPECTED_ANSWER') throw error;
      refused.push({ id, error });
      return [];
    });
  };
  const items: Item[] = [];
  for (const some of batchesOf(applications, AT_ONCE)) {
    items.push(...(await Promise.all(some.map(read))).flat());
    beat();
  }
  const [first] = refused;
  if (first !== undefined && refused.length === ids.length && first.error.status === 403) throw first.error;
  return { items, refused };
}

/** The stored row for an item. */
export function rowOfConsent(tenantId: string, item: Item): ConsentRow {
  const { id, candidateId, state, document, policyVersion, acceptedAt, expiresAt } = item;
  return {
    tenant_id: tenantId,
    job_candidate_id: String(id),
    candidate_id: String(candidateId),
    state: state as ConsentRow['state'],
    shown: JSON.stringify({ document, policyVersion, acceptedAt, expiresAt }),
  };
}

async function readConsent({ partner, overrides }: Ends, item: Item, before: ConsentRow | undefined): Promise<Item[]> {
  const { id, jobId, candidateId } = item;
  const own = { id, jobId, candidateId };
  const isPast = (expiresAt: string | null): boolean =>
    overrides.consentExpires && expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  try {
    const params = { jobCandidateId: Number(id) };
    const { data } = await partner.jobCandidates.getConsentDocument({ params }, { priority: 'bulk' });
    const { name, policyVersion, acceptedAt, expiresAt } = data.document;
    const ends = instant(expiresAt);
    const shown = { document: name ?? null, policyVersion: policyVersion ?? null, acceptedAt: instant(acceptedAt) };
    return [{ ...own, state: isPast(ends) ? 'expired' : 'given', ...shown, expiresAt: ends }];
  } catch (error) {
    // The application was deleted meanwhile, which says nothing about its consent.
    if (isConnectorError(error, 'NOT_FOUND')) return [];
    if (!hasNoConsent(error)) throw error;
    if (before === undefined) return [];
    const shown = JSON.parse(before.shown) as { expiresAt: string | null };
    const isWithdrawn = overrides.consentWithdrawn.some((code) => isConnectorError(error, code));
    const over = before.state === 'given' && isPast(shown.expiresAt) ? 'expired' : before.state;
    return [{ ...own, state: isWithdrawn ? 'withdrawn' : over, ...shown }];
  }
}

/** Times are epoch milliseconds or ISO 8601 (section 1). */
function instant(time: number | string | null | undefined): string | null {
  if (time === null || time === undefined) return null;
  const date = new Date(/^\d+$/.test(String(time)) ? Number(time) : time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
