import { invalidInput } from './build-request.ts';
import type { CallEndpoint } from './call.ts';
import { rawItems, readItems } from './read-items.ts';
import type { AnyEndpoint, CallOptions, ChunkOutcome, LooseInput } from './types.ts';

/**
 * Splits an over-long array at the endpoint's limit (100 ids) and gives an outcome per chunk, in order: one that fails
 * does not hide the others. Only for reads and upserts; what costs a credit is refused, it is never split.
 */
export async function callInChunks(
  call: CallEndpoint,
  endpoint: AnyEndpoint,
  input: LooseInput,
  options: CallOptions,
): Promise<ChunkOutcome<unknown>[]> {
  const { chunk } = endpoint;
  if (chunk === undefined || endpoint.costsCredit === true)
    throw invalidInput(endpoint, 'body: this call is never split');
  const entries = entriesOf(input.body, chunk.key);
  if (entries === undefined)
    throw invalidInput(endpoint, `body${chunk.key === null ? '' : `.${chunk.key}`}: expected array`);
  const starts = Array.from({ length: Math.ceil(entries.length / chunk.max) }, (_, index) => index * chunk.max);
  return Promise.all(
    starts.map(async (from) => {
      const part = entries.slice(from, from + chunk.max);
      const to = from + part.length;
      const body = chunk.key === null ? part : { ...(input.body as object), [chunk.key]: part };
      try {
        return { from, to, ok: true, value: valueOf(endpoint, await call(endpoint, { ...input, body }, options)) };
      } catch (error) {
        return { from, to, ok: false, error: error as Error };
      }
    }),
  );
}

function entriesOf(body: unknown, key: string | null): unknown[] | undefined {
  const entries = key === null ? body : (body as Record<string, unknown> | undefined)?.[key];
  return Array.isArray(entries) ? entries : undefined;
}

function valueOf(endpoint: AnyEndpoint, body: unknown): unknown {
  return endpoint.list === undefined ? body : readItems(endpoint.list, rawItems(endpoint.list, body));
}
