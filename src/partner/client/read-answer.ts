import { z } from 'zod';
import { ConnectorError, type ErrorAction } from '../../errors.ts';
import { actionForStatus, httpError } from '../../http/http-error.ts';
import type { HttpAnswer } from '../../http/message.ts';
import { valueAt } from '../contract/envelopes.ts';
import { type PartnerError, readErrorBody } from '../contract/errors.ts';
import type { Overrides } from '../contract/overrides.ts';
import { issuesText } from './issue-text.ts';
import { parseJson } from './json-text.ts';
import { observeAssumptions } from './observe-assumptions.ts';
import { isRepeatable } from './repeatable.ts';
import type { AnyEndpoint, LooseInput, Observation } from './types.ts';

export interface AskedCall {
  overrides: Overrides;
  endpoint: AnyEndpoint;
  input: LooseInput;
  /** Told what this answer shows of the assumptions. */
  onObserved?: ((observations: readonly Observation[]) => void) | undefined;
}

/** The whole success body of an endpoint, or a ConnectorError with the partner's code and words. */
export function readAnswer(call: AskedCall, answer: HttpAnswer): unknown {
  const { endpoint } = call;
  const body = parseJson(answer.body);
  call.onObserved?.(observeAssumptions(call.overrides, { ...call, answer, body }));
  // Any 2xx: which creates answer 201 is left open by section 7 (G1), and a refusal after the fact would hide a
  // success.
  if (answer.status < 200 || answer.status > 299) throw readRefusal(call, answer, body);
  if (body === undefined)
    throw unreadable(call, answer, 'UNEXPECTED_ANSWER', 'its body is not JSON: check the base URL');
  const parsed = endpoint.response.safeParse(body);
  if (parsed.success) return parsed.data;
  throw unreadable(call, answer, 'UNREADABLE_ANSWER', `it does not fit the contract: ${issuesText(parsed.error)}`);
}

/**
 * The error of any refusal, in every form that sections 5 and 7 show, HTML included. The partner's own words stay here:
 * they may name anybody, and errors go on into histories, holds and logs.
 */
export function readRefusal(call: AskedCall, answer: HttpAnswer, body: unknown): ConnectorError {
  const { overrides, endpoint, input } = call;
  const idempotent = isRepeatable(endpoint);
  const refused = readErrorBody(body);
  const what = callText(endpoint, input);
  if (refused === undefined) return httpError(what, answer, idempotent, foreignAnswers[answer.status] ?? {});
  const code = isKeyMissing(body)
    ? 'INVALID_API_KEY'
    : isEmailConflict(overrides, endpoint, refused, answer.status)
      ? 'EMAIL_CONFLICT'
      : codeOf(refused, answer.status);
  const fields = fieldsIn(endpoint, Object.keys(refused.details ?? {}));
  return httpError(what, answer, idempotent, {
    code,
    action: actionOf(code, refused, answer.status),
    hint: code === undefined ? undefined : hints[code],
    fields,
    details: safeDetails(refused.details, fields),
  });
}

/** A body that is not the partner's own: something in between answered, which says nothing about a record or a key. */
const foreignAnswers: Record<number, { code: string; action: ErrorAction; hint: string }> = {
  403: {
    code: 'UNEXPECTED_ANSWER',
    action: 'retry',
    hint: "the body is not the partner API's, something in between refused",
  },
  404: { code: 'UNEXPECTED_ANSWER', action: 'reject', hint: "the body is not the partner API's: check the base URL" },
};

function codeOf(refused: PartnerError, status: number): string | undefined {
  if (refused.code !== undefined && /^[A-Z][A-Z0-9_]{1,63}$/.test(refused.code)) return refused.code;
  // Flat bodies without a code are those of the key (section 5, rule 5).
  return refused.type === undefined && (status === 401 || status === 403) ? 'INVALID_API_KEY' : undefined;
}

/** Section 5.4, whose status is not shown: `{ message: "API key not found", isApiKeyExists: false }`. */
function isKeyMissing(body: unknown): boolean {
  return valueAt(body, 'isApiKeyExists') === false;
}

/**
 * Section 4.3 says conflict, section 7 says 400 (C3). The e-mail's form was checked before it left, so a 400 about it
 * alone is the same.
 */
function isEmailConflict(overrides: Overrides, endpoint: AnyEndpoint, refused: PartnerError, status: number): boolean {
  if (endpoint.id !== 'candidates.update') return false;
  if (status === 409) return overrides.emailConflict !== '400';
  const fields = Object.keys(refused.details ?? {});
  return status === 400 && overrides.emailConflict !== '409' && fields.length === 1 && fields[0] === 'email';
}

