import type { offerStatuses, signerStatuses } from '../../../partner/contract/onboarding-candidate.ts';
import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { emit } from '../../events.ts';
import { fileUrl } from '../../file-urls.ts';
import { stableUuid } from '../../random.ts';
import { findJobCandidate } from '../job-candidates/job-candidates.ts';

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

/** One page, oldest first. The filters are columns with the value wanted. */
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
