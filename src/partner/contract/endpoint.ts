import { z } from 'zod';
import { LooseNumber } from './shapes.ts';

/**
 * An endpoint of the Recruitment Partner API as data. Client, sandbox and OpenAPI are three folds over a tree of these
 * (src/partner/contract/index.ts), so this definition binds all three.
 */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** Path in the tree: `jobCandidates.move`. Unique. */
  id: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, which ends in /v1/partner: `/job-candidates/:jobCandidateId/stage`. */
  path: `/${string}`;
  /** Section of the specification, for example `4.4`. */
  section: string;
  summary: string;
  /** Path parameters as they arrive in the URL (text); coerced where the spec says integer. */
  params?: Params;
  /** Query as it arrives in the URL (text values). */
  query?: Query;
  body?: Body;
  /** The body may be left out altogether (terminate). */
  bodyOptional?: boolean;
  /** The one success status; `okStatuses` where two are possible (stage upsert: 201 create, 200 update). */
  status: 200 | 201 | 202;
  okStatuses?: readonly number[];
  /** Family of the success body, section 1 rule 4. */
  envelope: 'bare' | 'status-data' | 'success-data' | 'campaign';
  /**
   * The whole success body, envelope included. Tolerant: unknown keys are kept. Lists hold `unknown` items, see `list`.
   */
  response: Response;
  /**
   * For lists: where the items stand in the body and how one is read, so one unreadable record does not spoil its page.
   */
  list?: ListShape;
  errors: readonly ErrorCase[];
  /** Costs a credit: never sent twice by the client and never split. */
  costsCredit?: boolean;
  /** Over-limit input the client may split into chunks: the body key that holds the array, and its limit. */
  chunk?: { key: string | null; max: number };
  /** Points that the spec leaves open here, with the chosen reading: keys of `assumptions`. */
  assumed?: readonly string[];
}

export interface ListShape<Item extends z.ZodType = z.ZodType> {
  /** Dotted path of the array in the parsed body: `data`, `jobs`, `data.candidates`. */
  itemsAt: string;
  item: Item;
  /** Dotted path of the record's id in an item, for quarantine messages. */
  idKey: string;
  /** Where it stands instead at some partners. */
  idAlso?: string;
  /** How pages are asked for; absent where the list has no pages. */
  paging?: {
    pageParam: string;
    firstPage: 0 | 1;
    sizeParam: string;
    /** The sizes allowed, or the maximum. */
    sizes: readonly number[] | { max: number };
    /**
     * How the end is known: a total at this dotted path, a flag, or a short page. Where that is absent: an empty page.
     */
    end: { totalAt: string } | { hasNextAt: string } | 'short-page';
  };
}

export interface ErrorCase {
  code: string;
  type: string;
  status: 400 | 401 | 402 | 403 | 404 | 409 | 429 | 500;
  /** The condition of section 7, in a few words. */
  when: string;
  /**
   * The query or body field this code is about: a bad `perPage` is INVALID_PER_PAGE, any other field INVALID_REQUEST.
   */
  field?: string;
  /**
   * Form of the body where it is not the canonical `{ error: {...} }`: `auth` is `{ message }`, `account` is
   * `{ code, message }`, `workspace` (users, teams) is `{ statusCode, code, type, errorMessage }`.
   */
  shape?: 'auth' | 'account' | 'workspace';
}

/** Names an endpoint; only there so that the schemas' types are inferred. */
export function defineEndpoint<
  P extends z.ZodType = z.ZodUndefined,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodType,
  const L extends ListShape | undefined = undefined,
>(endpoint: Omit<Endpoint<P, Q, B, R>, 'list'> & { list?: L }): Omit<Endpoint<P, Q, B, R>, 'list'> & { list: L } {
  return endpoint as Omit<Endpoint<P, Q, B, R>, 'list'> & { list: L };
}

/** Section 7: every code with its type and status, and the bodies they come in. */
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

export interface PartnerError {
  /** Undefined for a flat body without a code: by the status it is the key (401, 403). */
  code: string | undefined;
  type: string | undefined;
  /** The partner's own words; may hold personal data: the client hands them to nobody. */
  message: string | undefined;
  details: Record<string, unknown> | undefined;
}

/**
 * One form of every error body of sections 5 and 7; undefined when the body is none of them (HTML, truncated). A part
 * in another form than `ErrorBody` is left out: it must not hide the code beside it.
 */
