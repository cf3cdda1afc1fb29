import { once } from 'node:events';
import { connect } from 'node:net';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ReceiverTenant } from '../../src/receiver/admit.ts';
import type { DeliveryStore } from '../../src/receiver/receiver.ts';
import { writeFailpoints } from '../../src/store/open-store.ts';
import { patience } from '../harness/pace.ts';
import { until } from '../harness/until.ts';
import { freshStore } from '../store/stores.ts';
import { deliver, deliveryStore, hired, KEY, startTestReceiver } from './receiver-fixture.ts';

/** A socket that has sent its headers and `bytes` of a body it declared longer. */
async function openSlowly(url: string, declared: number | 'chunked', start: string, localAddress = '127.0.0.1') {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  await once(socket, 'connect');
  const length = declared === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${declared}`;
  socket.write(
    ['POST /webhooks/acme HTTP/1.1', 'host: x', 'content-type: application/json', `x-webhook-key: ${KEY}`, length]
      .map((line) => `${line}\r\n`)
      .join('') + `\r\n${start}`,
  );
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  socket.on('error', () => undefined);
  return { socket, answer: () => answer, closed: once(socket, 'close') };
}

/** Whole deliveries, a hundred on each connection, none of which waits for the answer to the one before. */
async function flood(url: string, tenant: string, key: string, bodies: readonly string[]): Promise<void> {
  const { port, hostname } = new URL(url);
  for (let at = 0; at < bodies.length; at += 100) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).resume();
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    const head = `POST /webhooks/${tenant} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
    for (const body of bodies.slice(at, at + 100))
      socket.write(`${head}x-webhook-key: ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  }
}

const answered = (metrics: string, labels: string): number =>
  Number(new RegExp(`deliveries_total\\{${labels}\\} (\\d+)`).exec(metrics)?.[1] ?? 0);

test('while the store stands still, one tenant floods the receiver and takes no place of another', async () => {
  const { store } = await freshStore('postgres');
  const waits = { maxWaitMs: 60_000, maxBodyMs: 60_000 };
  const { receiver, metrics } = await startTestReceiver({ openStore: async () => deliveryStore(store), ...waits });
  const refused = 'tenant="acme",status="503",code="STORE_UNAVAILABLE"';
  const quiet = await store.kysely.transaction().execute(async (locked) => {
    await sql`lock table inbox in access exclusive mode`.execute(locked);
    await flood(
      receiver.url,
      'acme',
      KEY,
      Array.from({ length: 1_100 }, (_, n) => hired([n])),
    );
    await until('the flood is refused', async () => answered(await metrics(), refused) === 100);
    const sent = [1, 2, 3].map((id) => deliver(receiver.url, hired([id]), { tenant: 'beta' }));
    const others = 'tenant="beta",status="503",code="STORE_UNAVAILABLE"';
    await until('one of them makes room', async () => {
      const text = await metrics();
      return answered(text, refused) === 103 || answered(text, others) > 0;
    });
    expect(answered(await metrics(), others)).toBe(0);
    expect(await metrics()).toMatch(/hirebridge_webhook_held 1000/);
    // Nobody is told that the store is away because one tenant had to make room.
    expect(await receiver.trouble()).not.toBe('the last commit failed');
    return sent;
  });
  expect((await Promise.all(quiet)).map(({ status }) => status)).toEqual([200, 200, 200]);
  await until(
    'all are stored',
    async () => answered(await metrics(), 'tenant="acme",status="200",code="STORED"') === 997,
  );
  const rows = await store.kysely.selectFrom('inbox').select('tenant_id').execute();
  expect(Object.entries(Object.groupBy(rows, (row) => row.tenant_id)).map(([id, of]) => [id, of?.length])).toEqual(
    expect.arrayContaining([['beta', 3]]),
  );
});

test('wrong keys hold no place and have no right one refused, though all come from one address', async () => {
  const opening = Promise.withResolvers<DeliveryStore>();
  const waits = { maxWaitMs: 60_000, maxBodyMs: 60_000 };
  const { receiver, store, metrics } = await startTestReceiver({ openStore: () => opening.promise, ...waits });
  await flood(
    receiver.url,
    'acme',
    'whk_wrong',
    Array.from({ length: 1_100 }, (_, n) => hired([n])),
  );
  const sent = ['acme', 'beta'].map((tenant) => deliver(receiver.url, hired([1]), { tenant }));
  const refused = 'tenant="acme",status="401",code="WEBHOOK_KEY_WRONG"';
  await until('the flood is refused', async () => answered(await metrics(), refused) === 1_100);
  await until('the right ones wait', async () => (await metrics()).includes('hirebridge_webhook_held 2'));
  opening.resolve(deliveryStore(store));
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200]);
});

test('while nobody is known yet, so many may wait, and the address with the most makes room', async () => {
  const tenants = Promise.withResolvers<(id: string) => ReceiverTenant>();
  const waits = { maxWaitMs: 60_000, maxBodyMs: 60_000 };
  const options = { tenants: tenants.promise, maxBytesUnderWay: 2_000_000, ...waits };
  const { receiver, metrics } = await startTestReceiver(options);
  const body = hired([1]);
  const modest = await openSlowly(receiver.url, body.length, body, '127.0.0.2');
  const bodies = Array.from({ length: 200 }, (_, n) => hired([n]));
  await flood(receiver.url, 'acme', KEY, bodies);
  const refused = 'tenant="",status="503",code="STORE_UNAVAILABLE"';
  await until('some make room', async () => answered(await metrics(), refused) >= 78);
  tenants.resolve((id) => ({ id, webhookKeys: () => [KEY] }));
  await until('an answer', async () => modest.answer() !== '');
  expect(modest.answer()).toContain('200');
  await until('the others are stored', async () => /status="200",code="STORED"\} 1\d\d/.test(await metrics()));
  modest.socket.destroy();
});

test('verified bodies that are under way have a bounded memory, and the greediest tenant makes room', async () => {
  const { receiver, metrics } = await startTestReceiver({ maxBytesUnderWay: 2_000_000, maxBodyMs: 60_000 });
  const start = `{"event":"candidate.hired","pad":"${'x'.repeat(400_000)}`;
  const greedy = await Promise.all(Array.from({ length: 12 }, () => openSlowly(receiver.url, 900_000, start)));
  await until('most make room', async () => greedy.filter((one) => one.answer().includes('503')).length >= 8);
  for (const tenant of ['acme', 'beta']) expect((await deliver(receiver.url, hired([1]), { tenant })).status).toBe(200);
  expect(await metrics()).toContain('code="WEBHOOKS_BUSY"');
  for (const { socket } of greedy) socket.destroy();
});

test('a burst of 200 shuffled deliveries of 20 hires leaves 20 rows and refuses what is wrong', async () => {
  const { receiver, rows } = await startTestReceiver({ maxWaitMs: 10_000, maxBodyMs: 10_000 });
  const sends = Array.from({ length: 200 }, (_, n) => ({
    hire: (n * 7 + Math.floor(n / 20)) % 20,
    key: n % 10 === 9 ? 'whk_wrong' : KEY,
    cut: n % 25 === 7,
  }));
  const answers = await Promise.all(
    sends.map(async ({ hire, key, cut }) => {
      const whole = hired([hire]);
      const { status } = await deliver(receiver.url, cut ? whole.slice(0, -3) : whole, { key });
      return { status, expected: key !== KEY ? 401 : cut ? 400 : 200 };
    }),
  );
  for (const { status, expected } of answers) expect(status).toBe(expected);
  expect(await rows()).toHaveLength(20);
});

test('webhooks that are there at the same moment share a commit, which holds the process up in SQLite', async () => {
  const passed: string[] = [];
  const { store } = await freshStore('sqlite', { plugins: [writeFailpoints((point) => passed.push(point))] });
  const waits = { maxWaitMs: 20_000, maxBodyMs: 20_000 };
  const { receiver } = await startTestReceiver({ openStore: async () => deliveryStore(store), ...waits });
  expect((await deliver(receiver.url, hired(['first']))).status).toBe(200);
  const bodies = Array.from({ length: 20 }, (_, n) => hired([n]));
  const senders = await Promise.all(bodies.map((body) => openSlowly(receiver.url, body.length, body.slice(0, 9))));
  const answered = senders.map(({ socket }) => once(socket, 'data'));
  for (const [n, { socket }] of senders.entries()) socket.write(bodies[n]?.slice(9) ?? '');
  await Promise.all(answered);
  expect(senders.every((one) => one.answer().startsWith('HTTP/1.1 200'))).toBe(true);
  expect(passed.filter((point) => point === 'store.insert.inbox/before').length).toBeLessThan(10);
  for (const { socket } of senders) socket.destroy();
});

test('a chunked body over the limit is cut off while it streams', async () => {
  const { receiver, rows } = await startTestReceiver({ maxBytes: 2_000, maxBodyMs: 3_000 });
  const slow = await openSlowly(receiver.url, 'chunked', '');
  const chunk = `3e8\r\n${'x'.repeat(1_000)}\r\n`;
  for (let n = 0; n < 3; n++) slow.socket.write(chunk);
  await vi.waitFor(() => expect(slow.answer()).toContain('413'), { timeout: patience(30_000) });
  slow.socket.destroy();
  expect(await rows()).toHaveLength(0);
});

test('slow bodies are answered 408, their sockets closed, and others are served meanwhile', async () => {
  const { receiver } = await startTestReceiver();
  const slow = await Promise.all(Array.from({ length: 50 }, () => openSlowly(receiver.url, 500, '{"event"')));
  expect((await deliver(receiver.url, hired([1]))).status).toBe(200);
  await vi.waitFor(() => expect(slow.every((one) => one.answer().includes('408'))).toBe(true), {
    timeout: patience(30_000),
  });
  await Promise.all(slow.map((one) => one.closed));
});

test('a connection that ends in the middle of its body leaves no row', async () => {
  const { receiver, rows, metrics } = await startTestReceiver({ maxBodyMs: 3_000 });
  const slow = await openSlowly(receiver.url, 500, '{"event":"candidate.hired"}');
  slow.socket.destroy();
  await vi.waitFor(async () => expect(await metrics()).toContain('code="WEBHOOK_ABORTED"} 1'), {
    timeout: patience(30_000),
  });
  expect(await rows()).toHaveLength(0);
});

test('deliveries that arrive before the store is open are held and then stored', async () => {
  const gate = Promise.withResolvers<void>();
  const built: { store?: DeliveryStore } = {};
  const { receiver, store, rows, metrics } = await startTestReceiver({
    maxWaitMs: 5_000,
    openStore: async () => {
      await gate.promise;
      return built.store as DeliveryStore;
    },
  });
  built.store = deliveryStore(store);
  const answers = Promise.all([1, 2, 3].map((id) => deliver(receiver.url, hired([id]))));
  await vi.waitFor(async () => expect(await metrics()).toMatch(/hirebridge_webhook_held 3/), {
    timeout: patience(30_000),
  });
  expect(await receiver.trouble()).toBeDefined();
  expect(await rows()).toHaveLength(0);
  gate.resolve();
  expect((await answers).map((answer) => answer.status)).toEqual([200, 200, 200]);
  expect(await rows()).toHaveLength(3);
  expect(await receiver.trouble()).toBeUndefined();
});

test('a store that cannot be opened in time is a 503 and never a false 200', async () => {
  const { receiver } = await startTestReceiver({ openStore: () => Promise.reject(new Error('down')) });
  expect(await deliver(receiver.url, hired([1]))).toEqual({ status: 503, code: 'STORE_UNAVAILABLE' });
});

test('a commit that fails for a moment is tried again before the answer', async () => {
  let failures = 2;
  const state: { commit?: DeliveryStore['commit'] } = {};
  const { receiver, store, rows } = await startTestReceiver({
    maxWaitMs: 5_000,
    openStore: async () => ({
      commit: (...given) =>
        failures-- > 0 ? Promise.reject(new Error('restarting')) : (state.commit as DeliveryStore['commit'])(...given),
      trouble: async () => undefined,
      close: async () => undefined,
    }),
  });
  state.commit = deliveryStore(store).commit;
  expect((await deliver(receiver.url, hired([1]))).status).toBe(200);
  expect(await rows()).toHaveLength(1);
});

test('a commit that never answers is a 503', async () => {
  const { receiver } = await startTestReceiver({
    openStore: async () => ({
      commit: () => new Promise(() => undefined),
      trouble: async () => undefined,
      close: async () => undefined,
    }),
  });
  expect((await deliver(receiver.url, hired([1]))).status).toBe(503);
});

test('closing answers what is held instead of leaving it to a timeout', async () => {
  const { receiver } = await startTestReceiver({
    maxWaitMs: 60_000,
    openStore: () => Promise.reject(new Error('down')),
  });
  const answer = deliver(receiver.url, hired([1]));
  await vi.waitFor(async () => expect(await receiver.trouble()).toBeDefined(), { timeout: patience(30_000) });
  await receiver.close();
  expect((await answer.catch(() => ({ status: 503 }))).status).toBe(503);
});

test.runIf(process.platform === 'linux')('a second receiver takes over the same port without a gap', async () => {
  const first = await startTestReceiver({ reusePort: true });
  const port = Number(new URL(first.receiver.url).port);
  const second = await startTestReceiver({ reusePort: true, port });
  await first.receiver.close();
  expect((await deliver(second.receiver.url, hired([1]))).status).toBe(200);
  expect(await second.rows()).toHaveLength(1);
});

test('a port that is taken is one clear refusal that names it', async () => {
  const { receiver } = await startTestReceiver();
  const port = Number(new URL(receiver.url).port);
  await expect(startTestReceiver({ port })).rejects.toMatchObject({
    code: 'RECEIVER_CANNOT_LISTEN',
    message: expect.stringContaining(String(port)),
  });
});
