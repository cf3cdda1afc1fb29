import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback that can be killed and started again at its address. */
export interface RestartableServer {
  origin: string;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startRestartable(listener: RequestListener): Promise<RestartableServer> {
  const listen = async (port: number) => {
    const started = createServer(listener).listen(port, '127.0.0.1');
    await once(started, 'listening');
    return started;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const kill = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    async restart() {
      kill();
      await once(server, 'close');
      server = await listen(port);
    },
    close: async () => kill(),
  };
}
