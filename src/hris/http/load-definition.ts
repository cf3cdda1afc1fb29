import { isConnectorError } from '../../errors.ts';
import type { HttpMethod } from '../../http/http-error.ts';
import { didYouMean } from '../../in-words.ts';
import { explainIssues, type Path, type Problem, parseYaml, problemAt, type YamlFile } from '../../yaml/yaml-file.ts';
import { modulePlace } from '../module.ts';
import {
  ADDRESS,
  belowOf,
  brokenRules,
  isBare,
  leftBelow,
  METHODS,
  requestOf,
  SOUGHT,
  unsentBy,
  uses,
} from './definition-rules.ts';
import { type Definition, definitionSchema, type FieldOf, type RequestOf, type WriteOf } from './definition-schema.ts';
import { type Reads, Texts } from './definition-texts.ts';
import type { Expression, Template, Values } from './expression.ts';
import { type CalledHooks, noHooks, readHooks } from './hooks.ts';

/** A checked definition: every expression and template is compiled. */
export interface HttpDefinition extends ReturnType<Compiler['employees']> {
  /** Open positions are read and written like employees. */
  positions: { of: HttpDefinition; listing: CallPlan & { items: Expression; id: Expression } } | undefined;
}

/** A call that a definition describes. */
export interface CallPlan {
  /** Names it in messages: `GET /Users/{id}`. */
  what: string;
  /** The call's purpose in the definition, and its place: `create`, `acme-hr.yaml:31:3`. */
  purpose: string;
  at: string;
  method: HttpMethod;
  path: Template;
  query: Readonly<Record<string, Template>>;
  headers: Readonly<Record<string, Template>>;
  body: Template | undefined;
  /** A multipart form instead of a body. */
  form?: Readonly<Record<string, Template>> | undefined;
  paging: ReturnType<Compiler['paging']>;
}

/** A part of the file with a call: its texts under these keys are compiled. */
type Plan<Part, Key extends keyof Part> = Omit<Part, keyof RequestOf | Key> & CallPlan & Reads<Part, Key>;

export type WritePlan = HttpDefinition['updating'];
export type FieldPlan = HttpDefinition['fields'][number];

/** Reads a definition; reports every problem with line and column. */
export function loadDefinition(
  file: string,
  text: string,
): { definition: HttpDefinition; problems: [] } | { definition?: never; problems: Problem[] } {
  const source = parseYaml(file, text);
  if (source.problems.length > 0) return { problems: source.problems };
  const parsed = definitionSchema.safeParse(source.value);
  if (!parsed.success) return { problems: explainIssues(source, definitionSchema, parsed.error) };
  const compiler = new Compiler(source, parsed.data);
  const employees = compiler.employees();
  const definition = { ...employees, positions: compiler.positions(employees) };
  return compiler.problems.length === 0 ? { definition, problems: [] } : { problems: compiler.problems };
}

const PAGE = ['page.offset', 'page.number', 'page.size', 'page.cursor'];
const FILE = ['id', 'file.name', 'file.mediaType', 'file.base64'];
/** What each write knows, besides the fields and the steps. */
const MADE = ['record', 'reference'];
const CHANGED = ['record', 'id', 'version', 'today'];
/** Of an employee, whose record has our reference. */
const KEPT = [...CHANGED, 'reference'];

type Page = Readonly<{ headers: Readonly<Record<string, unknown>>; body: unknown }>;

/** Compiles one definition and collects its problems. */
class Compiler extends Texts {
  readonly #raw: Definition;
  readonly #fields: string[];

  constructor(source: YamlFile, raw: Definition) {
    super(source, Object.keys(raw.options));
    this.#raw = raw;
    this.#fields = Object.keys(raw.fields).map((key) => `fields.${key}`);
  }

