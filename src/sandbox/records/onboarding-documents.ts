import type { offerStatuses, signerStatuses } from '../../partner/contract/onboarding.ts';
import { type Context, effect, invalidRequest, iso, notFound } from '../context.ts';
import { type FileText, fileUrl } from '../file-urls.ts';
import { stableUuid } from '../random.ts';
import { candidateById } from './candidates.ts';
import { emit } from './deliveries.ts';
import type { Enrolment } from './enrolments.ts';
import { findJobCandidate } from './job-candidates.ts';

/** Fields beyond id and URL are not shown (DOCUMENTS, assumed). */
interface OnboardingDocument {
  id: string;
  onboardingId: string;
  stepKey: string;
  type: string;
  name: string;
  status: string;
  createdAt: number;
  verifiedAt: number | null;
}

const DOCUMENT = `select id, onboarding_id as onboardingId, step_key as stepKey, type, name, status,
  created_at as createdAt, verified_at as verifiedAt
  from onboarding_documents`;

/** Section 8: journey uploads. */
const MAX_FILES = 30;
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Default documents of a journey without named uploads. */
const USUAL = ['Identity card', 'Proof of address'];

const REPORTS: Record<string, string> = {
  background_verification: 'Background verification report',
  pre_employment_medical_test: 'Medical test report',
};

/** The journey link's upload: at most 30 files, each at most 10 MB. */
export function uploadDocuments(
  ctx: Context,
  enrolment: Enrolment,
  files: readonly { name: string; bytes: number }[],
): OnboardingDocument[] {
  if (files.length > MAX_FILES) throw invalidRequest('At most 30 files at once', { files: 'too many' });
  const large = files.findIndex((file) => file.bytes > MAX_FILE_BYTES);
  if (large !== -1) throw invalidRequest('A file is at most 10 MB', { [`files[${String(large)}]`]: 'too large' });
  return files.map(({ name }) => add(ctx, enrolment.id, 'doc_collection', 'document', name, null));
}

/**
 * The results of a step: submitted documents exist, verified ones emit onboarding.documents.verified; the other steps
 * end in a report, with onboarding.report.ready (DOCUMENTS, assumed).
 */
export function followStep(ctx: Context, enrolment: Enrolment, stepKey: string, status: string): void {
  if (stepKey !== 'doc_collection') {
    if (status === 'verified') report(ctx, enrolment, stepKey);
    return;
  }
  if (status === 'submitted' && documentsOf(ctx, enrolment.id, 'document').length === 0)
    for (const name of USUAL) add(ctx, enrolment.id, stepKey, 'document', name, null);
  if (status === 'rejected') mark(ctx, enrolment.id, 'rejected', null);
  if (status !== 'verified') return;
  mark(ctx, enrolment.id, 'verified', ctx.now);
  const documents = documentsOf(ctx, enrolment.id, 'document').map((one) => shortly(ctx, one));
  emit(ctx, 'onboarding.documents.verified', { ...idsOf(enrolment), documents });
}

function report(ctx: Context, enrolment: Enrolment, stepKey: string): void {
  const made = add(ctx, enrolment.id, stepKey, 'report', REPORTS[stepKey] ?? 'Report', ctx.now);
  emit(ctx, 'onboarding.report.ready', { ...idsOf(enrolment), stepKey, ...shortly(ctx, made) });
}

function idsOf({ id, flowId, externalRef }: Enrolment): Record<string, unknown> {
  return { onboardingCandidateId: id, flowId, externalRef };
}

function shortly(ctx: Context, { id, name }: OnboardingDocument): Record<string, unknown> {
  return { documentId: id, name, pdfUrl: pdfUrl(ctx, id) };
}

function pdfUrl(ctx: Context, id: string): string {
  return fileUrl(ctx, 'onboarding-document', id);
}

