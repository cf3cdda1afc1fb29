import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { DateTime } from 'luxon';
import { Agent, fetch } from 'undici';
import { z } from 'zod';
import type { ActivityDeps } from '../../activities/connections.ts';
import { explainedAt, withCode } from '../docs.ts';
import { isConnectorError } from '../errors.ts';
import { inActivity, withFailpoints } from '../failpoint.ts';
import { assertPublicAddress, isPublicAddress, publicLookup } from '../http/pool.ts';
import { noticeHeaders } from '../http/signed-delivery.ts';
import type { Logger } from '../log.ts';
import type { Digest } from '../store/alarms.ts';
import { firstEvents, markEventRefused, markEventTaken } from '../store/events-out.ts';
import { earlierAnswers } from '../store/holds.ts';
import { createLease } from '../store/processes.ts';
import type { AlarmRow, EventOutRow, HoldRow } from '../store/schema.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret, resolveText } from '../tenants/secrets.ts';
import type { NoticeForm, Notify } from '../tenants/sections.ts';
import type { Chore } from './run-chores.ts';

/** One message to a tenant's address. */
export interface Notice {
  /** The same each time it is sent. */
  id: string;
  type: 'hold.opened' | 'alarm.raised' | 'digest';
  /** When its cause occurred, ms. */
  at: number;
  /** Ids, codes and the command to run; no personal data. */
  data: Record<string, unknown>;
}

/** A question that is asked again after a retry keeps its id, but is a notice of its own. */
export function holdNotice(hold: HoldRow): Notice {
  const times = earlierAnswers(hold).length + 1;
  return {
    id: times === 1 ? `hold_${hold.hold_id}` : `hold_${hold.hold_id}_${times}`,
    type: 'hold.opened',
    at: Number(hold.opened_at),
    data: {
      tenantId: hold.tenant_id,
      holdId: hold.hold_id,
      jobCandidateId: hold.job_candidate_id,
      code: hold.code,
      answers: JSON.parse(hold.answers) as string[],
      command: `hirebridge hold show ${hold.hold_id}`,
    },
  };
}

export function alarmNotice(alarm: AlarmRow): Notice {
  const { tenant_id: tenantId, kind, subject, reason, message } = alarm;
  const since = Number(alarm.since);
  const id = createHash('sha256')
    .update(JSON.stringify([tenantId, kind, subject, since, reason]))
    .digest('hex')
    .slice(0, 16);
  const at = Number(alarm.raised_at ?? since);
  const command = commandFor(alarm);
  return { id: `alarm_${id}`, type: 'alarm.raised', at, data: { tenantId, kind, subject, reason, message, command } };
}

/** The command that shows more about an alarm. */
function commandFor({ kind, tenant_id: tenantId, subject }: AlarmRow): string {
  if (kind === 'unknown-event') return `hirebridge inbox list --tenant ${tenantId} --state unknown`;
  if (kind === 'undeliverable') return `hirebridge inbox list --tenant ${tenantId}`;
  if (kind === 'erasure-failing') return `hirebridge person receipts ${tenantId}`;
  if (kind === 'people-to-decide') return `hirebridge person due ${tenantId}`;
  if (kind === 'events-waiting') return `hirebridge events list ${tenantId} --waiting`;
  const [, jobCandidateId] = / of job candidate (\S+)$/.exec(subject) ?? [];
  if (jobCandidateId !== undefined) return `hirebridge hire show ${tenantId} ${jobCandidateId}`;
  return kind === 'tenant-paused' ? `hirebridge check ${tenantId}` : 'hirebridge status';
}

export function digestNotice(digest: Digest, { day, to }: DigestDay): Notice {
  return { id: `digest_${digest.tenantId}_${day}`, type: 'digest', at: to, data: { day, ...digest } };
}

/** A notice as text: a title and lines. Ids and codes, as in its body. */
interface NoticeText {
  title: string;
  lines: string[];
}

/** The body of a notice in its receiver's form. */
function noticeIn(form: Exclude<NoticeForm, 'mail'>, notice: Notice): string {
  const { type, at, data } = notice;
  if (form === 'webhook') return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  const { title, lines } = noticeText(notice);
  if (form === 'slack') {
    // Slack reads these three as markup.
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const [head, ...rest] = [title, ...lines].map(escaped);
    return JSON.stringify({ text: [`*${head ?? ''}*`, ...rest].join('\n') });
  }
  if (form === 'teams') return JSON.stringify({ text: [`**${title}**`, ...lines].join('\n\n') });
  return JSON.stringify({ type: 'message', attachments: [cardOf(title, lines)] });
}

