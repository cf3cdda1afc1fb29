import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, type Dispatcher } from 'undici';
import { ConnectorError } from '../errors.ts';

export interface HttpTimeouts {
  /** To a connected (and, for https, secured) socket. */
  connectMs: number;
  /** From the request's last byte to the answer's headers. */
  headersMs: number;
  /** Between two pieces of the body. */
  bodyMs: number;
  /** Everything together, waiting for a free connection included. A body that drips never meets `bodyMs`. */
  totalMs: number;
}

const defaultTimeouts: HttpTimeouts = { connectMs: 5_000, headersMs: 30_000, bodyMs: 30_000, totalMs: 60_000 };

export interface PoolOptions {
  /** For a sandbox or an HRIS in the same network: plain http and private addresses. */
  allowPrivate?: boolean | undefined;
  connections?: number | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  /** A certificate of ours, for a server that asks for one; PEM. */
  tls?: { cert: string; key: string };
  /** Stands in for the sockets: a simulation carries requests in memory. */
  dispatcher?: RequestCarrier | undefined;
}

/** What takes a request to the other side and brings its answer, piece by piece. */
export type RequestCarrier = Pick<Dispatcher, 'dispatch' | 'destroy'>;

export interface HttpPool {
  origin: string;
  timeouts: HttpTimeouts;
  dispatcher: RequestCarrier;
  /** Lets running requests end, then closes every connection. */
  close(): Promise<void>;
}

/** Keep-alive connections to the origin of one URL. Refuses plain http and private addresses unless allowed. */
export function openPool(url: string | URL, options: PoolOptions = {}): HttpPool {
  const parsed = parseUrl(url);
  const timeouts = { ...defaultTimeouts, ...definedOnly(options.timeouts) };
  const allowPrivate = options.allowPrivate === true;
  if (!allowPrivate) assertReachableByTenant(parsed);
  if (options.dispatcher !== undefined)
    return { origin: parsed.origin, timeouts, dispatcher: options.dispatcher, close: async () => undefined };
  // An agent lets the queues of a pool go with its last connection: tenants at rest hold none.
  const dispatcher = new Agent({
    connections: options.connections ?? 32,
    // One request at a time on a connection: with more, a reset would leave it open which of them were carried out.
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    connect: { timeout: timeouts.connectMs, ...options.tls, ...(allowPrivate ? {} : { lookup: publicLookup }) },
  });
  return { origin: parsed.origin, timeouts, dispatcher, close: () => dispatcher.close() };
}

function parseUrl(url: string | URL): URL {
  const parsed = URL.parse(String(url));
  if (parsed !== null && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new ConnectorError({
    code: 'BAD_URL',
    action: 'reject',
    message: 'The address is not an http or https URL. Give one such as https://api.example.com/v1/partner.',
  });
}

function assertReachableByTenant(url: URL): void {
  assertPublicAddress(url);
  if (url.protocol === 'https:') return;
  throw new ConnectorError({
    code: 'HTTPS_REQUIRED',
    action: 'reject',
    message:
      `${url.host} is given with http, which would show the key to the network. Give an https address, or allow ` +
      'private addresses for this tenant.',
  });
}

function definedOnly<T extends object>(values: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Public by its range, but answered by the cloud's own host agent (Azure), with credentials on it. */
const metadataAddresses = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address of the open internet. Everything else is refused: private, loopback, link-local (the clouds'
 * metadata), carrier-grade NAT, multicast, reserved, and the IPv6 forms that carry an IPv4 address inside (mapped,
 * NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(globalUnicast);
  return !metadataAddresses.has(parsed.toString());
}

/**
 * Refuses a URL whose host is a literal private address. Names are checked where they are resolved, see publicLookup.
 */
export function assertPublicAddress(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw privateAddress(url.hostname);
}

/**
 * A resolver for the connection itself: what is checked is what is connected to. Resolving first and connecting by name
 * later would let a name server answer differently the second time (DNS rebinding).
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const first = addresses?.[0];
    if (error !== null || first === undefined) return callback(error ?? new Error('no address'), '');
    // One private address among several is refused too: the connection would try them all.
    if (!addresses.every((entry) => isPublicAddress(entry.address))) return callback(privateAddress(hostname), '');
    if (options.all === true) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};

function privateAddress(host: string): ConnectorError {
  return new ConnectorError({
    code: 'PRIVATE_ADDRESS',
    action: 'reject',
    message:
      `${host} is not an address of the public internet. Nothing was sent. Give a public address, or allow private ` +
      'addresses for this tenant.',
  });
}
