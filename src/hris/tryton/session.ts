import { z } from 'zod';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { Priority } from '../../rate-limit/rate-limit.ts';
import { callHris, type HrisLimits, type HrisLine, openLine, readJson } from '../http-line.ts';
import { employeeUrl, pageBelow } from '../option-types.ts';
import type { FieldDef } from '../port.ts';

const scalarTypes = ['text', 'number', 'date', 'boolean'] as const;

/** A field that a Tryton module adds to parties or employees. */
const extraField = z.strictObject({
  model: z.enum(['party', 'employee'], 'expected party or employee'),
  name: z.string().regex(/^[a-z_][a-z0-9_]*$/, "expected the field's name in Tryton"),
  label: z.string().optional(),
  type: z.enum(scalarTypes).default('text'),
  required: z.boolean().default(false),
});

/** The options beside `kind: tryton` and `connection` in a tenant file. */
export const trytonOptions = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'expected the address of the server, https://...' }),
    database: z.string().min(1),
    user: z.string().min(1),
    /** A reference in the tenant file. */
    password: z.string().min(1),
    /** The id of the company in Tryton in which employees are created. */
    company: z.int().positive(),
    /** The page of an employee, if it is not at `url`: https://hr.example/people/{id}. */
    employeeUrl: employeeUrl.optional(),
    fields: z.record(z.string(), extraField).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .transform((options) => ({ employeeUrl: pageBelow(options.url, webClient(options)), ...options }));

/** The page of an employee in Tryton's web client. Assumed to be on the same server (README). */
function webClient({ database }: { database: string }): string {
  return `/#${encodeURIComponent(database)}/model/company.employee/{id}`;
}

export type TrytonOptions = z.output<typeof trytonOptions>;

/** Names of a party's contact mechanisms, ours and Tryton's. */
export const CONTACTS = { email: 'email', phone: 'phone', mobile: 'mobile', website: 'website' } as const;

/** Parts of a party's first address. */
export const ADDRESS = { street: 'street', postalCode: 'postal_code', city: 'city' } as const;

const LABELS: Readonly<Record<string, string>> = {
  email: 'E-mail',
  phone: 'Phone',
  mobile: 'Mobile phone',
  website: 'Website',
  street: 'Street',
  postalCode: 'Postal code',
  city: 'City',
};

/** The fields that an employee mapping may write. */
export function trytonFields({ fields }: TrytonOptions): FieldDef[] {
  const text = { type: 'text', required: false, writable: true } as const;
  return [
    { ...text, key: 'name', label: 'Name', required: true },
    ...[...Object.keys(CONTACTS), ...Object.keys(ADDRESS)].map((key) => ({
      ...text,
      key,
      label: LABELS[key] ?? key,
      ...(Object.hasOwn(CONTACTS, key) && { isLookedUp: true as const }),
    })),
    { key: 'startDate', label: 'Start date', type: 'date', required: false, writable: true },
    { key: 'endDate', label: 'End date', type: 'date', required: false, writable: true },
    ...Object.entries(fields).map(([key, { model, name, label, type, required }]) => ({
      key,
      place: `${model}.${name}`,
      label: label ?? key,
      type,
      required,
      writable: true,
      ...(type === 'text' && { isLookedUp: true as const }),
    })),
  ];
}

interface RpcCall {
  /** `model.party.party.create`. */
  method: string;
  params: readonly unknown[];
  /** Added to the session's own. */
  context?: Record<string, unknown>;
  signal: AbortSignal;
  priority?: Priority;
  /** Set for calls that write. Called directly before the bytes leave. */
  beforeSend?: () => void;
}

interface RpcAnswer<T> {
  result: T;
  /** When the answer was given, by the server's clock. */
  date: string | undefined;
}

export interface TrytonSession {
  call<T>(call: RpcCall): Promise<T>;
  ask<T>(call: RpcCall): Promise<RpcAnswer<T>>;
  close(): Promise<void>;
}

/** After some wrong passwords the server locks a user for everybody: wait this long after a refused one. */
const REFUSED_LOGIN_MS = 60_000;
const LOGIN = 'common.db.login';
/** The server throttles logins with 429 and no Retry-After. */
const THROTTLED_LOGIN_MS = 60_000;

/** Logs in at the first call, and again when the session has ended. */
export function openSession(options: TrytonOptions, limits: HrisLimits): TrytonSession {
  const line = openLine(options.url, { allowPrivate: options.allowPrivateAddress, limits });
  let session: Promise<string> | undefined;
  let refused: { error: ConnectorError; until: number } | undefined;

  function authorization(signal: AbortSignal): Promise<string> {
    if (refused !== undefined && refused.until > performance.now()) return Promise.reject(refused.error);
    session ??= logIn(line, options, signal).catch((error: unknown) => {
      session = undefined;
      if (isConnectorError(error, 'HRIS_AUTH')) refused = { error, until: performance.now() + REFUSED_LOGIN_MS };
      throw error;
    });
    return session;
  }

  async function ask<T>(call: RpcCall): Promise<RpcAnswer<T>> {
    const held = authorization(call.signal);
    try {
      return await send<T>(line, options, call, await held);
    } catch (error) {
      if (!isConnectorError(error, 'HRIS_AUTH')) throw error;
      // Sessions end after some minutes. A call answered 401 was not carried out, so repeat it. Another caller may have
      // logged in again since: then this one only needs to ask again.
      if (session === held) session = undefined;
      return send<T>(line, options, call, await authorization(call.signal));
    }
  }

  return {
    ask,
    call: async <T>(call: RpcCall) => (await ask<T>(call)).result,
    close: () => line.close(),
  };
}

