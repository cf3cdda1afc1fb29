import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { HttpAnswer } from '../../http/http-error.ts';
import { callHris, type HrisRequest, type Refusal, readJson } from '../http-call.ts';
import { type HrisLimits, type HrisLine, openLine } from '../http-line.ts';
import { withoutValues } from '../without-values.ts';
import type { BambooOptions } from './options.ts';

export interface BambooApi {
  /** Makes one call. `json` returns its answer as JSON. */
  send(call: BambooCall): Promise<HttpAnswer>;
  json(call: BambooCall): Promise<unknown>;
  close(): Promise<void>;
}

export interface BambooCall
  extends Pick<HrisRequest, 'what' | 'method' | 'path' | 'signal' | 'beforeSend' | 'priority'> {
  body?: unknown;
  /** A body that is not JSON. */
  upload?: { contentType: string; body: Uint8Array };
  /** JSON by default. */
  accept?: string;
  idempotent?: boolean;
  /** The values sent: they are removed from BambooHR's error text before it is shown. Without any, none is shown. */
  sent?: EmployeeFields;
}

/** Basic authentication: the key is the user, and the password can be any text. */
export function openApi({ url, apiKey, allowPrivateAddress }: BambooOptions, limits: HrisLimits): BambooApi {
  const line = openLine(url, { allowPrivate: allowPrivateAddress, limits });
  const authorization = `Basic ${Buffer.from(`${apiKey}:x`).toString('base64')}`;
  const send = (call: BambooCall) => request(line, authorization, call);
  return {
    send,
    async json(call) {
      return readJson(await send(call), { what: call.what, idempotent: call.idempotent ?? call.method === 'GET' });
    },
    close: () => line.close(),
  };
}

async function request(line: HrisLine, authorization: string, call: BambooCall): Promise<HttpAnswer> {
  // Without Accept some answers are XML.
  const { body, upload, sent, accept = 'application/json', ...rest } = call;
  const json = body === undefined ? undefined : { contentType: 'application/json', body: JSON.stringify(body) };
  const content = upload === undefined ? json : { ...upload, body: Buffer.from(upload.body) };
  const typed = content === undefined ? {} : { 'content-type': content.contentType };
  const message = { ...rest, body: content?.body, headers: { accept, authorization, ...typed } };
  try {
    return await callHris(line, message, (answer) => whatItSaid(answer, sent));
  } catch (error) {
    throw isConnectorError(error) ? asThrottled(error) : error;
  }
}

/** Until 2026-09-16 a throttled call was answered 503 with Retry-After; some accounts may still do so. */
function asThrottled(error: ConnectorError): ConnectorError {
  if (error.status !== 503 || error.retryAfterMs === undefined) return error;
  const { message, status, retryAfterMs, requestId } = error;
  return new ConnectorError({
    code: 'RATE_LIMITED',
    action: 'throttle',
    message,
    status,
    retryAfterMs,
    requestId,
    cause: error,
  });
}

/**
 * The reason is in a header, and the body is often empty. 409: a field's value was not accepted. Only about a write,
 * whose values are known and cut, is it told: about a search it may quote anybody.
 */
function whatItSaid({ status, headers }: HttpAnswer, sent: EmployeeFields | undefined): Refusal {
  const text = headers['x-bamboohr-error-message'] ?? headers['x-bamboohr-message'] ?? '';
  const said = sent === undefined ? '' : withoutValues(String(text), Object.values(sent));
  return {
    ...(status === 409 || status === 400 ? { code: 'INVALID_VALUE' } : {}),
    ...(said === '' ? {} : { said }),
  };
}
