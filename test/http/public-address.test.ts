import { describe, expect, test } from 'vitest';
import { isPublicAddress, openPool, publicLookup } from '../../src/http/pool.ts';
import { sendRequest } from '../../src/http/request.ts';
import { errorOf, poolTo, serve } from './servers.ts';

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e'])(
  '%s is public',
  (address) => expect(isPublicAddress(address)).toBe(true),
);

test.each([
  ['loopback', '127.0.0.1'],
  ['loopback, the rest of its net', '127.8.9.10'],
  ['this host', '0.0.0.0'],
  ['private 10', '10.1.2.3'],
  ['private 172.16', '172.31.255.255'],
  ['private 192.168', '192.168.0.1'],
  ['link-local, cloud metadata', '169.254.169.254'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['metadata in the carrier-grade net', '100.100.100.200'],
  ['metadata in the protocol assignments', '192.0.0.192'],
  ['metadata at a public range', '168.63.129.16'],
  ['benchmarking', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['IPv6 loopback', '::1'],
  ['IPv6 unspecified', '::'],
  ['IPv6 unique local', 'fd12::1'],
  ['IPv6 metadata', 'fd00:ec2::254'],
  ['IPv6 link-local', 'fe80::1'],
  ['IPv6 site-local, deprecated', 'fec0::1'],
  ['IPv6 multicast', 'ff02::1'],
  ['IPv4-mapped', '::ffff:10.0.0.1'],
  ['IPv4-mapped in hexadecimal', '::ffff:7f00:1'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['NAT64', '64:ff9b::10.0.0.1'],
  ['NAT64, local prefix', '64:ff9b:1::10.0.0.1'],
  ['6to4 around a private address', '2002:a00:1::'],
  ['Teredo', '2001::1'],
  ['documentation', '2001:db8::1'],
  ['no address at all', 'example.com'],
])('%s (%s) is not', (_name, address) => expect(isPublicAddress(address)).toBe(false));

describe('a pool for an address a tenant gave', () => {
  // The URL parser turns each of these into the address meant.
  test.each([
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://[::ffff:169.254.169.254]',
    'https://[::1]:8443',
  ])('refuses %s before anything is sent', async (url) => {
    expect(await errorOf(openAsync(url))).toMatchObject({
      code: 'PRIVATE_ADDRESS',
      action: 'reject',
    });
  });

  test('refuses a name that resolves to a private address when it connects', async () => {
    const pool = openPool('https://localhost');
    const error = await errorOf(sendRequest(pool, { method: 'GET', path: '/' }));
    expect(error).toMatchObject({ code: 'PRIVATE_ADDRESS', action: 'reject' });
    await pool.close();
  });

  test('checks the very addresses the connection gets: a second look-up cannot differ', async () => {
    const error = await new Promise<Error | null>((resolve) =>
      publicLookup('localhost', { all: true }, (found) => resolve(found)),
    );
    expect(error).toMatchObject({ code: 'PRIVATE_ADDRESS' });
  });

  test('refuses plain http, which would show the key', async () => {
    expect(await errorOf(openAsync('http://example.com'))).toMatchObject({
      code: 'HTTPS_REQUIRED',
      action: 'reject',
    });
  });

  test.each(['ftp://example.com', 'not a url', ''])('refuses %j', async (url) => {
    expect(await errorOf(openAsync(url))).toMatchObject({ code: 'BAD_URL' });
  });

  test('may reach this machine where that is allowed', async () => {
    const url = await serve((_request, response) => response.end('here'));
    const pool = poolTo(url.replace('127.0.0.1', 'localhost'));
    expect((await sendRequest(pool, { method: 'GET', path: '/' })).status).toBe(200);
  });
});

async function openAsync(url: string): Promise<void> {
  await openPool(url).close();
}
