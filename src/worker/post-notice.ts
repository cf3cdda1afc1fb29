import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, fetch } from 'undici';
import { isConnectorError } from '../errors.ts';
import { assertPublicAddress, isPublicAddress, publicLookup } from '../http/pool.ts';
import { noticeHeaders } from '../http/signed-delivery.ts';
import type { Logger } from '../log.ts';
import type { Notify } from '../tenants/notify-section.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret, resolveText } from '../tenants/secrets.ts';
import { type Notice, noticeIn, noticeText } from './notices.ts';

const POST_MS = 10_000;

/** Posts a notice to a tenant's address. False if it was not accepted. */
export type PostNotice = (tenant: Tenant, notice: Notice, stop: AbortSignal) => Promise<boolean>;

/** Posts in the form that the tenant's file names: signed JSON, a chat message, or mail. */
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
  /** The address, or a reference to it if it is secret. */
  url: string;
  /** A reference to the signing secret. */
  secret?: string | undefined;
  /** The key in the tenant's file that names it. */
  secretAt: 'notify.secret' | 'events.secret';
  /** Whether an address inside the network may be called. */
  allowPrivate: boolean;
}

/** `taken`, the status of a refusal, or the reason for no answer. */
type Posted = number | string;

/**
 * Posts one message, once. Refuses an address inside the network unless the tenant's file allows private addresses: a
 * customer must not make us call our own machines.
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

const SEND_MS = 10_000;

/** Called with the number of refused recipients if the server accepts the mail for others. */
type NoteRefused = (refused: number) => void;

/**
 * Sends a notice as mail. Returns `taken` once the server accepts it for any recipient, because repeating it would not
 * change the refusals; otherwise the reason. A repeated notice has the same Message-ID. Without `allowPrivate` nothing
 * is sent unencrypted, and no server inside the network is called.
 */
async function mailNotice(
  to: Notify & { allowPrivate: boolean },
  notice: Notice,
  { stop, noteRefused }: { stop: AbortSignal; noteRefused: NoteRefused },
): Promise<string> {
  const ends = AbortSignal.any([stop, AbortSignal.timeout(SEND_MS)]);
  const ended = new Promise<string>((resolve) => {
    if (ends.aborted) resolve('no answer');
    else ends.addEventListener('abort', () => resolve('no answer'), { once: true });
  });
  return Promise.race([ended, send(to, notice, noteRefused)]);
}

async function send(
  { url, from, to = [], allowPrivate }: Notify & { allowPrivate: boolean },
  notice: Notice,
  noteRefused: NoteRefused,
): Promise<string> {
  try {
    const server = new URL(resolveSecret(url));
    if (!/^smtps?:$/.test(server.protocol)) return 'the address is not smtp:// or smtps://';
    const isSecure = server.protocol === 'smtps:';
    // Loaded here, because most tenants send no mail.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      host: allowPrivate ? server.hostname : await publicAddressOf(server),
      port: Number(server.port || (isSecure ? 465 : 587)),
      secure: isSecure,
      requireTLS: !isSecure && !allowPrivate,
      ...(isIP(server.hostname) === 0 && { tls: { servername: server.hostname } }),
      ...(server.username !== '' && {
        auth: { user: decodeURIComponent(server.username), pass: decodeURIComponent(server.password) },
      }),
      connectionTimeout: SEND_MS,
      greetingTimeout: SEND_MS,
      socketTimeout: SEND_MS,
    });
    const { title, lines } = noticeText(notice);
    try {
      const sent = await transport.sendMail({
        from,
        to,
        subject: title,
        text: lines.join('\n'),
        messageId: `<${notice.id}@hirebridge>`,
        date: new Date(notice.at),
      });
      if (sent.accepted.length === 0) return 'the server refuses every recipient';
      if (sent.rejected.length > 0) noteRefused(sent.rejected.length);
      return 'taken';
    } finally {
      transport.close();
    }
  } catch (error) {
    if (isConnectorError(error)) return error.code;
    // Use only the code: the error's text may name people.
    const { code } = error as { code?: unknown };
    return typeof code === 'string' ? code : 'no answer';
  }
}

/** Returns the checked address itself to connect to; see publicLookup. */
async function publicAddressOf(server: URL): Promise<string> {
  assertPublicAddress(server);
  const addresses = await lookup(server.hostname, { all: true });
  for (const { address } of addresses)
    if (!isPublicAddress(address))
      assertPublicAddress(new URL(`smtp://${address.includes(':') ? `[${address}]` : address}`));
  return addresses[0]?.address ?? server.hostname;
}
