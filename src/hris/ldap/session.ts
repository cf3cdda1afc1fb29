import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type * as Ldapts from 'ldapts';
import type { Client, ClientOptions, Control, Entry } from 'ldapts';
import pLimit from 'p-limit';
import { ConnectorError, type ErrorAction, isConnectorError, rejected } from '../../errors.ts';
import { assertPublicAddress, publicLookup } from '../../http/pool.ts';
import { type Attempt, allow } from '../attempt.ts';
import type { WriteOptions } from '../port.ts';
import type { LdapOptions } from './options.ts';

type Ldap = typeof Ldapts;

/** An entry's values by attribute, in lower case; bytes if they are no text. */
export interface Row {
  dn: string;
  of(attribute: string): (string | Buffer)[];
}

interface Search {
  base: string;
  scope?: 'base' | 'sub';
  filter: string;
  attributes: string[];
  /** Asks for pages (RFC 2696) until everything is there; otherwise a server may cut the answer. */
  whole?: boolean;
  /** On a new connection: it shows whether the password still works. */
  fresh?: boolean;
}

export interface Changed {
  operation: 'add' | 'delete' | 'replace';
  attribute: string;
  values: string[];
}

export interface LdapSession {
  /** Not `complete` if the server cut the answer, or referred to another server. */
  search(search: Search, signal: AbortSignal): Promise<{ rows: Row[]; complete: boolean }>;
  add(dn: string, attributes: Readonly<Record<string, string[]>>, write: WriteOptions): Promise<void>;
  /** With `only`, the server writes nothing unless the entry matches this filter (RFC 4528). */
  modify(dn: string, changes: readonly Changed[], only: string | undefined, write: WriteOptions): Promise<void>;
  move(dn: string, newDn: string, only: string | undefined, write: WriteOptions): Promise<void>;
  close(): Promise<void>;
}

export const ASSERTION = '1.3.6.1.1.12';
const AT_ONCE = 4;
const CONNECT_MS = 5_000;
const CALL_MS = 15_000;
/** For a list of everybody. */
const LIST_MS = 60_000;
const PAGE = 500;
const IDLE_MS = 30_000;
const MOST_AGE_MS = 300_000;
/** Of one answer. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Many servers lock a user after some wrong passwords: wait this long after a refused one. */
const REFUSED_LOGIN_MS = 60_000;

/** A connection, for one call at a time: a call that fails takes no other with it. */
interface Line {
  client: Client;
  ldap: Ldap;
  openedAt: number;
  /** Since the last call began. */
  bytes: number;
  isOver: boolean;
  destroy(): void;
}

interface Call {
  /** In messages: no name and no value. */
  what: string;
  signal: AbortSignal;
  ms: number;
  fresh?: boolean | undefined;
}

export function openSession(options: LdapOptions): LdapSession {
  const limit = pLimit(AT_ONCE);
  const open = new Set<Line>();
  const idle = new Map<Line, NodeJS.Timeout>();
  let refused: { error: ConnectorError; until: number } | undefined;

  function take(): Line | undefined {
    for (const [line, timer] of idle) {
      clearTimeout(timer);
      idle.delete(line);
      if (!line.isOver && line.client.isBound && performance.now() - line.openedAt < MOST_AGE_MS) return line;
      line.destroy();
    }
    return undefined;
  }

  async function connected(signal: AbortSignal): Promise<Line> {
    if (refused !== undefined && refused.until > performance.now()) throw refused.error;
    try {
      const line = await connect(options, signal, open);
      refused = undefined;
      return line;
    } catch (reason) {
      const error = codeOf(reason) === undefined ? reason : explained(reason, 'The login', { sent: false });
      if (isConnectorError(error, 'HRIS_AUTH')) {
        refused = { error, until: performance.now() + REFUSED_LOGIN_MS };
        for (const line of idle.keys()) line.destroy();
      }
      throw error;
    }
  }

  async function use<T>(call: Call, work: (line: Line, attempt: Attempt) => Promise<T>): Promise<T> {
    const attempt: Attempt = {};
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(call.ms)]);
    try {
      const result = limit(async () => {
        signal.throwIfAborted();
        const line = (call.fresh === true ? undefined : take()) ?? (await connected(signal));
        line.bytes = 0;
        signal.addEventListener('abort', line.destroy, { once: true });
        try {
          return await work(line, attempt);
        } catch (error) {
          if (error !== attempt.forbidden && codeOf(error) === undefined) line.destroy();
          throw error;
        } finally {
          signal.removeEventListener('abort', line.destroy);
          if (idle.size >= AT_ONCE) line.destroy();
          if (!line.isOver) idle.set(line, setTimeout(() => line.destroy(), IDLE_MS).unref());
        }
      });
      return await untilAborted(signal, result);
    } catch (error) {
      if (attempt.forbidden !== undefined && error === attempt.forbidden) throw error;
      throw explained(error, call.what, { sent: attempt.sent === true, stopped: call.signal.aborted });
    }
  }

  function write(what: string, options: WriteOptions, send: (line: Line) => Promise<void>): Promise<void> {
    const { signal, remainingMs = () => CALL_MS } = options;
    return use({ what, signal, ms: Math.max(1, Math.min(CALL_MS, remainingMs())) }, async (line, attempt) => {
      // ldapts would connect again, without a login.
      if (!line.client.isBound) throw new Error('the connection ended');
      allow(options, attempt);
      await send(line);
    });
  }

  return {
    search: (search, signal) =>
      use(
        { what: 'A search', signal, ms: search.whole === true ? LIST_MS : CALL_MS, fresh: search.fresh },
        async (line) => searchOn(line, search),
      ),
    add: (dn, attributes, options) => write('The add', options, ({ client }) => client.add(dn, attributes)),
    modify: (dn, changes, only, options) =>
      write('The modify', options, ({ client, ldap }) =>
        client.modify(
          dn,
          changes.map(({ operation, attribute: type, values }) => {
            return new ldap.Change({ operation, modification: new ldap.Attribute({ type, values }) });
          }),
          assertionOf(ldap, only),
        ),
      ),
    move: (dn, newDn, only, options) =>
      write('The move', options, ({ client, ldap }) => client.modifyDN(dn, newDn, assertionOf(ldap, only))),
    async close() {
      for (const line of open) line.destroy();
    },
  };
}

