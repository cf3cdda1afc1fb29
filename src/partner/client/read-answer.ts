import { z } from 'zod';
import { ConnectorError, type ErrorAction } from '../../errors.ts';
import { actionForStatus, type HttpAnswer, httpError } from '../../http/http-error.ts';
import { type Assumption, assumptions, type Overrides } from '../contract/assumptions.ts';
import { codes, type ListShape, type PartnerError, readErrorBody, valueAt } from '../contract/endpoint.ts';
import { parseJson } from './json-text.ts';
import { observeAssumptions } from './observe-assumptions.ts';
import type { AnyEndpoint, LooseInput, Observation, ReadItems, UnreadableItem } from './types.ts';

export interface AskedCall {
  overrides: Overrides;
  endpoint: AnyEndpoint;
  input: LooseInput;
  /** Receives the assumptions that this answer confirms or contradicts. */
  onObserved?: ((observations: readonly Observation[]) => void) | undefined;
}

/** The whole success body of an endpoint, or a ConnectorError with the partner's code and words. */
export function readAnswer(call: AskedCall, answer: HttpAnswer): unknown {
  const { endpoint } = call;
  const body = parseJson(answer.body);
  call.onObserved?.(observeAssumptions(call.overrides, { ...call, answer, body }));
  // Any 2xx: section 7 leaves open which creates answer 201 (G1), and a later refusal would hide a success.
  if (answer.status < 200 || answer.status > 299) throw readRefusal(call, answer, body);
  const parsed = endpoint.response.safeParse(body);
  // Some writes show no answer in the specification: to them, no body at all is a success.
  if (parsed.success && (body !== undefined || answer.body.length === 0)) return parsed.data;
  if (parsed.success || body === undefined)
    throw unreadable(call, answer, 'UNEXPECTED_ANSWER', 'its body is not JSON: check the base URL');
  const issues = issuesText(parsed.error);
  if (isHollow(endpoint, body))
    throw unreadable(call, answer, 'UNREADABLE_ANSWER', `it holds nothing of what was asked for (${issues})`, 'retry');
  throw unreadable(call, answer, 'UNREADABLE_ANSWER', `it does not fit the contract: ${issues}`);
}

/**
 * The error for any refusal, in every form of sections 5 and 7, HTML included. The partner's own words stay here: they
 * may name anybody, and errors end up in histories, holds and logs.
 */
export function readRefusal(call: AskedCall, answer: HttpAnswer, body: unknown): ConnectorError {
  const { endpoint, input } = call;
  const idempotent = isRepeatable(endpoint);
  const refused = readErrorBody(body);
  const what = callText(endpoint, input);
  if (refused === undefined) return httpError(what, answer, idempotent, foreignAnswers[answer.status] ?? {});
  const code = isKeyMissing(body)
    ? 'INVALID_API_KEY'
    : isEmailConflict(call, refused, answer.status)
      ? 'EMAIL_CONFLICT'
      : codeOf(refused, answer.status);
  const fields = fieldsIn(endpoint, Object.keys(refused.details ?? {}));
  return httpError(what, answer, idempotent, {
    code,
    action: actionOf(code, refused, answer.status),
    hint: hints[code ?? ''] ?? (answer.status === 400 ? otherNames(endpoint, code, fields) : undefined),
    fields,
    details: safeDetails(refused.details, fields),
  });
}

/** A body that is not the partner's own: a server in between answered, which proves nothing about a record or a key. */
const foreignAnswers: Record<number, { code: string; action: ErrorAction; hint: string }> = {
  403: {
    code: 'UNEXPECTED_ANSWER',
    action: 'retry',
    hint: "the body is not the partner API's: something in between refused it",
  },
  404: { code: 'UNEXPECTED_ANSWER', action: 'reject', hint: "the body is not the partner API's: check the base URL" },
};

/** Whether the partner itself refused the call. A server in between says nothing about records. */
export function isRefusedByPartner({ action, status = 0, code }: ConnectorError): boolean {
  return action === 'reject' && status >= 400 && code !== 'UNEXPECTED_ANSWER';
}

/** The same, of the record and not of the key: that may not make such a call for any record. */
export function isRefusedOfRecord(error: ConnectorError): boolean {
  return isRefusedByPartner(error) && error.status !== 403;
}

/** Answered 404 or refused as another company's: like a record left out of an answer, this proves nothing. */
export function isNotShown(code: string): boolean {
  return code === 'NOT_FOUND' || code === 'PERMISSION_DENIED' || code === 'ACCESS_DENIED';
}

