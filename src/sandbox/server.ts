import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ApiResponse, invalidRequest } from './errors.ts';
import { openFile } from './files.ts';
import { openHostedPage } from './hosted-pages.ts';
import { type Outcome, play } from './play.ts';
import type { RateLimit } from './rate-limit.ts';
import { openSharePage } from './share-page.ts';
import type { SandboxState } from './state.ts';

/** Larger than the largest body the spec allows: 5,000 invites or URLs. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** One answered or unanswered request, for a log line; no body, no personal data. */
export interface RequestLog {
  method: string;
  path: string;
  operation: string;
  /** Absent when no answer was sent. */
  status?: number;
  companyId?: number | undefined;
  requestId: string;
  fault?: string | undefined;
  ms: number;
}

export interface ApiServerOptions {
  port: number;
  limit?: RateLimit | undefined;
  onRequest?: ((entry: RequestLog) => void) | undefined;
}

/** The API over node:http, bare on purpose: a page of 100 must cost little more than its bytes. */
export async function startApiServer(
  state: SandboxState,
  options: ApiServerOptions,
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 60_000 },
    (req, res) => {
      answerRequest(state, options, req, res).catch((error: unknown) => {
        // A client that goes away while sending is no defect.
        if (req.complete) state.onDefect?.('server', error);
        res.destroy();
      });
    },
  );
  server.on('clientError', refuseNonsense);
  return listen(server, options.port);
}

/** What is no HTTP, too long in its headers, or too slow to arrive is refused in the body of section 7 as well. */
function refuseNonsense(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(invalidRequest('The request is not valid HTTP, too large, or did not arrive in time'));
  const head = `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8`;
  socket.end(`${head}\r\ncontent-length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`);
}

/** Listens on loopback; close ends open connections too. */
export async function listen(server: Server, port: number): Promise<{ port: number; close: () => Promise<void> }> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answerRequest(
  state: SandboxState,
  options: ApiServerOptions,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const file = openFile(state, req.method, req.url ?? '/') ?? openSharePage(state, req.method, req.url ?? '/');
  if (file !== undefined) {
    res.writeHead(file.status, withLength(file));
    res.end(file.body);
    return;
  }
  const body = await readBody(req);
  if (body === undefined) {
    refuseTooLarge(req, res);
    return;
  }
  const page = openHostedPage(state, req.method, req.url ?? '/', body);
  if (page !== undefined) {
    res.writeHead(page.status, withLength(page));
    res.end(page.body);
    return;
  }
  const request = { method: req.method ?? 'GET', url: req.url ?? '/', headers: req.headers, body };
  const outcome = await play(state, request, options.limit);
  send(res, outcome);
  const log = logOf(outcome, started);
  const answered = outcome.kind === 'reset' ? '' : outcome.response.body.toString();
  state.exchanges.add({ ...log, at: state.clock.now(), url: request.url, sent: body, answered });
  options.onRequest?.(log);
}

/** The whole body as text; undefined when it is too large. */
export async function readBody(req: IncomingMessage): Promise<string | undefined> {
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined;
  if (req.method === 'GET') return '';
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not close the connection: the refusal still goes out on it.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * How long the rest of a body that is too large is read and thrown away: closing at once would reset the answer too.
 */
const LINGER_MS = 5000;

function refuseTooLarge(req: IncomingMessage, res: ServerResponse): void {
  const body = JSON.stringify(invalidRequest('The body is too large'));
  res.writeHead(400, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) });
  res.end(body);
  req.resume();
  const timer = setTimeout(() => req.destroy(), LINGER_MS).unref();
  req.once('close', () => clearTimeout(timer));
}

function send(res: ServerResponse, outcome: Outcome): void {
  if (outcome.kind === 'reset') {
    // A reset, not an orderly end: the client must not be able to read a truncated success.
    res.socket?.resetAndDestroy();
    return;
  }
  if (outcome.kind === 'half') sendHalf(res, outcome.response);
  else {
    res.writeHead(outcome.response.status, withLength(outcome.response));
    res.end(outcome.response.body);
  }
}

function sendHalf(res: ServerResponse, response: ApiResponse): void {
  res.writeHead(response.status, withLength(response));
  res.write(response.body.slice(0, Math.floor(response.body.length / 2)), () => {
    res.socket?.destroy();
  });
}

function withLength(response: ApiResponse): Record<string, string | number> {
  return { ...response.headers, 'content-length': Buffer.byteLength(response.body) };
}

function logOf(outcome: Outcome, started: number): RequestLog {
  const { call } = outcome;
  return {
    method: call.request.method,
    path: call.request.url.split('?')[0] ?? '',
    operation: call.operation,
    companyId: call.company?.id,
    requestId: call.requestId,
    fault: outcome.fault,
    ms: Math.round(performance.now() - started),
    ...(outcome.kind === 'reset' ? {} : { status: outcome.response.status }),
  };
}
