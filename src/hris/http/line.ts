import { ConnectorError, isConnectorError, rejected, unless } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import { type HttpAnswer, readRetryAfter } from '../../http/http-error.ts';
import type { Priority } from '../../rate-limit/rate-limit.ts';
import { callHris, type HrisLimits, type HrisLine, mayBeDone, openLine, readJson } from '../http-line.ts';
import { cellText } from '../read-cell.ts';
import { withoutValues } from '../records.ts';
import { rendered, type Values } from './expression.ts';
import type { CallPlan, HttpDefinition } from './load-definition.ts';
import { type Carried, loginOrigin, openAccountCheck, openSession } from './session.ts';

/** What a definition's calls need from a tenant file. */
export interface LineOptions {
  url: string;
  allowPrivateAddress: boolean;
  /** The definition's own options. */
  own: Values;
  /** Called for each request before it leaves; returns additional headers. */
  watch?: ((plan: CallPlan) => { headers: Record<string, string>; answered(status: number): void }) | undefined;
}

export interface Call {
  plan: CallPlan;
  values?: Values;
  signal: AbortSignal;
  priority?: Priority | undefined;
  /** Repeating the call is harmless, by default. */
  idempotent?: boolean;
  beforeSend?: (() => void) | undefined;
  /** The values sent: they are removed from the system's error text before it is shown. */
  sent?: EmployeeFields;
  /** The answer is bytes instead of JSON. */
  isRaw?: boolean;
  /** The call makes something: its caller looks for it where the answer is that it exists. */
  makes?: boolean;
  /** The call searches: without a row of the definition, a 404 says nothing of anybody. */
  isSearch?: boolean;
  /** Statuses that count as answers instead of refusals, unless a row of the definition says otherwise. */
  accepts?: readonly number[];
}

/** The whole answer, as expressions read it. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: unknown;
  at: HttpAnswer;
  /** The path that was asked, below that of `hris.url`, and that one alone. */
  asked: string;
  base: string;
}

export interface DefinedLine {
  send(call: Call): Promise<Answer>;
  /** What people may see of an answer, without secrets. */
  words(answer: Answer): Promise<string>;
  close(): Promise<void>;
}

/** An open connection of a kind that a definition describes. */
export interface Defined {
  definition: HttpDefinition;
  line: DefinedLine;
  /** The tenant's day, `YYYY-MM-DD`. */
  today: () => string;
  /** How long a read may miss a write. */
  readLagMs: number;
  /** The options of the definition, as placeholders. */
  own: Values;
}

/** A longer answer cannot be a list of employees. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Calls beside this one may use up a session of few calls before this one is answered. */
const MOST_RENEWALS = 3;

/** The line of one connection; logs in if the definition says how. */
export function openDefinedLine(definition: HttpDefinition, options: LineOptions, limits: HrisLimits): DefinedLine {
  const { own } = options;
  const { tls, limits: told } = definition;
  const settings = {
    allowPrivate: options.allowPrivateAddress,
    limits,
    tls: tls && { cert: cellText(tls.certificate(own)), key: cellText(tls.key(own)) },
    budget: Object.fromEntries(
      Object.entries(told ?? {}).flatMap(([usual, header]) =>
        header === undefined ? [] : [[`ratelimit-${usual}`, header]],
      ),
    ),
  };
  const line = openLine(options.url, settings);
  const origin = loginOrigin(definition.authorizing, own);
  const away = origin === undefined ? undefined : openLine(origin, settings);
  const open: OpenLine = { definition, options, line, plainOptions: plainly(own) };
  const letIn = (call: Call, carried: Carried, at: OpenLine, endpoint?: string): Promise<Answer> =>
    sendPlain(at, call, carried, endpoint).catch((error: unknown) => {
      throw ofWayIn(error, call.plan);
    });
  const session = openSession(definition.authorizing, own, (plan, signal) =>
    letIn({ plan, signal }, {}, { ...open, line: away ?? line }, 'login'),
  );
  const account = openAccountCheck(definition, own, (carried, signal) =>
    letIn({ plan: definition.probing, signal }, carried, open),
  );

  async function send(call: Call, more = MOST_RENEWALS): Promise<Answer> {
    const held = await session.carried();
    try {
      const isProbe = call.plan === definition.probing;
      if (!isProbe) await account.assure(held);
      const answer = await sendPlain(open, call, held);
      if (isProbe) await account.judge(answer);
      return answer;
    } catch (error) {
      // The next token may be one of the right account.
      if (isConnectorError(error, 'HRIS_OTHER_ACCOUNT')) session.renew(held);
      // A call answered 401 was not carried out, so repeat it: the session may have ended.
      if (!isConnectorError(error, 'HRIS_AUTH') || more === 0 || !session.renew(held)) throw error;
      return send(call, more - 1);
    }
  }

  return {
    send: (call) => send(call),
    words: async (answer) => wordsOf(open, answer, { sent: {}, carried: await session.carried() }),
    close: async () => void (await Promise.all([line.close(), away?.close()])),
  };
}

