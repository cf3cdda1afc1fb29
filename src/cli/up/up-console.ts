import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Places, readConfig } from '../../config.ts';
import { Announcement } from '../announcement.ts';
import { supervise } from '../supervise.ts';

export interface UpConsole {
  /** With its token, where that is not one of a setting. */
  address: string;
  /** Rejects when it does not stay up. */
  failed: Promise<never>;
  close(): Promise<void>;
}

/**
 * The operator's pages as a supervised process, once the store is there. Port and token are chosen here, so that the
 * address that was printed stays good when the process is started again.
 */
export async function startUpConsole(
  { dataDir, tenantsDir }: Places,
  { port, env }: { port: number | undefined; env: NodeJS.ProcessEnv },
): Promise<UpConsole> {
  const config = readConfig();
  const at = port ?? (await freePortFrom(config.HIREBRIDGE_CONSOLE_PORT));
  const isOwn = config.HIREBRIDGE_CONSOLE_TOKEN === undefined;
  const token = randomBytes(32).toString('base64url');
  const secret = isOwn
    ? { HIREBRIDGE_CONSOLE_TOKEN: 'env:HIREBRIDGE_UP_CONSOLE_TOKEN', HIREBRIDGE_UP_CONSOLE_TOKEN: token }
    : {};
  const args = ['console', '--tenants', tenantsDir, '--data', dataDir, '--port', String(at)];
  const listening = Promise.withResolvers<string>();
  const supervisor = supervise([{ name: 'console', args, env: { ...env, ...secret } }], {
    onMessage: (_name, message) => {
      const url = Announcement.safeParse(message).data?.facts['console'];
      if (url !== undefined) listening.resolve(url);
    },
  });
  try {
    const url = await Promise.race([listening.promise, supervisor.failed]);
    const address = isOwn ? `${url}/?token=${token}` : url;
    return { address, failed: supervisor.failed, close: () => supervisor.stop() };
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

/** This port, or a free one where another program has it: two `up` may run on one machine. */
async function freePortFrom(wanted: number): Promise<number> {
  for (const port of [wanted, 0]) {
    const server = createServer().listen(port, '127.0.0.1');
    const isListening = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isListening) continue;
    const { port: found } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return found;
  }
  return wanted;
}
