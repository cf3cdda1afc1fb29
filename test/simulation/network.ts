import type { Dispatcher } from 'undici';
import type { RequestCarrier } from '../../src/http/pool.ts';
import type { Random } from '../../src/sandbox/random.ts';
import { play } from '../../src/sandbox/server.ts';
import type { SandboxState } from '../../src/sandbox/state.ts';
import type { Process } from './processes.ts';
import type { Timeline } from './timeline.ts';

/** One request as the wire saw it: what the oracle judges beside the ledger. */
export interface WireRequest {
  at: number;
  tenantId: string;
  requestId: string;
  method: string;
  url: string;
  body: string;
  /** When its process was last stopped and woken; 0 if never. */
  wokeAt: number;
  /** Undefined while there is no answer, or when none was sent. */
  status?: number;
  fault?: string | undefined;
}

export interface Wires {
  timeline: Timeline;
  random: Random;
  state: SandboxState;
  log: WireRequest[];
  /** Chance that a write-back is answered and not kept. */
  ignoredWrites: () => number;
  /** Told when a request was carried out. */
  carriedOut: () => void;
  /** Passed before the bytes leave and after the answer came; a dead process's never comes back. */
  pause: (process: Process, point: string) => Promise<void> | undefined;
}

/**
 * Carries a client's requests to the sandbox in memory. From the first byte on they are the network's: no kill takes
 * them back.
 */
export function createCarrier(wires: Wires, process: Process, tenantId: string): RequestCarrier {
  return {
    dispatch(options, handler) {
      void carry(wires, process, tenantId, options, handler);
      return true;
    },
    destroy: async () => undefined,
  } as RequestCarrier;
}

async function carry(
  wires: Wires,
  process: Process,
  tenantId: string,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
): Promise<void> {
  const { timeline, random, state, log } = wires;
  await wires.pause(process, `partner ${options.method} ${String(options.path).split('?')[0]}/before`);
  const exchange = openExchange(handler);
  if (!start(exchange, handler)) return;
  const headers = options.headers as Record<string, string>;
  const entry: WireRequest = {
    at: timeline.now(),
    tenantId,
    requestId: headers['x-request-id'] ?? '',
    method: options.method,
    url: String(options.path),
    body: String(options.body ?? ''),
    wokeAt: process.stoppedUntil,
  };
  log.push(entry);
  const cancelTimeout = process.later(options.headersTimeout ?? 30_000, () =>
    fail(exchange, handler, 'UND_ERR_HEADERS_TIMEOUT'),
  );
  timeline.at(timeline.now() + latency(random), () => {
    const ignored = isIgnored(wires, entry);
    const url = ignored ? entry.url.replace('/external-status', '') : entry.url;
    void play(state, { method: ignored ? 'GET' : entry.method, url, headers, body: entry.body }, undefined).then(
      (outcome) => {
        wires.carriedOut();
        entry.fault = outcome.fault;
        if (outcome.kind !== 'reset') entry.status = outcome.response.status;
        process.later(latency(random), () => {
          cancelTimeout();
          if (exchange.ended) return;
          if (outcome.kind === 'reset') return fail(exchange, handler, 'ECONNRESET');
          const body = Buffer.from(outcome.response.body);
          handler.onResponseStart?.(exchange.controller, outcome.response.status, outcome.response.headers);
          if (outcome.kind === 'half') {
            handler.onResponseData?.(exchange.controller, body.subarray(0, body.length >> 1));
            return fail(exchange, handler, 'UND_ERR_SOCKET');
          }
          handler.onResponseData?.(exchange.controller, body);
          exchange.ended = true;
          handler.onResponseEnd?.(exchange.controller, {});
        });
      },
    );
  });
}

interface Exchange {
  ended: boolean;
  controller: Dispatcher.DispatchController;
}

function openExchange(handler: Dispatcher.DispatchHandler): Exchange {
  const exchange: Exchange = {
    ended: false,
    controller: {
      abort(reason: Error) {
        if (exchange.ended) return;
        exchange.ended = true;
        handler.onResponseError?.(exchange.controller, reason);
      },
    } as Dispatcher.DispatchController,
  };
  return exchange;
}

/** False when the handler refuses at the last moment: nothing left. */
function start(exchange: Exchange, handler: Dispatcher.DispatchHandler): boolean {
  try {
    handler.onRequestStart?.(exchange.controller, {} as never);
    return true;
  } catch (error) {
    exchange.ended = true;
    handler.onResponseError?.(exchange.controller, error as Error);
    return false;
  }
}

function fail(exchange: Exchange, handler: Dispatcher.DispatchHandler, code: string): void {
  if (exchange.ended) return;
  exchange.ended = true;
  handler.onResponseError?.(exchange.controller, Object.assign(new Error(code), { code }));
}

/** Now and then the partner answers 200 to a write-back and keeps nothing of it. */
function isIgnored({ random, ignoredWrites }: Wires, { method, url }: WireRequest): boolean {
  return method === 'PATCH' && url.endsWith('/external-status') && random() < ignoredWrites();
}

/** Mostly milliseconds, now and then a second. */
function latency(random: Random): number {
  return random() < 0.05 ? random() * 1_500 : 5 + random() * 60;
}
