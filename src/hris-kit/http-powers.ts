import type { HttpPower, Powers } from './hris-under-test.ts';
import { signal } from './hris-under-test.ts';
import { startHttpProxy } from './http-proxy.ts';

/** What every HRIS behind HTTP can be made to do, by a proxy before it. */
export function httpPowers(http: HttpPower): Pick<Powers, 'http' | 'wire'> {
  return { http, wire: () => openWire(http) };
}

async function openWire({ url, open, isCreate, isUpload, isAmendment }: HttpPower): ReturnType<Powers['wire']> {
  const requests = { create: isCreate, file: isUpload, amendment: isAmendment };
  const proxy = await startHttpProxy(url);
  const adapter = await open({ url: proxy.url });
  // What the adapter does once, a login for example, is done before anything is armed.
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