export function readErrorBody(body: unknown): PartnerError | undefined {
  if (!isObject(body)) return undefined;
  const inner = isObject(body['error']) ? body['error'] : body;
  const code = textIn(inner, 'code') ?? textIn(body, 'code');
  const message = textIn(inner, 'message', 'errorMessage') ?? textIn(body, 'message', 'errorMessage');
  if (code === undefined && message === undefined) return undefined;
  const details = [inner['details'], body['details']].find(isObject);
  return { code, type: textIn(inner, 'type') ?? textIn(body, 'type'), message, details };
}

/** The first text of these names, or of a list under one of them. */
function textIn(part: Record<string, unknown>, ...names: string[]): string | undefined {
  const values: unknown[] = names.flatMap((name) => part[name]);
  return values.find((value) => typeof value === 'string' && value !== '') as string | undefined;
}

/**
 * The four families of success bodies (section 1, rule 4). Reading is tolerant where an open question leaves the form
 * open: a body without its wrapper is wrapped, a list that stands elsewhere is moved to where the contract says.
 */
/** `{ status: "success", data, message?, pagination? }`. A bare value (B7) is read as if it were wrapped. */
export function statusData<Data extends z.ZodType>(data: Data) {
  return z.preprocess(
    (body: unknown) => wrapBare(body),
    z.looseObject({ status: z.string(), data, message: z.string().nullish() }),
  );
}

/** `{ status: "success", message }`: a confirmation without a record; data is kept where it comes. */
export const Confirmation = z.preprocess(
  (body: unknown) => withStatus(body),
  z.looseObject({ status: z.string(), message: z.string().nullish() }).meta({ id: 'Confirmation' }),
);

/**
 * Answer of a write whose record is not fully shown: it may be missing, a list of one, or only an id (F12, K2, O2). The
 * write has happened, so an answer in another form must not look like a failure.
 */
export function writeOutcome<Shape extends z.ZodRawShape>(record: z.ZodObject<Shape, z.core.$loose>) {
  return z.preprocess(
    (body: unknown) => wrapBare(withStatus(body)),
    z.looseObject({
      status: z.string(),
      data: z.preprocess(oneRecord, record.partial()),
      message: z.string().nullish(),
    }),
  );
}

/** `{ success: true, data }`: bulk resume upload and batch retrieval. */
export function successData<Data extends z.ZodType>(data: Data) {
  return z.looseObject({ success: z.boolean(), data, message: z.string().nullish() });
}

/** A list as `{ status, data: [...] }`; items stay unread, see `list` of the endpoint. */
export function statusList(...alsoAt: string[]) {
  return z.preprocess(
    (body: unknown) => movePagination(moveList(wrapBare(body), 'data', alsoAt), body),
    z.looseObject({ status: z.string(), data: z.array(z.unknown()) }),
  );
}

/** The list a bulk write answers with; empty where it answers with something else (F12). */
export function writtenList(...alsoAt: string[]) {
  return z.preprocess(
    (body: unknown) => orEmpty(moveList(wrapBare(withStatus(body)), 'data', alsoAt), 'data'),
    z.looseObject({ status: z.string(), data: z.array(z.unknown()), message: z.string().nullish() }),
  );
}

/** `{ page, perPage, total }` beside `data`: users, flow candidates, and by assumption every listing not shown. */
const PerPagePagination = z
  .looseObject({ page: LooseNumber.nullish(), perPage: LooseNumber.nullish(), total: LooseNumber.nullish() })
  .meta({ id: 'PerPagePagination' });

/** `{ page, limit, total, totalPages }`: assessments, onboarding, campaigns. */
const LimitPagination = z
  .looseObject({
    page: LooseNumber.nullish(),
    limit: LooseNumber.nullish(),
    total: LooseNumber.nullish(),
    totalPages: LooseNumber.nullish(),
  })
  .meta({ id: 'LimitPagination' });

/**
 * A list as `{ status, data: [...], pagination: { page, perPage, total } }`; in an object of which it is the only list,
 * under any name.
 */
export function statusPage(...alsoAt: string[]) {
  return z.preprocess(
    (body: unknown) => movePagination(moveList(wrapBare(body), 'data', [...alsoAt, ...onlyListOf(body)]), body),
    z.looseObject({ status: z.string(), data: z.array(z.unknown()), pagination: PerPagePagination.nullish() }),
  );
}

