import { createHash } from 'node:crypto';
import type { Digest } from '../store/alarms.ts';
import type { AlarmRow, HoldRow } from '../store/schema.ts';
import type { DigestDay } from './digest-times.ts';

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

export function noticeBody({ type, at, data }: Notice): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}
