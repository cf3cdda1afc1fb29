import { ConnectorError, isConnectorError } from '../errors.ts';
import { type HttpAnswer, httpError } from '../http/http-error.ts';
import type { HrisLine, LineRequest } from './http-line.ts';

export interface HrisRequest extends LineRequest {
  /** Names the call in messages, without personal data: `POST /employees`. */
  what: string;
}

/** The HRIS's reason, made safe to show by the adapter. */
export interface Refusal {
  code?: string;
  said?: string;
  details?: Record<string, unknown>;
}

/** Error codes common to all HRISes. Trouble of the whole system pauses the HRIS instead of one hire. */
const HRIS_CODES: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'HRIS_AUTH',
  FORBIDDEN: 'HRIS_FORBIDDEN',
  UNREACHABLE: 'HRIS_UNREACHABLE',
  PRIVATE_ADDRESS: 'HRIS_PRIVATE_ADDRESS',
  UNEXPECTED_REDIRECT: 'HRIS_UNEXPECTED_REDIRECT',
  ABORTED: 'STOPPED',
};

/** How long to wait if a system asks for fewer calls without saying how long. */
const THROTTLED_MS = 30_000;

/**
 * Makes one request to an HRIS; never repeats it. Any status but 2xx becomes a ConnectorError by the shared status
 * table; `explain` adds the HRIS's own words.
 */
export async function callHris(
  line: HrisLine,
  request: HrisRequest,
  explain: (answer: HttpAnswer) => Refusal = () => ({}),
): Promise<HttpAnswer> {
  const { what, ...message } = request;
  const idempotent = request.idempotent ?? request.method !== 'POST';
  try {
    const answer = await line.send({ ...message, idempotent });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const known = explain(answer);
    throw httpError(what, answer, idempotent, !idempotent && mayBeDone(answer) ? { ...known, ...REDIRECTED } : known);
  } catch (error) {
    throw isConnectorError(error) ? renamed(error) : error;
  }
}

const REDIRECTED = {
  code: 'HRIS_UNREADABLE_ANSWER',
  action: 'unknown',
  hint: 'redirects are not followed, and it may have been carried out: it is looked up first; check hris.url',
} as const;

/**
 * Whether a write may be done although it is redirected, because the address may be that of what it made: RFC 9110,
 * sections 15.4.2 to 15.4.4. 307 and 308 ask for it to be sent elsewhere instead.
 */
export function mayBeDone({ status }: Pick<HttpAnswer, 'status'>): boolean {
  return [301, 302, 303].includes(status);
}

function renamed(error: ConnectorError): ConnectorError {
  const { action, message, status, details, requestId } = error;
  const retryAfterMs = error.retryAfterMs ?? (action === 'throttle' ? THROTTLED_MS : undefined);
  const code = HRIS_CODES[error.code] ?? error.code;
  if (code === error.code && retryAfterMs === error.retryAfterMs) return error;
  return new ConnectorError({ code, action, message, status, retryAfterMs, details, requestId, cause: error });
}

/** Parses an answer as JSON. A login page or a proxy's error page instead leaves the outcome of the request open. */
export function readJson(answer: HttpAnswer, { what, idempotent }: { what: string; idempotent: boolean }): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    const type = String(answer.headers['content-type'] ?? 'no content type').split(';', 1)[0];
    throw new ConnectorError({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: idempotent ? 'retry' : 'unknown',
      message:
        `${what} was answered ${answer.status} with ${type} where JSON was expected. A login page or a proxy may ` +
        'have answered instead of the HR system: check hris.url.',
      status: answer.status,
      requestId: answer.requestId,
    });
  }
}
