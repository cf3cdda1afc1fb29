import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { longEnough } from '../console/access.ts';
import { startCodecServer } from '../temporal/codec-server.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { requireKeys } from '../vault/keys.ts';
import { example, port } from './options.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

/** Where the pages of Temporal's dev server are. */
const USUAL_PAGES = ['http://127.0.0.1:8233', 'http://localhost:8233'];
const USUAL_PORT = 8791;

export function defineCodec(command: Command): void {
  command
    .description(
      "Decrypt payloads for Temporal's pages and command line, on loopback and for whoever has the printed address " +
        "(Temporal's codec server; needs HIREBRIDGE_KEYS). Browsers are answered on the pages of " +
        'HIREBRIDGE_TEMPORAL_UI alone.',
    )
    .option('--port <n>', `port (default ${USUAL_PORT}; 0 takes a free one)`, port)
    .option('--token <ref>', 'where a token that stays the same stands: env:NAME or file:PATH')
    .addHelpText('after', example('hirebridge codec'))
    .action(runCodec);
}

async function runCodec({ port: at = USUAL_PORT, token: ref }: { port?: number; token?: string }): Promise<void> {
  const stop = stopSignal();
  const { HIREBRIDGE_KEYS: keys, HIREBRIDGE_TEMPORAL_UI: pages } = readConfig();
  const token = ref === undefined ? randomBytes(32).toString('base64url') : longEnough(resolveSecret(ref), ref);
  const origins = pages === undefined ? USUAL_PAGES : [new URL(pages).origin];
  const running = await startCodecServer(requireKeys(keys), { token, port: at, origins });
  announce({ codec: running.url });
  // A token of a setting is known to whoever set it, and is shown nowhere.
  process.stdout.write(`codec  ${running.url}/${ref === undefined ? token : 'TOKEN'}\n`);
  await whenStopped(stop);
  await running.close();
}
