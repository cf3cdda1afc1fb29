import { z } from 'zod';
import type { EventOutRow } from '../store/schema.ts';

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

export function bodyOfEvent({ type, at, tenant_id, job_candidate_id, period, facts }: EventOutRow): string {
  const of = job_candidate_id === '' ? {} : { jobCandidateId: job_candidate_id, period: Number(period) };
  const data = { tenantId: tenant_id, ...of, ...(JSON.parse(facts) as object) };
  return JSON.stringify({ type, timestamp: new Date(Number(at)).toISOString(), data });
}
