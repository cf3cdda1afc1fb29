import type { Dispatcher } from 'undici';
import type { RequestCarrier } from '../../src/http/pool.ts';
import type { ApiRequest, ApiResponse } from '../../src/sandbox/context.ts';

/** What the network does to one request. `late`: carried out after everybody gave up. */
export type Mishap = 'lost-before' | 'lost-answer' | 'late' | 'missing-record';

export interface Network {
  /** The partner. */
  answer: (request: ApiRequest) => ApiResponse;
  /** What happens to a request; undefined lets it through. */
  mishap: (method: string, path: string) => Mishap | undefined;
  /** Passed before the bytes leave and before the answer arrives; a dead process's never comes back. */
  pause: (point: string) => Promise<void>;
  /** Carries out what was late, at some later time. */
  later: (run: () => void) => void;
  /** The answer of a partner that refuses what the sandbox takes. */
  refuses?: (method: string, path: string, body: string) => ApiResponse | undefined;
  /** Told of every request that was carried out. */
  carried: (method: string, path: string, body: string) => void;
}

/** Carries a client's requests to a partner in memory. */
export function createCarrier(network: Network): RequestCarrier {
  return {
    dispatch(options, handler) {
      void carry(network, options, handler);
      return true;
    },
    destroy: async () => undefined,
  } as RequestCarrier;
}

async function carry(
  network: Network,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
): Promise<void> {
  const { answer: answerOf, mishap, pause, later, carried, refuses } = network;
  const [method, path, body] = [options.method, String(options.path), String(options.body ?? '')];
  const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController;
  const fail = (code: string): void => handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
  await pause(`${method} ${path}/before`);
  try {
    handler.onRequestStart?.(controller, {} as never);
  } catch (error) {
    handler.onResponseError?.(controller, error as Error);
    return;
  }
  const what = mishap(method, path);
  if (what === 'lost-before') return fail('ECONNRESET');
  const refusal = refuses?.(method, path, body);
  const execute = () => {
    if (refusal !== undefined) return refusal;
    carried(method, path, body);
    return answerOf({ method, url: path, headers: options.headers as Record<string, string>, body });
  };
  if (what === 'late') {
    later(execute);
    return fail('ECONNRESET');
  }
  const answer = execute();
  await pause(`${method} ${path}/after`);
  if (what === 'lost-answer') return fail('ECONNRESET');
  const shown = what === 'missing-record' ? withoutFirst(answer.body) : answer.body;
  handler.onResponseStart?.(controller, answer.status, answer.headers as never);
  handler.onResponseData?.(controller, Buffer.from(shown));
  handler.onResponseEnd?.(controller, {});
}

/** The list as a server under load shows it: one record is not there. */
function withoutFirst(body: string | Uint8Array): string {
  const parsed = JSON.parse(String(body)) as { data?: unknown[] };
  return JSON.stringify({ ...parsed, data: parsed.data?.slice(1) });
}
