import {
  type Field,
  isObject,
  type Json,
  listOf,
  type OpenApiDocument,
  type Operation,
  readOpenApi,
  typeOf,
  unreadable,
} from './openapi-document.ts';

/** A first version of a definition, and what its author must look up. */
export interface Draft {
  definition: Record<string, unknown>;
  notes: string[];
}

/** hirebridge's field names, and the names that others use, letters only. */
const SYNONYMS: Readonly<Record<string, RegExp>> = {
  givenName: /^(given|first)(name)?$|^forename$/,
  familyName: /^(family|last)(name)?$|^surname$/,
  workEmail: /^(work|business|company|corporate)e?mail(address)?$/,
  email: /^((personal|private|home)?e?mail(address)?)$/,
  userName: /^(user|login)name$/,
  phone: /^(mobile|phone|mobilephone|phonenumber|mobilenumber|mobilephonenumber|cell)$/,
  title: /^(job|position|employment)?title$|^position$/,
  startDate: /^(start|hire|hiring|joining|entry|employmentstart)date$|^dateof(joining|hire|entry)$|^hiredon$/,
  birthDate: /^(birthdate|dateofbirth|birthday|born(on)?|dob)$/,
  department: /^department(name)?$/,
  city: /^(city|town|locality)$/,
  country: /^country(code)?$/,
};
const NO_SERVER = 'https://document.invalid';
const NUMBER = /^(employee|staff|personnel|worker|payroll)(number|no|code)$|^badge(number)?$/;
const REFERENCE = /^(external|foreign|client|partner|source)(id|ref|reference|key)$|^customfield.*reference$/;
const VERSION = /^(version|etag|revision|lockversion)$/;
const STAMP = /^(updated|modified|changed|lastmodified|lastupdated|lastchanged)(at|on|date)?$/;
const PEOPLE = /^(employees|employee|staff|workers|persons|people|users|members|user|records)$/i;

/** @throws ConnectorError OPENAPI_UNREADABLE */
export function draftFromOpenApi(text: string, chosen?: string): Draft {
  const document = readOpenApi(text);
  const collection = chosen ?? bestCollection(document);
  return new Drafter(document, collection).draft();
}

const NO_FIELDS = 'and all others: the document shows none';
const OTHER_NAME = 'have another name there; the names here are a guess';

/** The path of people, below which each has a path; one at which they are also created comes first. */
function bestCollection(document: OpenApiDocument): string {
  const found = Object.keys(document.paths).filter((path) => document.itemBelow(path) !== undefined);
  const people = found.filter((path) => PEOPLE.test(lastName(path)));
  const makes = (path: string): number => (document.operation(path, 'post') === undefined ? 1 : 0);
  const [best] = people.toSorted(
    (one, other) => makes(one) - makes(other) || rank(one) - rank(other) || one.length - other.length,
  );
  if (best !== undefined) return best;
  const known = found.length === 0 ? 'No path in it has a path for one record below it' : found.join(', ');
  throw unreadable(`It is not clear which path in this document lists people. Name it with --path. Known: ${known}.`);
}

const RANKS = ['employees', 'employee', 'staff', 'workers', 'persons', 'people', 'users', 'members', 'user', 'records'];

function rank(path: string): number {
  return RANKS.indexOf(lastName(path).toLowerCase());
}

function lastName(path: string): string {
  return path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? '';
}

class Drafter {
  readonly #document: OpenApiDocument;
  readonly #collection: string;
  readonly #item: string;
  readonly #notes: string[] = [];
  readonly #options: Record<string, Json> = {};

  constructor(document: OpenApiDocument, collection: string) {
    this.#document = document;
    this.#collection = collection;
    const item = document.itemBelow(collection);
    if (item === undefined) throw unreadable(`There is no path for one person below ${collection} in this document.`);
    this.#item = item;
  }

