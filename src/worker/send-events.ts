import { z } from 'zod';
import type { ActivityDeps } from '../../activities/connections.ts';
import { inActivity, withFailpoints } from '../failpoint.ts';
import { firstEvents, markEventRefused, markEventTaken } from '../store/events-out.ts';
import { createLease } from '../store/processes.ts';
import type { EventOutRow } from '../store/schema.ts';
import { createPoster } from './notices.ts';
import type { Chore } from './run-chores.ts';

/** First events of hires fetched by one look. */
const MOST_AT_ONCE = 50;
/** After this long a round begins no further event: its lease must outlast the last one. */
const ROUND_MS = 40_000;
const LEASE_MS = 60_000;
/** An event refused for its content is tried again with growing waits. */
const FIRST_AGAIN_MS = 5_000;
const LAST_AGAIN_MS = 900_000;

/** Statuses that refuse this event alone; every other answer concerns all events. */
const OF_ONE: ReadonlySet<number> = new Set([400, 413, 422]);

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
      const isOfOne = typeof answer === 'number' && OF_ONE.has(answer);
      const error = typeof answer === 'number' ? `answered ${answer}` : answer;
      const againMs = isOfOne ? Math.min(FIRST_AGAIN_MS * 2 ** Number(event.tries), LAST_AGAIN_MS) : 0;
      await markEventRefused(store, event.event_id, { error, againMs });
      log.warn({ tenantId: tenant, event: event.event_id, type: event.type, reason: error }, 'event not taken');
      return isOfOne;
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
