/** Section 7: every code with its type and status, and the bodies they come in. */
import { z } from 'zod';
import type { ErrorCase } from './endpoint.ts';
import { LooseNumber } from './shapes.ts';

interface CodeFacts {
  type: string;
  status: ErrorCase['status'];
  /** Not in section 7: chosen by us (G5, G16). */
  assumed?: true;
}

/** Types are given for four codes and for the 404 of users and teams; the others are assumed (G5). */
export const codes = {
  INVALID_REQUEST: { type: 'validation_error', status: 400 },
  INVALID_PER_PAGE: { type: 'validation_error', status: 400 },
  INVALID_STATUS: { type: 'validation_error', status: 400 },
  INVALID_PUBLISH_TYPE: { type: 'validation_error', status: 400 },
  INVALID_WORK_MODE: { type: 'validation_error', status: 400 },
  PIPELINE_NOT_FOUND: { type: 'resource_error', status: 404 },
  CUSTOM_FIELD_NOT_FOUND: { type: 'resource_error', status: 404 },
  PERMISSION_DENIED: { type: 'authorization_error', status: 403 },
  NOT_FOUND: { type: 'not_found', status: 404 },
  ACCESS_DENIED: { type: 'authorization_error', status: 403 },
  INSUFFICIENT_CREDITS: { type: 'payment_error', status: 402 },
  INSUFFICIENT_ONBOARDING_CREDITS: { type: 'payment_error', status: 402 },
  DUPLICATE_INVITE: { type: 'validation_error', status: 400 },
  DUPLICATE_ENROLLMENT: { type: 'conflict_error', status: 409 },
  ALREADY_TERMINAL: { type: 'conflict_error', status: 409 },
  REPORT_NOT_READY: { type: 'conflict_error', status: 409 },
  NO_APPLICATION: { type: 'conflict_error', status: 409 },
  NO_CONSENT_RECORD: { type: 'conflict_error', status: 409 },
  AI_GENERATION_FAILED: { type: 'api_error', status: 500 },
  AI_GENERATION_EMPTY: { type: 'api_error', status: 500 },
  ACCOUNT_INACTIVE: { type: 'authorization_error', status: 403 },
  /** Section 5.5 gives only the flat body; the code is ours, for logs and the client's error. */
  INVALID_API_KEY: { type: 'authentication_error', status: 401, assumed: true },
  /** Code of the e-mail conflict on candidate update is not shown (C3). */
  EMAIL_CONFLICT: { type: 'conflict_error', status: 409, assumed: true },
  /** A slot that is taken (B4). */
  SLOT_UNAVAILABLE: { type: 'conflict_error', status: 409, assumed: true },
  RATE_LIMITED: { type: 'rate_limit_error', status: 429, assumed: true },
  INTERNAL_ERROR: { type: 'api_error', status: 500, assumed: true },
} as const satisfies Record<string, CodeFacts>;

export type ErrorCode = keyof typeof codes;

/** One error of an endpoint: a code of section 7 with the condition that raises it here. */
export function refusal(code: ErrorCode, when: string, extra: Pick<ErrorCase, 'field' | 'shape'> = {}): ErrorCase {
  return { code, type: codes[code].type, status: codes[code].status, when, ...extra };
}

/** Errors every endpoint can give: section 5 rules 5 and 6, section 8 last row, section 7 status 500. */
export const commonErrors: readonly ErrorCase[] = [
  refusal('INVALID_API_KEY', 'key missing, malformed, unknown, revoked or deactivated', { shape: 'auth' }),
  refusal('ACCOUNT_INACTIVE', 'inactive subscription', { shape: 'account' }),
  refusal('RATE_LIMITED', 'too many requests of the company'),
  refusal('INTERNAL_ERROR', 'the service failed'),
];

/** The errors of an endpoint, with those common to all in front. */
export function errorsOf(...own: readonly ErrorCase[]): readonly ErrorCase[] {
  return [...commonErrors, ...own];
}

/** 400 for a missing or invalid field, the most frequent of all. */
export const invalidRequest = refusal('INVALID_REQUEST', 'missing or invalid field');
export const invalidPerPage = refusal('INVALID_PER_PAGE', 'perPage not in 10, 20, 40, 80, 100', { field: 'perPage' });
/** 404 where the code is given or assumed to be NOT_FOUND (G6, G7): unknown, or another company's. */
export function notFound(what: string): ErrorCase {
  return refusal('NOT_FOUND', `unknown or other company's ${what}`);
}

/** For which errors, and in which form, is not shown (G15); what is no object must not hide the code beside it. */
const Details = z.preprocess(
  (details: unknown) => (typeof details === 'object' && !Array.isArray(details) ? details : undefined),
  z.record(z.string(), z.unknown()).nullish(),
);

/**
 * Any error body: canonical, canonical with errorMessage or a top-level statusCode, flat with a code (users, teams,
 * ACCOUNT_INACTIVE), or only a message (key). `readErrorBody` makes one form of them.
 */
export const ErrorBody = z
  .looseObject({
    error: z
      .looseObject({
        code: z.string(),
        type: z.string().nullish(),
        message: z.string().nullish(),
        errorMessage: z.string().nullish(),
        details: Details,
      })
      .nullish(),
    statusCode: LooseNumber.nullish(),
    code: z.string().nullish(),
    type: z.string().nullish(),
    message: z.string().nullish(),
    errorMessage: z.string().nullish(),
    details: Details,
  })
  .meta({ id: 'ErrorBody' });
export type ErrorBody = z.infer<typeof ErrorBody>;

export interface PartnerError {
  /** Undefined for a flat body without a code: by the status it is the key (401, 403). */
  code: string | undefined;
  type: string | undefined;
  /** The partner's own words; may hold personal data: the client hands them to nobody. */
  message: string | undefined;
  details: Record<string, unknown> | undefined;
}

/** One form of every error body of sections 5 and 7; undefined when the body is none of them (HTML, truncated). */
export function readErrorBody(body: unknown): PartnerError | undefined {
  const parsed = ErrorBody.safeParse(body);
  if (!parsed.success) return undefined;
  const outer = parsed.data;
  const inner = outer.error ?? outer;
  const message = inner.message ?? inner.errorMessage ?? outer.message ?? outer.errorMessage;
  if (!inner.code && !message) return undefined;
  return {
    code: inner.code ?? undefined,
    type: inner.type ?? undefined,
    message: message ?? undefined,
    details: inner.details ?? undefined,
  };
}