  draft(): Draft {
    const [list, create] = [
      this.#document.operation(this.#collection, 'get'),
      this.#document.operation(this.#collection, 'post'),
    ];
    const read = this.#document.operation(this.#item, 'get');
    const fields = this.#document.fieldsOf(this.#document.bodyOf(create));
    const shown = this.#document.fieldsOf(this.#document.wrapped(this.#document.answerOf(read)).schema);
    const known = [...shown, ...fields.filter(({ place }) => !shown.some((one) => same(one.place, place)))];
    const record = this.#record(known);
    const tellsVersion = record['version'] === undefined && this.#document.answerHeaders(read).includes('etag');
    const update = this.#update(record['version'] !== undefined || tellsVersion, shown);
    this.#noteAddress();
    this.#noteCreate(create);
    const definition = {
      name: textOf((this.#document.at('info') as Json | undefined)?.['title']) ?? 'HR system',
      ...this.#access(),
      record,
      fields: this.#fields(fields.length === 0 ? shown : fields, known, record),
      find: this.#find(list, record),
      read: { get: this.#path(this.#item), ...this.#itemOf(read), ...(tellsVersion && { version: 'headers.etag' }) },
      create: { post: this.#path(this.#collection), ...this.#wrap(create), ...this.#created(create) },
      ...(update === undefined ? {} : { update }),
      ...this.#remove(),
      ...this.#changes(list, known),
      probe: this.#probe(list),
    };
    const { name: _name, ...rest } = definition;
    const options = Object.keys(this.#options).length === 0 ? {} : { options: this.#options };
    const ordered = { hrisDefinition: 1, name: definition.name, ...options, ...rest };
    this.#note('"terminate" and "rehire": how an employment ends there, and whether a former employee comes back');
    this.#note('"errors": which answers mean that a value is taken, and which field a refusal is about');
    this.#note('"trusted": true only for a search whose empty answer proves that nobody is there');
    return { definition: ordered, notes: this.#notes };
  }

  #noteCreate(create: Operation | undefined): void {
    if (create !== undefined) return;
    const others = Object.keys(this.#document.paths).filter((path) => this.#document.operation(path, 'post'));
    const known = others.length === 0 ? 'There is no other POST' : `Others that take one: ${others.join(', ')}`;
    this.#note(`"create": the document shows no POST to ${this.#collection}, which is a guess. ${known}`);
  }

  #noteAddress(): void {
    const server = listOf(this.#document.at('servers')).find(isObject)?.['url'];
    const address = textOf(server ?? this.#document.at('basePath'));
    if (address !== undefined) this.#note(`paths continue hris.url, which the document gives as ${address}`);
  }

  #note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  #record(fields: readonly Field[]): Record<string, string> {
    const at = (pattern: RegExp): string | undefined => {
      const found = fields.find(({ place }) => pattern.test(lettersOf(place.at(-1) ?? '')));
      return found === undefined ? undefined : spelled(found.place);
    };
    const param = /\{([^/}]+)\}\/?$/.exec(this.#item)?.[1] ?? 'id';
    const named = fields.find(({ place }) => place.length === 1 && [param, 'id', 'uuid'].includes(place[0] ?? ''));
    if (named === undefined)
      this.#note('"record.id": where a record has its id, which the document does not show; "id" is a guess');
    const reference = at(REFERENCE);
    if (reference === undefined)
      this.#note(
        '"record.reference" and "find.reference": a field that keeps our reference and can be searched by. Without ' +
          'it a create whose answer is lost is looked for by e-mail and name alone',
      );
    const number = at(NUMBER);
    if (number === undefined) this.#note('"record.number": which field is the employee number, if there is one');
    const former = this.#former(fields);
    return withoutUndefined({
      id: named === undefined ? 'id' : spelled(named.place),
      number,
      reference,
      former,
      version: at(VERSION),
    });
  }

  #former(fields: readonly Field[]): string | undefined {
    for (const { place, schema } of fields) {
      const name = lettersOf(place.at(-1) ?? '');
      const ended = listOf(schema['enum']).find((value) =>
        /^(terminated|inactive|left|former|ended|archived)$/i.test(String(value)),
      );
      if (ended !== undefined && /status|state/.test(name)) return `${spelled(place)} = ${JSON.stringify(ended)}`;
      if (typeOf(schema) === 'boolean' && /^(is)?active$/.test(name)) return `${spelled(place)} = false`;
    }
    this.#note('"record.former": what shows that an employment has ended');
    return undefined;
  }

  #fields(fields: readonly Field[], known: readonly Field[], record: Record<string, string>): Json {
    const own = new Set([record['id'], record['number'], record['reference'], record['version']]);
    const made: Json = {};
    for (const { place, schema, required } of fields) {
      const at = spelled(place);
      if (own.has(at) || schema['readOnly'] === true || Object.keys(made).length >= 40) continue;
      const key = keyOf(place, made);
      made[key] = withoutUndefined({
        at,
        type: fieldType(schema),
        required: required ? true : undefined,
        maxLength: typeof schema['maxLength'] === 'number' ? schema['maxLength'] : undefined,
        options: Array.isArray(schema['enum']) ? schema['enum'].map(String) : undefined,
      });
    }
    const missing = ['givenName', 'familyName', 'email'].filter((key) => made[key] === undefined);
    for (const key of missing) made[key] = { at: key };
    if (missing.length > 0)
      this.#note(`"fields": ${missing.join(', ')} ${known.length === 0 ? NO_FIELDS : OTHER_NAME}`);
    return made;
  }

  #find(list: Operation | undefined, record: Record<string, string>): Json {
    const names = this.#document.parameters(list, 'query');
    const base = { get: this.#path(this.#collection) };
    const { items, paging, query } = this.#paging(list, names);
    const by = (pattern: RegExp): string | undefined => names.find((name) => pattern.test(lettersOf(name)));
    const search = (name: string | undefined, value: string): Json | undefined =>
      name === undefined ? undefined : { ...base, query: { [name]: value }, items };
    const reference = record['reference'] === undefined ? undefined : (by(REFERENCE) ?? by(/^filter$|^q$/));
    if (record['reference'] !== undefined && reference === undefined) {
      delete record['reference'];
      this.#note('"record.reference": there is such a field, and the list has no search by it');
    }
    const filter = names.find((name) => /^(filter|q|query|search|where)$/i.test(name));
    if (filter !== undefined) this.#note(`"find": the list takes "${filter}"; a search may use it`);
    const find = withoutUndefined({
      reference: reference === undefined ? undefined : search(reference, '{value}'),
      number: record['number'] === undefined ? undefined : search(by(NUMBER), '{value}'),
      email: search(by(/e?mail(address)?$/), '{value | lower}'),
      all: { ...base, ...(Object.keys(query).length === 0 ? {} : { query }), items, ...(paging && { paging }) },
    });
    if (find['email'] === undefined)
      this.#note('"find.email": the list has no search by e-mail that the document shows; "find.all" is read instead');
    return find;
  }

  #paging(
    list: Operation | undefined,
    names: readonly string[],
  ): { items: string; paging?: Json; query: Record<string, string> } {
    const answer = this.#document.answerOf(list);
    const properties = Object.entries((answer['properties'] as Json | undefined) ?? {});
    const isList = ([, value]: [string, unknown]): boolean => typeOf(this.#document.schema(value)) === 'array';
    const items = typeOf(answer) === 'array' ? '$' : (properties.find(isList)?.[0] ?? undefined);
    if (items === undefined) this.#note('"items": where the list of people is in an answer; "data" is a guess');
    const named = (pattern: RegExp): string | undefined => names.find((name) => pattern.test(lettersOf(name)));
    const size = named(/^(limit|count|pagesize|perpage|size|top|pagelimit)$/);
    const sized: Record<string, string> = size === undefined ? {} : { [size]: '{page.size}' };
    const total = properties.find(([name]) =>
      /^(total|totalresults|totalcount|totalitems|count)$/.test(lettersOf(name)),
    )?.[0];
    const more = withoutUndefined({ size: size === undefined ? undefined : 100, total: total && place([total]) });
    const found = items ?? 'data';
    const offset = named(/^(offset|startindex|skip|start|startat)$/);
    if (offset !== undefined)
      return {
        items: found,
        paging: { by: 'offset', first: /index/i.test(offset) ? 1 : 0, ...more },
        query: { [offset]: '{page.offset}', ...sized },
      };
    const page = named(/^(page|pagenumber|pageindex)$/);
    if (page !== undefined)
      return { items: found, paging: { by: 'page', first: 1, ...more }, query: { [page]: '{page.number}', ...sized } };
    const cursor = named(/^(cursor|after|token|pagetoken|pagecursor|nexttoken|continuationtoken)$/);
    const next = properties.find(([name]) => /next|cursor/.test(lettersOf(name)))?.[0];
    if (cursor !== undefined && next !== undefined)
      return {
        items: found,
        paging: { by: 'cursor', next: place([next]), ...withoutUndefined({ size: more['size'] }) },
        query: { [cursor]: '{page.cursor}', ...sized },
      };
    this.#note('"find.all.paging": the document does not show how a list goes on; without it only one page is read');
    return { items: found, query: {} };
  }

  #update(hasVersion: boolean, shown: readonly Field[]): Json | undefined {
    for (const method of ['patch', 'put', 'post'] as const) {
      const operation = this.#document.operation(this.#item, method);
      if (operation === undefined) continue;
      const { type } = this.#document.bodySchema(operation);
      const as = method === 'put' ? 'put' : /json-patch/.test(type) ? 'json-patch' : undefined;
      const takesVersion = this.#document.parameters(operation, 'header').some((name) => /^if-match$/i.test(name));
      if (takesVersion && !hasVersion)
        this.#note(
          '"record.version" or "read.version": an update takes If-Match; say where its version is, and send {version}',
        );
      const special =
        /json/.test(type) && type !== 'application/json' && as !== 'json-patch' ? { 'content-type': type } : {};
      const headers = { ...special, ...(takesVersion && hasVersion ? { 'if-match': '{version}' } : {}) };
      return {
        [method]: this.#path(this.#item),
        ...(as === undefined ? {} : { as }),
        ...(as === 'put' && this.#notTaken(operation, shown)),
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
        ...this.#wrap(operation),
      };
    }
    this.#note('"update": the document shows no PATCH, PUT or POST of one person');
    return { patch: this.#path(this.#item) };
  }

  /** What a record shows and a PUT of it does not take. */
  #notTaken(put: Operation, shown: readonly Field[]): Json {
    const taken = this.#document.fieldsOf(this.#document.bodyOf(put));
    const without = shown.filter(
      ({ place: at, schema }) => schema['readOnly'] === true || !taken.some((one) => same(one.place, at)),
    );
    return taken.length === 0 || without.length === 0 ? {} : { without: without.map(({ place: at }) => spelled(at)) };
  }

  #remove(): Json {
    return this.#document.operation(this.#item, 'delete') === undefined
      ? {}
      : { remove: { delete: this.#path(this.#item) } };
  }

  #wrap(operation: Operation | undefined): Json {
    const { name } = this.#document.wrapped(this.#document.bodySchema(operation).schema);
    return name === undefined ? {} : { body: { [name]: '{record}' } };
  }

  #itemOf(operation: Operation | undefined): Json {
    const { name } = this.#document.wrapped(this.#document.answerOf(operation));
    return name === undefined ? {} : { item: place([name]) };
  }

  #created(create: Operation | undefined): Json {
    const responses = (create?.operation['responses'] as Json | undefined) ?? {};
    if (responses['202'] !== undefined)
      this.#note('"create.ticket" and "pending": a create may be answered 202; how can its outcome be asked for?');
    const answer = this.#document.wrapped(this.#document.answerOf(create));
    if (Object.keys((answer.schema['properties'] as Json | undefined) ?? {}).length > 0)
      return answer.name === undefined ? {} : { item: `body.${place([answer.name])}` };
    if (this.#document.answerHeaders(create).includes('location')) return { id: "$split(headers.location, '/')[-1]" };
    if (create !== undefined) this.#note('"create.id": the document does not show the answer to a create');
    return {};
  }

  #changes(list: Operation | undefined, fields: readonly Field[]): Json {
    const names = this.#document.parameters(list, 'query');
    const since = names.find((name) =>
      /^(_?since|(updated|modified|changed)(since|after|from|gt|gte)|changedsince)$/.test(lettersOf(name)),
    );
    const stamp = fields.find(({ place: at }) => STAMP.test(lettersOf(at.at(-1) ?? '')));
    if (since === undefined || stamp === undefined) {
      this.#note('"changes": how to ask who changed since a time, and where a record says when');
      return {};
    }
    const { items, paging, query } = this.#paging(list, names);
    return {
      changes: {
        get: this.#path(this.#collection),
        query: { [since]: '{since}', ...query },
        items,
        stamp: spelled(stamp.place),
        ...(paging && { paging }),
      },
    };
  }

