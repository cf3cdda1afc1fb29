import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { longEnough } from '../console/access.ts';
import { noteDecoded } from '../operator/note-decoded.ts';
import { startCodecServer } from '../temporal/codec-server.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { requireKeys } from '../vault/keys.ts';
import { withStore } from './open.ts';
import { asOption, byOf, example, placesOf, port } from './options.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

/** The addresses of Temporal's dev server pages. */
const USUAL_PAGES = ['http://127.0.0.1:8233', 'http://localhost:8233'];
const USUAL_PORT = 8791;

export function defineCodec(command: Command): void {
  command
    .description(
      "Decrypt payloads for Temporal's pages and command line, on loopback and for anyone who has the printed " +
        "address (Temporal's codec server; needs HIREBRIDGE_KEYS). Browsers are answered only on the pages of " +
        'HIREBRIDGE_TEMPORAL_UI. The audit trail records what it decrypts.',
    )
    .option('--port <n>', `port (default ${USUAL_PORT}; 0 takes a free one)`, port)
    .option('--token <ref>', 'a token that stays the same, as env:NAME or file:PATH');
  asOption(command).addHelpText('after', example('hirebridge codec')).action(runCodec);
}

interface CodecFlags {
  port?: number;
  token?: string;
  as?: string;
}

async function runCodec(options: CodecFlags, command: Command): Promise<void> {
  const stop = stopSignal();
  const { port: at = USUAL_PORT, token: ref } = options;
  const { HIREBRIDGE_KEYS, HIREBRIDGE_TEMPORAL_UI: pages } = readConfig();
  const keys = requireKeys(HIREBRIDGE_KEYS);
  const token = ref === undefined ? randomBytes(32).toString('base64url') : longEnough(resolveSecret(ref), ref);
  const origins = pages === undefined ? USUAL_PAGES : [new URL(pages).origin];
  await withStore(
    await placesOf(command),
    async (store) => {
      const notes = noteDecoded(store, byOf(options));
      const running = await startCodecServer(keys, { token, port: at, origins, note: notes.note });
      announce({ codec: running.url });
      // Never print a token that comes from a setting: its owner knows it.
      process.stdout.write(`codec  ${running.url}/${ref === undefined ? token : 'TOKEN'}\n`);
      await whenStopped(stop);
      await running.close();
      await notes.close();
    },
    { mustExist: true },
  );
}
