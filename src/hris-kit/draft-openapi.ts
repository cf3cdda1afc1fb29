import { draftAccess } from './draft-access.ts';
import { draftList, SINCE, SIZE } from './draft-list.ts';
import {
  type Field,
  type Json,
  lettersOf,
  listOf,
  type OpenApiDocument,
  type Operation,
  readOpenApi,
  spelled,
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
  name: /^(full|display)name$/,
  givenName: /^(given|first)(name)?$|^forename$/,
  familyName: /^(family|last)(name)?$|^surname$/,
  workEmail: /^(work|business|company|corporate)e?mail(address)?$/,
  email: /^((personal|private|home)?e?mail(address)?)$/,
  userName: /^(user|login)name$/,
  phone: /^(mobile|phone|mobilephone|phonenumber|mobilenumber|mobilephonenumber|cell)$/,
  title: /^(job|position|employment)?title$|^position$/,
  startDate:
    /^(hir(e|ing)|joining|entry|(employment)?start)date$|^dateof(joining|hire|entry)$|^(hired|start(ed|s)|joined)on$/,
  birthDate: /^(birthdate|dateofbirth|birthday|born(on)?|dob)$/,
  department: /^department(name)?$/,
  city: /^(city|town|locality)$/,
  country: /^country(code)?$/,
};
const NUMBER = /^(employee|staff|personnel|worker|payroll)(number|no|code)$|^badge(number)?$/;
/** Says what it means only together with what it is in. */
const VAGUE = /^(id|name|code|type|kind|value|number|label|key)$/i;
const REFERENCE = /^(external|foreign|client|partner|source)(id|ref|reference|key)$|^customfield.*reference$/;
const VERSION = /^(version|etag|revision|lockversion)$/;
/** A record that shows one may be written only with If-Match (OData 4.01, section 8.2.4). */
const TAG = '@odata.etag';
const STAMP = /^(last)?(updated|modified|changed)(at|on|date|datetime|time)?$/;
const PEOPLE = /^(employees|employee|staff|workers|persons|people|users|members|user|records)$/i;

/** @throws ConnectorError OPENAPI_UNREADABLE */
export function draftFromOpenApi(text: string, chosen?: string): Draft {
  const document = readOpenApi(text);
  const collection = chosen ?? bestCollection(document);
  return new Drafter(document, collection).draft();
}

