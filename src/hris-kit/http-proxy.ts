import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request as the proxy received it. */
export interface AskedRequest {
  method: string;
  path: string;
  body: string;
  /** Value of the header with the request's purpose, if the client sends it. */
  purpose: string | undefined;
}

/** Meant for the proxy, which does not forward it. */
export const PURPOSE = 'x-hirebridge-purpose';

interface FixedAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A fault for the first request that `on` accepts, and for that request only. */
export interface HttpFault {
  /**
   * `reset-before`: the connection dies and the request never arrives. `answer-lost`: the request is carried out, and
   * the connection dies when the answer has come. `executed-late`: our side hears nothing, and the request arrives
   * after `ms`. `meanwhile`: nothing is lost, but something else happens before the request arrives. `cut`: half of the
   * request arrives.
   */
  kind: 'reset-before' | 'answer-lost' | 'executed-late' | 'answer' | 'meanwhile' | 'cut';
  on: (asked: AskedRequest) => boolean;
  ms?: number;
  meanwhile?: () => Promise<unknown>;
  /** For `answer`: the answer given instead; the request does not arrive. */
  answer?: FixedAnswer;
}

/** A proxy between us and an HRIS over HTTP. */
export interface HttpProxy {
  url: string;
  /** Arms a fault once. Resolves with the HRIS's status, or 0 if nothing arrived. */
  strike(fault: HttpFault): Promise<number>;
  /** Gives this answer to every request from now on; undefined forwards requests again. */
  answerAll(answer: FixedAnswer | undefined): void;
  close(): Promise<void>;
}

export async function startHttpProxy(target: string): Promise<HttpProxy> {
  let always: FixedAnswer | undefined;
  const armed: { fault: HttpFault; struck: (status: number) => void }[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    void pass(incoming, outgoing).catch(() => outgoing.destroy());
  });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    if (always !== undefined) return answerWith(outgoing, always);
    const purpose = incoming.headers[PURPOSE]?.toString();
    delete incoming.headers[PURPOSE];
    const asked = { method: incoming.method ?? '', path: incoming.url ?? '', body: body.toString('latin1'), purpose };
    const at = armed.findIndex(({ fault }) => fault.on(asked));
    const hit = at === -1 ? undefined : armed.splice(at, 1)[0];
    if (hit?.fault.kind === 'reset-before') incoming.socket.resetAndDestroy();
    if (hit?.fault.kind === 'answer') answerWith(outgoing, hit.fault.answer ?? { status: 500 });
    if (hit?.fault.kind === 'reset-before' || hit?.fault.kind === 'answer') return hit.struck(0);
    if (hit?.fault.kind === 'cut') {
      await forwardHalf(target, incoming, body);
      incoming.socket.resetAndDestroy();
      return hit.struck(0);
    }
    if (hit?.fault.kind === 'executed-late') {
      incoming.socket.resetAndDestroy();
      await new Promise((resolve) => setTimeout(resolve, hit.fault.ms ?? 300));
    }
    await hit?.fault.meanwhile?.();
    const answer = await forward(target, incoming, body);
    if (hit !== undefined && hit.fault.kind !== 'meanwhile') {
      incoming.socket.resetAndDestroy();
      return hit.struck(answer.status);
    }
    hit?.struck(answer.status);
    outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    strike: (fault) => new Promise((struck) => armed.push({ fault, struck })),
    answerAll(answer) {
      always = answer;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answerWith(outgoing: ServerResponse, { status, headers = {}, body = '' }: FixedAnswer): void {
  outgoing.writeHead(status, headers).end(body);
}

function requestTo(target: string, incoming: IncomingMessage, headers: Record<string, unknown>): ClientRequest {
  const { protocol, hostname, port } = new URL(target);
  const { method, url: path } = incoming;
  const options = { hostname, port, method, path, headers: { ...incoming.headers, ...headers } as OutgoingHttpHeaders };
  return protocol === 'https:' ? secureRequest(options) : request(options);
}

/** Announces the whole length, and ends the connection in the middle. */
async function forwardHalf(target: string, incoming: IncomingMessage, body: Buffer): Promise<void> {
  const outgoing = requestTo(target, incoming, { host: new URL(target).host });
  outgoing.on('error', () => undefined);
  const half = body.subarray(0, Math.floor(body.length / 2));
  await new Promise<void>((resolve) => outgoing.write(half, () => resolve()));
  outgoing.destroy();
}

async function forward(target: string, incoming: IncomingMessage, body: Buffer) {
  const outgoing = requestTo(target, incoming, { host: new URL(target).host, connection: 'close' });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const received = await buffer(answer);
  const { connection: _hop, 'transfer-encoding': _coding, ...kept } = answer.headers;
  return { status: answer.statusCode ?? 0, headers: kept, body: received };
}
