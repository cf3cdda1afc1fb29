import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import {
  CORE,
  ENTRA,
  EntraJob,
  type EntraUser,
  EXTENSION,
  type JobSettings,
  type Json,
  type Operation,
} from './entra-job.ts';
import { startRestartable } from './restartable-server.ts';

const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const MOST = { operations: 50, bytes: 40 * 1024, each5s: 40, each24h: 2_000, reports10s: 5, page: 999 } as const;
const FULL =
  'The bucket that stores the ingested data is full, please wait for the synchronization service to process the ' +
  'ingested data and retry this request.';
/** Returned unless $select says otherwise. */
const PLAIN = ['displayName', 'givenName', 'id', 'jobTitle', 'mail', 'mobilePhone', 'surname', 'userPrincipalName'];

/**
 * A double of Microsoft Entra ID, written from Microsoft's pages and from nothing of ours: "Perform bulkUpload",
 * "bulkUpload resource type", "List provisioningObjectSummary", "List users", "user resource type", "Advanced query
 * capabilities", "Microsoft Graph service-specific throttling limits", and of the Entra documentation the pages of
 * API-driven inbound provisioning (concepts, FAQ, troubleshooting, Graph Explorer, custom attributes, clear attribute
 * values). Its job is set up as docs/hris-entra.md asks for.
 *
 * ASSUMED, because none of them shows it: that requests above 40 kB are refused, and with which status; the mapping of
 * each attribute but externalId and active; that filters mind capitals, which is the harder case.
 */
export interface EntraServer {
  /** Its Microsoft Graph. */
  url: string;
  /** Where tokens are given out. */
  login: string;
  users: Map<string, EntraUser>;
  log: Json[];
  /** Every operation that was accepted. */
  accepted: Operation[];
  mood: 'well' | 'throttled' | 'revoked';
  /** Too much waits: uploads are refused. */
  isFull: boolean;
  /** Carries out what waits for this person. */
  finish(externalId: string): void;
  /** The same, but the user's domain is not one of the directory. */
  refuse(externalId: string): void;
  /** Time goes on, which no request waits for. */
  pass(ms: number): void;
  add(count: number): string[];
  touch(ids: readonly string[]): void;
  restart(): Promise<void>;
  close(): Promise<void>;
}

class Refused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export async function startEntra(settings: JobSettings = {}): Promise<EntraServer> {
  const job = new EntraJob(settings);
  const { users, log, accepted } = job;
  const tokens = new Set<string>();
  const calls = { uploads: [] as number[], reports: [] as number[] };

  const upload = async (asked: IncomingMessage, say: Say): Promise<void> => {
    const bytes = await buffer(asked);
    if (isTooMany(calls.uploads, job.now, 5_000, MOST.each5s)) return say(429, error('TooManyRequests'), wait(5));
    if (isTooMany(calls.uploads, job.now, 86_400_000, MOST.each24h))
      return say(429, error('TooManyRequests'), wait(3_600));
    calls.uploads.push(job.now);
    if (entra.isFull) return say(500, error('InternalServerError', FULL));
    if (bytes.length > MOST.bytes) return say(413, error('RequestEntityTooLarge'));
    const operations = operationsOf(asked.headers['content-type'], bytes);
    if (operations === undefined) return say(400, error('BadRequest', 'Invalid Data Format'));
    for (const operation of operations) job.accept(operation);
    const path = `/v1.0/auditLogs/provisioning/?$filter=jobid%20eq%20'${ENTRA.job}'`;
    return say(202, undefined, { location: `https://graph.microsoft.com${path}`, 'request-id': job.nextId() });
  };

  const report = (query: URLSearchParams, say: Say): void => {
    if (isTooMany(calls.reports, job.now, 10_000, MOST.reports10s)) return say(429, error('TooManyRequests'), wait(10));
    calls.reports.push(job.now);
    const fits = filterOf(query.get('$filter') ?? '', LOGGED);
    return say(200, { value: log.filter((entry) => fits(entry)) });
  };

  const read = (asked: IncomingMessage, { pathname, searchParams: query }: URL, say: Say): void => {
    if (pathname === '/v1.0/auditLogs/provisioning') return report(query, say);
    if (pathname === '/v1.0/users')
      return say(200, pageOf(users, query, { isAdvanced: isAdvanced(asked, query), here: server.origin }));
    const [, id] = /^\/v1\.0\/users\/(.+)$/.exec(pathname) ?? [];
    const named = decodeURIComponent(id ?? '');
    const user = users.get(named) ?? [...users.values()].find((one) => one['userPrincipalName'] === named);
    return user === undefined
      ? say(404, error('Request_ResourceNotFound', `Resource '${named}' does not exist`))
      : say(200, selected(user, query.get('$select')));
  };

