import { createHash } from 'node:crypto';
import { DateTime } from 'luxon';
import { explainedAt, withCode } from '../docs.ts';
import type { Digest } from '../store/alarms.ts';
import type { AlarmRow, HoldRow } from '../store/schema.ts';
import type { NoticeForm, Notify } from '../tenants/notify-section.ts';

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

export function holdNotice(hold: HoldRow): Notice {
  return {
    id: `hold_${hold.hold_id}`,
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
    .update(JSON.stringify([tenantId, kind, subject, since]))
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

function noticeBody({ type, at, data }: Notice): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}

/** A notice as text: a title and lines. Ids and codes, as in its body. */
interface NoticeText {
  title: string;
  lines: string[];
}

/** The body of a notice in its receiver's form. */
export function noticeIn(form: Exclude<NoticeForm, 'mail'>, notice: Notice): string {
  if (form === 'webhook') return noticeBody(notice);
  const { title, lines } = noticeText(notice);
  if (form === 'slack') {
    const [head, ...rest] = [title, ...lines].map(escapedForSlack);
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

/** Slack reads these three as markup. */
function escapedForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function noticeText({ type, data }: Notice): NoticeText {
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