/** An Adaptive Card, the form of Teams' workflows. */
function cardOf(title: string, lines: readonly string[]) {
  const block = (text: string, more: object = {}) => ({ type: 'TextBlock', text, wrap: true, ...more });
  return {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      fallbackText: [title, ...lines].join('\n'),
      body: [block(title, { weight: 'Bolder', size: 'Medium' }), ...lines.map((line) => block(line))],
    },
  };
}

function noticeText({ type, data }: Notice): NoticeText {
  if (type === 'digest') return digestText(data as unknown as Digest & { day: string });
  const { tenantId, jobCandidateId, code, answers, command, kind, subject, reason, message } = data as Partial<Facts>;
  if (type === 'alarm.raised')
    return {
      title: `${tenantId}: ${kind ?? 'alarm'}`,
      lines: [withCode(message ?? '', reason ?? ''), subject ?? '', look(command)],
    };
  const who =
    jobCandidateId === null || jobCandidateId === undefined ? 'the tenant' : `job candidate ${jobCandidateId}`;
  const place = explainedAt(code ?? '');
  const see = place === undefined ? [] : [`See: ${place}`];
  const lines = [`${who} waits for an answer: ${(answers ?? []).join(', ')}`, ...see, look(command)];
  return { title: `${tenantId}: ${code ?? 'hold'}`, lines };
}

interface Facts {
  tenantId: string;
  jobCandidateId?: string | null;
  code?: string;
  answers?: string[];
  command?: string;
  kind?: string;
  subject?: string;
  reason?: string;
  message?: string;
}

function look(command: string | undefined): string {
  return `Look: ${command ?? 'hirebridge status'}`;
}

function digestText({ tenantId, day, hires, holds, alarms }: Digest & { day: string }): NoticeText {
  const ended = Object.entries(hires.ended).map(([state, count]) => `${count} ${state}`);
  return {
    title: `${tenantId}: ${day}`,
    lines: [
      `Hires: ${hires.begun} begun, ${hires.open} open${ended.length === 0 ? '' : `, ended: ${ended.join(', ')}`}`,
      `Holds: ${holds.opened} opened, ${holds.open} open`,
      ...holds.waiting.map(({ code, command }) => `${code}. ${look(command)}`),
      `Alarms: ${alarms.length === 0 ? 'none' : alarms.map(({ kind, subject }) => `${kind} (${subject})`).join(', ')}`,
    ],
  };
}

/** A tenant's digest day: the 24 hours before its digest, ms since 1970. */
interface DigestDay {
  /** The day on which it ends, YYYY-MM-DD in the tenant's time zone. */
  day: string;
  from: number;
  to: number;
}

/** A tenant without an earlier digest gets its first at the next due time, not at once. */
const FIRST_WITHIN_MS = 3_600_000;

/** The day whose digest is due now, if any. `lastDay` is the day of the last digest. */
export function dueDigest(
  notify: Notify | undefined,
  lastDay: string | null | undefined,
  now: Date,
): DigestDay | undefined {
  if (notify?.digest === undefined) return undefined;
  const [hour = 0, minute = 0] = notify.digest.split(':').map(Number);
  const local = DateTime.fromJSDate(now, { zone: notify.timezone });
  const today = local.set({ hour, minute, second: 0, millisecond: 0 });
  const end = today <= local ? today : today.minus({ days: 1 });
  const day = end.toISODate();
  if (day === null) return undefined;
  const hadOne = lastDay !== null && lastDay !== undefined;
  if (hadOne ? lastDay >= day : local.diff(end).toMillis() >= FIRST_WITHIN_MS) return undefined;
  return { day, from: end.minus({ days: 1 }).toMillis(), to: end.toMillis() };
}

const POST_MS = 10_000;

/**
 * Posts a notice to a tenant's address, in the form that its file names: signed JSON, a chat message, or mail.
 * `refused`: the address does not accept this one, but may accept others.
 */
