import { contract } from '../../src/partner/contract/index.ts';
import type { OnboardingCandidate } from '../../src/partner/contract/onboarding.ts';
import type { Enrolment } from '../../src/plan/plan-enrolment.ts';
import type { Connection } from '../connections.ts';
import type { Seen } from './write-once.ts';

export function enrolmentOf(candidate: OnboardingCandidate): Enrolment {
  return { onboardingCandidateId: candidate.onboardingCandidateId, status: String(candidate.overallStatus) };
}

/**
 * Looks for an enrolment by our reference over all statuses, terminal ones included. Each hit is compared here again:
 * the filter's name is assumed (O6), and a partner that ignores it lists everybody, which proves absence just as
 * well.
 */
export async function findEnrolments(connection: Connection, reference: string): Promise<Enrolment[]> {
  const { items } = await connection.partner.readAll(
    contract.onboarding.listCandidates,
    { query: { externalRef: reference } },
    { priority: 'live' },
  );
  return items.filter((item) => item.externalRef === reference).map(enrolmentOf);
}

/** The same, as a statement about one write: several hits, or a filter that cannot be trusted, prove nothing. */
export async function lookForEnrolment(connection: Connection, reference: string): Promise<Seen<Enrolment>> {
  const hits = await findEnrolments(connection, reference);
  const [hit] = hits;
  if (hits.length > 1) return { kind: 'unprovable' };
  if (hit !== undefined) return { kind: 'found', value: hit };
  return (await isFilterTrusted(connection)) ? { kind: 'absent' } : { kind: 'unprovable' };
}

/** Filters proven by a look for an enrolment that is known to be there; per open connection. */
const proven = new WeakMap<Connection['partner'], boolean>();

async function isFilterTrusted(connection: Connection): Promise<boolean> {
  const known = proven.get(connection.partner);
  if (known !== undefined) return known;
  const example = await anyReference(connection);
  // Nobody carries a reference yet: there is nothing a filter could hide, and nothing to prove it by.
  if (example === undefined) return true;
  const trusted = (await findEnrolments(connection, example)).length > 0;
  proven.set(connection.partner, trusted);
  return trusted;
}

async function anyReference({ partner }: Connection): Promise<string | undefined> {
  for await (const { items } of partner.pages(contract.onboarding.listCandidates, {}, { priority: 'live' })) {
    const example = items.find(
      (item) => item.externalRef !== null && item.externalRef !== undefined && item.externalRef !== '',
    );
    if (example?.externalRef) return example.externalRef;
  }
  return undefined;
}
