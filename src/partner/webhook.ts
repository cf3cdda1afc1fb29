import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { ConnectorError } from '../errors.ts';
import { idsOf } from './contract/events.ts';

/**
 * True when X-Webhook-Key is one of the tenant's keys (two are valid while a key is rotated). Constant time: digests of one length are
 * compared, every key each time. A missing or empty header, and an empty key, are never right (section 6: "may be empty if none set").
 */
export function checkWebhookKey(headerValue: string | string[] | undefined, keys: readonly string[]): boolean {
  if (typeof headerValue !== 'string' || headerValue === '') return false;
  const given = digest(headerValue);
  let right = false;
  for (const key of keys) right = timingSafeEqual(given, digest(key)) || right;
  return right;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Ids an event carries, as text, single and array forms taken together. All else in `data` is a hint and never truth. */
export interface WebhookIds {
  jobCandidateIds: string[];
  candidateIds: string[];
  onboardingCandidateIds: string[];
  jobId?: string;
  /** The stages of candidate.stage_changed. */
  currentStageId?: string;
  nextStageId?: string;
}

export interface WebhookEnvelope {
  event: string;
  /** As sent; absent where the sender gave none. */
  timestamp?: string;
  /** Number or text in the body (section 6), text here; some examples omit it. */
  companyId?: string;
  data: Record<string, unknown>;
  ids: WebhookIds;
}

const Id = z.union([z.string().min(1), z.number()]).transform(String);
const LooseObject = z.record(z.string(), z.unknown());
const Body = z.looseObject({
  event: z.string().min(1).max(200),
  timestamp: z.union([z.string(), z.number()]).transform(String).nullish().catch(undefined),
  companyId: Id.nullish().catch(undefined),
  // Payloads not shown are taken whole; an event without data still is a wake.
  data: LooseObject.nullish(),
});

/** Reads a delivery's raw body. Error: `MALFORMED_WEBHOOK` (reject) for what is no event at all; unknown events are read like known ones. */
export function readWebhookEnvelope(rawBody: string | Uint8Array): WebhookEnvelope {
  const parsed = Body.safeParse(parseJson(rawBody));
  if (!parsed.success) {
    const where = parsed.error.issues.map((issue) => issue.path.join('.') || 'body').join(', ');
    throw malformed(`is not an event in JSON (wrong: ${where})`);
  }
  const { event, timestamp, companyId } = parsed.data;
  const data = parsed.data.data ?? {};
  return {
    event,
    ...(typeof timestamp === 'string' ? { timestamp } : {}),
    ...(typeof companyId === 'string' ? { companyId } : {}),
    data,
    ids: readIds(data),
  };
}

function parseJson(rawBody: string | Uint8Array): unknown {
  const text = typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('is not JSON');
  }
}

function malformed(what: string): ConnectorError {
  return new ConnectorError({
    code: 'MALFORMED_WEBHOOK',
    action: 'reject',
    message: `The delivery ${what}. It is refused; what it was about is found by the reconcile.`,
  });
}

function readIds(data: Record<string, unknown>): WebhookIds {
  const single = {
    jobId: idsOf(data, 'jobId')[0],
    currentStageId: stageIdOf(data['currentStageId']),
    nextStageId: stageIdOf(data['nextStageId']),
  };
  return {
    jobCandidateIds: idsOf(data, 'jobCandidateId'),
    candidateIds: idsOf(data, 'candidateId'),
    onboardingCandidateIds: idsOf(data, 'onboardingCandidateId'),
    ...Object.fromEntries(Object.entries(single).filter(([, id]) => id !== undefined)),
  };
}

function stageIdOf(value: unknown): string | undefined {
  return Id.safeParse(value).data;
}

/** The headers of a delivery (section 6). For tests and the sandbox: whoever signs with this signs as the verifier reads. */
export function webhookHeaders(
  event: string,
  key: string,
  timestamp: string = new Date().toISOString(),
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-webhook-event': event,
    'x-webhook-timestamp': timestamp,
    'x-webhook-key': key,
  };
}