  #probe(list: Operation | undefined): Json {
    const paths = Object.keys(this.#document.paths).filter(
      (path) => !path.includes('{') && this.#document.operation(path, 'get'),
    );
    const quiet = paths.find((path) => /^(\/[^/]+){0,2}\/(me|whoami|self|status|version|account|company)$/i.test(path));
    if (quiet !== undefined) return { get: quiet };
    this.#note(
      '"probe": a call that reads no person and fails where the credentials do; the list of people is used for now',
    );
    const size = this.#document
      .parameters(list, 'query')
      .find((name) => /^(limit|count|pagesize|perpage|_limit)$/.test(lettersOf(name)));
    return { get: this.#path(this.#collection), ...(size === undefined ? {} : { query: { [size]: '1' } }) };
  }

  /** A parameter in the path before the person is the same for the whole account. */
  #path(path: string): string {
    const parts = [...path.matchAll(/\{([^/}]+)\}/g)].map(([, name = '']) => name);
    const own = path === this.#item ? parts.at(-1) : undefined;
    return parts.reduce((made, name) => {
      if (name === own) return made.replace(`{${name}}`, '{id}');
      const option = name.replaceAll(/\W/g, '');
      this.#options[option] = { about: `{${name}} of the paths of this account` };
      return made.replace(`{${name}}`, `{options.${option}}`);
    }, path);
  }

  #access(): Json {
    const schemes = {
      ...((this.#document.at('components') as Json | undefined)?.['securitySchemes'] as Json | undefined),
      ...(this.#document.at('securityDefinitions') as Json | undefined),
    };
    for (const value of Object.values(schemes)) {
      const auth = this.#authOf(this.#document.deref(value));
      if (auth !== undefined) return { auth };
    }
    this.#note('"auth": the document does not say how a client signs in; a bearer token is a guess');
    this.#options['token'] = { secret: true };
    return { auth: { bearer: '{options.token}' } };
  }

  #authOf(scheme: Json): Json | undefined {
    const { type, scheme: way, in: where, name } = scheme;
    const secret = (option: string): string => {
      this.#options[option] = { secret: true };
      return `{options.${option}}`;
    };
    if (type === 'basic' || (type === 'http' && way === 'basic')) {
      this.#options['user'] = {};
      return { basic: { user: '{options.user}', password: secret('password') } };
    }
    if (type === 'http') return { bearer: secret('token') };
    if (type === 'apiKey' && (where === 'header' || where === 'query'))
      return { [where === 'header' ? 'headers' : 'query']: { [String(name)]: secret('apiKey') } };
    const flows = (scheme['flows'] as Json | undefined)?.['clientCredentials'] as Json | undefined;
    const tokenUrl = flows?.['tokenUrl'] ?? (scheme['flow'] === 'application' ? scheme['tokenUrl'] : undefined);
    if (type !== 'oauth2' || typeof tokenUrl !== 'string') return undefined;
    this.#options['clientId'] = {};
    // It may be relative to the document's server.
    const tokenPath = URL.canParse(tokenUrl, NO_SERVER) ? new URL(tokenUrl, NO_SERVER).pathname : '/';
    this.#note('"auth.oauth2.tokenPath": the path of the token endpoint below hris.url');
    return { oauth2: { tokenPath, clientId: '{options.clientId}', clientSecret: secret('clientSecret') } };
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.join('.') === other.join('.');
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

function fieldType(schema: Json): string | undefined {
  const type = typeOf(schema);
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return 'list';
  return schema['format'] === 'date' ? 'date' : undefined;
}

function keyOf(parts: readonly string[], taken: Json): string {
  const last = parts.at(-1) ?? '';
  const known = Object.entries(SYNONYMS).find(([, pattern]) => pattern.test(lettersOf(last)))?.[0];
  if (known !== undefined && taken[known] === undefined) return known;
  const words = (taken[camel([last])] === undefined ? [last] : parts).join(' ').split(/[^A-Za-z0-9]+/);
  return camel(words);
}

function camel(words: readonly string[]): string {
  const joined = words
    .filter((word) => word !== '')
    .map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1)));
  const name = joined.join('').replaceAll(/\W/g, '');
  return /^[A-Za-z]/.test(name) ? name[0]?.toLowerCase() + name.slice(1) : `field${name}`;
}

function spelled(parts: readonly string[]): string {
  return place(parts);
}

function place(parts: readonly string[]): string {
  return parts.map((part) => (/^[A-Za-z_][\w-]*$/.test(part) ? part : `\`${part}\``)).join('.');
}

function withoutUndefined<T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}
