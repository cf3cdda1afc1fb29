import fc from 'fast-check';
import { type AnyEndpoint, allEndpoints } from '../../../src/partner/contract/index.ts';
import { cases } from '../cases/cases.ts';
import type { Loose } from '../cases/loose.ts';
import type { World } from '../cases/world.ts';

/** A request that succeeds, with one of its values replaced or left out. */
export interface Mutated {
  endpoint: AnyEndpoint;
  input: Loose;
}

/** A good request for every endpoint, its records made. */
export async function goodRequests(world: World): Promise<Mutated[]> {
  const good: Mutated[] = [];
  for (const endpoint of allEndpoints()) {
    const input = await cases.get(endpoint.id)?.success(world);
    if (input !== undefined) good.push({ endpoint, input });
  }
  return good;
}

/** Nothing at all: the value is left out. */
const LEFT_OUT = Symbol('left out');

/** One leaf of query or body of a good request becomes `value`; removals are left alone, so that records stay. */
export function mutatedRequests(good: readonly Mutated[], value: fc.Arbitrary<unknown>): fc.Arbitrary<Mutated> {
  const kept = good.filter(({ endpoint }) => endpoint.method !== 'DELETE');
  return fc
    .tuple(
      fc.constantFrom(...kept),
      fc.nat(),
      fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constant(LEFT_OUT) }),
    )
    .map(([{ endpoint, input }, nth, replacement]) => {
      const { query, body } = input;
      const places = placesIn({ query, body });
      const place = places[nth % Math.max(1, places.length)];
      const changed = place === undefined ? { query, body } : (replaced({ query, body }, place, replacement) as Loose);
      return { endpoint, input: { ...input, ...changed } as Loose };
    });
}

/** The way to every value, from the whole body down to the leaves. */
function placesIn(value: unknown, at: string[] = []): string[][] {
  const here = at.length === 0 || value === undefined ? [] : [at];
  if (typeof value !== 'object' || value === null) return here;
  return [...here, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...at, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...(value as object) };
  const inner = replaced(copy[key], rest, by);
  if (inner === LEFT_OUT) delete copy[key];
  else copy[key] = inner;
  return copy;
}
