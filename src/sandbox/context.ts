import { z } from 'zod';
import { codes, type ErrorCode } from '../partner/contract/endpoint.ts';
import { type Company, companyById, updateCompany } from './records/companies.ts';
import { type LedgerEntry, record } from './records/ledger.ts';
import type { SandboxState } from './state.ts';

/** Where an act comes from. Seeded records (`seed`) leave no ledger rows and no events. */
type Origin = 'api' | 'dashboard' | 'background' | 'seed';

/** Who acts, when, and from where. First argument of every operation and record function. */
export interface Context {
  readonly state: SandboxState;
  readonly company: Company;
  /** Epoch ms; one instant for the whole call. */
  readonly now: number;
  readonly origin: Origin;
  readonly requestId?: string | undefined;
}

/**
 * Acts on a record, with one ledger row for each affected record; tests judge by these names. `credit` and
 * `onboarding-credit` are one row for each credit.
 */
type EffectName =
  | 'application'
  | 'assessment'
  | 'assessment-flow'
  | 'assessment-flow-updated'
  | 'assessment-updated'
  | 'booking'
  | 'booking-attendance'
  | 'booking-cancelled'
  | 'booking-link'
  | 'booking-link-status'
  | 'booking-rescheduled'
  | 'booking-schedule'
  | 'booking-schedule-removed'
  | 'campaign'
  | 'campaign-lead'
  | 'campaign-lead-status'
  | 'campaign-updated'
  | 'candidate'
  | 'candidate-removed'
  | 'candidate-updated'
  | 'credit'
  | 'custom-field'
  | 'custom-field-removed'
  | 'custom-field-updated'
  | 'custom-field-value'
  | 'custom-field-value-removed'
  | 'enrolment'
  | 'external-status'
  | 'flow-assignment'
  | 'flow-progress'
  | 'interview'
  | 'interview-scored'
  | 'invite'
  | 'invite-batch'
  | 'job'
  | 'job-candidate'
  | 'job-candidate-removed'
  | 'job-candidate-updated'
  | 'job-updated'
  | 'offer'
  | 'offer-cancelled'
  | 'offer-updated'
  | 'onboarding-credit'
  | 'onboarding-document'
  | 'onboarding-flow'
  | 'onboarding-status'
  | 'onboarding-step'
  | 'pipeline'
  | 'question'
  | 'question-removed'
  | 'question-updated'
  | 'rejection'
  | 'rescore'
  | 'resume-batch'
  | 'site'
  | 'stage'
  | 'stage-move'
  | 'stage-removed'
  | 'team'
  | 'termination'
  | 'user';

/** Records an effect in the ledger. */
export function effect(
  ctx: Context,
  name: EffectName,
  subject: string | number,
  detail?: Record<string, unknown>,
): void {
  if (ctx.origin === 'seed') return;
  const entry: LedgerEntry = {
    kind: 'effect',
    name,
    subject,
    companyId: ctx.company.id,
    requestId: ctx.requestId,
    origin: ctx.origin,
    detail,
  };
  record(ctx.state, entry);
}

/** ISO 8601 UTC of an epoch in ms. */
export function iso(epoch: number): string {
  return new Date(epoch).toISOString();
}

/** The company's current record; the context's company is as old as the call. */
export function creditsOf(ctx: Context): number {
  return companyById(ctx.state, ctx.company.id)?.credits ?? 0;
}

/** Takes one credit, or refuses with 402. */
export function takeCredit(ctx: Context, subject: string | number, purpose: string): void {
  const credits = creditsOf(ctx);
  if (credits < 1) throw refuse('INSUFFICIENT_CREDITS', `Not enough credits for ${purpose}`);
  updateCompany(ctx.state, ctx.company.id, { credits: credits - 1 });
  effect(ctx, 'credit', subject, { for: purpose });
}

/** A refusal that renders itself as the canonical body of section 7. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(facts: {
    status: number;
    code: string;
    type: string;
    message: string;
    details?: Record<string, unknown>;
    headers?: Record<string, string>;
  }) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.type = facts.type;
    this.details = facts.details;
    this.headers = facts.headers ?? {};
  }

  toJSON(): unknown {
    const details = this.details === undefined ? {} : { details: this.details };
    return { error: { code: this.code, type: this.type, message: this.message, ...details } };
  }
}

/** Section 5.5: flat body, no code. */
export class InvalidKeyError extends ApiError {
  constructor() {
    super({ ...codes.INVALID_API_KEY, code: 'INVALID_API_KEY', message: 'Invalid API key' });
  }

  override toJSON(): unknown {
    return { message: this.message };
  }
}

