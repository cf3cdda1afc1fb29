import type { Context } from '../context.ts';
import { invalidRequest, notFound } from '../errors.ts';
import { findCandidate } from '../records/candidates/candidates.ts';
import { findJob } from '../records/jobs/jobs.ts';
import type { Offer, Signer } from '../records/onboarding/offers.ts';
import { findOffer, openOffer, signOffer } from '../records/onboarding/offers.ts';
import { signingToken } from '../signing-urls.ts';
import { alert, badge, type Html, hostedPage, html } from './html.ts';
import type { HostedPage, Visit } from './visit.ts';

const TONES: Record<string, string> = { signed: 'good', sent: 'accent', opened: 'accent' };

/** Where one signer reads an offer and signs it. */
export const signingPage: HostedPage = {
  show(ctx, visit) {
    const { offer: found, signer: before } = signerOf(ctx, visit);
    const offer = before.status === 'sent' ? openOffer(ctx, found.id, before.signingOrder) : found;
    const signer = offer.signers.find(({ signingOrder }) => signingOrder === before.signingOrder) ?? before;
    return hostedPage(
      offer.name,
      html`${alert(visit.refusal)}${offerLines(ctx, offer)}${signerList(offer, signer)}${signing(offer, signer)}`,
    );
  },

  act(ctx, visit, form) {
    const { offer, signer } = signerOf(ctx, visit);
    if ((form.get('name') ?? '').trim() === '') throw invalidRequest('Type your name to sign');
    signOffer(ctx, offer.id, signer.signingOrder);
    return undefined;
  },
};

function signerOf(ctx: Context, { key, rest }: Visit): { offer: Offer; signer: Signer } {
  const [order, token] = rest.split('/');
  const offer = findOffer(ctx, key);
  const signer = offer.signers.find(({ signingOrder }) => String(signingOrder) === order);
  if (signer === undefined || token !== signingToken(ctx.state, offer.id, signer.signingOrder))
    throw notFound('Signing link');
  return { offer, signer };
}

function offerLines(ctx: Context, offer: Offer): Html {
  const { firstName, lastName } = findCandidate(ctx, offer.candidateId);
  return html`<p>For <b>${firstName} ${lastName}</b>, as <b>${findJob(ctx, offer.jobId).fields.title}</b>
    at ${ctx.company.name}.</p>`;
}

function signerList({ signers }: Offer, own: Signer): Html {
  const line = (one: Signer): Html =>
    html`<li>${one.name}${one === own ? ' (you)' : ''} ${badge(one.status, TONES[one.status])}</li>`;
  return html`<h2>Signatures</h2><ol class="plain">${signers.map(line)}</ol>`;
}

function signing(offer: Offer, signer: Signer): Html {
  if (offer.status === 'completed')
    return html`<p class="notice good" role="status">Everybody has signed. The offer is complete.</p>`;
  if (signer.status === 'signed')
    return html`<p class="notice good" role="status">You have signed. The next signer has been asked.</p>`;
  if (signer.status === 'pending')
    return html`<p class="notice">It is not your turn yet: somebody else signs first, or the offer is a draft.</p>`;
  return html`<form method="post">
    <label>Type your name to sign<input name="name" required autocomplete="name" value="${signer.name}"></label>
    <button class="primary">Sign</button>
  </form>`;
}
