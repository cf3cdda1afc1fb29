import type { Path } from '../../yaml/yaml-file.ts';
import type { Definition, ListOf, RequestOf, WriteOf } from './definition-schema.ts';
import { NO_FORMAT, plainPath, writesDays } from './expression.ts';

/** Where parts of a definition contradict one another, and how. */
type BrokenRule = readonly [at: Path, text: string];

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Whether a part of a definition has one of these placeholders. */
export function uses(part: unknown, ...names: string[]): boolean {
  return new RegExp(`\\{\\s*(${names.join('|')})(?!\\w)`).test(JSON.stringify(part));
}

export function requestOf({ query, headers, body, ...request }: RequestOf): unknown[] {
  return [...METHODS.map((method) => request[method]), query, headers, body];
}

/** What the schema of a single part cannot see. */
export function brokenRules(raw: Definition): BrokenRule[] {
  const all = [
    ofReference,
    ofSearches,
    ofTrust,
    ofLists,
    ofWrites,
    ofFields,
    ofSteps,
    ofBelow,
    ofAccess,
    ofFiles,
    ofHooks,
  ];
  return all.flatMap((rules) => [...rules(raw)]);
}

/** Keys of every tenant file. */
const TAKEN = ['definition', 'url', 'readLag', 'allowPrivateAddress', 'kind', 'connection', 'module'];

function* ofReference(raw: Definition): Generator<BrokenRule> {
  const { find, record, create, pending, options, readLag } = raw;
  if (find.reference !== undefined && record.reference === undefined)
    yield [
      ['find', 'reference'],
      '"find.reference" searches by our reference, but "record.reference" does not say where it is. Add it.',
    ];
  if (record.reference !== undefined && (find.reference ?? find.all) === undefined)
    yield [
      ['record', 'reference'],
      'our reference is stored there, but "find.reference" does not say how to search by it: a create whose answer ' +
        'is lost could not be found again. Add it, or "find.all", or remove "record.reference".',
    ];
  if (create.ticket !== undefined && pending === undefined)
    yield [
      ['create', 'ticket'],
      'a create may be pending, but "pending" does not say how to ask for its outcome. Add it.',
    ];
  // A default would be a guess that makes employees twice.
  if (create.ticket !== undefined && readLag === undefined)
    yield [
      ['create', 'ticket'],
      'a create may be pending, but "readLag" does not say how long a search may miss its employee. A create whose ' +
        'answer was lost is sent again after that time. Add readLag: 15m, or 0s if searches never miss one.',
    ];
  for (const [key, option] of Object.entries(options))
    if (option.secret && option.default !== undefined)
      yield [
        ['options', key, 'default'],
        `"options.${key}.default" would be a secret in this file. Remove it: the tenant file names the secret.`,
      ];
  for (const key of TAKEN.filter((one) => Object.hasOwn(options, one)))
    yield [['options', key], `"${key}" is a key of every tenant file. Rename it.`];
}

function* ofSearches({ find, fields, record }: Definition): Generator<BrokenRule> {
  const has = (key: string): boolean => fields[key] !== undefined;
  const missing = [...(has('name') ? [] : ['givenName', 'familyName']), 'birthDate'].filter((key) => !has(key));
  if (find.person !== undefined && missing.length > 0)
    yield [
      ['find', 'person'],
      `people are compared by name and birth date, but there is no field ${missing.join(' and ')}. Add it.`,
    ];
  if (find.email !== undefined && !has('email') && !has('workEmail'))
    yield [
      ['find', 'email'],
      'people are compared by e-mail address, but there is no field "email" or "workEmail". Add one.',
    ];
  if (find.number !== undefined && record.number === undefined)
    yield [
      ['find', 'number'],
      'people are compared by number, but "record.number" does not say where a record has it. Add it, or remove ' +
        '"find.number".',
    ];
  for (const key of Object.keys(find.taken).filter((one) => !has(one)))
    yield [['find', 'taken', key], `there is no field "${key}" to search for. Add it, or remove this search.`];
}

/** What each search knows of whom it looks for. */
export const SOUGHT = {
  reference: ['value'],
  number: ['value'],
  email: ['value'],
  person: ['givenName', 'familyName', 'fullName', 'birthDate'],
  name: ['givenName', 'familyName', 'fullName'],
} as const;

/** An empty answer to a request that says nothing of a person proves nothing of them. */
function* ofTrust({ find: { taken, ...find } }: Definition): Generator<BrokenRule> {
  const keys = Object.keys(SOUGHT) as (keyof typeof SOUGHT)[];
  const searches = keys.map((by) => [[by], find[by], SOUGHT[by]] as const);
  const fields = Object.entries(taken).map(([key, search]) => [['taken', key], search, ['value']] as const);
  for (const [at, search, known] of [...searches, ...fields])
    if (search !== undefined && search.trusted !== false && !uses(requestOf(search), ...known))
      yield [
        ['find', ...at],
        `"${['find', ...at].join('.')}" is trusted, but its request does not say who is looked for. ` +
          `Add {${known.join('} or {')}}, or remove "trusted"; a list of everybody is "find.all".`,
      ];
}

