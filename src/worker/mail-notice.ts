import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isConnectorError } from '../errors.ts';
import { assertPublicAddress, isPublicAddress } from '../http/pool.ts';
import type { Notify } from '../tenants/notify-section.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { noticeText } from './notice-forms.ts';
import type { Notice } from './notices.ts';

const SEND_MS = 10_000;

/** Told how many recipients the server refuses while it takes the mail for others. */
type NoteRefused = (refused: number) => void;

/**
 * Sends one notice as mail. `taken` once the server has it for anybody; else why not: for whom it is refused, sending
 * it again changes nothing. What is sent again has the same Message-ID. Without `allowPrivate` nothing goes in clear,
 * and no server inside the network is called.
 */
export async function mailNotice(
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
    // Most tenants send no mail.
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
    // Its text may name people.
    const { code } = error as { code?: unknown };
    return typeof code === 'string' ? code : 'no answer';
  }
}

/** What is checked is what is connected to; see publicLookup. */
async function publicAddressOf(server: URL): Promise<string> {
  assertPublicAddress(server);
  const addresses = await lookup(server.hostname, { all: true });
  for (const { address } of addresses)
    if (!isPublicAddress(address))
      assertPublicAddress(new URL(`smtp://${address.includes(':') ? `[${address}]` : address}`));
  return addresses[0]?.address ?? server.hostname;
}
