import { codes, type ErrorCode } from '../partner/contract/errors.ts';

/** A refusal that renders itself into the canonical body of section 7. */
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

/** A refusal with a code of section 7; status and type come with the code. `details` maps a field to what is wrong. */
export function refuse(code: ErrorCode, message: string, details?: Record<string, unknown>): ApiError {
  return new ApiError({ ...codes[code], code, message, ...(details === undefined ? {} : { details }) });
}

/** 400 INVALID_REQUEST. */
export function invalidRequest(message: string, details?: Record<string, unknown>): ApiError {
  return refuse('INVALID_REQUEST', message, details);
}

/** 404 NOT_FOUND: unknown, or another company's, told the same way. */
export function notFound(what: string): ApiError {
  return refuse('NOT_FOUND', `${what} not found`);
}

/** 429 in the canonical body (G16, assumed), with Retry-After when asked for. */
export function tooManyRequests(retryAfter?: string): ApiError {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  return new ApiError({ ...codes.RATE_LIMITED, code: 'RATE_LIMITED', message: 'Too many requests', headers });
}

/** 500; never carries what went wrong inside. */
export function serverError(): ApiError {
  return refuse('INTERNAL_ERROR', 'Something went wrong');
}

/** 501: the contract has this operation, the sandbox does not play it yet. */
export function notImplemented(operation: string): ApiError {
  return new ApiError({
    status: 501,
    code: 'NOT_IMPLEMENTED',
    type: 'api_error',
    message: `The sandbox does not play ${operation} yet`,
  });
}
