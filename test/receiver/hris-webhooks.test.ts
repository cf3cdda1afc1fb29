import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { WebhookSigning } from '../../src/http/signed-delivery.ts';
import { createReceiverTenants } from '../../src/receiver/receiver-tenants.ts';
import type { AppliedTenant } from '../../src/store/applied-tenants.ts';
import { readHints } from '../../src/store/hints.ts';
import { finishBaseline, readTenantState } from '../../src/store/tenant-states.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { acmePayloads, signAcme } from '../hris/acme-server.ts';
import { signWebhook, webhookPayloads } from '../hris/bamboohr-people.ts';
import { relayOver } from '../worker/relay-over.ts';
import { hired, KEY, startTestReceiver } from './receiver-fixture.ts';

const HRIS_KEY = 'bamboo-webhook-0123456789';
const [byEvent = Buffer.alloc(0), byField = Buffer.alloc(0)] = webhookPayloads(['40500', '40501']);

const ACME_SIGNING: WebhookSigning = {
  header: 'X-Acme-Signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
  timestamp: 'x-acme-time',
  signed: '{timestamp}.{body}',
  ids: [
    ['staff', 'id'],
    ['event', 'staffId'],
  ],
};

function applied(tenantId: string, receives: Partial<AppliedTenant['receives']>): AppliedTenant {
  const definition = { tenantId, file: '', files: {}, receives: { webhooks: 'on', webhookKeys: [], ...receives } };
  const standing = { version: 1, state: 'active', pausedCode: null, appliedAt: 0, appliedBy: 'ada', endedAt: null };
  return { ...definition, ...standing } as AppliedTenant;
}

/** `acme` takes webhooks of both sides, `quiet` of its HRIS alone, and `plain` of the partner alone. */
async function startReceiver() {
  vi.stubEnv('TEST_HRIS_WEBHOOK_KEY', HRIS_KEY);
  vi.stubEnv('TEST_PARTNER_WEBHOOK_KEY', KEY);
  onTestFinished(() => void vi.unstubAllEnvs());
  const hris = { kind: 'bamboohr', webhookKey: 'env:TEST_HRIS_WEBHOOK_KEY' };
  const webhookKeys = ['env:TEST_PARTNER_WEBHOOK_KEY'];
  const tenants = createReceiverTenants();
  tenants.take([
    applied('acme', { webhookKeys, hris }),
    applied('quiet', { webhooks: 'off', hris }),
    applied('defined', { webhookKeys, hris: { ...hris, kind: 'http', signing: ACME_SIGNING } }),
    applied('plain', { webhookKeys }),
  ]);
  const started = await startTestReceiver({ tenants: tenants.find });
  const send = async (path: string, body: Buffer | string, headers: Record<string, string>) => {
    const url = `${started.receiver.url}/webhooks/${path}`;
    const all = { 'content-type': 'application/json', ...headers };
    return (await fetch(url, { method: 'POST', headers: all, body })).status;
  };
  return { ...started, send, tenants };
}

test('a webhook as a definition says that it is signed is stored, and one signed otherwise is not', async () => {
  const { send, rows } = await startReceiver();
  const [about = Buffer.alloc(0)] = acmePayloads(['501', '502']);
  expect(await send('defined/hris', about, signAcme(about, HRIS_KEY, Date.now()))).toBe(200);
  expect(await send('defined/hris', about, signWebhook(about, HRIS_KEY, Date.now()))).toBe(401);
  expect(await send('defined/hris', about, signAcme(about, 'another', Date.now()))).toBe(401);
  expect(await rows()).toMatchObject([{ tenant_id: 'defined', ids: '{"employeeId":["501","502"]}', body: '{}' }]);
});

