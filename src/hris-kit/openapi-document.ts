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

/** A parameter of a request; `letters` is its name in small letters, without the brackets of `filter[email]`. */
export interface Parameter {
  name: string;
  letters: string;
  schema: Json;
  required: boolean;
}

/** What stands beside a record in its envelope. */
const BESIDE = /^(success|ok|status|code|message|errors?|meta|_?links|included|jsonapi|requestid)$/;

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

  get title(): string | undefined {
    const info = this.at('info');
    const title = isObject(info) ? info['title'] : undefined;
    return typeof title === 'string' && title !== '' ? title : undefined;
  }

  /** Where the paths begin. */
  get server(): string | undefined {
    const [named] = listOf(this.at('servers')).filter(isObject);
    if (named === undefined) {
      const [host, path = ''] = [this.at('host'), this.at('basePath')];
      const [scheme = 'https'] = listOf(this.at('schemes'));
      return typeof host === 'string' ? `${String(scheme)}://${host}${String(path)}` : String(path) || undefined;
    }
    const variables = isObject(named['variables']) ? named['variables'] : {};
    return String(named['url']).replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
      const value = variables[name];
      return isObject(value) ? String(value['default']) : whole;
    });
  }

  /** The path of a single item of a collection. */
  itemBelow(collection: string): string | undefined {
    const above = collection.replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&').replace(/\/$/, '');
    // OData has keys in parentheses: /Employees('{id}').
    const below = new RegExp(`^${above}(/\\{[^/]+\\}/?|\\('?\\{[^/]+\\}'?\\))$`);
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
    const told = this.deref(value);
    const schema = 'const' in told ? { ...told, enum: [told['const']] } : told;
    const first = (of: unknown): unknown[] =>
      listOf(of)
        .filter((part) => typeOf(this.deref(part)) !== 'null')
        .slice(0, 1);
    const parts = [...listOf(schema['allOf']), ...first(schema['oneOf']), ...first(schema['anyOf'])];
    if (parts.length === 0 || depth > 5) return schema;
    const merged = parts.map((part) => this.schema(part, depth + 1));
    const properties = Object.assign({}, ...[...merged, schema].map((part) => part['properties'])) as Json;
    return {
      ...Object.assign({}, ...merged, schema),
      // Without any, a nullable text would seem to be a record.
      ...(Object.keys(properties).length > 0 && { properties }),
      required: [...merged.flatMap(({ required }) => listOf(required)), ...listOf(schema['required'])],
    };
  }

  bodySchema(operation: Operation | undefined): { schema: Json; type: string } {
    const body = this.deref(operation?.operation['requestBody']);
    const [[type, media] = ['application/json', undefined]] = Object.entries(
      (body['content'] as Json | undefined) ?? {},
    );
    if (media !== undefined) return { schema: this.schema((media as Json)['schema']), type };
    const form = this.parameters(operation, 'formData');
    if (form.length > 0) {
      const required = form.filter((one) => one.required).map(({ name }) => name);
      const properties = Object.fromEntries(form.map((one) => [one.name, one.schema]));
      return { schema: { properties, required }, type: 'application/x-www-form-urlencoded' };
    }
    const [inBody] = this.parameters(operation, 'body');
    return { schema: inBody?.schema ?? {}, type };
  }

  bodyOf(operation: Operation | undefined): Json {
    return this.wrapped(this.bodySchema(operation).schema).schema;
  }

  /** Unwraps a record that is the only content under a name such as `data`. */
  wrapped(schema: Json): { schema: Json; name?: string } {
    const properties = Object.entries((schema['properties'] as Json | undefined) ?? {});
    const others = properties.filter(([name]) => !BESIDE.test(lettersOf(name)));
    const inner =
      properties.find(([name]) => ['data', 'result', 'attributes', 'employee', 'user'].includes(name)) ??
      (others.length === 1 ? others[0] : undefined);
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
      // Notes of the protocol, and records beside this one.
      if (/^[@_]/.test(name) || one['x-ms-navigationProperty'] === true) return [];
      if (isObject(one['properties']) && place.length < 4) return this.fieldsOf(one, place, isNeeded);
      const isPlain = ['string', 'number', 'integer', 'boolean'].includes(typeOf(one));
      const isTexts = typeOf(one) === 'array' && typeOf(this.schema(one['items'])) === 'string';
      return isPlain || isTexts ? [{ place, schema: one, required: isNeeded }] : [];
    });
  }

  /** Whether it is a list of records. */
  holdsRecords(schema: Json): boolean {
    return typeOf(schema) === 'array' && this.fieldsOf(this.schema(schema['items'])).length > 0;
  }

  /** All members of an answer with their places, outer ones first; lists are not entered. */
  membersOf(answer: Json): { place: string[]; schema: Json }[] {
    const found: { place: string[]; schema: Json }[] = [{ place: [], schema: answer }];
    for (const { place, schema } of found) {
      if (place.length >= 3) continue;
      for (const [name, value] of Object.entries((schema['properties'] as Json | undefined) ?? {}))
        found.push({ place: [...place, name], schema: this.schema(value) });
    }
    return found;
  }

  parameters(operation: Operation | undefined, where: string): Parameter[] {
    const own = listOf(operation?.operation['parameters']).filter(isObject);
    return own
      .filter((one) => one['in'] === where)
      .map((one): Parameter => {
        const name = String(one['name']);
        const letters = lettersOf(/\[([^\]]+)\]$/.exec(name)?.[1] ?? name);
        // In Swagger the parameter is its own schema.
        const { required, ...plain } = one;
        const schema = this.schema(one['schema'] ?? one['content'] ?? plain);
        return {
          name,
          letters: name.startsWith('page[') ? lettersOf(name) : letters,
          schema,
          required: required === true,
        };
      });
  }
}

export function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** A place as definitions write it. */
export function spelled(parts: readonly string[]): string {
  return parts.map((part) => (/^[A-Za-z_][\w-]*$/.test(part) ? part : `\`${part}\``)).join('.');
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function typeOf(schema: Json): string {
  // ASP.NET leaves out the type of an enumeration.
  const { type = typeof listOf(schema['enum'])[0] } = schema;
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null'));
  return typeof type === 'string' && type !== 'undefined' ? type : '';
}
