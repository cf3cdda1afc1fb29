import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ReceiverOptions } from '../../src/receiver/receiver.ts';
import { createReceiverTenants } from '../../src/receiver/receiver-tenants.ts';
import type { AppliedTenant } from '../../src/store/applied-tenants.ts';
import { until } from '../harness/until.ts';
import { signWebhook } from '../hris/bamboohr-people.ts';
import { startTestReceiver } from './receiver-fixture.ts';

const HRIS_KEY = 'bamboo-webhook-0123456789';

async function startReceiver(options: Partial<ReceiverOptions> = {}) {
  vi.stubEnv('TEST_HRIS_WEBHOOK_KEY', HRIS_KEY);
  onTestFinished(() => void vi.unstubAllEnvs());
  const tenants = createReceiverTenants();
  const hris = { kind: 'bamboohr', webhookKey: 'env:TEST_HRIS_WEBHOOK_KEY' };
  const receives = { webhooks: 'off', webhookKeys: [], hris };
  const applied = ['acme', 'beta'].map((tenantId) => ({ tenantId, version: 1, state: 'active', receives }));
  tenants.take(applied as unknown as AppliedTenant[]);
  return startTestReceiver({ tenants: tenants.find, maxBodyMs: 30_000, maxWaitMs: 30_000, ...options });
}

/** Headers of the form that the HR system's have, signed with no key of ours. */
const forged = () => signWebhook(Buffer.from('x'), 'guessed', Date.now());

interface Hostile {
  headers?: Record<string, string>;
  tenant?: string;
  /** Its own address. */
  from?: string;
  declared?: number;
  /** At once, before it trickles. */
  first?: number;
}

/** A socket that declares a body and sends a byte of it now and then. */
async function trickle(url: string, options: Hostile = {}) {
  const { headers = forged(), tenant = 'acme', from = '127.0.0.1', declared = 900_000, first = 1 } = options;
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress: from });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const all = { host: 'x', 'content-type': 'application/json', 'content-length': String(declared), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /webhooks/${tenant}/hris HTTP/1.1\r\n${lines.join('')}\r\n${'x'.repeat(first)}`);
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  const timer = setInterval(() => socket.write('x'), 40);
  socket.once('close', () => clearInterval(timer));
  onTestFinished(() => void socket.destroy());
  return { status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0) };
}

/** Correctly signed webhooks, each another body; those that were not taken, by their status. */
async function sendSigned(url: string, count: number, tenant = 'acme'): Promise<number[]> {
  const statuses = await times(count, async (n) => {
    const body = Buffer.from(JSON.stringify({ employees: [{ id: String(n) }] }));
    const headers = { 'content-type': 'application/json', ...signWebhook(body, HRIS_KEY, Date.now()) };
    return (await fetch(`${url}/webhooks/${tenant}/hris`, { method: 'POST', headers, body })).status;
  });
  return statuses.filter((status) => status !== 200);
}

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

test.each([10, 50, 400])('%i sockets with unsigned or forged bodies take no place of signed ones', async (n) => {
  // Nobody's pulse is felt, so that a forged body stands there for as long as the test lasts.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { receiver, rows } = await startReceiver({ maxBodyMs: 600_000 });
  const forgeries = await times(n, () => trickle(receiver.url));
  const unsigned = await times(n / 2, () => trickle(receiver.url, { headers: {} }));
  // By their headers alone: no body is waited for.
  await until('unsigned ones are refused', async () => unsigned.every((one) => one.status() === 401));
  expect(await sendSigned(receiver.url, 30)).toEqual([]);
  expect(await rows()).toHaveLength(30);
  expect(forgeries.filter((one) => one.status() !== 0)).toEqual([]);
});

test('a body that brings less than a thousand bytes a second is cut off long before its deadline', async () => {
  const { receiver } = await startReceiver({ maxBodyMs: 600_000 });
  const slow = await trickle(receiver.url);
  expect(await until('an answer', async () => slow.status() || undefined)).toBe(408);
});

test('bodies that nobody has judged are held in a bounded memory, and the greediest address makes room', async () => {
  const { receiver, metrics } = await startReceiver({ maxBytesUnderWay: 2_000_000 });
  const greedy = await times(12, () => trickle(receiver.url, { from: '127.0.0.2', first: 400_000 }));
  // Only so much is held, whatever was sent.
  await until('most make room', async () => greedy.filter((one) => one.status() === 503).length >= 8);
  const modest = await trickle(receiver.url, { from: '127.0.0.3', first: 200_000 });
  for (const tenant of ['acme', 'beta']) expect(await sendSigned(receiver.url, 30, tenant)).toEqual([]);
  expect(modest.status()).not.toBe(503);
  expect(await metrics()).toContain('code="WEBHOOKS_BUSY"');
});

test('of refused deliveries the first of its kind is logged, and the others as a number', async () => {
  const { receiver, logged } = await startReceiver();
  const send = (headers: Record<string, string>) =>
    fetch(`${receiver.url}/webhooks/acme/hris`, { method: 'POST', headers, body: '{}' });
  await times(100, () => send({ 'content-type': 'application/json' }));
  await times(100, () => send({ 'content-type': 'text/plain' }));
  await receiver.close();
  const lines = logged()
    .split('\n')
    .filter((line) => /refused/.test(line));
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { tenantId: 'acme', status: 401, err: { code: 'HRIS_WEBHOOK_FORGED' } },
    { tenantId: 'acme', status: 415, err: { code: 'WEBHOOK_TYPE_WRONG' } },
    { tenantId: 'acme', status: 401, code: 'HRIS_WEBHOOK_FORGED', count: 99 },
    { tenantId: 'acme', status: 415, code: 'WEBHOOK_TYPE_WRONG', count: 99 },
  ]);
});
