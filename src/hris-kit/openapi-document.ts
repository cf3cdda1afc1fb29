import { parse } from 'yaml';
import { type ConnectorError, rejected } from '../errors.ts';

export type Json = Record<string, unknown>;

export interface Operation {
  path: string;
  method: string;
  operation: Json;
}

export interface Field {
  place: string[];
  schema: Json;
  required: boolean;
}

/** @throws ConnectorError OPENAPI_UNREADABLE */
export function readOpenApi(text: string): OpenApiDocument {
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 1_000 });
  } catch {
    value = undefined;
  }
  if (isObject(value) && isObject(value['paths']) && ('openapi' in value || 'swagger' in value))
    return new OpenApiDocument(value);
  throw unreadable('This is not an OpenAPI document: expected JSON or YAML with "openapi" or "swagger", and "paths".');
}

export function unreadable(message: string): ConnectorError {
  return rejected('OPENAPI_UNREADABLE', message);
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An OpenAPI or Swagger document; follows its references. */
export class OpenApiDocument {
  readonly #root: Json;

  constructor(root: Json) {
    this.#root = root;
  }

  get paths(): Json {
    return this.#root['paths'] as Json;
  }

  /** A member of the document's top level. */
  at(name: string): unknown {
    return this.#root[name];
  }

  /** The path of a single item of a collection. */
  itemBelow(collection: string): string | undefined {
    const below = new RegExp(
      `^${collection.replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&').replace(/\/$/, '')}/\\{[^/]+\\}/?$`,
    );
    return Object.keys(this.paths).find((path) => below.test(path));
  }

  operation(path: string, method: string): Operation | undefined {
    const item = this.paths[path];
    const operation = isObject(item) ? item[method] : undefined;
    if (!isObject(operation)) return undefined;
    const shared = isObject(item) ? item['parameters'] : undefined;
    const parameters = [...listOf(shared), ...listOf(operation['parameters'])].map((one) => this.deref(one));
    return { path, method, operation: { ...operation, parameters } };
  }

  deref(value: unknown, depth = 0): Json {
    if (!isObject(value)) return {};
    const { $ref: ref } = value;
    if (typeof ref !== 'string' || depth > 20) return value;
    const parts = ref.replace(/^#\//, '').split('/');
    const target = parts.reduce<unknown>((level, part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      return isObject(level) ? level[name] : undefined;
    }, this.#root);
    return this.deref(target, depth + 1);
  }

  /** A schema merged with all schemas that it is composed of. */
  schema(value: unknown, depth = 0): Json {
    const schema = this.deref(value);
    const parts = [
      ...listOf(schema['allOf']),
      ...listOf(schema['oneOf']).slice(0, 1),
      ...listOf(schema['anyOf']).slice(0, 1),
    ];
    if (parts.length === 0 || depth > 5) return schema;
    const merged = parts.map((part) => this.schema(part, depth + 1));
    return {
      ...Object.assign({}, ...merged, schema),
      properties: Object.assign({}, ...merged.map(({ properties }) => properties), schema['properties']) as Json,
      required: [...merged.flatMap(({ required }) => listOf(required)), ...listOf(schema['required'])],
    };
  }

  bodySchema(operation: Operation | undefined): { schema: Json; type: string } {
    const body = this.deref(operation?.operation['requestBody']);
    const [[type, media] = ['application/json', undefined]] = Object.entries(
      (body['content'] as Json | undefined) ?? {},
    );
    if (media !== undefined) return { schema: this.schema((media as Json)['schema']), type };
    const inBody = listOf(operation?.operation['parameters']).find((one) => isObject(one) && one['in'] === 'body');
    return { schema: this.schema((inBody as Json | undefined)?.['schema']), type };
  }

  bodyOf(operation: Operation | undefined): Json {
    return this.wrapped(this.bodySchema(operation).schema).schema;
  }

  /** Unwraps a record that is the only content under a name such as `data`. */
  wrapped(schema: Json): { schema: Json; name?: string } {
    const properties = Object.entries((schema['properties'] as Json | undefined) ?? {});
    const inner = properties.find(([name]) => ['data', 'result', 'attributes', 'employee', 'user'].includes(name));
    if (inner === undefined) return { schema };
    const found = this.schema(inner[1]);
    const isRecord = found['type'] === 'object' || isObject(found['properties']);
    return isRecord && properties.length <= 4 ? { schema: found, name: inner[0] } : { schema };
  }

  #goodAnswer(operation: Operation | undefined): Json {
    const responses = Object.entries((operation?.operation['responses'] as Json | undefined) ?? {});
    const [, good] = responses.find(([status]) => status.startsWith('2')) ?? [];
    return this.deref(good);
  }

  /** The headers of a good answer, in small letters. */
  answerHeaders(operation: Operation | undefined): string[] {
    const { headers } = this.#goodAnswer(operation);
    return Object.keys(isObject(headers) ? headers : {}).map((name) => name.toLowerCase());
  }

  answerOf(operation: Operation | undefined): Json {
    const answer = this.#goodAnswer(operation);
    if (answer['schema'] !== undefined) return this.schema(answer['schema']);
    const media = Object.values((answer['content'] as Json | undefined) ?? {})[0];
    return this.schema((media as Json | undefined)?.['schema']);
  }

  fieldsOf(schema: Json, before: string[] = [], isRequired = true): Field[] {
    const required = new Set(listOf(schema['required']));
    return Object.entries((schema['properties'] as Json | undefined) ?? {}).flatMap(([name, value]): Field[] => {
      const one = this.schema(value);
      const place = [...before, name];
      const isNeeded = isRequired && required.has(name);
      if (isObject(one['properties']) && place.length < 3) return this.fieldsOf(one, place, isNeeded);
      const isPlain = ['string', 'number', 'integer', 'boolean'].includes(typeOf(one));
      const isTexts = typeOf(one) === 'array' && typeOf(this.schema(one['items'])) === 'string';
      return isPlain || isTexts ? [{ place, schema: one, required: isNeeded }] : [];
    });
  }

  parameters(operation: Operation | undefined, where: string): string[] {
    const own = listOf(operation?.operation['parameters']).filter(isObject);
    return own.filter((one) => one['in'] === where).map((one) => String(one['name']));
  }
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function typeOf(schema: Json): string {
  const { type } = schema;
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null'));
  return typeof type === 'string' ? type : '';
}