function codeOf(refused: PartnerError, status: number): string | undefined {
  // A code for each kind of record, which the specification does not name, says the same as NOT_FOUND (G7).
  if (status === 404 && !Object.hasOwn(codes, refused.code ?? '')) return undefined;
  if (refused.code !== undefined && /^[A-Z][A-Z0-9_]{1,63}$/.test(refused.code)) return refused.code;
  // Flat bodies without a code concern the key (section 5, rule 5).
  return refused.type === undefined && (status === 401 || status === 403) ? 'INVALID_API_KEY' : undefined;
}

/** Section 5.4, whose status is not shown: `{ message: "API key not found", isApiKeyExists: false }`. */
function isKeyMissing(body: unknown): boolean {
  return valueAt(body, 'isApiKeyExists') === false;
}

/**
 * Section 4.3 says conflict, section 7 says 400 (C3). The e-mail's form was checked before sending, so a 400 about the
 * e-mail alone means the same. Where no field is named, it is about the e-mail if nothing else was sent.
 */
function isEmailConflict({ overrides, endpoint, input }: AskedCall, refused: PartnerError, status: number): boolean {
  if (endpoint.id !== 'candidates.update') return false;
  if (status === 409) return overrides.emailConflict !== '400';
  const named = Object.keys(refused.details ?? {});
  const fields = named.length > 0 ? named : Object.keys(input.body ?? {});
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
  DUPLICATE_INVITE: 'they were invited already',
  DUPLICATE_ENROLLMENT: 'an enrolment with this e-mail or externalRef is active in the flow',
  ALREADY_TERMINAL: 'the enrolment has ended already',
  REPORT_NOT_READY: 'the interview is not scored yet',
  NO_APPLICATION: 'they did not apply through the hosted page',
  NO_CONSENT_RECORD: 'there is no record of a consent',
  AI_GENERATION_FAILED: 'the questions could not be generated',
  AI_GENERATION_EMPTY: 'no questions were generated',
};

/** Overrides of names that the specification does not show. */
const NAMING: readonly (keyof Overrides)[] = [
  ...(['queryNames', 'bodyNames', 'externalStatusBody', 'terminateReason', 'valuesBulkKey'] as const),
];

/** Of a call whose names are assumed: the setting to look at, because the names may be what the partner refuses. */
function otherNames(endpoint: AnyEndpoint, code: string | undefined, fields: readonly string[]): string | undefined {
  if (code !== undefined && code !== 'INVALID_REQUEST') return undefined;
  const chosen = (endpoint.assumed ?? []).map((key) => (assumptions as Record<string, Assumption>)[key]?.override);
  const override = NAMING.find((one) => chosen.includes(one));
  // Names inside the array of values are shown.
  if (override === undefined || (override === 'valuesBulkKey' && fields.length > 0)) return undefined;
  return (
    'the data was refused; the specification does not show the names used here, so if this partner has others, set ' +
    `partner.overrides.${override} for ${endpoint.id}`
  );
}

/** Amounts of credits, and the names of the refused fields. Texts of details may repeat sent values. */
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

/**
 * True for `{}`, `{ data: null }` or an error inside a 200: a server in trouble answers like this, and may have the
 * record the next time. A list or record in another form is not hollow.
 */
function isHollow({ list }: AnyEndpoint, body: unknown): boolean {
  if (!isRecord(body)) return typeof body !== 'object' || isNothing(body);
  if (list !== undefined && Array.isArray(valueAt(body, list.itemsAt))) return false;
  return Object.entries(body).every(([key, value]) => key === 'error' || typeof value !== 'object' || isNothing(value));
}

function isNothing(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value).every(isNothing));
}

