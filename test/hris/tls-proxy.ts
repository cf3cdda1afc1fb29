import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface TlsProxy {
  port: number;
  /** Bytes of ours that came through. */
  reached(): number;
  close(): Promise<void>;
}

interface Pair {
  key: Buffer;
  cert: Buffer;
}

/**
 * Two proxies that speak TLS before one server: `right` is made out to `localhost`, `wrong` to another name, and both
 * are signed by an authority that this process trusts from now on. `postgres`: TLS begins after a request for it.
 */
export async function startTlsProxies(target: string, opening: 'at once' | 'postgres' = 'at once') {
  const { right, wrong } = await trustedPairs();
  const [good, bad] = await Promise.all([startProxy(target, right, opening), startProxy(target, wrong, opening)]);
  return {
    right: good.port,
    wrong: bad.port,
    reached: () => good.reached() + bad.reached(),
    close: async () => void (await Promise.all([good.close(), bad.close()])),
  };
}

async function startProxy(target: string, pair: Pair, opening: 'at once' | 'postgres'): Promise<TlsProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let bytes = 0;
  const server = createServer((near) => {
    void serve(near).catch(() => near.destroy());
  });
  async function serve(near: Socket): Promise<void> {
    sockets.add(near.on('error', () => undefined));
    if (opening === 'postgres') {
      // SSLRequest: eight bytes, answered by one.
      await once(near, 'readable');
      near.read(8);
      near.write('S');
    }
    const secure = new tls.TLSSocket(near, { isServer: true, ...pair }).on('error', () => undefined);
    const far = connect(Number(port), hostname).on('error', () => secure.destroy());
    sockets.add(far);
    secure.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    secure.pipe(far).pipe(secure);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    reached: () => bytes,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Certificates of two names, and an expired one, signed by an authority that this process trusts from now on. */
export async function trustedPairs(): Promise<{ right: Pair; wrong: Pair; expired: Pair; authority: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-tls-'));
  try {
    const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
    const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    await openssl('req', '-x509', ...fresh, '-subj', '/CN=hirebridge test', '-keyout', 'ca.key', '-out', 'ca.pem');
    const signed = async (name: string, days = '2'): Promise<Pair> => {
      await openssl('req', ...fresh, '-subj', `/CN=${name}`, '-keyout', 'one.key', '-out', 'one.csr');
      await writeFile(join(folder, 'one.ext'), `subjectAltName = DNS:${name}`);
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', days, '-extfile', 'one.ext'];
      await openssl('x509', '-req', '-in', 'one.csr', ...by, '-out', 'one.pem');
      return { key: await readFile(join(folder, 'one.key')), cert: await readFile(join(folder, 'one.pem')) };
    };
    const [right, wrong] = [await signed('localhost'), await signed('elsewhere.example')];
    const expired = await signed('localhost', '-1');
    const authority = await readFile(join(folder, 'ca.pem'), 'utf8');
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority]);
    return { right, wrong, expired, authority };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
