import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Payload } from '@temporalio/common';
import type { Command } from 'commander';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { longEnough } from '../console/acts.ts';
import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { log } from '../log.ts';
import { audit } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';
import { recordDigest } from '../store/person-marks.ts';
import { addDataKey, listDataKeys, type Sealing } from '../store/sealed-values.ts';
import { isEncrypted, payloadCodec } from '../temporal/hire-client.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { addKey, type MasterKeys, requireKeys } from '../vault/keys.ts';
import { AS, byOf, example, type Flags, port, renderListed, say } from './command.ts';
import { withStore } from './open.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

const USUAL_PAGES = ['http://127.0.0.1:8233', 'http://localhost:8233'];
const USUAL_PORT = 8791;

export const commands = { keys: defineKeys, codec: defineCodec };

function defineCodec(command: Command): void {
  command
    .description(
      "Decrypt payloads for Temporal's pages and command line, on loopback and for anyone who has the printed " +
        "address (Temporal's codec server; needs HIREBRIDGE_KEYS). Browsers are answered only on the pages of " +
        'HIREBRIDGE_TEMPORAL_UI. The audit trail records what it decrypts.',
    )
    .option('--port <n>', `port (default ${USUAL_PORT}; 0 takes a free one)`, port)
    .option('--token <ref>', 'a token that stays the same, as env:NAME or file:PATH')
    .option(...AS)
    .addHelpText('after', example('hirebridge codec'))
    .action(runCodec);
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
  await withStore(command, async (store) => {
    const notes = noteDecoded(store, byOf(options));
    const running = await startCodecServer(keys, { token, port: at, origins, note: notes.note });
    announce({ codec: running.url });
    // Never print a token that comes from a setting: its owner knows it.
    process.stdout.write(`codec  ${running.url}/${ref === undefined ? token : 'TOKEN'}\n`);
    await whenStopped(stop);
    await running.close();
    await notes.close();
  });
}

/** Requests about one hire within this time make two rows: one for the first request, one for all others. */
const TOGETHER_MS = 60_000;
/** Rows name at most this many hires at a time; beyond that they name the tenant only. */
const MOST = 100;

/** Ids that arguments of our workflows and activities carry. */
const About = z.object({ tenantId: z.string(), jobCandidateId: z.string().optional() });
type About = Partial<z.infer<typeof About>>;

interface Sitting {
  began: Promise<void>;
  about: About;
  /** Requests since the first one, which has a row already. */
  more: number;
  timer: NodeJS.Timeout;
}

interface DecodedNotes {
  /**
   * Reports how many payloads were decrypted, never their content. The first request of a minute is recorded before its
   * payloads are shown; later ones are only counted, and recorded after the minute.
   */
  note(payloads: readonly Payload[]): Promise<void>;
  /** Records the requests that were only counted so far. */
  close(): Promise<void>;
}

/**
 * Records in the audit trail how many payloads are decrypted for Temporal's pages, with tenant and hire if a payload
 * names them. A page requests each event of a history separately, so requests of a minute are counted together.
 */
export function noteDecoded(store: Store, by: string, togetherMs = TOGETHER_MS): DecodedNotes {
  const sittings = new Map<string, Sitting>();
  const write = async ({ tenantId, jobCandidateId }: About, details: string): Promise<void> => {
    if (tenantId === undefined) return audit(store, { by, act: 'looked', details });
    const of = jobCandidateId === undefined ? undefined : { kind: 'job-candidate', id: jobCandidateId };
    const subject = of === undefined ? {} : { subject: await recordDigest(store, tenantId, of) };
    await audit(store, { by, tenantId, act: 'looked', details, ...subject });
  };
  const keep = (name: string, began: Promise<void>, about: About, more: number): void => {
    const timer = setTimeout(() => void end(name).catch(() => undefined), togetherMs).unref();
    sittings.set(name, { began, about, more, timer });
  };
  const end = async (name: string): Promise<void> => {
    const sitting = sittings.get(name);
    if (sitting === undefined) return;
    const { about, more, timer } = sitting;
    clearTimeout(timer);
    // A request that comes while this row is written begins a new one.
    sittings.delete(name);
    if (more === 0) return;
    await write(about, `payloads of Temporal: ${more} more`).catch((error: unknown) => {
      log.warn({ error, tenantId: about.tenantId, payloads: more }, 'the audit trail did not take what was decoded');
      const next = sittings.get(name);
      if (next === undefined) keep(name, Promise.resolve(), about, more);
      else next.more += more;
      throw error;
    });
  };
  const begin = async (name: string, about: About, count: number): Promise<void> => {
    const began = write(about, `payloads of Temporal: ${count}`);
    keep(name, began, about, 0);
    await began.catch((error: unknown) => {
      clearTimeout(sittings.get(name)?.timer);
      sittings.delete(name);
      throw error;
    });
  };
  return {
    async note(payloads) {
      for (const [name, some] of Map.groupBy(await aboutEach(store, payloads), (one) => JSON.stringify(one))) {
        const [about = {}] = some;
        const key = sittings.size < MOST || sittings.has(name) ? name : JSON.stringify({ tenantId: about.tenantId });
        const sitting = sittings.get(key);
        if (sitting === undefined) await begin(key, JSON.parse(key) as About, some.length);
        else {
          sitting.more += some.length;
          await sitting.began;
        }
      }
    },
    async close() {
      for (const name of sittings.keys()) await end(name);
    },
  };
}