/** What names the page in a request. */
const NAMED = { page: 'page.number', offset: 'page.offset', cursor: 'page.cursor', link: undefined } as const;

function* ofLists({ find, changes, requisitions, lists, files, below }: Definition): Generator<BrokenRule> {
  const { taken, ...searches } = find;
  const parts: readonly (readonly [Path, Record<string, ListOf | undefined>])[] = [
    [['find'], searches],
    [['find', 'taken'], taken],
    [[], { changes }],
    [['requisitions'], { list: requisitions?.list }],
    [['lists'], lists],
    [['files'], { list: files?.list }],
    ...Object.entries(below).map(([name, { find: list }]) => [['below', name], { find: list }] as const),
  ];
  for (const [part, listed] of parts)
    for (const [key, list] of Object.entries(listed))
      if (list?.paging !== undefined) yield* ofPages([...part, key], list);
}

function* ofPages(at: Path, list: ListOf): Generator<BrokenRule> {
  const { by = 'link', next, first, total } = list.paging ?? {};
  const paging = [...at, 'paging'];
  const named = NAMED[by];
  if (by === 'cursor' && next === undefined)
    yield [paging, 'paging by cursor needs "next": where the answer has the next cursor.'];
  if (by === 'offset' && first === undefined)
    yield [paging, 'paging by offset needs "first": 0, or 1 if the first employee is number 1.'];
  if (named !== undefined && !uses(requestOf(list), named))
    yield [paging, `pages by ${by}, but nothing in the request names it. Use {${named}}.`];
  // Pages that are counted end with an empty one.
  if ((by === 'page' || by === 'offset') && total === undefined && !isWholeList(list.items))
    yield [
      [...at, 'items'],
      `"${[...at, 'items'].join('.')}" is more than a path and may leave records out, so that an empty page need not ` +
        'be the end. Write a path such as data.staff, with "record.former" for people who are gone; or name ' +
        '"paging.total".',
    ];
}

/** A request with a body of its own sends what the body names, and nothing else. */
function* ofWrites(raw: Definition): Generator<BrokenRule> {
  const { create, update, rehire, terminate, requisitions } = raw;
  for (const [name, write] of Object.entries({ update, rehire, terminate }))
    if (raw.record.reference === undefined && write && uses([requestOf(write), write.set], 'reference'))
      yield [
        [name],
        `"${name}" names {reference}, but "record.reference" does not say where a record has it. Add it, or use {id}.`,
      ];
  const writes = { create, update, rehire, terminate, 'requisitions.update': requisitions?.update };
  for (const [name, write] of Object.entries(writes)) {
    if (write?.body === undefined || uses(requestOf(write), 'record')) continue;
    const at = name.split('.');
    if (Object.keys(write.set).some((place) => belowOf(raw, place) === undefined))
      yield [
        [...at, 'set'],
        `"${name}.set" is written into the record, which "${name}.body" does not send. Add {record}.`,
      ];
    if (write === create && raw.record.reference !== undefined && !uses(requestOf(create), 'reference'))
      yield [
        [...at, 'body'],
        '"create.body" does not send our reference, by which a create whose answer is lost is found again: somebody ' +
          'could be made twice. Add {reference}, or {record}, which has it.',
      ];
    const lost = unsentBy(write, write === requisitions?.update ? { ...raw, ...requisitions, below: {} } : raw);
    // An end writes no field, and an update writes what a rehire does not send.
    if (lost.length > 0 && write !== terminate && write !== rehire)
      yield [
        [...at, 'body'],
        `"${name}.body" does not send the fields ${lost.join(', ')}. Add {record}, or {fields.NAME} for each field; ` +
          'or write: false.',
      ];
  }
}

type Fields = Pick<Definition, 'fields' | 'steps' | 'below'>;

/** Fields that are written into the record. */
function writtenInRecord({ fields, steps, below }: Fields): (readonly [key: string, at: string])[] {
  const elsewhere = new Set(Object.values(steps).flatMap((step) => step.fields));
  const isOwn = (key: string, at: string): boolean => !elsewhere.has(key) && belowOf({ below }, at) === undefined;
  return Object.entries(fields).flatMap(([key, { at, write }]) => (write && isOwn(key, at) ? [[key, at]] : []));
}

