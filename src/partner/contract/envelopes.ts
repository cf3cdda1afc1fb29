/**
 * The four families of success bodies (section 1, rule 4). Reading is tolerant where an open question leaves the form
 * open: a body without its wrapper is wrapped, a list that stands elsewhere is moved to where the contract says.
 */
import { z } from 'zod';
import { LooseNumber } from './shapes.ts';

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
export type Confirmation = z.infer<typeof Confirmation>;

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
    (body: unknown) => moveList(wrapBare(body), 'data', alsoAt),
    z.looseObject({ status: z.string(), data: z.array(z.unknown()) }),
  );
}

/** The list a bulk write answers with; empty where it answers with something else (F12). */
export function writtenList(...alsoAt: string[]) {
  return z.preprocess(
    (body: unknown) => orEmpty(moveList(wrapBare(withStatus(body)), 'data', alsoAt)),
    z.looseObject({ status: z.string(), data: z.array(z.unknown()), message: z.string().nullish() }),
  );
}

/** `{ page, perPage, total }` beside `data`: users, flow candidates, and by assumption every listing not shown. */
export const PerPagePagination = z
  .looseObject({ page: LooseNumber.nullish(), perPage: LooseNumber.nullish(), total: LooseNumber.nullish() })
  .meta({ id: 'PerPagePagination' });

/** `{ page, limit, total, totalPages }`: assessments, onboarding, campaigns. */
export const LimitPagination = z
  .looseObject({
    page: LooseNumber.nullish(),
    limit: LooseNumber.nullish(),
    total: LooseNumber.nullish(),
    totalPages: LooseNumber.nullish(),
  })
  .meta({ id: 'LimitPagination' });

/** A list as `{ status, data: [...], pagination: { page, perPage, total } }`. */
export function statusPage(...alsoAt: string[]) {
  return z.preprocess(
    (body: unknown) => movePagination(moveList(wrapBare(body), 'data', alsoAt)),
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
    (body: unknown) => moveList(Array.isArray(body) ? { [key]: body } : body, key, ['data', `data.${key}`]),
    z.looseObject({ [key]: z.array(z.unknown()), pagination: LimitPagination.nullish() }),
  );
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

function movePagination(body: unknown): unknown {
  if (!isObject(body) || isObject(body['pagination'])) return body;
  const total = body['total'] ?? body['totalCount'] ?? valueAt(body, 'pagination.totalCount');
  return typeof total === 'number' ? { ...body, pagination: { total } } : body;
}

function intoKeyed(body: unknown, key: string, alsoAs: readonly string[]): unknown {
  const wrapped = wrapBare(body);
  if (!isObject(wrapped)) return wrapped;
  const { data } = wrapped;
  if (Array.isArray(data)) return { ...wrapped, data: { [key]: data, pagination: pagination(wrapped) } };
  if (!isObject(data) || Array.isArray(data[key])) return wrapped;
  const other = alsoAs.map((name) => data[name]).find((value) => Array.isArray(value));
  return other === undefined ? wrapped : { ...wrapped, data: { ...data, [key]: other } };
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

function orEmpty(body: unknown): unknown {
  return isObject(body) && !Array.isArray(body['data']) ? { ...body, data: [] } : body;
}