/** Section 5.6: flat body with a code. */
export class AccountInactiveError extends ApiError {
  constructor() {
    super({
      ...codes.ACCOUNT_INACTIVE,
      code: 'ACCOUNT_INACTIVE',
      message: 'The subscription of this account is inactive',
    });
  }

  override toJSON(): unknown {
    return { code: this.code, message: this.message };
  }
}

/** Section 7: users and teams answer flat, with errorMessage and statusCode. */
export class WorkspaceError extends ApiError {
  constructor(code: ErrorCode, message: string) {
    super({ ...codes[code], code, message });
  }

  override toJSON(): unknown {
    return { statusCode: this.status, code: this.code, type: this.type, errorMessage: this.message };
  }
}

/** A refusal with a code of section 7; status and type come with the code. `details` maps a field to its fault. */
export function refuse(code: ErrorCode, message: string, details?: Record<string, unknown>): ApiError {
  return new ApiError({ ...codes[code], code, message, ...(details === undefined ? {} : { details }) });
}

/** 400 INVALID_REQUEST. */
export function invalidRequest(message: string, details?: Record<string, unknown>): ApiError {
  return refuse('INVALID_REQUEST', message, details);
}

/** 404 NOT_FOUND: unknown, or another company's, with the same answer. */
export function notFound(what: string): ApiError {
  return refuse('NOT_FOUND', `${what} not found`);
}

/** 429 in the canonical body (G16, assumed), with Retry-After when asked for. */
export function tooManyRequests(retryAfter?: string): ApiError {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  return new ApiError({ ...codes.RATE_LIMITED, code: 'RATE_LIMITED', message: 'Too many requests', headers });
}

/** 500; never carries internal details. */
export function serverError(): ApiError {
  return refuse('INTERNAL_ERROR', 'Something went wrong');
}

/** 501: the contract has this operation, but the sandbox does not implement it yet. */
export function notImplemented(operation: string): ApiError {
  return new ApiError({
    status: 501,
    code: 'NOT_IMPLEMENTED',
    type: 'api_error',
    message: `The sandbox does not play ${operation} yet`,
  });
}

export interface ApiRequest {
  method: string;
  /** Path and query as sent: `/v1/partner/jobs?perPage=10`. */
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body?: string | undefined;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
}

type Issue = z.core.$ZodIssue;

const FORMATS: Record<string, string> = {
  email: 'must be an e-mail address',
  url: 'must be a URL',
  uuid: 'must be a UUID',
  date: 'must be a date of the calendar, YYYY-MM-DD',
  datetime: 'must be a time in ISO 8601',
  e164: 'must be a phone number in E.164, such as +4915112345678',
};
const NOUNS: Record<string, string> = {
  string: 'a text',
  int: 'an integer',
  array: 'a list',
  record: 'an object',
  object: 'an object',
};
const defaults = z.locales.en();

/** A field's fault, in words a person can act on; the contract's own words stay. */
export function issueWords(issue: Issue): string {
  const { message, ...raw } = issue;
  const told = defaults.localeError(raw as Parameters<typeof defaults.localeError>[0]);
  const isDefault = message === (typeof told === 'string' ? told : told?.message);
  // The received value is no longer known here, so the default message cannot be rebuilt.
  const isDefaultType = issue.code === 'invalid_type' && message.startsWith('Invalid input: expected');
  return isDefault || isDefaultType ? plainWords(issue) : message;
}

function plainWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be ${NOUNS[issue.expected] ?? `a ${issue.expected}`}`;
    case 'too_small':
      return `must ${sized(issue.origin)} at least ${String(issue.minimum)}${unit(issue.origin)}`;
    case 'too_big':
      return `must ${sized(issue.origin)} at most ${String(issue.maximum)}${unit(issue.origin)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'has the wrong form';
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'unrecognized_keys':
      return 'is not a known field';
    case 'invalid_union':
      return 'has a type that is not allowed here';
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'not_multiple_of':
      return 'is not valid';
  }
}

function sized(origin: string): string {
  return unit(origin) === '' ? 'be' : 'have';
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' || origin === 'set' ? ' entries' : '';
}

/** Each field that an issue is about, by its path: unknown keys by their own names, the body if it is no field. */
export function issuePaths(issue: Issue): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => dotted([...issue.path, key]));
  return [issue.path.length === 0 ? 'body' : dotted(issue.path)];
}

/** `candidates[3].email`. */
function dotted(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${String(key)}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}

/** One issue as a sentence that names the field. */
export function issueSentence(issue: Issue): string {
  const words = issueWords(issue);
  const [path = 'body'] = issuePaths(issue);
  if (words.includes(path)) return words;
  return /^(is|has|must) /.test(words) ? `${path} ${words}` : `${path}: ${words}`;
}
