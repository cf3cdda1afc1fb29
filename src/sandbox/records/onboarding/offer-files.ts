import type { Context } from '../../context.ts';
import { iso } from '../../context.ts';
import { findCandidate } from '../candidates/candidates.ts';
import type { FileText } from '../platform/file-text.ts';
import { findOffer } from './offers.ts';

/** The signed offer. */
export function offerText(ctx: Context, id: string): FileText {
  const { name, candidateId, signers } = findOffer(ctx, id);
  const { firstName, lastName } = findCandidate(ctx, candidateId);
  const signed = signers.map((one) => `Signed by ${one.name}`);
  return { title: name, lines: [`For ${firstName ?? ''} ${lastName ?? ''}`, `From ${ctx.company.name}`, ...signed] };
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