test('a webhook that the HR system signed is stored with the ids it names and nothing else, and once', async () => {
  const { send, rows, logged } = await startReceiver();
  const headers = signWebhook(byField, HRIS_KEY, Date.now());
  expect(await send('acme/hris', byField, headers)).toBe(200);
  expect(await send('acme/hris', byField, headers)).toBe(200);
  expect(await send('quiet/hris', byField, headers)).toBe(200);
  const row = {
    event: 'hris.employees_changed',
    ids: '{"employeeId":["40500","40501"]}',
    body: '{}',
    state: 'waiting',
  };
  expect(await rows()).toMatchObject([
    { ...row, tenant_id: 'acme' },
    { ...row, tenant_id: 'quiet' },
  ]);
  expect(logged()).not.toContain(HRIS_KEY);
});

test('the same words at another time are another webhook', async () => {
  const { send, rows } = await startReceiver();
  for (const ago of [0, 60_000])
    expect(await send('acme/hris', byEvent, signWebhook(byEvent, HRIS_KEY, Date.now() - ago))).toBe(200);
  expect(await rows()).toHaveLength(2);
});

test('while a key is replaced the old one and the new are taken, and afterwards the new one alone', async () => {
  const { send, tenants } = await startReceiver();
  const folder = await scratchFolder();
  const [older, newer] = [join(folder, 'older.key'), join(folder, 'newer.key')];
  const webhookKeys = [`file:${older}`, `file:${newer}`];
  tenants.take([applied('acme', { hris: { kind: 'bamboohr', webhookKeys, webhookKey: `file:${older}` } })]);
  let minutes = 0;
  const statuses = () => {
    minutes += 1;
    const at = Date.now() - minutes * 60_000;
    return Promise.all(['old', 'new'].map((key) => send('acme/hris', byEvent, signWebhook(byEvent, key, at))));
  };
  expect(await statuses()).toEqual([503, 503]);
  await writeFile(older, 'old');
  expect(await statuses()).toEqual([200, 401]);
  await writeFile(newer, 'new');
  expect(await statuses()).toEqual([200, 200]);
  await rm(older);
  expect(await statuses()).toEqual([401, 200]);
});

test.each([
  ['signed by another key', 'acme/hris', () => signWebhook(byEvent, 'another', Date.now()), 401],
  ['signed twenty minutes ago', 'acme/hris', () => signWebhook(byEvent, HRIS_KEY, Date.now() - 1_200_000), 401],
  ['not signed', 'acme/hris', () => ({}), 401],
  ["with the partner's key", 'acme/hris', () => ({ 'x-webhook-key': KEY }), 401],
  ["at the partner's address", 'acme', () => signWebhook(byEvent, HRIS_KEY, Date.now()), 401],
  ['for a tenant that takes none', 'plain/hris', () => signWebhook(byEvent, HRIS_KEY, Date.now()), 404],
  ['for a tenant that nobody knows', `${randomUUID()}/hris`, () => signWebhook(byEvent, HRIS_KEY, Date.now()), 404],
])('a webhook of an HR system %s is refused and leaves no row', async (_how, path, headers, status) => {
  const { send, rows } = await startReceiver();
  expect(await send(path, byEvent, headers())).toBe(status);
  expect(await rows()).toEqual([]);
});

test("a tenant without the partner's webhooks has no address for them, though its HR system has one", async () => {
  const { send, rows } = await startReceiver();
  expect(await send('quiet', hired([1]), { 'x-webhook-key': KEY })).toBe(404);
  expect(await rows()).toEqual([]);
});

test('what the HR system says is a hint at the employees it names, and wakes their streams once', async () => {
  const { send, store } = await startReceiver();
  await readTenantState(store, 'acme');
  await finishBaseline(store, 'acme');
  for (const ago of [0, 1_000, 2_000])
    await send('acme/hris', byField, signWebhook(byField, HRIS_KEY, Date.now() - ago));
  const { streams } = relayOver(store);
  for (const stream of ['employees', 'employment'])
    await expect.poll(async () => (await readHints(store, 'acme', stream)).length).toBe(2);
  await expect.poll(() => streams.toSorted()).toEqual(['employees', 'employment']);
});
