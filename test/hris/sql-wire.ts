import type { HrisConnection } from '../../src/hris/port.ts';
import type { Powers } from '../../src/hris-kit/hris-under-test.ts';
import { startTcpProxy, type WireProtocol } from './tcp-proxy.ts';

/** A connection over a wire that loses the statements of creates and amendments. */
export async function openSqlWire(
  url: string,
  open: (url: string) => Promise<HrisConnection>,
  protocol?: WireProtocol,
): ReturnType<Powers['wire']> {
  const proxy = await startTcpProxy(url, protocol);
  const adapter = await open(proxy.url);
  return {
    adapter,
    strike(kind, of) {
      const holding = [of === 'amendment' ? 'update ' : 'insert into'];
      return proxy.strike({ kind: kind === 'cut' ? 'reset-before' : kind, holding, ms: 400 });
    },
    refusesLate: true,
    async close() {
      await adapter.close();
      await proxy.close();
    },
  };
}