interface OpenLine {
  definition: HttpDefinition;
  options: LineOptions;
  line: HrisLine;
  /** The definition's options, without the prefix. */
  plainOptions: Readonly<Record<string, string>>;
}

/** Sends one request of the definition, without logging in. */
async function sendPlain(open: OpenLine, call: Call, carried: Carried, endpoint?: string): Promise<Answer> {
  const { definition, options, line } = open;
  const { own } = options;
  const values = { ...own, ...call.values };
  const { plan, signal, beforeSend, priority } = call;
  const { method, what } = plan;
  const { timeout } = definition;
  const { idempotent = true } = call;
  const watched = options.watch?.(plan);
  const stated = { ...rendered(definition.standing, values), ...rendered(plan.headers, values) };
  const content = await contentOf(plan, values, stated['content-type'] ?? definition.contentType);
  const plain = {
    method,
    path: addressOf(plan, values, carried.query ?? {}),
    headers: {
      accept: call.isRaw === true ? '*/*' : 'application/json',
      ...stated,
      ...carried.headers,
      ...watched?.headers,
      ...(content && { 'content-type': content.type }),
    },
    body: typeof content?.body === 'string' ? content.body : undefined,
  };
  const answerOf = (at: HttpAnswer, body: unknown): Answer => {
    const { status, headers } = at;
    return { status, headers, body, at, asked: plain.path.replace(/\?.*/s, ''), base: line.base };
  };
  const hooked = definition.hooks.request(plain, { ...open.plainOptions });
  let refused: HttpAnswer | undefined;
  const request = {
    what,
    method,
    path: hooked.path,
    headers: hooked.headers,
    body: typeof content?.body === 'object' ? content.body : hooked.body,
    idempotent,
    signal,
    beforeSend,
    priority,
    endpoint,
    maxBodyBytes: MOST_BYTES,
    ...(timeout === undefined ? {} : { timeouts: { headersMs: timeout, totalMs: timeout } }),
  };
  try {
    const answer = await callHris(line, request, (given) => {
      refused = given;
      watched?.answered(given.status);
      return {};
    });
    watched?.answered(answer.status);
    const isJson = answer.body.length > 0 && call.isRaw !== true;
    const read = answerOf(answer, isJson ? readJson(answer, { what, idempotent }) : undefined);
    const row = await rowFor(definition, read);
    if (row !== undefined) throw await refusalOf(open, call, read, { row, carried });
    return read;
  } catch (error) {
    if (refused === undefined || !isConnectorError(error)) throw error;
    const read = answerOf(refused, parsed(refused.body));
    const row = await rowFor(definition, read);
    const isAbsent = row === undefined || row.means === 'absent';
    if (isAbsent && call.accepts?.includes(refused.status) === true) return read;
    if (row === undefined && mayBeDone(refused) && plan === definition.creating) return read;
    throw await refusalOf(open, call, read, { row, cause: error, carried });
  }
}

function plainly(own: Values): Record<string, string> {
  return Object.fromEntries(Object.entries(own).map(([key, value]) => [key.slice('options.'.length), String(value)]));
}

/** The first row of `errors` that matches an answer. */
async function rowFor(definition: HttpDefinition, answer: Answer): Promise<Row | undefined> {
  for (const row of definition.refusals)
    if (row.status.includes(answer.status) && (row.when === undefined || isSomething(await row.when(answer))))
      return row;
  return undefined;
}

/** `when: body.error` means that there is one. As in JSONata, 0, `{}` and a list of such are none. */
function isSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isSomething);
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

type Row = HttpDefinition['refusals'][number];

/**
 * Only for writes, whose values are known and removed: an error about a search may quote anybody. An answer may quote
 * the credentials, too.
 */