const actionsByCode: Record<string, ErrorAction> = {
  ACCOUNT_INACTIVE: 'reauthorize',
  INVALID_API_KEY: 'reauthorize',
  REPORT_NOT_READY: 'retry',
  // Answered on purpose, so not "sent and no answer", though the status is 500.
  AI_GENERATION_FAILED: 'reject',
  AI_GENERATION_EMPTY: 'reject',
};

/** A 403 about one record (PERMISSION_DENIED and its like) must not pause the whole tenant. */
function actionOf(code: string | undefined, refused: PartnerError, status: number): ErrorAction | undefined {
  const byCode = code === undefined ? undefined : actionsByCode[code];
  if (byCode !== undefined) return byCode;
  const aboutRecord = status === 403 && (code !== undefined || refused.type !== undefined);
  return aboutRecord ? 'reject' : undefined;
}

const hints: Record<string, string> = {
  EMAIL_CONFLICT: 'another candidate has this e-mail',
  ACCOUNT_INACTIVE: 'the partner account is inactive: its subscription must be renewed',
  INVALID_API_KEY: "the key is not accepted: check it, or generate a new one in the partner's dashboard",
  INSUFFICIENT_CREDITS: "there are not enough credits: add credits in the partner's dashboard",
  INSUFFICIENT_ONBOARDING_CREDITS: "there are not enough onboarding credits: add credits in the partner's dashboard",
  PERMISSION_DENIED: 'the record belongs to another company',
  ACCESS_DENIED: 'the key may not use this assessment',
};

/** Amounts of credits, and the names of the fields refused. Texts of details may repeat what was sent. */
function safeDetails(
  details: Record<string, unknown> = {},
  fields: readonly string[],
): Record<string, unknown> | undefined {
  const amounts = ['requiredCredits', 'availableCredits'].filter((name) => typeof details[name] === 'number');
  const safe = {
    ...Object.fromEntries(amounts.map((name) => [name, details[name]])),
    ...(fields.length > 0 ? { fields } : {}),
  };
  return Object.keys(safe).length > 0 ? safe : undefined;
}

function unreadable({ endpoint, input }: AskedCall, answer: HttpAnswer, code: string, why: string): ConnectorError {
  const foreign = code === 'UNEXPECTED_ANSWER';
  return new ConnectorError({
    code,
    // A read that does not fit will not fit the next time; a page of HTML may be gone then; a write may have been
    // carried out.
    action: isRepeatable(endpoint) ? (foreign ? actionForStatus(500, true) : 'reject') : 'unknown',
    message:
      `${callText(endpoint, input)} was answered ${answer.status} (request ${answer.requestId}), ` + `and ${why}.`,
    status: answer.status,
    requestId: answer.requestId,
  });
}

/** The call as a message names it, with the ids in its path: `POST /x/:flowId for flow 1234`. */
function callText({ method, path }: AnyEndpoint, { params }: LooseInput): string {
  const ids = Object.entries(params ?? {}).filter(([, id]) => isShowable(id));
  const texts = ids.map(([name, id]) => `${name.replace(/Id$/, '').replaceAll(/[A-Z]/g, lowered)} ${id}`);
  return `${method} ${path}${texts.length === 0 ? '' : ` for ${texts.join(', ')}`}`;
}

/** Only what looks like an id: a name or an address in its place must not reach a message. */
function isShowable(id: unknown): boolean {
  return typeof id === 'number' || (typeof id === 'string' && /^[\w:-]{1,64}$/.test(id));
}

function lowered(letter: string): string {
  return ` ${letter.toLowerCase()}`;
}

/** Fields of this call among the partner's paths (`candidates[3].email`); any other word there may name a person. */
function fieldsIn(endpoint: AnyEndpoint, paths: readonly string[]): string[] {
  const known = fieldNames(endpoint);
  const last = paths.map((path) => path.split(/[.[\]]+/).findLast((part) => known.has(part)));
  return [...new Set(last.filter((name) => name !== undefined))];
}

/** Of what the contract lets us send. */
function fieldNames({ params, query, body }: AnyEndpoint): Set<string> {
  const names = new Set<string>();
  for (const schema of [params, query, body]) {
    if (schema === undefined) continue;
    // The walk is left to the library, which knows every kind of schema.
    z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        for (const name of Object.keys(jsonSchema.properties ?? {})) names.add(name);
      },
    });
  }
  return names;
}