  /** All but the open positions. */
  employees() {
    const raw = this.#raw;
    const { find, number, create, pending, update, terminate, rehire, record, changes, describe, probe } = raw;
    for (const [at, text] of brokenRules(raw)) this.wrong(at, text);
    const below = this.#below();
    const changed = [...KEPT, ...below.map((one) => `below.${one.name}`)];
    const parts = [...this.#fields, ...Object.keys(raw.steps).map((key) => `steps.${key}`)];
    const { name, options, nothing, contentType, limits, timeout, retryAfter, readLag, employeeUrl, webhooks } = raw;
    const asSaid = { name, options, nothing, contentType, limits, timeout, retryAfter, readLag, employeeUrl, webhooks };
    return {
      ...asSaid,
      fields: this.#fieldPlans(['fields'], raw.fields),
      record: {
        ...this.reads(['record'], record, 'id', 'number', 'former', 'version'),
        reference: record.reference === undefined ? undefined : this.place(['record', 'reference'], record.reference),
      },
      search: {
        reference: this.#search(['reference'], find.reference, SOUGHT.reference),
        number: this.#search(['number'], find.number, SOUGHT.number),
        email: this.#search(['email'], find.email, SOUGHT.email),
        person: this.#search(['person'], find.person, SOUGHT.person),
        name: this.#search(['name'], find.name, SOUGHT.name),
      },
      /** By field: how to find the employees who have a value of it. */
      taken: new Map(Object.entries(find.taken).map(([key, of]) => [key, this.#search(['taken', key], of, ['value'])])),
      everybody: find.all && this.#plan(['find', 'all'], find.all, [], ['items']),
      reading: this.#reading(['read'], raw.read),
      /** How to ask for the number, if no record has it. */
      numbering: number && this.#plan(['number'], number, ['id'], ['item'], 'id'),
      creating: {
        ...this.#write(['create'], create, [...MADE, ...parts]),
        ...this.answers(['create'], create, 'id', 'number', 'item', 'ticket'),
      },
      asking: pending && this.#plan(['pending'], pending, ['ticket'], ['done', 'id', 'refused', 'number'], 'ticket'),
      updating: this.#write(['update'], update, [...changed, ...parts]),
      terminating: terminate && this.#write(['terminate'], terminate, [...changed, 'lastDay', ...parts]),
      rehiring: rehire && this.#write(['rehire'], rehire, [...changed, ...parts]),
      removing: raw.remove && this.#call(['remove'], raw.remove, ['id'], 'id'),
      changing: changes && {
        ...this.#plan(['changes'], changes, ['since'], ['items', 'stamp', 'gone']),
        // A list of employees does not show what is below them.
        reread: changes.reread || below.length > 0,
      },
      steps: this.#steps(),
      below,
      /** What the request of a create does not send is written to records below the employee. */
      isMadeInParts: leftBelow(raw).length > 0,
      lists: new Map(
        Object.entries(raw.lists).map(([key, list]) => [
          key,
          this.#plan(['lists', key], list, [], ['items', 'id', 'label', 'active']),
        ]),
      ),
      filing: this.#filing(),
      describing: describe && this.#plan(['describe'], describe, [], ['fields']),
      /** Our client certificate and its key. */
      tls: raw.tls && this.templates(['tls'], raw.tls, []),
      hooks: this.#hooks(raw.hooks),
      probing: this.#call(['probe'], probe, []),
      /** Where the body of the probe names the account, and which one it must be. */
      account: probe.account && {
        ...this.reads(['probe', 'account'], probe.account, 'at'),
        is: this.template(['probe', 'account', 'is'], probe.account.is, []),
      },
      authorizing: this.#auth(),
      refusals: raw.errors.map((row, at) => ({
        ...row,
        ...this.answers(['errors', at], row, 'when'),
        field: row.field && this.#field(['errors', at, 'field'], row.field),
      })),
      words: this.answers([], raw, 'said').said,
      standing: this.headers(['headers'], raw.headers, []),
    };
  }

  /** Compiles the part about positions as if it were about employees. */
  positions(employees: ReturnType<Compiler['employees']>): HttpDefinition['positions'] {
    const { requisitions: raw } = this.#raw;
    if (raw === undefined) return undefined;
    const at = (...rest: string[]): Path => ['requisitions', ...rest];
    const { fields, list, read, update } = raw;
    const { id, open, version } = this.reads(at(), raw, 'id', 'open', 'version');
    const names = [...CHANGED, ...Object.keys(fields).map((key) => `fields.${key}`)];
    const of = {
      ...employees,
      fields: this.#fieldPlans(at('fields'), fields),
      record: {
        id,
        version,
        former: open && (async (position: unknown) => (await open(position)) !== true),
        number: undefined,
        reference: undefined,
      },
      reading: this.#reading(at('read'), read),
      updating: this.#write(at('update'), update, names, { part: 'requisitions', read, version: raw.version }),
      numbering: undefined,
      steps: [],
      below: [],
      hooks: { ...employees.hooks, record: noHooks.record },
      positions: undefined,
    };
    return { of, listing: { ...this.#plan(at('list'), list, [], ['items']), id } };
  }

  #search(at: string[], search: Definition['find']['email'], names: readonly string[]) {
    return search && this.#plan(['find', ...at], search, names, ['items']);
  }

  /** In order, since a step may use the ids of earlier ones. */
  #steps() {
    const { create: ofRecord, steps, update: ofUpdate } = this.#raw;
    const before: string[] = [];
    return Object.entries(steps).map(([name, { fields, from, find, create, update }]) => {
      const at = (rest: string): Path => ['steps', name, rest];
      const names = ['reference', ...this.#fields, ...before];
      for (const [index, key] of fields.entries()) this.#field(['steps', name, 'fields', index], key);
      before.push(`steps.${name}`);
      if (!uses([ofRecord, steps, ofUpdate], `steps.${name}`))
        this.wrong(['steps', name], `nothing uses {steps.${name}}: write its id into the record with "create.set".`);
      return {
        name: `steps.${name}`,
        fields,
        from: this.expression(at('from'), from),
        find: find && this.#plan(at('find'), find, names, ['id']),
        create: { ...this.#call(at('create'), create, names), ...this.answers(at('create'), create, 'id') },
        update: update && this.#call(at('update'), update, [...names, 'id']),
      };
    });
  }

  /** Kinds of records below an employee; the fields in them are those whose places begin with their names. */
  #below() {
    const fields = this.#fieldPlans(['fields'], this.#raw.fields);
    return Object.entries(this.#raw.below).map(([name, { find, dated, create, update }]) => {
      const at = (rest: string): string[] => ['below', name, rest];
      const names = [...KEPT, 'from', ...this.#fields];
      const own = `below.${name}`;
      return {
        name,
        find: this.#plan(at('find'), find, ['id'], ['items', 'id'], 'id'),
        dated: dated === undefined ? undefined : this.place(at('dated'), dated),
        create: create && this.#write(at('create'), create, names),
        update: update && this.#write(at('update'), update, [...names, own]),
        fields: fields.flatMap((field) =>
          field.below === name ? [{ ...field, path: field.path.slice(1), below: undefined }] : [],
        ),
      };
    });
  }

  #filing() {
    const { files } = this.#raw;
    if (files === undefined) return undefined;
    const { list, same = {}, download, upload } = files;
    return {
      list: this.#plan(['files', 'list'], list, ['id'], ['items', 'name', 'id'], 'id'),
      same: this.reads(['files', 'same'], same, 'sha1', 'sha256', 'md5', 'base64'),
      download: download && this.#call(['files', 'download'], download, ['id', 'file.id']),
      upload: {
        ...this.#call(['files', 'upload'], upload, FILE),
        form: upload.form && this.templates(['files', 'upload', 'form'], upload.form, [...FILE, 'file']),
      },
    };
  }

  /** Code beside the file; its module exports it as `hooks`. */
  #hooks(named: string | undefined): CalledHooks {
    if (named === undefined) return noHooks;
    try {
      return readHooks(modulePlace(named, this.source.file));
    } catch (error) {
      if (!isConnectorError(error)) throw error;
      this.wrong(['hooks'], error.message);
      return noHooks;
    }
  }

  #auth() {
    const { bearer, basic, headers = {}, query = {}, oauth2, login } = this.#raw.auth;
    if (oauth2 !== undefined) {
      const { grant, credentials, ...texts } = oauth2;
      return { kind: 'oauth2', grant, credentials, texts: this.templates(['auth', 'oauth2'], texts, []) } as const;
    }
    if (login !== undefined)
      return {
        kind: 'login',
        call: this.#call(['auth', 'login'], login, []),
        check: login.check && {
          ...this.#call(['auth', 'login', 'check'], login.check, []),
          ...this.answers(['auth', 'login', 'check'], login.check, 'refused'),
        },
        ...this.answers(['auth', 'login'], login, 'token'),
        headers: this.headers(['auth', 'login', 'carry'], login.carry, ['token']),
      } as const;
    const stated = this.headers(['auth', 'headers'], headers, []);
    if (bearer !== undefined) stated['authorization'] = this.template(['auth', 'bearer'], `Bearer ${bearer}`, []);
    if (basic !== undefined) {
      const { user, password } = this.templates(['auth', 'basic'], basic, []);
      const said = (values: Values): string => `${String(user(values))}:${String(password(values))}`;
      stated['authorization'] = (values) => `Basic ${Buffer.from(said(values)).toString('base64')}`;
    }
    return { kind: 'headers', headers: stated, query: this.templates(['auth', 'query'], query, []) } as const;
  }

  /** `of`: the kind of record that is written, how to read one, and where its version is. */
  #write(
    at: Path,
    write: WriteOf,
    names: readonly string[],
    of = { part: 'record', read: this.#raw.read, version: this.#raw.record.version },
  ) {
    const isWhole = write.as === 'put';
    const [first, below = ''] = at.map(String);
    const isBelow = first === 'below';
    const isOwn = first === 'create' || isBelow;
    const isByReference = !isOwn && uses([requestOf(write), write.set], 'reference');
    const set = Object.entries(write.set).map(([place, value]) => {
      const kind = isBelow || of.part !== 'record' ? undefined : belowOf(this.#raw, place);
      const path = this.place([...at, 'set', place], place).slice(kind === undefined ? 0 : 1);
      return { below: kind, path, value: this.template([...at, 'set', place], value, names) };
    });
    const sends = METHODS.some((method) => method !== 'get' && write[method] !== undefined);
    // An end, or a rehire, may be written to records below the employee alone.
    const mayBe = (first === 'terminate' || first === 'rehire') && !sends && write.get === undefined;
    const isElsewhere = mayBe && set.some((one) => one.below !== undefined);
    const needed = isBelow && at[2] === 'update' ? `below.${below}` : 'id';
    const isFree = first === 'create' || (isWhole && !isBelow) || isByReference || isElsewhere;
    const call = this.#call(at, isElsewhere ? { ...write, post: '/' } : write, names, isFree ? undefined : needed);
    if (!sends && write.get !== undefined)
      this.wrong(at, `"${at.join('.')}" writes, so it needs post, put, patch or delete with a path.`);
    if (isWhole && !isOwn && of.read.get === undefined)
      this.wrong([...at, 'as'], '"put" sends the whole record, so "read" must be a get.');
    const isConditional = uses([requestOf(write), write.set], 'version');
    if (isConditional && (of.version ?? of.read.version) === undefined)
      this.wrong(
        at,
        `{version} is used, but neither "${of.part}.version" (of a record) nor "read.version" (headers.etag) says ` +
          'where it is. Add one.',
      );
    if (write.unversioned && !isConditional)
      this.wrong([...at, 'unversioned'], '"unversioned" is about {version}, which this request does not use.');
    if (write.without.length > 0 && !isWhole)
      this.wrong([...at, 'without'], '"without" leaves places out of a whole record, so it needs "as: put".');
    return {
      ...call,
      // By default the record itself is sent.
      body: call.body ?? (isBare(write) ? undefined : (values: Values) => values['record']),
      as: write.as,
      /** False if only records below the employee are written. */
      sends,
      set,
      /** Kinds of records below the employee whose ids the request names. */
      names: Object.keys(this.#raw.below).filter((name) => uses([requestOf(write), write.set], `below\\.${name}`)),
      /** With put: what the system gives and does not take back. */
      without: write.without.map((place, index) => this.place([...at, 'without', index], place)),
      /** The request names the record's version: the system refuses the write if the record has changed. */
      isConditional,
      /** Not sent for a record without a version. SCIM servers need not have any (RFC 7643, 3.1). */
      needsVersion: isConditional && !write.unversioned && write.as !== 'scim-patch',
      /** The request names our reference instead of the id: it is read from the record. */
      isByReference,
      takesDay:
        uses(write, 'lastDay') || set.some(({ below: kind }) => this.#raw.below[kind ?? '']?.dated !== undefined),
      sendsFields: sends && unsentBy(write, this.#raw).length === 0,
    };
  }

  #reading(at: Path, read: Definition['read']) {
    return { ...this.#plan(at, read, ['id'], ['item'], 'id'), ...this.answers(at, read, 'version') };
  }

  #plan<Part extends RequestOf, Key extends keyof Part & string>(
    at: Path,
    part: Part,
    names: readonly string[],
    keys: readonly Key[],
    needed?: string,
  ): Plan<Part, Key> {
    return { ...part, ...this.#call(at, part, names, needed), ...this.reads(at, part, ...keys) } as Plan<Part, Key>;
  }

  /** `needed` is what the request has to name, so that it is about one employee. */
  #call(at: Path, request: RequestOf, names: readonly string[], needed?: string): CallPlan {
    const used = METHODS.filter((method) => request[method] !== undefined);
    const method = used[0] ?? 'get';
    if (used.length !== 1)
      this.wrong(
        used[1] === undefined ? at : [...at, used[1]],
        `"${at.join('.')}" needs one of ${METHODS.join(', ')}, with a path such as /employees; it has ${used.length}.`,
      );
    const path = request[method] ?? '/';
    if (!path.startsWith('/') && !(at[0] === 'auth' && ADDRESS.test(path)))
      this.wrong(
        [...at, method],
        `"${[...at, method].join('.')}" is not a path. Begin it with /; it continues hris.url.`,
      );
    if (needed !== undefined && !uses(request, needed, String.raw`below\.\w+`))
      this.wrong(at, `"${at.join('.')}" does not say which record is meant. Add {${needed}}.`);
    const all = request.paging === undefined ? names : [...names, ...PAGE];
    const { file, line, column } = problemAt(this.source, at, '');
    return {
      what: `${method.toUpperCase()} ${path.split('?', 1)[0]}`,
      purpose: at.join('.'),
      at: `${file}:${line}:${column}`,
      method: method.toUpperCase() as HttpMethod,
      path: this.template([...at, method], path, all),
      query: this.templates([...at, 'query'], request.query ?? {}, all),
      headers: this.headers([...at, 'headers'], request.headers ?? {}, all),
      body: request.body === undefined ? undefined : this.template([...at, 'body'], request.body, all),
      paging: this.paging([...at, 'paging'], request),
    };
  }

  paging(at: Path, request: RequestOf) {
    const { paging } = request;
    if (paging === undefined) return undefined;
    const link = paging.by === 'link' ? `headers.${paging.header ?? 'link'}` : undefined;
    return {
      ...paging,
      first: paging.first ?? 1,
      size: paging.size ?? 100,
      /** The size of a page, if the request does not ask for one. */
      fixed: uses(requestOf(request), 'page.size') ? undefined : paging.size,
      nextIn: this.#ofPage([...at, 'next'], paging.next ?? link),
      totalIn: this.#ofPage([...at, 'total'], paging.total),
    };
  }

  /** Reads the body of a page, or one of its headers: `headers.x-total-count`. */
  #ofPage(at: Path, text: string | undefined): ((answer: Page) => unknown) | undefined {
    const [, header] = /^headers\.([\w-]+)$/.exec(text ?? '') ?? [];
    if (header !== undefined) return ({ headers }) => headers[header.toLowerCase()];
    const read = this.expression(at, text);
    return read && (({ body }) => read(body));
  }

  #field(at: Path, key: string): string {
    const known = Object.keys(this.#raw.fields);
    if (!known.includes(key)) this.wrong(at, `"${key}" is not a field of this definition. ${didYouMean(key, known)}`);
    return key;
  }

  /** A numbered item of a list can only be read: a step may write it. */
  #fieldPlans(at: Path, fields: Readonly<Record<string, FieldOf>>) {
    return Object.entries(fields).map(([key, field]) => ({
      ...field,
      key,
      path: this.place([...at, key, 'at'], field.at),
      /** The kind of record below the employee that it is in. */
      below: at[0] === 'fields' ? belowOf(this.#raw, field.at) : undefined,
      /** Set if the field is not read at its path. */
      read: this.expression([...at, key, 'read'], field.read),
    }));
  }
}
