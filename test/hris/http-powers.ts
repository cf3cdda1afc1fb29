import type { HrisConnection } from '../../src/hris/port.ts';
import { type HttpPower, type Powers, httpPowers as withProxy } from '../../src/hris-kit/hris-under-test.ts';
import { signal } from './profile.ts';
import { startTlsProxies } from './tls-proxy.ts';

/** What every HRIS behind HTTP can be made to do, by what stands between. */
export function httpPowers(http: HttpPower): Pick<Powers, 'http' | 'wire' | 'tls'> {
  return { ...withProxy(http), tls: () => openTls(http) };
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

async function openTls({ url, open }: HttpPower): ReturnType<Powers['tls']> {
  const proxies = await startTlsProxies(url);
  const at = (port: number) => open({ url: `https://localhost:${port}` });
  const [right, wrong] = await Promise.all([at(proxies.right), at(proxies.wrong)]);
  return { right, wrong, reached: proxies.reached, close: proxies.close };
}
