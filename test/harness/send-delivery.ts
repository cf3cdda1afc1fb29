import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { patience } from './pace.ts';

export interface SentDelivery {
  /** JSON text, or what became of it. */
  body: string;
  key: string;
  event?: string;
  /**
   * `declared`: with its length; `chunked`: without; `cut`: half of the declared length, then the end of the
   * connection.
   */
  framing?: 'declared' | 'chunked' | 'cut';
}

/** One POST over a real socket, signed by the shipped signer. Undefined: no answer came. */
export async function sendDelivery(url: string, delivery: SentDelivery): Promise<number | undefined> {
  const { body, key, event = 'candidate.hired', framing = 'declared' } = delivery;
  const headers = webhookHeaders(event, key);
  try {
    if (framing === 'cut') return await sendCut(url, headers, body);
    const sent = framing === 'chunked' ? Readable.from(chunksOf(body)) : body;
    const answer = await request(url, { method: 'POST', headers, body: sent, headersTimeout: patience(15_000) });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return undefined;
  }
}

async function* chunksOf(body: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** A sender that dies in the middle of its body: no client library sends this on purpose. */
async function sendCut(url: string, headers: Record<string, string>, body: string): Promise<number | undefined> {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const lines = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) });
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  socket.end(body.slice(0, body.length / 2));
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
  return status === undefined ? undefined : Number(status);
}

/** The headers of a delivery (section 6). */
export function webhookHeaders(event: string, key: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-webhook-event': event,
    'x-webhook-timestamp': new Date().toISOString(),
    'x-webhook-key': key,
  };
}
