import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../harness/pace.ts';
import { startSandboxProcess } from './cases/world.ts';
import type { Json } from './open-sandbox.ts';

/** Clients that are slow or immense, and one that only wants its page, against a sandbox process. */
const KEY = `sk_test_${'p'.repeat(22)}`;
const MB = 1024 * 1024;
/** A page may take so long beside trouble: far more than alone on this machine, far less than a blocked sandbox. */
const patienceMs = async (): Promise<number> => Math.max(scaled(3_000), 10 * (await slowestPage(20)));

let sandbox: Awaited<ReturnType<typeof startSandboxProcess>>;
let url: URL;

beforeAll(async () => {
  sandbox = await startSandboxProcess({ port: 0, 'control-port': 0, key: KEY, jobs: 1, candidates: 20 });
  url = new URL(sandbox.facts['partner'] ?? '');
});
afterAll(() => void sandbox.child.kill('SIGKILL'));

function open(): Socket {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
  return socket;
}

/** Pages read one after the other; the slowest in ms. */
async function slowestPage(pages: number): Promise<number> {
  let slowest = 0;
  for (let n = 0; n < pages; n += 1) {
    const began = performance.now();
    const response = await fetch(`${url.href}/candidates/list`, { headers: { authorization: `Bearer ${KEY}` } });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    slowest = Math.max(slowest, performance.now() - began);
  }
  return slowest;
}

test('three hundred clients that send a byte at a time stop nobody from being served', async () => {
  const patience = await patienceMs();
  const head = `POST /v1/partner/jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n`;
  const slow = Array.from({ length: 300 }, open);
  await Promise.all(slow.map((socket) => once(socket, 'connect')));
  // Half of them never end their headers, the other half never end the body that they promised.
  for (const [index, socket] of slow.entries())
    socket.write(index % 2 === 0 ? head : `${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`);
  const drip = setInterval(() => {
    for (const socket of slow) socket.write('x');
  }, 20);
  try {
    const slowest = await slowestPage(40);
    console.log(`slowest of 40 pages beside 300 slow clients: ${slowest.toFixed(0)} ms`);
    expect(slowest).toBeLessThan(patience);
    expect(slow.filter((socket) => socket.destroyed)).toEqual([]);
  } finally {
    clearInterval(drip);
    for (const socket of slow) socket.destroy();
  }
});

test.each([
  ['that says so', `content-length: ${String(300 * MB)}\r\n\r\n`, (chunk: Buffer) => chunk],
  [
    'in pieces',
    'transfer-encoding: chunked\r\n\r\n',
    (chunk: Buffer) => `${chunk.length.toString(16)}\r\n${chunk.toString()}\r\n`,
  ],
])('a body of 300 MB %s is refused in a body of section 7, while others are served', async (_how, headers, framed) => {
  const patience = await patienceMs();
  const before = memoryMb();
  const socket = open();
  const answer = readAll(socket);
  socket.write(`POST /v1/partner/jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n${headers}`);
  const sending = sendMegabytes(socket, 300, framed);
  const slowest = await slowestPage(40);
  await sending;
  const text = await answer;
  console.log(
    `slowest of 40 pages beside 300 MB: ${slowest.toFixed(0)} ms, ` +
      `RSS ${before.toFixed(0)} to ${memoryMb().toFixed(0)} MB`,
  );
  expect(slowest).toBeLessThan(patience);
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  const body: Json = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
  expect(body.error.code).toBe('INVALID_REQUEST');
  if (before > 0) expect(memoryMb() - before).toBeLessThan(200);
});

/** As much of it as the other side takes, at the pace it takes it. */
async function sendMegabytes(socket: Socket, count: number, framed: (chunk: Buffer) => Buffer | string): Promise<void> {
  const closed = event(socket, 'close');
  const chunk = framed(Buffer.alloc(MB, 'a'));
  for (let n = 0; n < count && socket.writable; n += 1) {
    if (!socket.write(chunk)) await Promise.race([event(socket, 'drain'), closed]);
  }
  socket.end(framed(Buffer.alloc(0)));
}

async function readAll(socket: Socket): Promise<string> {
  let seen = '';
  socket.on('data', (part) => (seen += String(part)));
  await event(socket, 'close');
  return seen;
}

/** Unlike `once` of node:events it does not fail with the socket's error: a reset is told by what was read. */
function event(socket: Socket, name: 'drain' | 'close'): Promise<void> {
  return new Promise((resolve) => socket.once(name, () => resolve()));
}

/** Resident memory of the sandbox process where the system tells it, else 0. */
function memoryMb(): number {
  try {
    const status = readFileSync(`/proc/${String(sandbox.child.pid)}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