function add(
  ctx: Context,
  onboardingId: string,
  stepKey: string,
  type: 'document' | 'report',
  name: string,
  verifiedAt: number | null,
): OnboardingDocument {
  const { state, company, now } = ctx;
  const seq = state.nextId('onboarding-document');
  const id = stableUuid(state.seed, 'onboarding-document', seq);
  state.run(
    `insert into onboarding_documents (id, company_id, seq, onboarding_id, step_key, type, name, status, created_at,
      verified_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    onboardingId,
    stepKey,
    type,
    name,
    verifiedAt === null ? 'uploaded' : 'verified',
    now,
    verifiedAt,
  );
  effect(ctx, 'onboarding-document', id, { type });
  return findDocument(ctx, onboardingId, id);
}

function mark(ctx: Context, onboardingId: string, status: string, verifiedAt: number | null): void {
  ctx.state.run(
    "update onboarding_documents set status = ?, verified_at = ? where onboarding_id = ? and type = 'document'",
    status,
    verifiedAt,
    onboardingId,
  );
}

export function documentsOf(ctx: Context, onboardingId: string, type?: string): OnboardingDocument[] {
  return ctx.state.all<OnboardingDocument>(
    `${DOCUMENT} where onboarding_id = ? and company_id = ? and (? is null or type = ?) order by seq`,
    onboardingId,
    ctx.company.id,
    type ?? null,
    type ?? null,
  );
}

/** 404 when it is not this enrolment's. */
export function findDocument(ctx: Context, onboardingId: string, id: string): OnboardingDocument {
  const found = documentsOf(ctx, onboardingId).find((one) => one.id === id);
  if (found === undefined) throw notFound('Document');
  return found;
}

/** With a fresh URL. */
export function renderDocument(ctx: Context, document: OnboardingDocument): Record<string, unknown> {
  const { id, onboardingId, ...fields } = document;
  return { documentId: id, onboardingCandidateId: onboardingId, ...fields, pdfUrl: pdfUrl(ctx, id) };
}

/** The page behind the URL. */
export function documentText(ctx: Context, id: string): FileText | undefined {
  const found = ctx.state.one<OnboardingDocument & { person: string }>(
    `select d.id, d.name, d.type, d.status, e.first_name || ' ' || e.last_name as person from onboarding_documents d
     join onboarding_candidates e on e.id = d.onboarding_id where d.id = ? and d.company_id = ?`,
    id,
    ctx.company.id,
  );
  if (found === undefined) return undefined;
  return { title: found.name, lines: [found.person, `${found.type}, ${found.status}`, `Document ${found.id}`] };
}

export interface Signer {
  name: string;
  email: string;
  status: (typeof signerStatuses)[number];
  openedAt: number | null;
  signedAt: number | null;
  signingOrder: number;
}

/** No compensation fields (section 2.9); names beyond those shown are OFFERS, assumed. */
export interface Offer {
  id: string;
  jobCandidateId: number;
  candidateId: number;
  jobId: number;
  name: string;
  status: (typeof offerStatuses)[number];
  signers: Signer[];
  createdAt: number;
  sentAt: number | null;
  completedAt: number | null;
}

type Row = Omit<Offer, 'signers'> & { signers: string };

const OFFER = `select id, job_candidate_id as jobCandidateId, candidate_id as candidateId, job_id as jobId, name,
  status, signers,
  created_at as createdAt, sent_at as sentAt, completed_at as completedAt from offers`;

function toOffer(row: Row): Offer {
  return { ...row, signers: JSON.parse(row.signers) as Signer[] };
}

/** A draft; the signers sign in the order given. */
export function createOffer(
  ctx: Context,
  input: { jobCandidateId: number; name: string; signers: readonly { name: string; email: string }[] },
): Offer {
  const { state, company, now } = ctx;
  const { candidateId, jobId } = findJobCandidate(ctx, input.jobCandidateId);
  const seq = state.nextId('offer');
  const id = stableUuid(state.seed, 'offer', seq);
  const signers = input.signers.map((signer, index) => ({
    ...signer,
    status: 'pending',
    openedAt: null,
    signedAt: null,
    signingOrder: index + 1,
  }));
  state.run(
    `insert into offers (id, company_id, seq, job_candidate_id, candidate_id, job_id, name, status, signers, created_at)
     values (?, ?, ?, ?, ?, ?, ?, 'draft', ?, ?)`,
    id,
    company.id,
    seq,
    input.jobCandidateId,
    candidateId,
    jobId,
    input.name,
    JSON.stringify(signers),
    now,
  );
  effect(ctx, 'offer', id);
  return findOffer(ctx, id);
}

/** 404 when unknown, cancelled or another company's. */
export function findOffer(ctx: Context, id: string): Offer {
  const row = ctx.state.one<Row>(`${OFFER} where id = ? and company_id = ?`, id, ctx.company.id);
  if (row === undefined) throw notFound('Offer');
  return toOffer(row);
}

/** One page, oldest first. The filters are columns with the wanted value. */
export function listOffers(
  ctx: Context,
  filters: Record<string, string | number | undefined>,
  limit: number,
  offset: number,
): { offers: Offer[]; total: number } {
  const used = Object.entries(filters).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  const where = ['company_id = ?', ...used.map(({ column }) => `${column} = ?`)].join(' and ');
  const values = [ctx.company.id, ...used.map(({ value }) => value)];
  const total = ctx.state.count('offers', where, ...values);
  const rows = ctx.state.all<Row>(`${OFFER} where ${where} order by seq limit ? offset ?`, ...values, limit, offset);
  return { offers: rows.map(toOffer), total };
}

/** A draft goes to its first signer. */
export function sendOffer(ctx: Context, id: string): Offer {
  const offer = expectStatus(findOffer(ctx, id), 'draft');
  return save(ctx, { ...offer, status: 'in_progress', sentAt: ctx.now, signers: handOn(offer.signers) });
}

/** A signer looks at the offer. */
export function openOffer(ctx: Context, id: string, signingOrder: number): Offer {
  const offer = expectStatus(findOffer(ctx, id), 'in_progress');
  const signer = itsTurn(offer, signingOrder);
  const opened: Signer = { ...signer, status: 'opened', openedAt: signer.openedAt ?? ctx.now };
  return save(ctx, { ...offer, signers: replace(offer.signers, opened) });
}

/** A signer signs: the next one is asked, after the last the offer is completed. No event but that one (section 6). */
export function signOffer(ctx: Context, id: string, signingOrder: number): Offer {
  const offer = expectStatus(findOffer(ctx, id), 'in_progress');
  const signer = itsTurn(offer, signingOrder);
  const signed: Signer = { ...signer, status: 'signed', openedAt: signer.openedAt ?? ctx.now, signedAt: ctx.now };
  const signers = handOn(replace(offer.signers, signed));
  if (signers.some(({ status }) => status !== 'signed')) return save(ctx, { ...offer, signers });
  const completed = save(ctx, { ...offer, signers, status: 'completed', completedAt: ctx.now });
  const { candidateId, jobCandidateId, jobId } = completed;
  emit(ctx, 'onboarding.offer.completed', {
    offerId: id,
    candidateId,
    jobCandidateId,
    jobId,
    ...urlsOf(ctx, completed),
  });
  return completed;
}

/** There is no status for it: a cancelled offer is gone. A completed one stays. */
export function cancelOffer(ctx: Context, id: string): void {
  if (findOffer(ctx, id).status === 'completed')
    throw invalidRequest('A completed offer cannot be cancelled', { offerId: 'is completed' });
  ctx.state.run('delete from offers where id = ?', id);
  effect(ctx, 'offer-cancelled', id);
}

function expectStatus(offer: Offer, status: Offer['status']): Offer {
  if (offer.status !== status) throw invalidRequest(`The offer is not ${status}`, { offerId: `is ${offer.status}` });
  return offer;
}

function itsTurn(offer: Offer, signingOrder: number): Signer {
  const signer = offer.signers.find((one) => one.signingOrder === signingOrder);
  if (signer !== undefined && (signer.status === 'sent' || signer.status === 'opened')) return signer;
  throw invalidRequest('It is not the turn of this signer', { signingOrder: `is ${signer?.status ?? 'unknown'}` });
}

function replace(signers: readonly Signer[], changed: Signer): Signer[] {
  return signers.map((one) => (one.signingOrder === changed.signingOrder ? changed : one));
}

/** The first who has not signed is asked, unless asked before. */
function handOn(signers: readonly Signer[]): Signer[] {
  const next = signers.find(({ status }) => status !== 'signed');
  return next?.status === 'pending' ? replace(signers, { ...next, status: 'sent' }) : [...signers];
}

function save(ctx: Context, offer: Offer): Offer {
  ctx.state.run(
    'update offers set status = ?, signers = ?, sent_at = ?, completed_at = ? where id = ?',
    offer.status,
    JSON.stringify(offer.signers),
    offer.sentAt,
    offer.completedAt,
    offer.id,
  );
  effect(ctx, 'offer-updated', offer.id, { status: offer.status });
  return offer;
}

/** Fresh URLs of a completed offer, null before. */
function urlsOf(ctx: Context, { id, status }: Offer): Record<'signedPdfUrl' | 'certificateUrl', string | null> {
  const done = status === 'completed';
  return {
    signedPdfUrl: done ? fileUrl(ctx, 'offer', id) : null,
    certificateUrl: done ? fileUrl(ctx, 'offer-certificate', id) : null,
  };
}

export function renderOffer(ctx: Context, offer: Offer): Record<string, unknown> {
  const { id, ...fields } = offer;
  return { offerId: id, ...fields, ...urlsOf(ctx, offer) };
}

/** The signed offer. */
export function offerText(ctx: Context, id: string): FileText {
  const { name, candidateId, signers } = findOffer(ctx, id);
  // The document outlives a candidate who is deleted.
  const person = candidateById(ctx, candidateId);
  const whom = person === undefined ? [] : [`For ${person.firstName ?? ''} ${person.lastName ?? ''}`];
  const signed = signers.map((one) => `Signed by ${one.name}`);
  return { title: name, lines: [...whom, `From ${ctx.company.name}`, ...signed] };
}

/** The audit certificate: who opened and signed when. */
export function certificateText(ctx: Context, id: string): FileText {
  const { name, signers } = findOffer(ctx, id);
  const lines = signers.map(
    (one) => `${String(one.signingOrder)}. ${one.name}: opened ${when(one.openedAt)}, signed ${when(one.signedAt)}`,
  );
  return { title: 'Audit certificate', lines: [`Offer ${id}: ${name}`, ...lines] };
}

function when(epoch: number | null): string {
  return epoch === null ? 'never' : iso(epoch);
}
