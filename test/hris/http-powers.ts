import type { HrisConnection } from '../../src/hris/port.ts';
import type { HttpPower, Powers } from './hris-case.ts';
import { startHttpProxy } from './http-proxy.ts';
import { signal } from './profile.ts';
import { startTlsProxies } from './tls-proxy.ts';

/** What every HRIS behind HTTP can be made to do, by what stands between. */
export function httpPowers(http: HttpPower): Pick<Powers, 'http' | 'wire' | 'tls'> {
  return { http, wire: () => openWire(http), tls: () => openTls(http) };
}

/** What a double does by its mood: it is asked for fewer calls, or takes the credentials away. */
export function moodPowers(
  double: () => { mood: 'well' | 'throttled' | 'revoked' },
  open: () => Promise<HrisConnection>,
): Pick<Powers, 'busy' | 'revoke'> {
  const spell = (mood: 'throttled' | 'revoked') => async () => {
    const adapter = await open();
    await adapter.probe(signal);
    double().mood = mood;
    const end = async () => {
      double().mood = 'well';
    };
    return { adapter, end };
  };
  return { busy: spell('throttled'), revoke: spell('revoked') };
}

async function openWire({ url, open, isCreate, isUpload, isAmendment }: HttpPower): ReturnType<Powers['wire']> {
  const requests = { create: isCreate, file: isUpload, amendment: isAmendment };
  const proxy = await startHttpProxy(url);
  const adapter = await open({ url: proxy.url });
  // Whatever the adapter does once, a login for example, is done before anything is armed.
  await adapter.probe(signal);
  return {
    adapter,
    strike: (kind, of = 'create') => proxy.strike({ kind, on: requests[of], ms: 300 }),
    refusesLate: false,
    async close() {
      await adapter.close();
      await proxy.close();
    },
  };
}

async function openTls({ url, open }: HttpPower): ReturnType<Powers['tls']> {
  const proxies = await startTlsProxies(url);
  const at = (port: number) => open({ url: `https://localhost:${port}` });
  const [right, wrong] = await Promise.all([at(proxies.right), at(proxies.wrong)]);
  return { right, wrong, reached: proxies.reached, close: proxies.close };
}