export function createPostNotice(
  log: Logger,
): (tenant: Tenant, notice: Notice, stop: AbortSignal) => Promise<'taken' | 'refused' | 'failed'> {
  const post = createPoster();
  return async (tenant, notice, stop) => {
    const { notify, partner } = tenant;
    if (notify === undefined) return 'taken';
    const allowPrivate = partner.allowPrivateAddress;
    const to = { ...notify, allowPrivate, secretAt: 'notify.secret' as const };
    const facts = { tenantId: tenant.tenant, notice: notice.id };
    const noteRefused = (refused: number) => log.warn({ ...facts, refused }, 'mail server refuses recipients');
    const answer =
      notify.form === 'mail'
        ? await mailNotice(to, notice, { stop, noteRefused })
        : await post(to, { id: notice.id, body: noticeIn(notify.form, notice) }, stop);
    if (answer === 'taken') return 'taken';
    if (typeof answer === 'number') log.warn({ ...facts, status: answer }, 'notification refused');
    else log.warn({ ...facts, reason: answer }, 'notification not delivered');
    return isOfOne(answer) ? 'refused' : 'failed';
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

/**
 * Posts one message, once. Refuses an address inside the network unless the tenant's file allows private addresses: a
 * customer must not make us call our own machines. Returns `taken`, the status of a refusal, or the reason for no
 * answer.
 */
export function createPoster(): (
  to: Receiver,
  message: { id: string; body: string },
  stop: AbortSignal,
) => Promise<number | string> {
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

/** First events of hires fetched by one look. */
const MOST_AT_ONCE = 50;
/** After this long a round begins no further event: its lease must outlast the last one. */
const ROUND_MS = 40_000;
const LEASE_MS = 60_000;
/** A message refused for its content is tried again with growing waits. */
const FIRST_AGAIN_MS = 5_000;
const LAST_AGAIN_MS = 900_000;

/** Statuses that refuse this message alone; every other answer concerns all of them. */
const OF_ONE: ReadonlySet<unknown> = new Set([400, 413, 422]);

function isOfOne(answer: number | string): boolean {
  return OF_ONE.has(answer);
}

/** How long a message that was refused for itself waits, after so many tries before. */
export function againAfterMs(tries: number): number {
  return Math.min(FIRST_AGAIN_MS * 2 ** tries, LAST_AGAIN_MS);
}

/**
 * Sends a tenant's events from the outbox to its `events` address: each until it is accepted, in order for each hire,
 * by one process at a time. A process killed between the answer and its record sends the event again under the same id.
 */
export function createEventSender({ store, log }: Pick<ActivityDeps, 'store' | 'log'>): Chore {
  const post = createPoster();
  return async ({ tenant, events, partner }, stop) => {
    if (events === undefined) return 'done';
    const lease = createLease(store, `events ${tenant}`);
    if (!(await lease.take(LEASE_MS))) return 'done';
    const until = performance.now() + ROUND_MS;
    const send = async (event: EventOutRow): Promise<boolean> => {
      const message = { id: `evt_${event.event_id}`, body: bodyOfEvent(event) };
      const to = { ...events, allowPrivate: partner.allowPrivateAddress, secretAt: 'events.secret' as const };
      const answer = await withFailpoints('events.post', () => post(to, message, stop));
      if (answer === 'taken') {
        await markEventTaken(store, event.event_id);
        return true;
      }
      const error = typeof answer === 'number' ? `answered ${answer}` : answer;
      const againMs = isOfOne(answer) ? againAfterMs(Number(event.tries)) : 0;
      await markEventRefused(store, event.event_id, { error, againMs });
      log.warn({ tenantId: tenant, event: event.event_id, type: event.type, reason: error }, 'event not taken');
      return isOfOne(answer);
    };
    try {
      return await inActivity('send-events', async () => {
        for (;;) {
          const first = await firstEvents(store, tenant, MOST_AT_ONCE);
          if (first.length === 0) return 'done';
          for (const event of first) {
            if (performance.now() > until || stop.aborted) return 'soon';
            if (!(await send(event))) return 'failed';
          }
        }
      });
    } finally {
      await lease.end();
    }
  };
}

const id = z.string();
const ids = z.string().nullable();
const timestamp = z.iso.datetime().describe('When it happened');
const hire = { tenantId: id, jobCandidateId: id, period: z.int().describe('Which employment of this application') };
const hired = { candidateId: ids, jobId: ids, connection: ids, employeeId: ids, employeeNumber: ids };

/** The body that receivers of events get: ids and codes only. */
export const eventBody = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('hire.completed').describe('The employee exists, and the Employee ID stands with the partner'),
      timestamp,
      data: z.strictObject({ ...hire, ...hired }),
    }),
    z.strictObject({
      type: z.literal('hire.held').describe('The hire waits for a person'),
      timestamp,
      data: z.strictObject({ ...hire, holdId: id, code: z.string() }),
    }),
    z.strictObject({
      type: z.literal('hire.left').describe('The person has left the stage'),
      timestamp,
      data: z.strictObject({ ...hire, ...hired }),
    }),
    z.strictObject({
      type: z.literal('alarm.raised').describe('Something of the tenant needs a look'),
      timestamp,
      data: z.strictObject({ tenantId: id, kind: z.string(), subject: z.string(), reason: z.string() }),
    }),
  ])
  .describe('An event of hirebridge, signed as Standard Webhooks says; webhook-id names it');

export function eventSchema(): object {
  return z.toJSONSchema(eventBody);
}

function bodyOfEvent({ type, at, tenant_id, job_candidate_id, period, facts }: EventOutRow): string {
  const of = job_candidate_id === '' ? {} : { jobCandidateId: job_candidate_id, period: Number(period) };
  const data = { tenantId: tenant_id, ...of, ...(JSON.parse(facts) as object) };
  return JSON.stringify({ type, timestamp: new Date(Number(at)).toISOString(), data });
}
