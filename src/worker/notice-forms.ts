import { explainedAt, withCode } from '../docs.ts';
import type { Digest } from '../store/alarms.ts';
import type { NoticeForm } from '../tenants/notify-section.ts';
import { type Notice, noticeBody } from './notices.ts';

/** A notice as text: a title and lines. Ids and codes, as in its body. */
export interface NoticeText {
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