/** The kind of record below the employee that a place is in. */
export function belowOf({ below }: Pick<Definition, 'below'>, place: string): string | undefined {
  const [first] = plainPath(place) ?? [];
  return first !== undefined && 'name' in first && Object.hasOwn(below, first.name) ? first.name : undefined;
}

/** A DELETE has no body, unless the definition gives it one or something to write. */
export function isBare({ delete: path, body, set }: WriteOf): boolean {
  return path !== undefined && body === undefined && Object.keys(set).length === 0;
}

/** Fields of the record that a request with a body of its own leaves out. */
export function unsentBy(write: WriteOf, raw: Fields): string[] {
  const sent = requestOf(write);
  if ((write.body === undefined && !isBare(write)) || uses(sent, 'record')) return [];
  return writtenInRecord(raw).flatMap(([key]) => (uses(sent, `fields\\.${key}`) ? [] : [key]));
}

/** Places in records below an employee that the request of a create does not send. */
export function leftBelow({ fields, below, create }: Definition): string[] {
  const own = [
    requestOf(create),
    Object.entries(create.set).filter(([place]) => belowOf({ below }, place) === undefined),
  ];
  const left = Object.entries(fields).flatMap(([key, { at, write }]) =>
    write && !uses(own, `fields\\.${key}`) ? [at] : [],
  );
  return [...left, ...Object.keys(create.set)].filter((place) => belowOf({ below }, place) !== undefined);
}

function* ofFields(raw: Definition): Generator<BrokenRule> {
  const { fields, requisitions, record } = raw;
  // Of two values at one place only the last is sent.
  const taken = new Map([[record.reference, 'record.reference']]);
  for (const [key, at] of writtenInRecord({ ...raw, below: {} })) {
    const other = taken.get(at);
    if (other !== undefined)
      yield [['fields', key, 'at'], `"fields.${key}.at" is the place of "${other}" too. Only one value can be there.`];
    taken.set(at, `fields.${key}`);
  }
  const parts = [[[], fields] as const, [['requisitions'], requisitions?.fields ?? {}] as const];
  for (const [part, held] of parts)
    for (const [key, { date, type }] of Object.entries(held)) {
      const at = [...part, 'fields', key, 'date'];
      if (date !== undefined && !writesDays(date)) yield [at, `"${at.join('.')}" is "${date}", which is ${NO_FORMAT}`];
      if (date !== undefined && type !== 'date')
        yield [at, `"${at.join('.')}" is a date format, so the field needs "type: date".`];
    }
}

function* ofSteps({ steps }: Definition): Generator<BrokenRule> {
  for (const [name, { fields, from, find, update }] of Object.entries(steps)) {
    if (fields.length > 0 && from !== undefined && update === undefined)
      yield [
        ['steps', name, 'from'],
        `"steps.${name}" has "fields" and "from", but no "update": a change of an existing part would be dropped. ` +
          'Add "update", or remove "from" if others share the part.',
      ];
    if (find !== undefined && !uses(requestOf(find), 'reference', String.raw`(fields|steps)\.\w+`))
      yield [
        ['steps', name, 'find'],
        `"steps.${name}.find" does not say which part is looked for, so it would find that of anybody. ` +
          'Add {reference}, or {fields.NAME} for a part that others share.',
      ];
  }
}

/** Fields that people are compared by; searches show no record below anybody. */
const COMPARED = ['name', 'givenName', 'familyName', 'email', 'workEmail', 'birthDate'];

