import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConnectorError } from '../errors.ts';

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
