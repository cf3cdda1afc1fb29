import { Agent, fetch } from 'undici';
import { isConnectorError } from '../errors.ts';
import { assertPublicAddress, publicLookup } from '../http/pool.ts';
import { noticeHeaders } from '../http/sign-notice.ts';
import type { Logger } from '../log.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret, resolveText } from '../tenants/secrets.ts';
import { mailNotice } from './mail-notice.ts';
import { noticeIn } from './notice-forms.ts';
import type { Notice } from './notices.ts';

const POST_MS = 10_000;

/** Posts one notice to a tenant's address. False: it was not taken. */
export type PostNotice = (tenant: Tenant, notice: Notice, stop: AbortSignal) => Promise<boolean>;

/** In the form that the tenant's file names: signed JSON, a chat's message, or mail. */
export function createPostNotice(log: Logger): PostNotice {
  const post = createPoster();
  return async (tenant, notice, stop) => {
    const { notify, partner } = tenant;
    if (notify === undefined) return true;
    const allowPrivate = partner.allowPrivateAddress;
    const to = { ...notify, allowPrivate, secretAt: 'notify.secret' as const };
    const facts = { tenantId: tenant.tenant, notice: notice.id };
    const noteRefused = (refused: number) => log.warn({ ...facts, refused }, 'mail server refuses recipients');
    const answer =
      notify.form === 'mail'
        ? await mailNotice(to, notice, { stop, noteRefused })
        : await post(to, { id: notice.id, body: noticeIn(notify.form, notice) }, stop);
    if (answer === 'taken') return true;
    if (typeof answer === 'number') log.warn({ ...facts, status: answer }, 'notification refused');
    else log.warn({ ...facts, reason: answer }, 'notification not delivered');
    return false;
  };
}

interface Receiver {
  /** An address, or a reference to one that is a secret. */
  url: string;
  /** A reference to what signs it. */
  secret?: string | undefined;
  /** Where the tenant's file names it. */
  secretAt: 'notify.secret' | 'events.secret';
  /** Whether an address inside the network may be called. */
  allowPrivate: boolean;
}

/** `taken`, the status of a refusal, or why there was no answer. */
type Posted = number | string;

/**
 * Posts one message, once. An address inside the network is refused unless the tenant's file allows private addresses:
 * a customer must not make us call our own machines.
 */
export function createPoster(): (
  to: Receiver,
  message: { id: string; body: string },
  stop: AbortSignal,
) => Promise<Posted> {
  const outside = new Agent({ connect: { lookup: publicLookup } });
  const inside = new Agent();
  return async ({ url, secret, allowPrivate, secretAt }, { id, body }, stop) => {
    try {
      const address = resolveText(url);
      if (!allowPrivate) assertPublicAddress(new URL(address));
      const answer = await fetch(address, {
        method: 'POST',
        headers: noticeHeaders(id, body, secret === undefined ? undefined : resolveSecret(secret), secretAt),
        body,
        redirect: 'error',
        signal: AbortSignal.any([stop, AbortSignal.timeout(POST_MS)]),
        dispatcher: allowPrivate ? inside : outside,
      });
      await answer.body?.cancel();
      return answer.ok ? 'taken' : answer.status;
    } catch (error) {
      const cause = error instanceof Error && isConnectorError(error.cause) ? error.cause : error;
      return isConnectorError(cause) ? cause.code : 'no answer';
    }
  };
}