function* ofBelow(raw: Definition): Generator<BrokenRule> {
  const { below, fields, steps, create, update, terminate, rehire, record } = raw;
  const compared = COMPARED.map((key) => [['fields', key, 'at'], fields[key]?.at] as const);
  for (const [at, place] of [...compared, [['record', 'reference'], record.reference] as const])
    if (place !== undefined && belowOf(raw, place) !== undefined)
      yield [
        at,
        `"${at.join('.')}" is in a record below the employee, which searches do not show. Keep it in the record.`,
      ];
  for (const [name, step] of Object.entries(steps))
    for (const [index, key] of step.fields.entries())
      if (fields[key] !== undefined && belowOf(raw, fields[key].at) !== undefined)
        yield [
          ['steps', name, 'fields', index],
          `"${key}" is in a record below the employee (${fields[key].at}), and "steps.${name}" would write it a ` +
            'second time. Take it out of the step, or give it a place in the employee.',
        ];
  const [left] = leftBelow(raw);
  if (left !== undefined && record.reference === undefined)
    yield [
      ['create'],
      `"${left}" is written once the employee is there, and without "record.reference" nobody knows after a lost ` +
        'answer that it is still missing. Add it, or send {fields.NAME} with "create.body" or "create.set".',
    ];
  if (create.ticket !== undefined && left !== undefined)
    yield [
      ['create', 'ticket'],
      `a create may be pending, so "${left}" must be in its request: nothing is written below somebody who is not ` +
        'there yet. Send {fields.NAME} with "create.body" or "create.set".',
    ];
  const sets = [create, update, terminate, rehire].flatMap((write) => Object.keys(write?.set ?? {}));
  const written = [...sets, ...Object.values(fields).flatMap(({ at, write }) => (write ? [at] : []))];
  for (const [name, { dated, create: made, update: changed }] of Object.entries(below)) {
    const at = ['below', name];
    const says = `"${at.join('.')}"`;
    if (made !== undefined && dated === undefined && changed === undefined)
      yield [at, `${says} makes records and changes none. Add "update", or "dated" if each change is a new record.`];
    if (made === undefined && dated !== undefined && changed !== undefined)
      yield [at, `${says} is dated, so that a change is a new record, but does not say how to make one. Add "create".`];
    if (dated?.startsWith(`${name}.`) === true)
      yield [
        [...at, 'dated'],
        `"${[...at, 'dated'].join('.')}" is read in that record. Write "${dated.slice(name.length + 1)}".`,
      ];
    for (const [key, write] of Object.entries({ create: made, update: changed })) {
      if (write?.body === undefined || uses(requestOf(write), 'record')) continue;
      const own = Object.entries(fields).filter(([, field]) => field.write && belowOf(raw, field.at) === name);
      const lost = own.flatMap(([of]) => (uses(requestOf(write), `fields\\.${of}`) ? [] : [`fields.${of}`]));
      lost.push(...sets.filter((place) => belowOf(raw, place) === name), ...Object.keys(write.set));
      if (dated !== undefined && write === made && !uses(requestOf(write), 'from')) lost.push(dated);
      const body = [...at, key, 'body'];
      if (lost.length > 0)
        yield [body, `"${body.join('.')}" does not send ${[...new Set(lost)].join(', ')}. Add {record}.`];
    }
    if ((made ?? changed) === undefined && written.some((place) => belowOf(raw, place) === name))
      yield [at, `${says} does not say how it is written. Add "update" or "create", or write: false to its fields.`];
  }
}

/** Of a login that is not below hris.url. */
export const ADDRESS = /^https?:\/\/[^/?]+\/./;

function* ofAccess({ auth, options }: Definition): Generator<BrokenRule> {
  const used = Array.from(JSON.stringify(auth).matchAll(/\{\s*options\.(\w+)/g), ([, key = '']) => key);
  // An option that is not there is told by its template.
  if (auth.none === undefined && !used.some((key) => options[key]?.secret !== false))
    yield [
      ['auth'],
      '"auth" uses no secret option, but this file may not contain a secret. Write {options.NAME} here, ' +
        '"NAME: { secret: true }" under "options", and "NAME: env:VARIABLE" or "NAME: file:PATH" in the tenant file.',
    ];
  const { tokenPath = '/' } = auth.oauth2 ?? {};
  if (!/^(\/|\{options\.)/.test(tokenPath) && !ADDRESS.test(tokenPath))
    yield [
      ['auth', 'oauth2', 'tokenPath'],
      '"auth.oauth2.tokenPath" is not a path. Begin it with / to continue hris.url, or write a whole address: ' +
        'https://login.example/token.',
    ];
  if (auth.oauth2?.grant === 'refresh_token' && auth.oauth2.refreshToken === undefined)
    yield [['auth', 'oauth2', 'grant'], 'the grant refresh_token needs "refreshToken". Add it.'];
}

function* ofFiles({ files }: Definition): Generator<BrokenRule> {
  if (files === undefined) return;
  const { same = {}, download, upload } = files;
  if (Object.keys(same).length === 0 && download === undefined)
    yield [['files'], '"files" does not say how to tell whether a file is already there. Add "same" or "download".'];
  if ((upload.form === undefined) === (upload.body === undefined))
    yield [['files', 'upload'], '"files.upload" needs either a "body" or a "form" with {file}.'];
}

function* ofHooks({ webhooks }: Definition): Generator<BrokenRule> {
  if (webhooks === undefined) return;
  const at = ['webhooks', 'signed'];
  if (!webhooks.signed.includes('{body}')) yield [at, 'the signature does not cover the body. Add {body}.'];
  if (webhooks.signed.includes('{timestamp}') && webhooks.timestamp === undefined)
    yield [at, '{timestamp} is signed, but "webhooks.timestamp" does not name its header. Add it.'];
}

/** Whether a list has all records of an answer, so that it is empty only if the answer has none. */
function isWholeList(text: string): boolean {
  return text === '$' || plainPath(text)?.every((step) => 'name' in step) === true;
}