/** A list as `{ status, data: { [key]: [...], pagination } }`. */
export function statusKeyedPage<const Key extends string>(key: Key, ...alsoAs: string[]) {
  return z.preprocess(
    (body: unknown) => intoKeyed(body, key, alsoAs),
    z.looseObject({
      status: z.string(),
      data: z.looseObject({ [key]: z.array(z.unknown()), pagination: LimitPagination.nullish() }),
    }),
  );
}

/** A campaign family list `{ [key]: [...], pagination? }`; `{ data: [...] }` and a bare array are read too. */
export function keyedList<const Key extends string>(key: Key) {
  return z.preprocess(
    (body: unknown) => movePagination(intoList(body, key), body),
    z.looseObject({ [key]: z.array(z.unknown()), pagination: LimitPagination.nullish() }),
  );
}

/** The same of a write; empty where it answers with something else (M1). */
export function writtenKeyedList<const Key extends string>(key: Key) {
  return z.preprocess(
    (body: unknown) => orEmpty(intoList(body, key), key),
    z.looseObject({ [key]: z.array(z.unknown()) }),
  );
}

function intoList(body: unknown, key: string): unknown {
  return moveList(Array.isArray(body) ? { [key]: body } : body, key, ['data', `data.${key}`]);
}

/** Value at a dotted path of a JSON body; undefined where the way ends. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const key of path.split('.')) {
    if (!isObject(value)) return undefined;
    value = value[key];
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrapBare(body: unknown): unknown {
  if (Array.isArray(body)) return { status: 'success', data: body };
  if (!isObject(body) || 'data' in body || 'error' in body || ('status' in body && 'message' in body)) return body;
  return { status: 'success', data: body };
}

function moveList(body: unknown, key: string, alsoAt: readonly string[]): unknown {
  if (!isObject(body) || Array.isArray(body[key])) return body;
  const found = alsoAt.map((path) => valueAt(body, path)).find((value) => Array.isArray(value));
  return found === undefined ? body : { ...body, [key]: found, pagination: pagination(body) };
}

/** Where the only list of `data` stands, beside nothing but counts and flags: a record has texts, too. */
function onlyListOf(body: unknown): string[] {
  const data = valueAt(body, 'data');
  if (!isObject(data)) return [];
  const lists = Object.keys(data).filter((key) => Array.isArray(data[key]));
  const isRecord = 'id' in data || Object.values(data).some((value) => typeof value === 'string');
  return lists.length === 1 && !isRecord ? lists.map((key) => `data.${key}`) : [];
}

/** Where else than in `pagination.total` a listing may say how many records there are (G12). */
const TOTALS = ['pagination.totalCount', 'total', 'totalCount', 'data.total', 'data.totalCount'];

/** `original` is the body before its list was moved. */
function movePagination(body: unknown, original: unknown): unknown {
  if (!isObject(body) || (valueAt(body, 'pagination.total') ?? undefined) !== undefined) return body;
  const total = TOTALS.map((path) => valueAt(original, path)).find(isCount);
  const shown = isObject(body['pagination']) ? body['pagination'] : {};
  return total === undefined ? body : { ...body, pagination: { ...shown, total } };
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
}

function intoKeyed(body: unknown, key: string, alsoAs: readonly string[]): unknown {
  const wrapped = wrapBare(body);
  if (!isObject(wrapped)) return wrapped;
  const { data } = wrapped;
  if (Array.isArray(data)) return { ...wrapped, data: { [key]: data, pagination: pagination(wrapped) } };
  if (!isObject(data)) return wrapped;
  const list = [data[key], ...alsoAs.map((name) => data[name])].find((value) => Array.isArray(value));
  if (list === undefined) return wrapped;
  return { ...wrapped, data: { pagination: wrapped['pagination'], ...data, [key]: list } };
}

function pagination(body: Record<string, unknown>): unknown {
  return body['pagination'] ?? valueAt(body, 'data.pagination');
}

function withStatus(body: unknown): unknown {
  if (body === undefined || body === null || body === '') return { status: 'success', message: null };
  return isObject(body) && body['success'] === true && !('status' in body) ? { status: 'success', ...body } : body;
}

function oneRecord(data: unknown): unknown {
  if (data === undefined || data === null) return {};
  if (Array.isArray(data)) return data[0] ?? {};
  return typeof data === 'number' || typeof data === 'string' ? { id: data } : data;
}

function orEmpty(body: unknown, key: string): unknown {
  return isObject(body) && !Array.isArray(body[key]) ? { ...body, [key]: [] } : body;
}
