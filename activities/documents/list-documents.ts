import { contract } from '../../src/partner/contract/index.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { DocumentKind } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';

/** A document of a hire, as the partner has it now. */
export interface ListedDocument {
  /** `resume`, `onboarding:<id>`, `offer:<id>`. */
  key: string;
  /** As the employee's record will name it, without its ending. */
  title: string;
  /** Time-limited. */
  url: string;
}

type List = (connection: Connection, hire: HireRow) => Promise<ListedDocument[]>;

const lists: Readonly<Record<DocumentKind, List>> = {
  resume: listResume,
  onboarding: listOnboarding,
  offers: listOffers,
};

/** The documents of the kinds that the tenant sends, with URLs of this moment. */
export async function listDocuments(
  connection: Connection,
  hire: HireRow,
  kinds: readonly DocumentKind[],
): Promise<ListedDocument[]> {
  const listed: ListedDocument[] = [];
  for (const kind of new Set(kinds)) listed.push(...(await lists[kind](connection, hire)));
  return listed;
}

async function listResume({ partner }: Connection, { candidate_id: candidateId }: HireRow): Promise<ListedDocument[]> {
  if (candidateId === null) return [];
  const { resume } = (await partner.candidates.get({ params: { candidateId } })).data;
  return resume ? [{ key: 'resume', title: 'Resume', url: resume }] : [];
}

/** What the partner rejected is none of the employee's; whether it says so is not specified. */
async function listOnboarding({ partner }: Connection, hire: HireRow): Promise<ListedDocument[]> {
  const { onboarding_candidate_id: onboardingCandidateId } = hire;
  if (onboardingCandidateId === null) return [];
  const { items } = await partner.readAll(contract.onboarding.listDocuments, { params: { onboardingCandidateId } });
  return items.flatMap(({ documentId, name, pdfUrl, ...more }) => {
    if (!pdfUrl || more['status'] === 'rejected') return [];
    const id = String(documentId);
    return [{ key: `onboarding:${id}`, title: titled(name ?? 'Document', id), url: pdfUrl }];
  });
}

async function listOffers({ partner }: Connection, hire: HireRow): Promise<ListedDocument[]> {
  const query = { jobCandidateId: Number(hire.job_candidate_id) };
  const { items } = await partner.readAll(contract.onboarding.listOffers, { query });
  // A filter that the partner does not know would show everybody's offers.
  const own = items.filter(({ jobCandidateId }) => String(jobCandidateId) === hire.job_candidate_id);
  return own.flatMap(({ offerId, signedPdfUrl }) => {
    const id = String(offerId);
    return signedPdfUrl ? [{ key: `offer:${id}`, title: titled('Signed offer', id), url: signedPdfUrl }] : [];
  });
}

/** Two documents may have one name: the end of the id tells them apart. */
function titled(name: string, id: string): string {
  const plain = name
    .replaceAll(/[^\p{L}\p{N} ._-]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${plain.slice(0, 80).trim() || 'Document'} ${id.replaceAll(/\W/g, '').slice(-8)}`;
}
