import { createHmac } from 'node:crypto';
import type { SandboxState } from './state.ts';

/** Where a signer signs: it goes out by e-mail only, so the API never shows it; the page for people does. */
export function signingUrl(state: SandboxState, offerId: string, signingOrder: number): string {
  return `${state.publicUrl}/sign/${offerId}/${String(signingOrder)}/${signingToken(state, offerId, signingOrder)}`;
}

export function signingToken(state: SandboxState, offerId: string, signingOrder: number): string {
  return createHmac('sha256', `signers of seed ${String(state.seed)}`)
    .update(`${offerId}/${String(signingOrder)}`)
    .digest('hex')
    .slice(0, 32);
}