export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port || (protocol === 'ldaps:' ? 636 : 389));
}

/** A call that still waits for its turn ends as well. */
function untilAborted<T>(signal: AbortSignal, result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

async function connect(options: LdapOptions, signal: AbortSignal, open: Set<Line>): Promise<Line> {
  // Loaded here: only processes that connect should wait for it.
  const ldap = await import('ldapts');
  const url = new URL(options.url);
  if (!options.allowPrivateAddress) assertPublicAddress(url);
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  const place = { host, port: portOf(options.url), ...(options.allowPrivateAddress ? {} : { lookup: publicLookup }) };
  const secure: ConnectionOptions = { ...place, ...(isIP(host) === 0 && { servername: host }) };
  const sockets: Socket[] = [];
  const watched = <S extends Socket>(socket: S): S => {
    sockets.push(socket.setKeepAlive(true, 10_000));
    socket.once('close', () => line.destroy());
    socket.on('data', (chunk: Buffer) => {
      line.bytes += chunk.length;
      if (line.bytes > MOST_BYTES) line.destroy();
    });
    return socket;
  };
  const client = new ldap.Client({
    url: options.url,
    connectTimeout: CONNECT_MS,
    createConnection: (() => watched(connectSocket(place))) as NonNullable<ClientOptions['createConnection']>,
    // Called with a port, or for startTLS with the options that hold the socket.
    createSecureConnection: ((given: number | ConnectionOptions) =>
      watched(connectTls(typeof given === 'number' ? secure : { ...secure, ...given }))) as NonNullable<
      ClientOptions['createSecureConnection']
    >,
  });
  const line: Line = {
    client,
    ldap,
    openedAt: performance.now(),
    bytes: 0,
    isOver: false,
    destroy() {
      line.isOver = true;
      open.delete(line);
      for (const socket of sockets) socket.destroy(new Error('the connection was given up'));
    },
  };
  open.add(line);
  signal.addEventListener('abort', line.destroy, { once: true });
  try {
    if (options.startTls) await client.startTLS({});
    await client.bind(options.bindDn, options.password);
    return line;
  } catch (error) {
    line.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', line.destroy);
  }
}

async function searchOn({ client }: Line, search: Search): Promise<{ rows: Row[]; complete: boolean }> {
  const { base, scope = 'sub', filter, attributes, whole = false } = search;
  const limits = { timeLimit: (whole ? LIST_MS : CALL_MS) / 1_000, ...(whole && { paged: { pageSize: PAGE } }) };
  try {
    const found = await client.search(base, { scope, filter, attributes, ...limits });
    return { rows: found.searchEntries.map(rowOf), complete: found.searchReferences.length === 0 };
  } catch (error) {
    // What was found is not told then.
    if (!whole && CUT.has(codeOf(error) ?? 0)) return { rows: [], complete: false };
    throw error;
  }
}

/** timeLimitExceeded, sizeLimitExceeded, adminLimitExceeded. */
const CUT = new Set([3, 4, 11]);

function rowOf({ dn, ...entry }: Entry): Row {
  const values = new Map(Object.entries(entry).map(([name, value]) => [name.toLowerCase(), [value].flat()]));
  return { dn, of: (attribute) => values.get(attribute.toLowerCase()) ?? [] };
}

function assertionOf(ldap: Ldap, only: string | undefined): Control[] {
  if (only === undefined) return [];
  const filter = ldap.FilterParser.parseString(only);
  class Assertion extends ldap.Control {
    protected override writeControl(writer: InstanceType<Ldap['BerWriter']>): void {
      const inner = new ldap.BerWriter();
      filter.write(inner);
      writer.writeBuffer(inner.buffer, 0x04);
    }
  }
  return [new Assertion(ASSERTION, { critical: true })];
}

/** The result code with which the server answered (RFC 4511, section 4.1.9); undefined if it did not. */
export function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || error instanceof DOMException || isConnectorError(error)) return undefined;
  const { code } = error as { code?: unknown };
  // 248 is the library's own: no answer.
  return typeof code === 'number' && code !== 248 ? code : undefined;
}

