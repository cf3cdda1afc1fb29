import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { OnboardingCandidate } from '../../src/partner/contract/onboarding-candidate.ts';
import { hiresOfEnrolments } from '../../src/store/hires.ts';
import type { Connection } from '../connections.ts';
import { shareReads } from '../presence/share-reads.ts';
import { emailOf } from './adopt-enrolment.ts';
import { readEnrolmentReference } from './hire-references.ts';
import type { HireContext } from './with-hire.ts';

const PAGE = 100;
/** Beyond so many pages only the first and the last are read: what ended of late stands at one end of the list. */
const MOST_PAGES = 5;

/**
 * Completed enrolments of this person in this flow that carry no reference of ours and belong to no hire. The partner
 * refuses a second enrolment only while the first is active (section 7), so only a look saves the credit.
 */
export async function findCompletedElsewhere(
  { store, connection, ref }: HireContext,
  person: { flowId: string; email: string | null | undefined },
): Promise<string[]> {
  const email = emailOf(person.email);
  if (email === undefined) return [];
  const ids = (await readCompleted(connection))
    .filter((one) => one.overallStatus === 'completed' && emailOf(one.email) === email)
    .filter(({ flowId }) => flowId === null || flowId === undefined || String(flowId) === person.flowId)
    .filter(({ externalRef }) => readEnrolmentReference(externalRef) === undefined)
    .map((one) => one.onboardingCandidateId);
  const hires = await hiresOfEnrolments(store, ref.tenantId, ids);
  return ids.filter((id) => hires.every((hire) => hire.onboarding_candidate_id !== id));
}

/** Hires of one moment share a read; what was asked with one key is never answered with another. */
const readCompleted = shareReads<Connection, readonly OnboardingCandidate[]>(
  ({ partner }) => partner,
  async (looks) => {
    const items = await readEnds(looks[0] as Connection);
    return looks.map(() => items);
  },
);

async function readEnds(connection: Connection): Promise<readonly OnboardingCandidate[]> {
  const first = await readPages(connection, 1, 1);
  const last = Math.ceil((first.total ?? 0) / PAGE);
  if (last < 2) return first.items;
  const from = Math.max(2, last - MOST_PAGES + 2);
  return [...first.items, ...(await readPages(connection, from, last)).items];
}

/** A partner that refuses the filter shows nobody: this look prevents a cost, and must not stop a hire. */
async function readPages(
  { partner }: Connection,
  from: number,
  to: number,
): Promise<{ items: OnboardingCandidate[]; total: number | undefined }> {
  const items: OnboardingCandidate[] = [];
  let total: number | undefined;
  try {
    const query = { status: 'completed' as const };
    const pages = partner.pages(contract.onboarding.listCandidates, { query }, { priority: 'live', from });
    let number = from;
    for await (const page of pages) {
      items.push(...page.items);
      total = page.total ?? total;
      number += 1;
      if (number > to) break;
    }
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
  }
  return { items, total };
}