async function wordsOf(
  { definition, options: { own } }: OpenLine,
  answer: Answer,
  { sent, carried }: Pick<Call, 'sent'> & { carried: Carried },
): Promise<string> {
  if (sent === undefined) return '';
  const said = [await definition.words?.(answer)].flat().filter((one) => typeof one === 'string');
  const secrets = Object.entries(definition.options).flatMap(([key, { secret }]) =>
    secret ? [own[`options.${key}`]] : [],
  );
  return withoutValues(said.join(' '), [...Object.values(sent), ...secrets, ...(carried.secrets ?? [])]);
}

/** A link to the next page may repeat our credentials, or show them blackened: only ours are sent. */
function addressOf(plan: CallPlan, values: Values, carried: Record<string, string>): string {
  // Only a login may have a whole address.
  const target = String(plan.path(values, encodeURIComponent)).replace(/^https?:\/\/[^/?]*/, '');
  const [path = '', own = ''] = target.split(/\?(.*)/s);
  const isCarried = (pair: string): boolean =>
    new URLSearchParams(pair).keys().some((name) => Object.hasOwn(carried, name));
  const kept = own === '' ? [] : own.split('&').filter((pair) => !isCarried(pair));
  const query = new URLSearchParams({ ...rendered(plan.query, values), ...carried }).toString();
  const whole = [...kept, query].filter((part) => part !== '').join('&');
  return whole === '' ? path : `${path}?${whole}`;
}

/** Content and its type: JSON, a URL-encoded form, or a multipart form. */
async function contentOf(
  { body: made, form }: CallPlan,
  values: Values,
  type: string,
): Promise<{ type: string; body: string | Buffer } | undefined> {
  if (form !== undefined) {
    const parts = new FormData();
    for (const [name, template] of Object.entries(form)) {
      const value = template(values);
      if (value !== undefined && value !== null) parts.set(name, value instanceof File ? value : cellText(value));
    }
    const encoded = new Response(parts);
    return { type: encoded.headers.get('content-type') ?? '', body: Buffer.from(await encoded.bytes()) };
  }
  const body = made?.(values);
  if (body === undefined) return undefined;
  if (!type.startsWith('application/x-www-form-urlencoded')) return { type, body: JSON.stringify(body) };
  const entries = Object.entries(body as Record<string, unknown>).map(([key, value]) => [key, cellText(value)]);
  return { type, body: new URLSearchParams(Object.fromEntries(entries) as Record<string, string>).toString() };
}

/** Parses a refusal, whose body may be anything. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The meaning of a status for every HR system, unless a row of the definition says otherwise. */
function meaningOf(status: number, { plan, isSearch = false, makes = false }: Call): string | undefined {
  if (status === 404) return plan.method === 'GET' || isSearch || makes ? undefined : 'absent';
  return { 400: 'reject', 412: 'stale', 422: 'reject', 429: 'throttle' }[status];
}

const MEANINGS: Readonly<Record<string, readonly [code: string, action: ConnectorError['action'], text: string]>> = {
  reject: ['INVALID_VALUE', 'reject', 'does not accept the data'],
  retry: ['HRIS_BUSY', 'retry', 'asks to try again'],
  throttle: ['RATE_LIMITED', 'throttle', 'asks for fewer calls; hirebridge tries again by itself'],
  reauthorize: ['HRIS_AUTH', 'reauthorize', 'does not accept the credentials: check or renew them'],
  exists: ['ALREADY_EXISTS', 'ignore', 'already has it'],
  absent: ['EMPLOYEE_NOT_FOUND', 'reject', 'has no such employee'],
  stale: ['STALE', 'retry', 'says that somebody has changed the record'],
};

