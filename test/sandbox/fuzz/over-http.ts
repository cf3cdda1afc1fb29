import { connect } from 'node:net';
import fc from 'fast-check';
import { request as send } from 'undici';
import type { AnyEndpoint } from '../../../src/partner/contract/index.ts';
import { openWorld, pathOf } from '../cases/world.ts';
import { goodRequests, type Mutated, mutatedRequests } from './mutated.ts';
import { RefusalBody } from './refusal-body.ts';
import { type FuzzedRequest, json, request, urlOf } from './requests.ts';

/** Sent together, as clients do. */
const BATCH = 20;

/** Header values that a client may send: no control characters, else nothing leaves it. */
const value = fc.string({
  unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
  maxLength: 40,
});
const headers = fc.dictionary(
  fc.constantFrom(
    'x-request-id',
    'content-type',
    'accept',
    'accept-encoding',
    'cookie',
    'x-forwarded-for',
    'range',
    'if-match',
  ),
  value,
  { maxKeys: 4 },
);
/** Mostly the right key, as otherwise nothing but 401 is ever seen. */
const authorization = (key: string) =>
  fc.oneof(
    { weight: 20, arbitrary: fc.constant(`Bearer ${key}`) },
    { weight: 1, arbitrary: value },
    { weight: 1, arbitrary: fc.constantFrom('', 'Bearer', `bearer  ${key}`, `Basic ${key}`, `Bearer sk_live_${key}`) },
  );
/** Bytes on a socket that are no request, or hardly one. */
const garbage = fc.oneof(
  value.map((text) => `${text}\r\n\r\n`),
  fc.constantFrom(
    'GET /v1/partner/jobs HTTP/9.9\r\n\r\n',
    'PURGE /v1/partner/jobs HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET  HTTP/1.1\r\n\r\n',
    `GET /v1/partner/jobs HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`,
    'POST /v1/partner/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n{}',
    'POST /v1/partner/jobs HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}',
    'POST /v1/partner/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
  ),
);
type Sent = { endpoint: AnyEndpoint; url: string; body: string };
type One = { sent: Sent; headers: Record<string, string>; authorization: string } | { garbage: string };

/** Nonsense from scratch, good requests with one value spoilt, and sockets that speak no HTTP. */
function anything(key: string, good: readonly Mutated[]): fc.Arbitrary<One> {
  const invented = request.map((one: FuzzedRequest): Sent => {
    return { endpoint: one.endpoint, url: urlOf(one), body: one.raw ?? JSON.stringify(one.body) ?? '' };
  });
  const spoilt = mutatedRequests(good, json).map(({ endpoint, input }): Sent => {
    return { endpoint, url: pathOf(endpoint, input), body: JSON.stringify(input.body) ?? '' };
  });
  return fc.oneof(
    { weight: 15, arbitrary: fc.record({ sent: invented, headers, authorization: authorization(key) }) },
    { weight: 15, arbitrary: fc.record({ sent: spoilt, headers, authorization: authorization(key) }) },
    { weight: 1, arbitrary: fc.record({ garbage }) },
  );
}

export interface Fuzzed {
  runs: number;
  seed: number;
  /** How often each status was answered. */
  statuses: Record<string, number>;
}

/**
 * Sends so many fuzzed requests to a sandbox process of its own. Error: an answer that is no JSON, a success that the
 * contract does not know, a refusal in no body of sections 5 and 7, a stack trace, or a sandbox that has ended.
 */
export async function fuzzOverHttp(runs: number, seed = Date.now() & 0x7fffffff): Promise<Fuzzed> {
  await using world = await openWorld();
  const one = anything(world.key, await goodRequests(world));
  const statuses: Record<string, number> = {};
  const check = async (batch: One[]): Promise<void> => {
    for (const { status, problem } of await Promise.all(batch.map((item) => answered(world.baseUrl, item)))) {
      if (problem !== undefined) throw new Error(problem);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  const batches = fc.asyncProperty(fc.array(one, { minLength: BATCH, maxLength: BATCH, size: 'max' }), check);
  await fc.assert(batches, { numRuns: Math.ceil(runs / BATCH), seed, endOnFailure: true });
  await world.control.health();
  return { runs: Math.ceil(runs / BATCH) * BATCH, seed, statuses };
}

async function answered(baseUrl: string, item: One): Promise<{ status: number; problem?: string }> {
  if ('garbage' in item) return answeredGarbage(new URL(baseUrl), item.garbage);
  const { endpoint, url, body } = item.sent;
  const response = await send(baseUrl + url, {
    method: endpoint.method,
    headers: { 'content-type': 'application/json', ...item.headers, authorization: item.authorization },
    ...(endpoint.method === 'GET' ? {} : { body }),
  });
  const promised = response.statusCode < 400 ? endpoint.response : RefusalBody;
  return { status: response.statusCode, ...problemOf(response.statusCode, await response.body.text(), promised) };
}

function problemOf(
  status: number,
  text: string,
  promised: { safeParse: (body: unknown) => { success: boolean } },
): { problem?: string } {
  if (status >= 500 || /SQLITE|\bat .*\.ts:\d/.test(text))
    return { problem: `${String(status)}: ${text.slice(0, 500)}` };
  try {
    return promised.safeParse(JSON.parse(text)).success
      ? {}
      : { problem: `not as promised, ${String(status)}: ${text.slice(0, 500)}` };
  } catch {
    return { problem: `no JSON, ${String(status)}: ${text.slice(0, 500)}` };
  }
}

/** What comes back on a socket until the sandbox closes it; nothing at all is an answer to nothing at all. */
async function answeredGarbage({ hostname, port }: URL, bytes: string): Promise<{ status: number; problem?: string }> {
  const text = await new Promise<string>((resolve) => {
    let seen = '';
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.on('data', (chunk) => (seen += String(chunk)));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(seen));
  });
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  if (status === 0) return { status: 400, ...(text === '' ? {} : { problem: text.slice(0, 500) }) };
  return { status, ...problemOf(status, text.slice(text.indexOf('\r\n\r\n') + 4), RefusalBody) };
}
