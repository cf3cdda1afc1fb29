import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { stepKeys } from '../../src/partner/contract/onboarding.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { hasNoConsent } from '../../src/streams/consents.ts';
import type { DocumentKind } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';

/** A document of a hire, as the partner shows it now. */
export interface ListedDocument {
  /** `resume`, `onboarding:<id>` or `offer:<id>`. */
  key: string;
  /** Name of the file in the employee's record, without its ending. */
  title: string;
  /** Valid for a limited time. */
  url: string;
  /** It cannot be told whether the tenant wants this document. */
  isUnsure?: boolean;
}

/** What there is of a hire. `unread`: documents that are there and cannot be taken, with the reason. */
export interface ListedDocuments {
  documents: ListedDocument[];
  unread: { key: string; reason: string }[];
}

/** Lists the documents of the kinds that the tenant sends, with fresh URLs. */
export async function listDocuments(
  connection: Connection,
  hire: HireRow,
  kinds: readonly DocumentKind[],
): Promise<ListedDocuments> {
  const asked = new Set(kinds);
  const none: ListedDocuments = { documents: [], unread: [] };
  const isOfFlow = asked.has('onboarding') || asked.has('medical');
  const onboarding = isOfFlow ? await listOnboarding(connection, hire, asked) : none;
  const offers = asked.has('offers') ? await listOffers(connection, hire) : none;
  return {
    documents: [
      ...(asked.has('resume') ? await listResume(connection, hire) : []),
      ...onboarding.documents,
      ...offers.documents,
      ...(asked.has('consent') ? await listConsent(connection, hire) : []),
    ],
    unread: [...onboarding.unread, ...offers.unread],
  };
}

function unreadOf(what: string, unreadable: readonly UnreadableItem[]): ListedDocuments['unread'] {
  return unreadable.map(({ id, index, reason }) => ({ key: `${what} ${id ?? index + 1}`, reason }));
}

async function listResume({ partner }: Connection, { candidate_id: candidateId }: HireRow): Promise<ListedDocument[]> {
  if (candidateId === null) return [];
  const { resume } = (await partner.candidates.get({ params: { candidateId } })).data;
  return resume ? [{ key: 'resume', title: 'Resume', url: resume }] : [];
}

/** Nobody has a consent document who applied outside the hosted page, or without consent. */
async function listConsent({ partner }: Connection, hire: HireRow): Promise<ListedDocument[]> {
  const params = { jobCandidateId: Number(hire.job_candidate_id) };
  try {
    const { pdfUrl } = (await partner.jobCandidates.getConsentDocument({ params })).data.document;
    return pdfUrl ? [{ key: 'consent', title: 'Privacy consent', url: pdfUrl }] : [];
  } catch (error) {
    if (hasNoConsent(error)) return [];
    throw error;
  }
}

/** A document that the partner rejected is not the employee's; whether the list says so is not specified. */
async function listOnboarding(
  { partner }: Connection,
  hire: HireRow,
  asked: ReadonlySet<DocumentKind>,
): Promise<ListedDocuments> {
  const { onboarding_candidate_id: onboardingCandidateId } = hire;
  if (onboardingCandidateId === null) return { documents: [], unread: [] };
  const params = { onboardingCandidateId };
  const { items, unreadable } = await partner.readAll(contract.onboarding.listDocuments, { params });
  const documents = items.flatMap(({ documentId, name, stepKey, status, pdfUrl }) => {
    const kind = kindOf(stepKey);
    const isUnsure = kind === undefined && !(asked.has('onboarding') && asked.has('medical'));
    if (!pdfUrl || status === 'rejected' || (kind !== undefined && !asked.has(kind))) return [];
    const id = String(documentId);
    return [{ key: `onboarding:${id}`, title: titled(name ?? 'Document', id), url: pdfUrl, isUnsure }];
  });
  return { documents, unread: unreadOf('onboarding document', unreadable) };
}

const MEDICAL_STEP = 'pre_employment_medical_test' satisfies (typeof stepKeys)[number];

export const STEP_NOT_TOLD =
  'The hiring platform does not say which onboarding step this comes from, so it may be from the medical test. ' +
  'To deliver such documents, name both in the tenant file, "documents: [onboarding, medical]", apply it, and ' +
  'run hirebridge sync TENANT documents --full. If only the field of the step has another name, set it in ' +
  'partner.overrides.fieldNames (onboarding.listDocuments, stepKey).';

/**
 * Documents of the medical test go nowhere unless the tenant lists them. The specification does not show which step a
 * document comes from (DOCUMENTS), and neither its type nor its name proves it. Undefined if the partner names no step,
 * or an unknown one.
 */
function kindOf(stepKey: unknown): DocumentKind | undefined {
  if (stepKey === MEDICAL_STEP) return 'medical';
  return stepKeys.some((known) => known === stepKey) ? 'onboarding' : undefined;
}

const OFFER_WITHOUT_FILE =
  'The hiring platform says that it is completed, and shows no signed PDF of it. If only the field has another ' +
  'name, set it in partner.overrides.fieldNames (onboarding.listOffers, signedPdfUrl).';
const OFFER_OF_NO_APPLICATION =
  'The hiring platform names its candidate and no application, so it may be of another job: look at it there, and ' +
  'file it by hand. If only the field has another name, set it in partner.overrides.fieldNames ' +
  '(onboarding.listOffers, jobCandidateId).';

async function listOffers({ partner }: Connection, hire: HireRow): Promise<ListedDocuments> {
  const query = { jobCandidateId: Number(hire.job_candidate_id) };
  const { items, unreadable } = await partner.readAll(contract.onboarding.listOffers, { query });
  const documents: ListedDocument[] = [];
  const unread = unreadOf('offer', unreadable);
  for (const { offerId, status, candidateId, jobCandidateId, signedPdfUrl } of items) {
    const key = `offer:${String(offerId)}`;
    // A partner that does not know the filter would list everybody's offers.
    const isOwn = String(jobCandidateId) === hire.job_candidate_id;
    const isNameless = (jobCandidateId ?? null) === null && String(candidateId) === hire.candidate_id;
    if (isOwn && signedPdfUrl)
      documents.push({ key, title: titled('Signed offer', String(offerId)), url: signedPdfUrl });
    else if ((isOwn || isNameless) && status === 'completed')
      unread.push({ key, reason: isOwn ? OFFER_WITHOUT_FILE : OFFER_OF_NO_APPLICATION });
  }
  return { documents, unread };
}

/** Two documents may have the same name, so the end of the id is added. */
function titled(name: string, id: string): string {
  const plain = name
    .replaceAll(/[^\p{L}\p{N} ._-]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${plain.slice(0, 80).trim() || 'Document'} ${id.replaceAll(/\W/g, '').slice(-8)}`;
}
