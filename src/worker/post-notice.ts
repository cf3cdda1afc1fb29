import { Agent, fetch } from 'undici';
import { isConnectorError } from '../errors.ts';
import { assertPublicAddress, publicLookup } from '../http/pool.ts';
import type { Logger } from '../log.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { type Notice, noticeBody } from './notices.ts';
import { noticeHeaders } from './sign-notice.ts';

const POST_MS = 10_000;

/** Posts one notice to a tenant's address. False: it was not taken. */
export type PostNotice = (tenant: Tenant, notice: Notice, stop: AbortSignal) => Promise<boolean>;

/**
 * An address inside the network is refused unless the tenant's file allows private addresses: a customer must not make
 * us call our own machines.
 */
export function createPostNotice(log: Logger): PostNotice {
  const outside = new Agent({ connect: { lookup: publicLookup } });
  const inside = new Agent();
  return async (tenant, notice, stop) => {
    const { notify, partner } = tenant;
    if (notify === undefined) return true;
    const facts = { tenantId: tenant.tenant, notice: notice.id };
    try {
      if (!partner.allowPrivateAddress) assertPublicAddress(new URL(notify.url));
      const body = noticeBody(notice);
      const secret = notify.secret === undefined ? undefined : resolveSecret(notify.secret);
      const answer = await fetch(notify.url, {
        method: 'POST',
        headers: noticeHeaders(notice.id, body, secret),
        body,
        redirect: 'error',
        signal: AbortSignal.any([stop, AbortSignal.timeout(POST_MS)]),
        dispatcher: partner.allowPrivateAddress ? inside : outside,
      });
      await answer.body?.cancel();
      if (!answer.ok) log.warn({ ...facts, status: answer.status }, 'notification refused');
      return answer.ok;
    } catch (error) {
      const cause = error instanceof Error && isConnectorError(error.cause) ? error.cause : error;
      log.warn({ ...facts, reason: isConnectorError(cause) ? cause.code : 'no answer' }, 'notification not delivered');
      return false;
    }
  };
}