async function logIn(line: HrisLine, options: TrytonOptions, signal: AbortSignal): Promise<string> {
  const { user, password } = options;
  try {
    const login = { method: LOGIN, params: [user, { password }], signal };
    const { result } = await post<[number, string] | null>(line, options, login, {
      'content-type': 'application/json',
    });
    if (result === null) throw refusedLogin();
    const [userId, key] = result;
    return `Session ${Buffer.from(`${user}:${userId}:${key}`).toString('base64')}`;
  } catch (error) {
    if (isConnectorError(error, 'HRIS_AUTH')) throw refusedLogin();
    if (!isConnectorError(error, 'RATE_LIMITED') || error.retryAfterMs !== undefined) throw error;
    const { code, action, message, status } = error;
    throw new ConnectorError({ code, action, message, status, retryAfterMs: THROTTLED_LOGIN_MS });
  }
}

function refusedLogin(): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_AUTH',
    action: 'reauthorize',
    message: 'Tryton refuses this user or its password. Check hris.user and the secret behind hris.password.',
  });
}

function send<T>(line: HrisLine, options: TrytonOptions, call: RpcCall, authorization: string): Promise<RpcAnswer<T>> {
  const context = { company: options.company, active_test: false, ...call.context };
  const headers = { 'content-type': 'application/json', authorization };
  return post<T>(line, options, { ...call, params: [...call.params, context] }, headers);
}

async function post<T>(
  line: HrisLine,
  { database }: TrytonOptions,
  { method, params, signal, beforeSend, priority }: RpcCall,
  headers: Record<string, string>,
): Promise<RpcAnswer<T>> {
  const idempotent = beforeSend === undefined;
  const what = `Tryton's ${method}`;
  const answer = await callHris(line, {
    what,
    // Logins have a separate limit for each user.
    endpoint: method === LOGIN ? 'login' : undefined,
    priority,
    method: 'POST',
    path: `/${encodeURIComponent(database)}/`,
    headers,
    body: JSON.stringify({ id: 1, method, params }),
    idempotent,
    signal,
    beforeSend,
  });
  const read = readJson(answer, { what, idempotent });
  const { result, error } = read as { result?: unknown; error?: unknown };
  if (error !== undefined && error !== null) throw explainRpcError(what, error);
  const decoded = JSON.parse(JSON.stringify(result ?? null), decodeValue) as T;
  return { result: decoded, date: answer.headers.date };
}

/**
 * Tryton answers errors with 200, after rolling back. `said` may quote values, so it is not shown here; nor is what
 * stands for the name of an error that is not Tryton's own: its text.
 */
function explainRpcError(what: string, error: unknown): ConnectorError {
  const [name, args] = Array.isArray(error) ? error : [error, []];
  const known = BY_NAME[String(name)];
  const { code, action, hint } = known ?? (BUSY.test(String(name)) ? BUSY_ERROR : UNKNOWN_ERROR);
  const said = Array.isArray(args) ? args.filter((one) => typeof one === 'string').join(' ') : '';
  return new ConnectorError({
    code,
    action,
    message: `${what} was refused${known === undefined ? '' : ` (${String(name)})`}: ${hint}.`,
    cause: said,
  });
}

/** Of PostgreSQL and SQLite, whose transactions got in each other's way. */
const BUSY = /^(could not serialize access|deadlock detected|database is locked)/;
const BUSY_ERROR = { code: 'HRIS_BUSY', action: 'retry', hint: 'its database was busy with the same records' } as const;

const UNKNOWN_ERROR = {
  code: 'HRIS_ERROR',
  action: 'reject',
  hint: 'a model, field or module may be missing; its own log says more',
} as const;

const BY_NAME: Readonly<Record<string, Pick<ConnectorError, 'code' | 'action'> & { hint: string }>> = {
  UserError: { code: 'INVALID_VALUE', action: 'reject', hint: 'it does not accept a value' },
  UserWarning: { code: 'INVALID_VALUE', action: 'reject', hint: 'it wants a person to confirm a warning' },
  ConcurrencyException: { code: 'STALE', action: 'retry', hint: 'somebody changed the record meanwhile' },
  LoginException: { code: 'HRIS_AUTH', action: 'reauthorize', hint: 'log in again' },
};

/**
 * Tryton's JSON: dates, instants and decimals are objects with `__class__` (trytond/protocols/jsonrpc.py). Here dates
 * are `YYYY-MM-DD`, instants UTC ISO text, decimals text, and bytes base64 text.
 */
export function encodeDate(text: string): unknown {
  const [year, month, day] = text.split('-').map(Number);
  return { __class__: 'date', year, month, day };
}

/** An instant in the form of `decodeValue`. */
export function encodeInstant(text: string): unknown {
  const [year, month, day, hour, minute, second, microsecond] = (text.match(/\d+/g) ?? []).map(Number);
  return { __class__: 'datetime', year, month, day, hour, minute, second, microsecond };
}

function decodeValue(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || !('__class__' in value)) return value;
  const parts = value as Record<string, unknown>;
  return DECODERS[String(parts['__class__'])]?.(parts) ?? value;
}

const DECODERS: Readonly<Record<string, (parts: Record<string, unknown>) => string>> = {
  date: (parts) => dayOf(parts),
  datetime: (parts) =>
    `${dayOf(parts)}T${['hour', 'minute', 'second'].map((name) => padded(parts[name], 2)).join(':')}` +
    `.${padded(parts['microsecond'], 6)}Z`,
  Decimal: (parts) => String(parts['decimal']),
  bytes: (parts) => String(parts['base64']),
};

function dayOf(parts: Record<string, unknown>): string {
  return `${padded(parts['year'], 4)}-${padded(parts['month'], 2)}-${padded(parts['day'], 2)}`;
}

function padded(value: unknown, length: number): string {
  return String(Number(value ?? 0)).padStart(length, '0');
}
