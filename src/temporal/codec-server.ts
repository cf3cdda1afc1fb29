import { timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Payload } from '@temporalio/common';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { z } from 'zod';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { log } from '../log.ts';
import type { MasterKeys } from '../vault/keys.ts';
import { isEncrypted, payloadCodec } from './payload-codec.ts';

const LARGEST_BODY = 20_000_000;

const Base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
/** Payloads as JSON: all bytes are in base64. */
const Body = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), Base64).default({}), data: Base64.optional() })),
});

/** The decryption could not be recorded. */
class NotNoted extends Error {}

interface CodecOptions {
  token: string;
  port: number;
  origins: readonly string[];
  note(decrypted: readonly Payload[]): Promise<void>;
}

/**
 * Serves Temporal's codec protocol (`POST /encode`, `POST /decode`) on loopback, for its pages and its command line.
 * Both may send the token as `Authorization: Bearer TOKEN`; the pages can also have it in the address, `/TOKEN/decode`.
 * `origins`: pages that may ask from a browser. `note` receives the decrypted payloads before they are returned, to
 * record or count them; if it fails, nothing is returned.
 */
export async function startCodecServer(
  keys: MasterKeys,
  { token, port, origins, note }: CodecOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const codec = payloadCodec(keys);
  const app = new Hono();
  app.use(cors({ origin: [...origins], allowHeaders: ['authorization', 'content-type', 'x-namespace'] }));
  app.use(bodyLimit({ maxSize: LARGEST_BODY }));
  app.onError((error, c) => {
    if (!(error instanceof NotNoted))
      return c.text(isConnectorError(error) ? `${error.code}: ${error.message}` : 'The payloads cannot be read.', 400);
    log.error({ error: error.cause }, 'payloads were not shown, because the audit trail took no row');
    return c.text('Nothing is shown: the audit trail cannot record it. The log says why.', 503);
  });
  for (const verb of ['encode', 'decode'] as const)
    app.on('POST', [`/${verb}`, `/:token/${verb}`], async (c) => {
      const bearer = /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
      if (!isSame(c.req.param('token') ?? bearer ?? '', token))
        return c.text('The token is missing or wrong: use the address that `hirebridge codec` printed.', 401);
      const { payloads } = Body.parse(await c.req.json());
      const coded = await codec[verb](payloads as Payload[]);
      if (verb === 'decode')
        await note(coded.filter((_, nth) => isEncrypted(payloads[nth] as Payload))).catch((cause: unknown) => {
          throw new NotNoted('the audit trail took no row', { cause });
        });
      return c.json({ payloads: coded.map(asJson) });
    });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(port, cause)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function asJson({ metadata, data }: Payload): object {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]);
  return { metadata: Object.fromEntries(entries), data: base64(data ?? new Uint8Array()) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function isSame(given: string, token: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function cannotListen(port: number, cause: NodeJS.ErrnoException): ConnectorError {
  return new ConnectorError({
    code: 'CODEC_CANNOT_LISTEN',
    action: 'retry',
    message:
      `The codec server cannot listen on 127.0.0.1:${port} (${cause.code ?? 'error'}). ` +
      'Free that port or choose another one (0 takes a free one).',
    cause,
  });
}
