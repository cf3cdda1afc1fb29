import { z } from 'zod';
import type { AnyEndpoint, LooseInput } from './types.ts';

/** The call as a message names it, with the ids in its path: `POST /x/:flowId for flow 1234`. */
export function callText({ method, path }: AnyEndpoint, { params }: LooseInput): string {
  const ids = Object.entries(params ?? {}).filter(([, id]) => isShowable(id));
  const texts = ids.map(([name, id]) => `${name.replace(/Id$/, '').replaceAll(/[A-Z]/g, lowered)} ${id}`);
  return `${method} ${path}${texts.length === 0 ? '' : ` for ${texts.join(', ')}`}`;
}

/** Only what looks like an id: a name or an address in its place must not reach a message. */
function isShowable(id: unknown): boolean {
  return typeof id === 'number' || (typeof id === 'string' && /^[\w:-]{1,64}$/.test(id));
}

function lowered(letter: string): string {
  return ` ${letter.toLowerCase()}`;
}

/** Fields of this call among the partner's paths (`candidates[3].email`); any other word there may name a person. */
export function fieldsIn(endpoint: AnyEndpoint, paths: readonly string[]): string[] {
  const known = fieldNames(endpoint);
  const last = paths.map((path) => path.split(/[.[\]]+/).findLast((part) => known.has(part)));
  return [...new Set(last.filter((name) => name !== undefined))];
}

/** Of what the contract lets us send. */
function fieldNames({ params, query, body }: AnyEndpoint): Set<string> {
  const names = new Set<string>();
  for (const schema of [params, query, body]) {
    if (schema === undefined) continue;
    // The walk is left to the library, which knows every kind of schema.
    z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        for (const name of Object.keys(jsonSchema.properties ?? {})) names.add(name);
      },
    });
  }
  return names;
}