interface Meaning {
  code: string;
  action: ErrorAction;
  hint: string;
}

function meaning(code: string, action: ErrorAction, hint: string): Meaning {
  return { code, action, hint };
}

const BUSY = meaning('HRIS_BUSY', 'retry', 'The directory is busy.');
const CHANGED = meaning('STALE', 'retry', 'Somebody changed the entry meanwhile.');
const VALUE = meaning('INVALID_VALUE', 'reject', 'The directory does not accept a value.');
const SCHEMA = meaning('INVALID_VALUE', 'reject', 'The schema of the directory does not allow this entry.');
const misconfigured = (hint: string): Meaning => meaning('HRIS_MISCONFIGURED', 'reject', hint);
const TLS = misconfigured('The directory wants TLS: give an ldaps:// address, or startTls: true.');
const LIMIT = misconfigured('Its size limit cuts the list of people: lift that limit for the user in hris.bindDn.');
const AUTH = meaning(
  'HRIS_AUTH',
  'reauthorize',
  'The directory refuses this user or its password. Check hris.bindDn and the secret behind hris.password.',
);

/** By result code (RFC 4511, appendix A). */
const BY_CODE: Readonly<Record<number, Meaning>> = {
  3: BUSY,
  4: LIMIT,
  8: TLS,
  10: misconfigured('It refers to another server: name the one that takes writes in hris.url.'),
  11: LIMIT,
  13: TLS,
  16: CHANGED,
  17: SCHEMA,
  19: VALUE,
  20: VALUE,
  21: VALUE,
  32: misconfigured(
    'There is no such place, or this user may not see it: check hris.base, hris.createIn and hris.leaver.',
  ),
  48: AUTH,
  49: AUTH,
  50: meaning('HRIS_FORBIDDEN', 'reauthorize', 'The user in hris.bindDn may not do that: grant it in the directory.'),
  51: BUSY,
  52: meaning('HRIS_UNREACHABLE', 'retry', 'The directory is not available.'),
  64: SCHEMA,
  65: SCHEMA,
  122: CHANGED,
};
const OTHER = meaning('HRIS_ERROR', 'reject', "The directory's own log says more.");

/** A write that left without an answer is unknown. What the server said may quote values: it is only the cause. */
function explained(error: unknown, what: string, { sent, stopped = false }: { sent: boolean; stopped?: boolean }) {
  if (isConnectorError(error))
    return error.code === 'PRIVATE_ADDRESS' ? rejected('HRIS_PRIVATE_ADDRESS', error.message) : error;
  const status = codeOf(error);
  if (status !== undefined) {
    const { hint, ...meaning } = BY_CODE[status] ?? OTHER;
    return new ConnectorError({
      ...meaning,
      message: `${what} was refused by the directory (result code ${status}). ${hint}`,
      status,
      cause: error,
    });
  }
  if (!sent && stopped)
    return new ConnectorError({
      code: 'STOPPED',
      action: 'retry',
      message: `${what} was stopped by the caller; nothing was written.`,
    });
  return new ConnectorError({
    code: 'HRIS_UNREACHABLE',
    action: sent ? 'unknown' : 'retry',
    message: sent
      ? `${what}: no answer came from the directory. It is looked up before anything is repeated.`
      : `${what}: the directory cannot be reached, or did not answer in time. Check hris.url.`,
    cause: error,
  });
}