function unreadable(
  { endpoint, input }: AskedCall,
  answer: HttpAnswer,
  code: string,
  why: string,
  repeated: ErrorAction = code === 'UNEXPECTED_ANSWER' ? actionForStatus(500, true) : 'reject',
): ConnectorError {
  return new ConnectorError({
    code,
    // A read that does not fit will not fit the next time; an HTML page may be gone then; a write may have been carried
    // out.
    action: isRepeatable(endpoint) ? repeated : 'unknown',
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

/** Only text in the form of an id: a name or an address in its place must not reach a message. */
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

/** The fields that the contract lets us send. */
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

/** The raw records of a parsed list body. */
export function rawItems(list: ListShape, body: unknown): unknown[] {
  const items = valueAt(body, list.itemsAt);
  return Array.isArray(items) ? items : [];
}

/** Records with their fields under the contract's names; other fields stay as received. */
export function underOurNames(records: readonly unknown[], names: Readonly<Record<string, string>> = {}): unknown[] {
  const paths = Object.entries(names);
  if (paths.length === 0) return [...records];
  return records.map((record) =>
    isRecord(record)
      ? { ...record, ...Object.fromEntries(paths.map(([name, path]) => [name, valueAt(record, path) ?? null])) }
      : record,
  );
}

/** Reads records one by one, so that one that does not fit does not spoil its page. */
export function readItems(list: ListShape, raw: readonly unknown[]): ReadItems<unknown> {
  const items: unknown[] = [];
  const unreadable: UnreadableItem[] = [];
  const read = readerOf(list.item);
  for (const [index, value] of raw.entries()) {
    const item = read(value);
    const parsed = item === UNFIT ? list.item.safeParse(value) : { success: true as const, data: item };
    if (parsed.success) items.push(parsed.data);
    else unreadable.push({ index, ...idOf(list, value), reason: issuesText(parsed.error) });
  }
  return { items, unreadable };
}

const readers = new WeakMap<ListShape['item'], Reader>();

function readerOf(schema: ListShape['item']): Reader {
  const known = readers.get(schema) ?? compileReader(schema);
  readers.set(schema, known);
  return known;
}

/** The record's id as text, if it has one. */
export function idOf(list: ListShape, value: unknown): { id?: string } {
  const id = valueAt(value, list.idKey) ?? (list.idAlso === undefined ? undefined : valueAt(value, list.idAlso));
  return typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {};
}

/** Stands for a value that the schema refuses. */
export const UNFIT = Symbol('unfit');

/** A schema's output for a JSON value, or UNFIT. A value that already fits is not copied. */
type Reader = (value: unknown) => unknown;

type Schema = z.core.$ZodTypes;

/**
 * A schema as plain functions, a fifth of zod's time for a candidate. They cover the parts of records; zod handles any
 * other part of a schema, and explains why a value is unfit.
 */
export function compileReader(of: z.core.$ZodType): Reader {
  const schema = of as Schema;
  return compile(schema) ?? askZod(schema);
}

function askZod(schema: Schema): Reader {
  return (value) => {
    const parsed = z.safeParse(schema, value);
    return parsed.success ? parsed.data : UNFIT;
  };
}

function compile(schema: Schema): Reader | undefined {
  const { def } = schema._zod;
  if (def.type === 'string') return textReader(def);
  if (def.type === 'pipe') return pipeReader(def);
  if (def.type === 'object') return objectReader(def, askZod(schema));
  if (hasRules(def)) return undefined;
  if (def.type === 'nullable') return except(null, compileReader(def.innerType));
  if (def.type === 'optional') return mayBeAbsent(schema) ? except(undefined, compileReader(def.innerType)) : undefined;
  if (def.type === 'unknown') return (value) => value;
  if (def.type === 'number') return (value) => (Number.isFinite(value) ? value : UNFIT);
  if (def.type === 'boolean') return (value) => (typeof value === 'boolean' ? value : UNFIT);
  if (def.type === 'array') return listReader(compileReader(def.element));
  return def.type === 'union' && def.inclusive !== false ? unionReader(def.options.map(compileReader)) : undefined;
}

/** An absent value stays absent, although a default would fill it. */
function mayBeAbsent(schema: Schema): boolean {
  const { def } = schema._zod;
  return def.type === 'optional' && !hasRules(def) && askZod(schema)(undefined) === undefined;
}

/** Rules beyond the type. */
function hasRules(def: z.core.$ZodTypeDef): boolean {
  return (def.checks ?? []).length > 0 || 'format' in def || 'coerce' in def;
}

/** Texts with the rules of ids; others have forms of their own. */
function textReader(def: z.core.$ZodStringDef): Reader | undefined {
  const rules = (def.checks ?? []).map(({ _zod }) => ruleOf(_zod.def));
  if (rules.includes(undefined) || 'format' in def || 'coerce' in def) return undefined;
  if (rules.length === 0) return (value) => (typeof value === 'string' ? value : UNFIT);
  return (value) => (typeof value === 'string' && rules.every((rule) => rule?.(value) === true) ? value : UNFIT);
}

function ruleOf(def: Partial<Rule> & { check: string }): ((text: string) => boolean) | undefined {
  const { check, minimum, fn } = def;
  if (check === 'min_length' && minimum !== undefined) return (text) => text.length >= minimum;
  return check === 'custom' && fn !== undefined ? (text) => Boolean(fn(text)) : undefined;
}

interface Rule {
  /** Of `.min()`. */
  minimum: number;
  /** Of `.refine()`. */
  fn: (text: string) => unknown;
}

function except(alone: null | undefined, read: Reader): Reader {
  return (value) => (value === alone ? alone : read(value));
}

function unionReader(readers: readonly Reader[]): Reader {
  return (value) => {
    for (const read of readers) {
      const one = read(value);
      if (one !== UNFIT) return one;
    }
    return UNFIT;
  };
}

function listReader(readItem: Reader): Reader {
  return (value) => {
    if (!Array.isArray(value)) return UNFIT;
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const item = readItem(value[index]);
      if (item === UNFIT) return UNFIT;
      if (item !== value[index]) (copy ??= [...(value as unknown[])])[index] = item;
    }
    return copy ?? value;
  };
}

/** Only objects that keep fields they do not know. */
function objectReader(def: z.core.$ZodObjectDef, ask: Reader): Reader | undefined {
  const keepsOthers = def.catchall?._zod.def.type === 'unknown';
  if (!keepsOthers || hasRules(def)) return undefined;
  const fields = Object.entries(def.shape).map(([name, schema]) => {
    return { name, isOptional: mayBeAbsent(schema as Schema), read: compileReader(schema) };
  });
  return (value) => {
    if (!isRecord(value)) return UNFIT;
    // Zod leaves this one out.
    if (Object.hasOwn(value, '__proto__')) return ask(value);
    let copy: Record<string, unknown> | undefined;
    for (const { name, isOptional, read } of fields) {
      const field = value[name];
      if (field === undefined && isOptional) continue;
      // A field's own schema does not say whether it may be absent.
      const one = field === undefined ? UNFIT : read(field);
      if (one === UNFIT) return field === undefined ? ask(value) : UNFIT;
      if (one !== field) (copy ??= { ...value })[name] = one;
    }
    return copy ?? value;
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `z.preprocess`, if its function only converts the value. */
function pipeReader(def: z.core.$ZodPipeDef): Reader | undefined {
  const before = (def.in as Schema)._zod.def;
  if (before.type !== 'transform' || before.transform.length > 1 || hasRules(def)) return undefined;
  const change = before.transform as (value: unknown) => unknown;
  const read = compileReader(def.out);
  return (value) => read(change(value));
}

/** Paths with their faults, at most five; never a value. */
function issuesText(error: z.ZodError): string {
  const texts = error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'body'}: ${issueText(issue)}`);
  return texts.join('; ') + (error.issues.length > 5 ? `; and ${error.issues.length - 5} more` : '');
}

/** The fault, in words without values. zod's own messages are not used: a later version may quote the input. */
export function issueText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'too_small':
      return `at least ${issue.minimum}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'email' ? 'is not a valid e-mail address' : `expected the form ${issue.format}`;
    case 'invalid_value':
      return `expected one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `unknown keys ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return 'fits none of the forms allowed';
    case 'invalid_key':
    case 'invalid_element':
      return 'holds an entry of the wrong form';
    case 'custom':
      return issue.message;
  }
}

const repeatableMethods = new Set(['GET', 'PUT', 'PATCH', 'DELETE']);
/** Despite its method: the specification leaves open whether steps sent twice are appended twice (L2). */
const notRepeatable = new Set(['assessmentFlows.update']);
/** POSTs that set a value on its full key (section 2.5). */
const upserts = new Set(['customFieldValues.upsert', 'customFieldValues.upsertBulk']);

/**
 * True if repeating the call is harmless, so that a lost answer means `retry` and not `unknown`. This holds for calls
 * that may be split (bulk fetches and upserts), and never for calls that cost a credit.
 */
export function isRepeatable(endpoint: AnyEndpoint): boolean {
  if (endpoint.costsCredit === true || notRepeatable.has(endpoint.id)) return false;
  return repeatableMethods.has(endpoint.method) || endpoint.chunk !== undefined || isUpsert(endpoint);
}

export function isUpsert({ id }: AnyEndpoint): boolean {
  return upserts.has(id);
}

/** True for calls that change something at the partner; a POST that fetches many records by id does not. */
export function isWrite(endpoint: AnyEndpoint): boolean {
  return endpoint.method !== 'GET' && (endpoint.chunk === undefined || isUpsert(endpoint));
}
