import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from './context.ts';
import type { SandboxState } from './state.ts';

/** Section 8: URLs of documents are time-limited; the lifetime is not shown (G24, assumed). */
const FILE_URL_MS = 15 * 60_000;

/** A document that can be downloaded: its kind, its owner and its record. */
interface FileName {
  kind: string;
  companyId: number;
  /** Id of the record: letters, digits, `_`, `.` and `-`. */
  subject: string;
}

/** A new URL on each read, valid for 15 minutes without a key (G24, assumed). files.ts draws each kind. */
export function fileUrl(ctx: Context, kind: string, subject: string | number): string {
  const { state, company, now } = ctx;
  const file = { kind, companyId: company.id, subject: String(subject) };
  const expires = now + FILE_URL_MS;
  const nonce = state.nextId('file-url');
  const path = `/files/${kind}/${String(company.id)}/${file.subject}.pdf`;
  const signature = sign(state, file, expires, nonce);
  return `${state.publicUrl}${path}?expires=${String(expires)}&nonce=${String(nonce)}&signature=${signature}`;
}

/** The file that a URL names; `expired` also if the signature is wrong, undefined if the URL names no file. */
export function readFileUrl(state: SandboxState, url: string): FileName | 'expired' | undefined {
  const [path = '', search] = url.split('?');
  const searchParams = new URLSearchParams(search);
  const [, kind, companyId, subject] = /^\/files\/([a-z-]+)\/(\d{1,15})\/([\w.-]+)\.pdf$/.exec(path) ?? [];
  if (kind === undefined || subject === undefined) return undefined;
  const file = { kind, companyId: Number(companyId), subject };
  const expires = Number(searchParams.get('expires'));
  const expected = Buffer.from(sign(state, file, expires, Number(searchParams.get('nonce'))));
  const given = Buffer.from(searchParams.get('signature') ?? '');
  const genuine = given.length === expected.length && timingSafeEqual(given, expected);
  return genuine && state.clock.now() < expires ? file : 'expired';
}

function sign(state: SandboxState, file: FileName, expires: number, nonce: number): string {
  return createHmac('sha256', `files of seed ${String(state.seed)}`)
    .update([file.kind, file.companyId, file.subject, expires, nonce].join('\n'))
    .digest('hex');
}

/** A document's text. */
export interface FileText {
  title: string;
  lines: string[];
}

/** The address where a signer signs. It is sent only by e-mail, so the API never shows it; the sandbox's page does. */
export function signingUrl(state: SandboxState, offerId: string, signingOrder: number): string {
  return `${state.publicUrl}/sign/${offerId}/${String(signingOrder)}/${signingToken(state, offerId, signingOrder)}`;
}

export function signingToken(state: SandboxState, offerId: string, signingOrder: number): string {
  return createHmac('sha256', `signers of seed ${String(state.seed)}`)
    .update(`${offerId}/${String(signingOrder)}`)
    .digest('hex')
    .slice(0, 32);
}
