import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { callHris, noLimits, openLine, readJson } from '../hris/http-line.ts';
import type { Draft } from './draft-openapi.ts';

interface Attribute {
  name: string;
  type?: string;
  multiValued?: boolean;
  required?: boolean;
  mutability?: string;
  canonicalValues?: string[];
}

interface Schema {
  id: string;
  attributes?: Attribute[];
}

type Json = Record<string, unknown>;

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** Fields that we handle already, or that do not concern us. */
const LEFT_OUT = new Set([
  'id',
  'externalId',
  'meta',
  'schemas',
  'password',
  'active',
  'groups',
  'employeeNumber',
  'manager',
]);

/** Our SCIM definition, reduced to what this server says it supports, with the fields of its extensions. */
export async function draftFromScim(
  url: string,
  { token, allowPrivate }: { token: string; allowPrivate: boolean },
): Promise<Draft> {
  const line = openLine(url, { allowPrivate, limits: noLimits });
  const get = async (path: string): Promise<Json> => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/scim+json, application/json' };
    const what = `GET ${path}`;
    const signal = AbortSignal.timeout(30_000);
    return readJson(await callHris(line, { what, method: 'GET', path, headers, signal }), {
      what,
      idempotent: true,
    }) as Json;
  };
  try {
    const config = await get('/ServiceProviderConfig');
    const schemas = ((await get('/Schemas'))['Resources'] ?? []) as Schema[];
    return cut(await ownDefinition(), config, schemas);
  } finally {
    await line.close();
  }
}

async function ownDefinition(): Promise<Json> {
  const file = fileURLToPath(new URL('../hris/kinds/scim.yaml', import.meta.url));
  return parse(await readFile(file, 'utf8')) as Json;
}

function cut(own: Json, config: Json, schemas: readonly Schema[]): Draft {
  const notes: string[] = [];
  const does = (feature: string): boolean =>
    (config[feature] as { supported?: boolean } | undefined)?.supported === true;
  const definition: Json & { find: Json; record: Json } = {
    ...own,
    name: 'SCIM of this server',
    find: own['find'] as Json,
    record: own['record'] as Json,
  };
  const names = new Set(schemas.map(({ id }) => id));
  if (!names.has(ENTERPRISE)) {
    definition.record = { ...definition.record };
    delete definition.record['number'];
    definition.find = { ...definition.find };
    delete definition.find['number'];
    notes.push('"record.number": the server has no enterprise extension, so it has no employee numbers');
  }
  if (!does('filter')) {
    const { all } = definition.find;
    definition.find = { all };
    delete definition['changes'];
    notes.push('"find": the server cannot filter, so every search reads everybody, as does each create');
  }
  const { cursor, index } = (config['pagination'] ?? {}) as Json;
  if (cursor === true && index !== true) {
    const { find, changes } = definition;
    definition.find = Object.fromEntries(Object.entries(find).map(([by, list]) => [by, byCursor(list as Json)]));
    if (changes !== undefined) definition['changes'] = byCursor(changes as Json);
  }
  for (const name of ['update', 'terminate', 'rehire']) {
    const { patch: path, as, headers, ...others } = definition[name] as Json;
    const call = does('patch') ? { patch: path, as } : { put: path, as: 'put' };
    // A PUT that names a version is refused where there is none.
    definition[name] = { ...call, ...(does('etag') && { headers }), ...others };
  }
  if (does('etag')) definition['remove'] = { ...(own['remove'] as Json), headers: { 'if-match': '*' } };
  else notes.push('the server has no versions: an amendment is compared with a reading directly before it');
  definition['fields'] = fieldsOf(own['fields'] as Json, schemas, names);
  notes.push('"trusted": find.reference trusts an empty answer; try it with `hirebridge hris test`');
  notes.push('whether the server assigns employee numbers: if not, write back the id (writeBack.employeeId: id)');
  return { definition, notes };
}

/** RFC 9865: the first page is asked for by an empty cursor, so it stands in the path. */
function byCursor({ paging, query, ...list }: Json): Json {
  if (paging === undefined) return { ...list, ...(query !== undefined && { query }) };
  const { startIndex: _start, ...others } = query as Json;
  const pages = { by: 'cursor', size: 100, next: 'nextCursor' };
  return { ...list, get: '/Users?cursor={page.cursor}', query: others, paging: pages };
}

/** Our fields that the server has, and those of its extensions. */
function fieldsOf(own: Json, schemas: readonly Schema[], names: ReadonlySet<string>): Json {
  const fields: Json = {};
  for (const [key, field] of Object.entries(own)) {
    const { at } = field as { at: string };
    if (!at.includes(ENTERPRISE) || names.has(ENTERPRISE)) fields[key] = field;
  }
  const places = new Set(Object.values(fields).map((field) => (field as { at: string }).at));
  for (const { id, attributes = [] } of schemas) {
    const isUser = id === USER;
    if (!isUser && !/:User$/i.test(id)) continue;
    for (const attribute of attributes) {
      const { name, type = 'string', multiValued, mutability, required, canonicalValues } = attribute;
      const at = isUser ? name : `\`${id}\`.${name}`;
      if (LEFT_OUT.has(name) || places.has(at) || type === 'complex' || multiValued === true) continue;
      const key =
        fields[name] === undefined && /^[A-Za-z]\w*$/.test(name) ? name : `extension${name.replaceAll(/\W/g, '')}`;
      fields[key] = {
        at,
        ...(type === 'boolean' ? { type: 'boolean' } : {}),
        ...(type === 'integer' || type === 'decimal' ? { type: 'number' } : {}),
        ...(required === true ? { required: true } : {}),
        ...(mutability === 'readOnly' ? { write: false } : {}),
        ...(canonicalValues === undefined || canonicalValues.length === 0 ? {} : { options: canonicalValues }),
      };
    }
  }
  return fields;
}