/** The refusal that an answer is, by a row of the definition or else by its status. */
async function refusalOf(
  open: OpenLine,
  call: Call,
  answer: Answer,
  { row, cause, carried }: { row?: Row | undefined; cause?: ConnectorError; carried: Carried },
): Promise<ConnectorError> {
  const said = await wordsOf(open, answer, { ...call, carried });
  const told = row?.means ?? meaningOf(answer.status, call);
  // Any other write that meets something existing met a value of somebody else.
  const means = told === 'exists' && call.makes !== true ? 'reject' : told;
  const { code: plain = '', action: usual = 'retry' } = cause ?? {};
  const [code, action, text] = MEANINGS[means ?? ''] ?? [plain, usual, ''];
  const isAboutData = means !== 'reject' || call.sent !== undefined;
  const { purpose } = call.plan;
  const isRead = call.accepts?.includes(404) === true && call.plan.method === 'GET';
  const check =
    `refuses it: check the rights of its user, and "${purpose}" of the definition` +
    (isRead ? `. If it answers so to an id of another form, add ${answer.status} to "${purpose}.absent"` : '');
  const ours = `${call.plan.what} was answered ${answer.status}: the HR system ${isAboutData ? text : check}.`;
  const bare = row === undefined && isAboutData ? cause?.message : undefined;
  return new ConnectorError({
    code,
    action,
    message: `${bare ?? ours}${said === '' ? '' : ` It said: "${said}"`}`,
    said,
    status: answer.status,
    requestId: answer.at.requestId,
    retryAfterMs:
      action === 'throttle'
        ? (readRetryAfter(answer.headers, answer.at.endedAt) ?? open.definition.retryAfter)
        : cause?.retryAfterMs,
    ...(row?.field !== undefined && { details: { [row.field]: 'was not accepted' } }),
    cause,
  });
}

/** An answer in which something of the definition is not there. */
export function unreadable(what: string, how: string, key: string, requestId?: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_UNREADABLE_ANSWER',
    action: 'retry',
    message: `${what} was answered ${how}. Check ${key} of the definition, and whether hris.url is the right address.`,
    requestId,
  });
}

/** Many systems ignore a filter that they do not know, and give the first page of everybody. */
export function unbelievable({ what, purpose }: CallPlan, others: number): ConnectorError {
  return rejected(
    'HRIS_UNREADABLE_ANSWER',
    `${what} was answered with ${others} people who do not match, and with people for a value that ` +
      'nobody has: the HR system may ignore the filter, and whoever is meant may be on a later page. Check the ' +
      `request of "${purpose}" in the definition, or name its "paging".`,
  );
}

/** A list of everybody that is longer than the time of a search; `seen` people came. */
export function tooSlow({ what, purpose }: CallPlan, seen: number): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_LIST_SLOW',
    action: 'retry',
    message:
      `${what} lists everybody, and had given ${seen} people when the time of a search was over. The list is read ` +
      'again from its start. If this goes on, the definition needs a search of its own ("find.reference", ' +
      `"find.email") or a larger "${purpose}.paging.size"; or allow more time: HIREBRIDGE_GIVE_UP_MS.`,
  });
}

export const unlessAbsent = unless('EMPLOYEE_NOT_FOUND');

/** Codes that tell of the employee or the data of a call. */
const OF_A_CALL: readonly string[] = ['EMPLOYEE_NOT_FOUND', 'NOT_FOUND', 'GONE', 'INVALID_VALUE'];

/**
 * The error of a login or of the account check, which the call that waits for it must not take for its own: no employee
 * is gone, and no data is wrong.
 */
function ofWayIn(error: unknown, { what, purpose }: CallPlan): unknown {
  if (!isConnectorError(error) || !OF_A_CALL.includes(error.code)) return error;
  const { status, requestId } = error;
  return new ConnectorError({
    code: 'HRIS_AUTH',
    action: 'reauthorize',
    message:
      `${what} was answered ${status}, so nothing can be read or written. Check "${purpose}" of the definition, ` +
      'hris.url and the credentials.',
    // Without the status, by which some calls tell that nothing is there.
    requestId,
    cause: error,
  });
}

/** One link of RFC 8288, section 3: `<target>; name=value; name="value, with anything; inside"`. */
const LINK = /<([^>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([^\s=;]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;]*)))?/g;

/** The targets of all links with the relation `next`, in a header that may stand in an answer more than once. */
export function nextTarget(header: unknown): string | undefined {
  const text = [header].flat().join(', ');
  for (const [, target = '', parameters = ''] of text.matchAll(LINK)) {
    // Only the first "rel" counts.
    const rel = parameters.matchAll(PARAMETER).find(([, name = '']) => name.toLowerCase() === 'rel');
    const words = (rel?.[2] ?? rel?.[3] ?? '').toLowerCase().split(/\s+/);
    if (words.includes('next')) return target;
  }
  return undefined;
}

/**
 * The path and query that a link leads to from the path that was asked: RFC 8288, section 3.1. Leaves out the host, so
 * that no answer leads to another one. Undefined if it is no address.
 */
export function pathFrom(asked: string, target: string): string | undefined {
  const base = `http://same.invalid${asked}`;
  if (!URL.canParse(target, base)) return undefined;
  const { pathname, search } = new URL(target, base);
  return `${pathname}${search}`;
}
