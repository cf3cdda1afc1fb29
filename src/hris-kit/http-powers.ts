import type { HttpPower, Powers } from './hris-under-test.ts';
import { signal } from './hris-under-test.ts';
import { startHttpProxy } from './http-proxy.ts';

/** Powers of every HRIS over HTTP, through a proxy in front of it. */
export function httpPowers(http: HttpPower): Pick<Powers, 'http' | 'wire'> {
  return { http, wire: () => openWire(http) };
}

async function openWire({ url, open, isCreate, isUpload, isAmendment }: HttpPower): ReturnType<Powers['wire']> {
  const requests = { create: isCreate, file: isUpload, amendment: isAmendment };
  const proxy = await startHttpProxy(url);
  const adapter = await open({ url: proxy.url });
  // First lets the adapter do its one-time work, such as a login.
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