/** The tenant and hire that each payload names; empty if it names no tenant of this store. */
async function aboutEach({ kysely }: Store, payloads: readonly Payload[]): Promise<About[]> {
  if (payloads.length === 0) return [];
  const rows = await kysely.selectFrom('tenants').select('tenant_id').execute();
  const known = new Set(rows.map(({ tenant_id: tenantId }) => tenantId));
  return payloads.map(({ data }) => {
    const { tenantId, jobCandidateId } = readAbout(data);
    if (tenantId === undefined || !known.has(tenantId)) return {};
    return jobCandidateId === undefined ? { tenantId } : { tenantId, jobCandidateId };
  });
}

function readAbout(data: Uint8Array | null | undefined): About {
  try {
    return About.safeParse(JSON.parse(Buffer.from(data ?? []).toString())).data ?? {};
  } catch {
    return {};
  }
}

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

function defineKeys(command: Command): void {
  command.description("Make the keys of HIREBRIDGE_KEYS, and replace those of tenants' values.");
  command
    .command('new')
    .description('Add a key at the end of the file of HIREBRIDGE_KEYS, and create the file if there is none.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('HIREBRIDGE_KEYS=file:/etc/hirebridge/keys hirebridge keys new'))
    .action(runNew);
  command
    .command('status')
    .description(
      'List the data keys of tenants: which key of HIREBRIDGE_KEYS encrypts each, and whether the latest ' +
        "encrypts all of a tenant's values.",
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge keys status'))
    .action(runStatus);
  command
    .command('rotate')
    .argument('<tenant>', 'tenant whose values get another key')
    .option(...AS)
    .description('Make a new data key for a tenant; a worker encrypts its values again while everything keeps running.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge keys rotate acme'))
    .action(runRotate);
}

function runNew(options: Flags): void {
  const { file, keyId, isFirst } = addKey(readConfig().HIREBRIDGE_KEYS, new Date().toISOString().slice(0, 10));
  const next = isFirst
    ? 'It encrypts once every process has the file. Keep a copy of it, but not beside the backups.'
    : 'It decrypts as soon as a process has the file; it encrypts once its line is the first. ' +
      'Move it there when every process has it.';
  say(options, { key: keyId, file }, `Added key ${keyId} to ${file}. ${next}\n`);
}

async function runStatus(options: Flags, command: Command): Promise<void> {
  const listed = await withStore(command, async (store) => listDataKeys(sealingIn(store)));
  const keys = listed.map((one) => ({
    tenant: one.tenant_id,
    dataKey: one.key_id,
    madeAt: new Date(Number(one.made_at)).toISOString(),
    under: one.master_key,
    sweptAt: one.swept_at === null ? null : new Date(Number(one.swept_at)).toISOString(),
  }));
  const rows = keys.map((one) => [one.tenant, one.dataKey, one.madeAt, one.under, one.sweptAt ?? 'not yet']);
  const table = renderListed(['tenant', 'data key', 'made', 'encrypted by', 'encrypts all values'], rows);
  say(options, keys, keys.length === 0 ? 'No tenant has a data key yet: a worker makes them.\n' : table);
}

async function runRotate(tenantId: string, options: Flags, command: Command): Promise<void> {
  const rotate = async (store: Store): Promise<string> => {
    const note = (keyId: string) => audit(store, { by: byOf(options), tenantId, act: 'key-rotated', details: keyId });
    return (await addDataKey(sealingIn(store), tenantId, note)).key_id;
  };
  const dataKey = await withStore(command, rotate, tenantId);
  const next = 'A worker encrypts the values with it; hirebridge keys status shows when that is done.';
  say(options, { tenant: tenantId, dataKey }, `${tenantId} has data key ${dataKey}. ${next}\n`);
}

function sealingIn({ sealing }: Store): Sealing {
  if (sealing !== undefined) return sealing;
  throw rejected(
    'KEYS_INVALID',
    'HIREBRIDGE_KEYS is not set, and no value of a tenant is encrypted: set it to file:PATH.',
  );
}