const USUAL = 'application/json';
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
  /** The type of what is sent, if it is another than usual. */
  readonly #contentType: string | undefined;
  /** Places of the fields, by their names here. */
  readonly #places = new Map<string, string>();

  constructor(document: OpenApiDocument, collection: string) {
    this.#document = document;
    this.#collection = collection;
    const item = document.itemBelow(collection);
    if (item === undefined) throw unreadable(`There is no path for one person below ${collection} in this document.`);
    this.#item = item;
    const { type } = document.bodySchema(document.operation(collection, 'post'));
    this.#contentType = type !== USUAL && /json|urlencoded/.test(type) ? type : undefined;
  }

  draft(): Draft {
    const [list, create] = [
      this.#document.operation(this.#collection, 'get'),
      this.#document.operation(this.#collection, 'post'),
    ];
    const read = this.#document.operation(this.#item, 'get');
    const fields = this.#document.fieldsOf(this.#document.bodyOf(create));
    const shown = this.#document.fieldsOf(this.#document.wrapped(this.#document.answerOf(read)).schema);
    const known = [
      ...shown,
      ...fields.filter(({ place }) => !shown.some((one) => spelled(one.place) === spelled(place))),
    ];
    const { properties = {} } = this.#document.wrapped(this.#document.answerOf(read)).schema;
    const isTagged = Object.hasOwn(properties as Json, TAG);
    const record = this.#record(known, isTagged);
    const tellsVersion = record['version'] === undefined && this.#document.answerHeaders(read).includes('etag');
    const update = this.#update({ hasVersion: record['version'] !== undefined || tellsVersion, isTagged }, shown);
    if (this.#document.server !== undefined)
      this.#note(`paths continue hris.url, which the document gives as ${this.#document.server}`);
    const access = draftAccess(this.#document, list);
    Object.assign(this.#options, access.options);
    for (const note of access.notes) this.#note(note);
    this.#noteCreate(create);
    const definition = {
      name: this.#document.title ?? 'HR system',
      auth: access.auth,
      ...(this.#contentType === undefined ? {} : { contentType: this.#contentType }),
      record,
      fields: this.#fields(this.#document.bodyOf(create), fields.length === 0 ? shown : fields, known, record),
      find: this.#find(list, known, record),
      read: { get: this.#path(this.#item), ...this.#itemOf(read), ...(tellsVersion && { version: 'headers.etag' }) },
      create: { post: this.#path(this.#collection), ...this.#sent(create, {}), ...this.#created(create) },
      ...(update === undefined ? {} : { update }),
      ...this.#remove(),
      ...this.#changes(list, known),
      probe: this.#probe(list),
      ...this.#errors(create),
    };
    const { name: _name, ...rest } = definition;
    const options = Object.keys(this.#options).length === 0 ? {} : { options: this.#options };
    const ordered = { hrisDefinition: 1, name: definition.name, ...options, ...rest };
    this.#note(
      '"terminate" and "rehire": how an employment ends there, and whether a former employee comes back.' +
        this.#others((path) => path.startsWith(`${this.#item}/`), ['post', 'put', 'patch', 'delete']),
    );
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

  /** Other calls of the document that may be meant. */
  #others(isMeant: (path: string) => boolean, methods: readonly string[]): string {
    const paths = Object.keys(this.#document.paths).filter(isMeant);
    const calls = paths.flatMap((path) =>
      methods
        .filter((method) => this.#document.operation(path, method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    return calls.length === 0 ? '' : ` Perhaps: ${calls.join(', ')}`;
  }

  #note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  #record(fields: readonly Field[], isTagged: boolean): Record<string, string> {
    const at = (pattern: RegExp): string | undefined => {
      const found = fields.find(({ place }) => pattern.test(lettersOf(place.at(-1) ?? '')));
      return found === undefined ? undefined : spelled(found.place);
    };
    const param = /\{([^/}]+)\}[^{}]*$/.exec(this.#item)?.[1] ?? 'id';
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
      version: isTagged ? spelled([TAG]) : at(VERSION),
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

  #fields(body: Json, fields: readonly Field[], known: readonly Field[], record: Record<string, string>): Json {
    const own = new Set([record['id'], record['number'], record['reference'], record['version']]);
    const made: Json = {};
    for (const { place, schema, required } of fields) {
      const at = spelled(place);
      const isFixed = listOf(schema['enum']).length === 1;
      if (own.has(at) || isFixed || schema['readOnly'] === true || Object.keys(made).length >= 40) continue;
      const key = keyOf(place, made);
      const names = listOf(schema['x-enum-varnames'] ?? schema['x-enumNames']);
      const values = listOf(schema['enum']);
      made[key] = withoutUndefined({
        at,
        type: names.length > 0 ? undefined : fieldType(schema, key),
        required: required && schema['default'] === undefined ? true : undefined,
        maxLength: typeof schema['maxLength'] === 'number' ? schema['maxLength'] : undefined,
        options: values.length > 0 && names.length === 0 ? values.map(String) : undefined,
        values: names.length > 0 ? Object.fromEntries(names.map((name, index) => [name, values[index]])) : undefined,
      });
    }
    for (const [key, field] of Object.entries(made)) this.#places.set(key, String((field as Json)['at']));
    const isNamed = made['name'] !== undefined;
    const wanted = [...(isNamed ? [] : ['givenName', 'familyName']), ...(made['workEmail'] ? [] : ['email'])];
    const listed = this.#document.membersOf(body).filter(({ schema }) => this.#document.holdsRecords(schema));
    for (const { place } of listed)
      this.#note(`"fields": ${spelled(place)} is a list of records; a place in it is such as list[type="work"].value`);
    const missing = wanted.filter((key) => made[key] === undefined);
    for (const key of missing) made[key] = { at: key };
    if (missing.length > 0)
      this.#note(`"fields": ${missing.join(', ')} ${known.length === 0 ? NO_FIELDS : OTHER_NAME}`);
    return made;
  }

  #find(list: Operation | undefined, known: readonly Field[], record: Record<string, string>): Json {
    const { items, always, pages, paging, unused, notes } = draftList(this.#document, list);
    const names = this.#document.parameters(list, 'query');
    const base = { get: this.#path(this.#collection) };
    const filter = names.find(({ name }) => name === '$filter')?.name;
    const used = new Set<string>();
    const search = (pattern: RegExp, at: string | undefined, value = '{value}'): Json | undefined => {
      const own = names.find(({ letters }) => pattern.test(letters))?.name;
      used.add(own ?? filter ?? '');
      const isText = known.some(({ place, schema }) => spelled(place) === at && typeOf(schema) === 'string');
      const odata = `${at?.replaceAll('.', '/')} eq ${value.replace('}', isText ? ' | odata}' : ' | number}')}`;
      if (own === undefined && (filter === undefined || at === undefined)) return undefined;
      return {
        ...base,
        query: own === undefined ? { [filter ?? '']: odata, ...always } : { [own]: value, ...always },
        items,
      };
    };
    const { reference, number } = record;
    const email = this.#places.get('email') ?? this.#places.get('workEmail');
    const find = withoutUndefined({
      reference: reference === undefined ? undefined : search(REFERENCE, reference),
      number: number === undefined ? undefined : search(NUMBER, number),
      email: search(/e?mail(address)?$/, email, '{value | lower}'),
      all: { ...base, ...withQuery({ ...always, ...pages }), items, ...(paging && { paging }) },
    });
    for (const note of notes) this.#note(note);
    if (reference !== undefined && find['reference'] === undefined)
      this.#note('"find.reference": the list has no search by it, so "find.all" is read before each create');
    if (find['email'] === undefined)
      this.#note(
        '"find.email": the list has no search by e-mail that the document shows; "find.all" is read instead.' +
          this.#others((path) => /\/_?(search|find|query|lookup|filter|suche)$/i.test(path), ['get', 'post']),
      );
    const open = unused.filter((name) => !used.has(name));
    if (open.length > 0)
      this.#note(`"find": the list also takes ${open.join(', ')}. A search must find former employees, too`);
    return find;
  }

  #update(
    { hasVersion, isTagged }: { hasVersion: boolean; isTagged: boolean },
    shown: readonly Field[],
  ): Json | undefined {
    for (const method of ['patch', 'put', 'post'] as const) {
      const operation = this.#document.operation(this.#item, method);
      if (operation === undefined) continue;
      const { type } = this.#document.bodySchema(operation);
      const as = method === 'put' ? 'put' : /json-patch/.test(type) ? 'json-patch' : undefined;
      const isAsked = this.#document.parameters(operation, 'header').some(({ letters }) => letters === 'ifmatch');
      const takesVersion = isAsked || isTagged;
      if (takesVersion && !hasVersion)
        this.#note(
          '"record.version" or "read.version": an update takes If-Match; say where its version is, and send {version}',
        );
      const usual = this.#contentType ?? USUAL;
      const special = /json/.test(type) && type !== usual && as !== 'json-patch' ? { 'content-type': type } : {};
      const headers = { ...special, ...(takesVersion && hasVersion ? { 'if-match': '{version}' } : {}) };
      return {
        [method]: this.#path(this.#item),
        ...(as === undefined ? {} : { as }),
        ...(as === 'put' && this.#notTaken(operation, shown)),
        ...this.#sent(operation, headers),
      };
    }
    this.#note('"update": the document shows no PATCH, PUT or POST of one person');
    return { patch: this.#path(this.#item) };
  }

  /** What a record shows and a PUT of it does not take. */
  #notTaken(put: Operation, shown: readonly Field[]): Json {
    const body = this.#document.bodyOf(put);
    const taken = this.#document.fieldsOf(body);
    const read = this.#document.wrapped(this.#document.answerOf(this.#document.operation(this.#item, 'get'))).schema;
    const [sent, given] = [body, read].map(({ properties }) => Object.keys((properties as Json | undefined) ?? {}));
    // A list or a link as well, which is no field.
    const whole = (given ?? []).filter((name) => sent?.includes(name) === false);
    const parts = shown.filter(
      ({ place: at, schema }) =>
        !whole.includes(at[0] ?? '') &&
        (schema['readOnly'] === true || !taken.some((one) => spelled(one.place) === spelled(at))),
    );
    const without = [...whole.map((name) => spelled([name])), ...parts.map(({ place: at }) => spelled(at))];
    return taken.length === 0 || without.length === 0 ? {} : { without };
  }

  #remove(): Json {
    return this.#document.operation(this.#item, 'delete') === undefined
      ? {}
      : { remove: { delete: this.#path(this.#item) } };
  }

  /** What a write sends beside the fields: its headers, values that never differ, and what is around the record. */
  #sent(operation: Operation | undefined, given: Record<string, string>): Json {
    const { schema, type } = this.#document.bodySchema(operation);
    const { schema: record, name } = this.#document.wrapped(schema);
    const fixed = this.#document
      .fieldsOf(record)
      .filter((one) => one.required && listOf(one.schema['enum']).length === 1);
    const isOfOne = operation?.path === this.#item && type.startsWith('application/vnd.api+json');
    const set = {
      ...(isOfOne && { id: '{id}' }),
      ...Object.fromEntries(fixed.map((one) => [spelled(one.place), listOf(one.schema['enum'])[0]])),
    };
    const key = this.#document.parameters(operation, 'header').find(({ letters }) => letters === 'idempotencykey');
    const headers = { ...given, ...(key && { [key.name.toLowerCase()]: '{record | uuid}' }) };
    return {
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(Object.keys(set).length > 0 && { set }),
      ...(name !== undefined && { body: { [name]: '{record}' } }),
    };
  }

  /** An answer that says by a flag whether it worked, whatever its status. */
  #errors(create: Operation | undefined): Json {
    const answer = this.#document.answerOf(create)['properties'] as Json | undefined;
    const flag = ['success', 'ok'].find((name) => typeOf(this.#document.schema(answer?.[name])) === 'boolean');
    return flag === undefined ? {} : { errors: [{ status: 200, when: `body.${flag} = false`, means: 'reject' }] };
  }

  #itemOf(operation: Operation | undefined): Json {
    const { name } = this.#document.wrapped(this.#document.answerOf(operation));
    return name === undefined ? {} : { item: spelled([name]) };
  }

  #created(create: Operation | undefined): Json {
    const responses = (create?.operation['responses'] as Json | undefined) ?? {};
    if (responses['202'] !== undefined)
      this.#note(
        '"create.ticket" and "pending": a create may be answered 202; how can its outcome be asked for?' +
          this.#others(
            (path) => /(operation|job|task|request|import|status|queue)[^/]*\/\{[^/]+\}$/i.test(path),
            ['get'],
          ),
      );
    const answer = this.#document.wrapped(this.#document.answerOf(create));
    if (Object.keys((answer.schema['properties'] as Json | undefined) ?? {}).length > 0)
      return answer.name === undefined ? {} : { item: `body.${spelled([answer.name])}` };
    if (this.#document.answerHeaders(create).includes('location'))
      return { id: "$decodeUrlComponent($split(headers.location, '/')[-1])" };
    if (create !== undefined) this.#note('"create.id": the document does not show the answer to a create');
    return {};
  }

  #changes(list: Operation | undefined, fields: readonly Field[]): Json {
    const names = this.#document.parameters(list, 'query');
    const since = names.find(({ letters }) => SINCE.test(letters));
    const filter = names.find(({ name }) => name === '$filter');
    const stamp = fields.find(({ place: at }) => STAMP.test(lettersOf(at.at(-1) ?? '')));
    if (stamp === undefined || (since ?? filter) === undefined) {
      this.#note('"changes": how to ask who changed since a time, and where a record says when');
      return {};
    }
    const { items, always, pages, paging } = draftList(this.#document, list);
    const asked =
      since === undefined ? { $filter: `${stamp.place.join('/')} ge {since}` } : { [since.name]: '{since}' };
    return {
      changes: {
        get: this.#path(this.#collection),
        query: { ...asked, ...always, ...pages },
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
    const quiet = paths.find((path) => /\/(me|whoami|self|status|version|account|company)$/i.test(path));
    if (quiet !== undefined) return { get: quiet };
    this.#note(
      '"probe": a call that reads no person and fails where the credentials do; the list of people is used for now',
    );
    const size = this.#document.parameters(list, 'query').find(({ letters }) => SIZE.test(letters));
    return { get: this.#path(this.#collection), ...withQuery(size === undefined ? {} : { [size.name]: '1' }) };
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
}

function fieldType(schema: Json, key: string): string | undefined {
  const type = typeOf(schema);
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return 'list';
  // Many generators write a day as a time.
  const isDay = schema['format'] === 'date' || (schema['format'] === 'date-time' && /^(start|birth)Date$/.test(key));
  return isDay ? 'date' : undefined;
}

function keyOf(parts: readonly string[], taken: Json): string {
  const last = parts.at(-1) ?? '';
  const known = Object.entries(SYNONYMS).find(([, pattern]) => pattern.test(lettersOf(last)))?.[0];
  if (known !== undefined && taken[known] === undefined) return known;
  // The name of a department is not that of a person.
  const whole = parts.filter((part) => !/^(attributes|relationships|data)$/.test(part));
  const isOwn = taken[camel([last])] === undefined && (whole.length === 1 || !VAGUE.test(last));
  const words = (isOwn ? [last] : whole).join(' ').split(/[^A-Za-z0-9]+/);
  return camel(words);
}

function camel(words: readonly string[]): string {
  const joined = words
    .filter((word) => word !== '')
    .map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1)));
  const name = joined.join('').replaceAll(/\W/g, '');
  return /^[A-Za-z]/.test(name) ? name[0]?.toLowerCase() + name.slice(1) : `field${name}`;
}

function withoutUndefined<T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function withQuery(query: Record<string, string>): Json {
  return Object.keys(query).length === 0 ? {} : { query };
}