  const logIn = async (asked: IncomingMessage, say: Say): Promise<void> => {
    const isRight = isOurApp(new URLSearchParams((await buffer(asked)).toString()));
    if (entra.mood === 'revoked' || !isRight)
      return say(401, { error: 'invalid_client', error_description: 'AADSTS7000215' });
    const token = `token-${job.nextId()}`;
    tokens.add(token);
    return say(200, { token_type: 'Bearer', expires_in: 3599, access_token: token });
  };

  const answer = async (asked: IncomingMessage, say: Say): Promise<void> => {
    job.step();
    const url = new URL(asked.url ?? '/', 'http://entra');
    if (url.pathname === `/${ENTRA.directory}/oauth2/v2.0/token`) return logIn(asked, say);
    const token = /^Bearer (.+)$/.exec(asked.headers.authorization ?? '')?.[1] ?? '';
    if (entra.mood === 'revoked' || !tokens.has(token))
      return say(401, error('InvalidAuthenticationToken', 'Access token has expired or is not yet valid.'));
    if (entra.mood === 'throttled') return say(429, error('TooManyRequests'), wait(10));
    if (asked.method === 'GET') return read(asked, url, say);
    const jobs = `/v1.0/servicePrincipals/${ENTRA.servicePrincipal}/synchronization/jobs`;
    const isUpload = asked.method === 'POST' && url.pathname === `${jobs}/${ENTRA.job}/bulkUpload`;
    return isUpload ? upload(asked, say) : say(405, error('MethodNotAllowed'));
  };

  const server = await startRestartable((asked, response) => {
    const say = sayTo(response, () => job.now);
    answer(asked, say).catch((reason: unknown) => {
      if (!(reason instanceof Refused)) throw reason;
      say(400, error(reason.code, reason.message));
    });
  });
  const entra: EntraServer = {
    url: `${server.origin}/v1.0`,
    login: server.origin,
    users,
    log,
    accepted,
    mood: 'well',
    isFull: false,
    finish: (externalId) => job.settle(externalId, false),
    refuse: (externalId) => job.settle(externalId, true),
    pass: (ms) => {
      job.now += ms;
    },
    add: (count) => Array.from({ length: count }, (_, index) => addUser(job, `Added ${index}`)),
    touch: () => undefined,
    restart: () => server.restart(),
    close: async () => {
      job.stop();
      await server.close();
    },
  };
  return entra;
}

function addUser(job: EntraJob, surname: string): string {
  const id = job.nextId();
  job.users.set(id, { id, displayName: surname, surname, accountEnabled: true, otherMails: [] });
  return id;
}

type Say = (status: number, body?: unknown, headers?: Readonly<Record<string, string>>) => void;

function sayTo(response: ServerResponse, now: () => number): Say {
  return (status, body, headers) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const date = new Date(now()).toUTCString();
    response.writeHead(status, { 'content-type': 'application/json', date, ...headers }).end(text);
  };
}

function error(code: string, message = code): Json {
  return { error: { code, message, innerError: { 'request-id': 'beeb9ea0-f7e4-4fe7-8507-cd834c88f18b' } } };
}

function wait(seconds: number): Record<string, string> {
  return { 'retry-after': String(seconds) };
}

function isTooMany(calls: readonly number[], at: number, withinMs: number, most: number): boolean {
  return calls.filter((call) => call > at - withinMs).length >= most;
}

function isOurApp(form: URLSearchParams): boolean {
  return (
    form.get('grant_type') === 'client_credentials' &&
    form.get('client_id') === ENTRA.clientId &&
    form.get('client_secret') === ENTRA.clientSecret &&
    form.get('scope') === 'https://graph.microsoft.com/.default'
  );
}

