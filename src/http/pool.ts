import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, type Dispatcher } from 'undici';
import { ConnectorError, rejected } from '../errors.ts';

export interface HttpTimeouts {
  /** Until the socket is connected and, for https, secured. */
  connectMs: number;
  /** From the request's last byte to the answer's headers. */
  headersMs: number;
  /** Between two pieces of the body. */
  bodyMs: number;
  /** For everything, including the wait for a free connection: a body that drips never exceeds `bodyMs`. */
  totalMs: number;
}

const defaultTimeouts: HttpTimeouts = { connectMs: 5_000, headersMs: 30_000, bodyMs: 30_000, totalMs: 60_000 };

export interface PoolOptions {
  /** For a sandbox or an HRIS in the same network: plain http and private addresses. */
  allowPrivate?: boolean | undefined;
  connections?: number | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  /** Our client certificate, if the server requires one; PEM. */
  tls?: { cert: string; key: string };
  /** Replaces the sockets: a simulation carries requests in memory. */
  dispatcher?: RequestCarrier | undefined;
}

/** Carries a request to the other side and returns its answer piece by piece. */
export type RequestCarrier = Pick<Dispatcher, 'dispatch' | 'destroy'>;

export interface HttpPool {
  origin: string;
  timeouts: HttpTimeouts;
  dispatcher: RequestCarrier;
  /** Waits for running requests, then closes every connection. */
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
  // An agent frees a pool's queues with its last connection: idle tenants hold none.
  const dispatcher = new Agent({
    connections: options.connections ?? 32,
    // One request at a time on a connection: with more, a reset would leave open which of them were carried out.
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
  throw rejected(
    'HTTPS_REQUIRED',
    `${url.host} is given with http, which would show the key to the network. Give an https address, or allow ` +
      'private ones: allowPrivateAddress: true in the tenant file, --allow-private-address of "hris init" and ' +
      '"hris test".',
  );
}

function definedOnly<T extends object>(values: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** In a public range, but answered by the cloud's own host agent (Azure), with credentials. */
const metadataAddresses = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address on the open internet. All others are refused: private, loopback, link-local (the clouds'
 * metadata), carrier-grade NAT, multicast, reserved, and IPv6 forms that contain an IPv4 address (mapped, NAT64, 6to4,
 * Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(globalUnicast);
  return !metadataAddresses.has(parsed.toString());
}

/**
 * Refuses a URL whose host is a literal private address. Names are checked when they are resolved; see publicLookup.
 */
export function assertPublicAddress(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw privateAddress(url.hostname);
}

/**
 * A resolver for the connection itself, so that the checked address is the one connected to. If the name were resolved
 * first and connected to later, a name server could answer differently the second time (DNS rebinding).
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const first = addresses?.[0];
    if (error !== null || first === undefined) return callback(error ?? new Error('no address'), '');
    // Refuses a single private address among several, because the connection would try them all.
    if (!addresses.every((entry) => isPublicAddress(entry.address))) return callback(privateAddress(hostname), '');
    if (options.all === true) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};

function privateAddress(host: string): ConnectorError {
  return rejected(
    'PRIVATE_ADDRESS',
    `${host} is not an address of the public internet. Nothing was sent. Give a public address, or allow private ` +
      'ones: allowPrivateAddress: true in the tenant file, --allow-private-address of "hris init" and "hris test".',
  );
}
