import type { Command } from 'commander';
import { example, placesOf, port } from './options.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

interface ServeOptions {
  port?: number;
  host?: string;
  healthPort?: number;
  reusePort?: boolean;
}

export function defineServe(command: Command): void {
  command
    .description('Receive webhooks: verify, store, answer. Needs no Temporal.')
    .option('--port <n>', 'port of the webhook address (default 8787, or HIREBRIDGE_PORT; 0 takes a free one)', port)
    .option('--host <address>', 'address to listen on (default 127.0.0.1, or HIREBRIDGE_HOST)')
    .option('--health-port <n>', 'port of /healthz, /readyz and /metrics on loopback (default 8788)', port)
    .option('--reuse-port', 'let a second receiver listen on the same port and take over without a gap (Linux)')
    .addHelpText('after', example('hirebridge serve --host 0.0.0.0 --port 8787'))
    .action(runServe);
}

async function runServe(options: ServeOptions, command: Command): Promise<void> {
  const stop = stopSignal();
  const { runReceiver } = await import('../app-receiver.ts');
  const receiver = await runReceiver({ ...(await placesOf(command)), ...options });
  announce({ webhooks: receiver.url, health: receiver.healthUrl });
  await Promise.race([whenStopped(stop), receiver.failed]);
  await receiver.close();
}