/** The operations of a request that has the form of the pages; undefined for any other. */
function operationsOf(type: string | undefined, bytes: Buffer): Operation[] | undefined {
  if (type?.split(';', 1)[0] !== 'application/scim+json') return undefined;
  const { schemas, Operations: given } = jsonOf(bytes) as { schemas?: unknown; Operations?: Json[] };
  if (JSON.stringify(schemas) !== JSON.stringify([BULK]) || !Array.isArray(given)) return undefined;
  if (given.length === 0 || given.length > MOST.operations) return undefined;
  const operations = given.map(({ method, path, bulkId, data }): Operation | undefined => {
    const { schemas: kinds, externalId } = (data ?? {}) as { schemas?: unknown; externalId?: unknown };
    const isUser = Array.isArray(kinds) && kinds.includes(CORE) && kinds.includes(EXTENSION);
    const isNamed = typeof bulkId === 'string' && bulkId !== '' && typeof externalId === 'string' && externalId !== '';
    return method === 'POST' && path === '/Users' && isUser && isNamed ? { externalId, data: data as Json } : undefined;
  });
  return operations.every((one) => one !== undefined) ? operations : undefined;
}

function jsonOf(bytes: Buffer): Json {
  try {
    return JSON.parse(bytes.toString()) as Json;
  } catch {
    return {};
  }
}

const LOGGED = ['jobid', 'sourceIdentity/id', 'activityDateTime'];
const FILTERED = ['mail', 'otherMails', 'surname', 'employeeId', 'userPrincipalName'];

/** What $filter lets pass: comparisons joined by "and", each of them alternatives joined by "or". */
function filterOf(filter: string, known: readonly string[]): (record: Json) => boolean {
  const compare = (text: string): ((record: Json) => boolean) => {
    const any = /^(\w+)\/any\((\w):\2 eq ('(?:[^']|'')*')\)$/.exec(text);
    const [, place = '', operator = 'eq', value = ''] =
      any === null ? (/^([\w/]+) (eq|gt|lt) ('(?:[^']|'')*'|\S+)$/.exec(text) ?? []) : [any[0], any[1], 'eq', any[3]];
    if (!known.includes(place))
      throw new Refused('Request_UnsupportedQuery', `Unsupported or invalid query filter clause for '${place}'.`);
    const wanted = value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value;
    return (record) => {
      const own = place === 'jobid' ? record['jobId'] : place.split('/').reduce<unknown>(memberOf, record);
      if (any !== null) return Array.isArray(own) && own.includes(wanted);
      return operator === 'eq' ? own === wanted : operator === 'gt' ? String(own) > wanted : String(own) < wanted;
    };
  };
  const all = filter === '' ? [] : split(filter, ' and ').map((part) => split(part, ' or ').map(compare));
  return (record) => all.every((alternatives) => alternatives.some((fits) => fits(record)));
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Json | undefined)?.[name];
}

/** At a word that is in no quoted text. */
function split(text: string, word: string): string[] {
  const parts = [''];
  for (const piece of text.match(/'(?:[^']|'')*'|[^']+/g) ?? []) {
    const [first = '', ...others] = piece.startsWith("'") ? [piece] : piece.split(word);
    parts[parts.length - 1] += first;
    parts.push(...others);
  }
  return parts;
}

function isAdvanced(asked: IncomingMessage, query: URLSearchParams): boolean {
  return asked.headers['consistencylevel'] === 'eventual' && query.get('$count') === 'true';
}

function pageOf(
  users: ReadonlyMap<string, EntraUser>,
  query: URLSearchParams,
  { isAdvanced: counts, here }: { isAdvanced: boolean; here: string },
): Json {
  const extensions = Array.from({ length: 15 }, (_, n) => `onPremisesExtensionAttributes/extensionAttribute${n + 1}`);
  const fits = filterOf(query.get('$filter') ?? '', counts ? [...FILTERED, ...extensions] : FILTERED);
  const size = Math.min(Number(query.get('$top') ?? 100), MOST.page);
  const from = Number(query.get('$skiptoken') ?? 0);
  const all = [...users.values()].filter((user) => fits(user));
  const next = new URLSearchParams(query);
  next.set('$skiptoken', String(from + size));
  return {
    '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#users',
    ...(counts && { '@odata.count': all.length }),
    ...(all.length > from + size && { '@odata.nextLink': `${here}/v1.0/users?${next.toString()}` }),
    value: all.slice(from, from + size).map((user) => selected(user, query.get('$select'))),
  };
}

function selected(user: EntraUser, select: string | null): Json {
  const names = select?.split(',') ?? PLAIN;
  return Object.fromEntries(names.map((name) => [name, user[name] ?? null]));
}
