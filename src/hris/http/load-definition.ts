import { isConnectorError } from '../../errors.ts';
import type { HttpMethod } from '../../http/http-error.ts';
import { didYouMean } from '../../in-words.ts';
import { explainIssues, type Path, type Problem, parseYaml, problemAt, type YamlFile } from '../../yaml/yaml-file.ts';
import { modulePlace } from '../module.ts';
import type {
  AuthPlan,
  CallPlan,
  FieldPlan,
  FilesPlan,
  HttpDefinition,
  ListPlan,
  SearchPlan,
  StepPlan,
  WritePlan,
} from './definition.ts';
import { brokenRules, METHODS, requestOf, unsentBy, uses } from './definition-rules.ts';
import {
  type Definition,
  definitionSchema,
  type FieldOf,
  type ListOf,
  type RequestOf,
  type SearchOf,
  type WriteOf,
} from './definition-schema.ts';
import {
  BadExpression,
  compileExpression,
  compileList,
  type Expression,
  type PathStep,
  plainPath,
} from './expression.ts';
import { type CalledHooks, noHooks, readHooks } from './hooks.ts';
import type { Answer } from './line.ts';
import { compileTemplate, type Template, type Values } from './template.ts';

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
  const definition = compiler.compile();
  return compiler.problems.length === 0 ? { definition, problems: [] } : { problems: compiler.problems };
}

/** A token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const PAGE = ['page.offset', 'page.number', 'page.size', 'page.cursor'];
const FILE = ['id', 'file.name', 'file.mediaType', 'file.base64'];
/** What each write knows, besides the fields and the steps. */
const MADE = ['record', 'reference'];
const CHANGED = ['record', 'id', 'version', 'today'];
const ENDED = [...CHANGED, 'lastDay'];

/** A kind of record that is written: how to read one, and where its version is. */
interface Written {
  read: Definition['read'];
  version: string | undefined;
  at: 'record' | 'requisitions';
}

/** Compiles one definition and collects its problems. */
class Compiler {
  readonly problems: Problem[] = [];
  readonly #source: YamlFile;
  readonly #raw: Definition;
  readonly #options: string[];
  readonly #fields: string[];
  readonly #employees: Written;

  constructor(source: YamlFile, raw: Definition) {
    this.#source = source;
    this.#raw = raw;
    this.#options = Object.keys(raw.options).map((key) => `options.${key}`);
    this.#fields = Object.keys(raw.fields).map((key) => `fields.${key}`);
    this.#employees = { read: raw.read, version: raw.record.version, at: 'record' };
  }

  compile(): HttpDefinition {
    const raw = this.#raw;
    const { find, read, create, update, terminate, rehire, record } = raw;
    for (const [at, text] of brokenRules(raw)) this.#wrong(at, text);
    const steps = Object.keys(raw.steps).map((key) => `steps.${key}`);
    const parts = [...this.#fields, ...steps];
    const { name, options, nothing, contentType, limits, timeout, retryAfter, readLag, employeeUrl, webhooks } = raw;
    const asSaid = { name, options, nothing, contentType, limits, timeout, retryAfter, readLag, employeeUrl, webhooks };
    const definition: HttpDefinition = {
      ...asSaid,
      fields: this.#fieldPlans(['fields'], raw.fields),
      record: {
        ...this.#reads(['record'], record, 'id', 'number', 'former', 'version'),
        reference: record.reference === undefined ? undefined : this.#place(['record', 'reference'], record.reference),
      },
      search: this.#searches(find),
      taken: new Map(Object.entries(find.taken).map(([key, of]) => [key, this.#search(of, ['value'], 'taken', key)])),
      everybody: find.all && this.#list(['find', 'all'], find.all, []),
      reading: this.#reading(['read'], read),
      numbering: raw.number && {
        ...this.#call(['number'], raw.number, ['id'], 'id'),
        ...this.#reads(['number'], raw.number, 'item'),
        absent: raw.number.absent,
      },
      creating: {
        ...this.#write(['create'], create, [...MADE, ...parts]),
        ...this.#answers(['create'], create, 'id', 'number', 'item', 'ticket'),
      },
      asking: this.#asking(),
      updating: this.#write(['update'], update, [...CHANGED, ...parts]),
      terminating: terminate && {
        ...this.#write(['terminate'], terminate, [...ENDED, ...parts]),
        takesDay: uses(terminate, 'lastDay'),
      },
      rehiring: rehire && {
        ...this.#write(['rehire'], rehire, [...CHANGED, ...parts]),
        sendsFields: unsentBy(rehire, raw.fields, raw.steps).length === 0,
      },
      removing: raw.remove && this.#call(['remove'], raw.remove, ['id'], 'id'),
      changing: this.#changing(),
      steps: this.#steps(),
      filing: this.#filing(),
      describing: raw.describe && {
        ...this.#call(['describe'], raw.describe, []),
        ...this.#reads(['describe'], raw.describe, 'fields'),
      },
      tls: raw.tls && {
        certificate: this.#template(['tls', 'certificate'], raw.tls.certificate, []),
        key: this.#template(['tls', 'key'], raw.tls.key, []),
      },
      hooks: this.#hooks(raw.hooks),
      probing: this.#call(['probe'], raw.probe, []),
      account: raw.probe.account && {
        ...this.#reads(['probe', 'account'], raw.probe.account, 'at'),
        is: this.#template(['probe', 'account', 'is'], raw.probe.account.is, []),
      },
      authorizing: this.#auth(),
      refusals: raw.errors.map(({ status, means, field, ...row }, at) => ({
        status: [status].flat(),
        means,
        ...this.#answers(['errors', at], row, 'when'),
        field: field && this.#field(['errors', at, 'field'], field),
      })),
      words: this.#answers([], raw, 'said').said,
      standing: this.#headers(['headers'], raw.headers, []),
      lists: new Map(Object.entries(raw.lists).map(([key, list]) => [key, this.#listOf(['lists', key], list)])),
      positions: undefined,
    };
    return { ...definition, positions: this.#positions(definition) };
  }

  #listOf(at: Path, list: Definition['lists'][string]): ListPlan {
    return { ...this.#list(at, list, []), ...this.#reads(at, list, 'id', 'label', 'active') };
  }

  /** Compiles the part about positions as if it were about employees. */
  #positions(definition: HttpDefinition): HttpDefinition['positions'] {
    const { requisitions: raw } = this.#raw;
    if (raw === undefined) return undefined;
    const at = (...rest: string[]): Path => ['requisitions', ...rest];
    const { fields, list, read, update } = raw;
    const { id, open, version } = this.#reads(at(), raw, 'id', 'open', 'version');
    const names = [...CHANGED, ...Object.keys(fields).map((key) => `fields.${key}`)];
    const of = {
      ...definition,
      fields: this.#fieldPlans(at('fields'), fields),
      record: {
        id,
        version,
        former: open && (async (position: unknown) => (await open(position)) !== true),
        number: undefined,
        reference: undefined,
      },
      reading: this.#reading(at('read'), read),
      updating: this.#write(at('update'), update, names, { read, version: raw.version, at: 'requisitions' }),
      numbering: undefined,
      steps: [],
      hooks: { ...definition.hooks, record: noHooks.record },
    };
    return { of, listing: { ...this.#list(at('list'), list, []), id } };
  }

  #searches(find: Definition['find']): HttpDefinition['search'] {
    const { all: _everybody, taken: _byField, ...searches } = find;
    const names = { person: ['givenName', 'familyName', 'birthDate'], name: ['givenName', 'familyName'] };
    const plans = Object.entries(searches).map(([by, search]) => {
      const known = names[by as keyof typeof names] as string[] | undefined;
      return [by, this.#search(search as SearchOf, known === undefined ? ['value'] : ['fullName', ...known], by)];
    });
    return Object.fromEntries(plans) as HttpDefinition['search'];
  }

  #search(search: SearchOf, names: string[], ...at: string[]): SearchPlan {
    return { ...this.#list(['find', ...at], search, names), trusted: search.trusted, absent: search.absent };
  }

  #asking(): HttpDefinition['asking'] {
    const { pending } = this.#raw;
    if (pending === undefined) return undefined;
    return {
      ...this.#call(['pending'], pending, ['ticket'], 'ticket'),
      ...this.#reads(['pending'], pending, 'done', 'id', 'refused', 'number'),
      every: pending.every,
    };
  }

  #changing(): HttpDefinition['changing'] {
    const { changes } = this.#raw;
    if (changes === undefined) return undefined;
    const { beginning, overlap, reread } = changes;
    return {
      beginning,
      overlap,
      reread,
      ...this.#list(['changes'], changes, ['since']),
      ...this.#reads(['changes'], changes, 'stamp', 'gone'),
    };
  }

  /** In order, since a step may use the ids of earlier ones. */
  #steps(): StepPlan[] {
    const before: string[] = [];
    return Object.entries(this.#raw.steps).map(([name, { fields, from, find, create, update }]) => {
      const at = (rest: string): Path => ['steps', name, rest];
      const names = ['reference', ...this.#fields, ...before];
      for (const [index, key] of fields.entries()) this.#field(['steps', name, 'fields', index], key);
      before.push(`steps.${name}`);
      const { create: ofRecord, steps: all, update: ofUpdate } = this.#raw;
      if (!uses([ofRecord, all, ofUpdate], `steps.${name}`))
        this.#wrong(['steps', name], `nothing uses {steps.${name}}: write its id into the record with "create.set".`);
      return {
        name: `steps.${name}`,
        fields,
        from: this.#maybe(at('from'), from),
        find: find && { ...this.#call(at('find'), find, names), ...this.#reads(at('find'), find, 'id') },
        create: { ...this.#call(at('create'), create, names), ...this.#answers(at('create'), create, 'id') },
        update: update && this.#call(at('update'), update, [...names, 'id']),
      };
    });
  }

  #filing(): FilesPlan | undefined {
    const { files } = this.#raw;
    if (files === undefined) return undefined;
    const { list, same = {}, download, upload } = files;
    const at = (...rest: string[]): Path => ['files', ...rest];
    return {
      list: { ...this.#list(at('list'), list, ['id'], 'id'), ...this.#reads(at('list'), list, 'name', 'id') },
      same: this.#reads(at('same'), same, 'sha1', 'sha256', 'md5', 'base64'),
      download: download && this.#call(at('download'), download, ['id', 'file.id']),
      upload: {
        ...this.#call(at('upload'), upload, FILE),
        form: upload.form && this.#templates(at('upload', 'form'), upload.form, [...FILE, 'file']),
      },
    };
  }

  /** Code beside the file; its module exports it as `hooks`. */
  #hooks(named: string | undefined): CalledHooks {
    if (named === undefined) return noHooks;
    try {
      return readHooks(modulePlace(named, this.#source.file));
    } catch (error) {
      if (!isConnectorError(error)) throw error;
      this.#wrong(['hooks'], error.message);
      return noHooks;
    }
  }

  #auth(): AuthPlan {
    const { bearer, basic, headers = {}, query = {}, oauth2, login } = this.#raw.auth;
    if (oauth2 !== undefined) {
      const { grant, credentials, ...texts } = oauth2;
      const templates = this.#templates(['auth', 'oauth2'], texts as Record<string, string>, []);
      return { kind: 'oauth2', texts: templates, grant, credentials };
    }
    if (login !== undefined)
      return {
        kind: 'login',
        call: this.#call(['auth', 'login'], login, []),
        ...this.#answers(['auth', 'login'], login, 'token'),
        headers: this.#headers(['auth', 'login', 'carry'], login.carry, ['token']),
      };
    const stated = this.#headers(['auth', 'headers'], headers, []);
    if (bearer !== undefined) stated['authorization'] = this.#template(['auth', 'bearer'], `Bearer ${bearer}`, []);
    if (basic !== undefined) {
      const { user, password } = this.#templates(['auth', 'basic'], basic, []);
      const said = (values: Values): string => `${String(user?.(values))}:${String(password?.(values))}`;
      stated['authorization'] = (values) => `Basic ${Buffer.from(said(values)).toString('base64')}`;
    }
    return { kind: 'headers', headers: stated, query: this.#templates(['auth', 'query'], query, []) };
  }

  #write(at: Path, write: WriteOf, names: string[], of = this.#employees): WritePlan {
    const isWhole = write.as === 'put';
    const call = this.#call(at, write, names, at[0] === 'create' || isWhole ? undefined : 'id');
    const sends = METHODS.some((method) => method !== 'get' && write[method] !== undefined);
    if (!sends && write.get !== undefined)
      this.#wrong(at, `"${at.join('.')}" writes, so it needs post, put, patch or delete with a path.`);
    if (isWhole && at[0] !== 'create' && of.read.get === undefined)
      this.#wrong([...at, 'as'], '"put" sends the whole record, so "read" must be a get.');
    const isConditional = uses([requestOf(write), write.set], 'version');
    if (isConditional && (of.version ?? of.read.version) === undefined)
      this.#wrong(
        at,
        `{version} is used, but neither "${of.at}.version" (of a record) nor "read.version" (headers.etag) says ` +
          'where it is. Add one.',
      );
    if (write.unversioned && !isConditional)
      this.#wrong([...at, 'unversioned'], '"unversioned" is about {version}, which this request does not use.');
    if (write.without.length > 0 && !isWhole)
      this.#wrong([...at, 'without'], '"without" leaves places out of a whole record, so it needs "as: put".');
    return {
      ...call,
      // By default the record itself is sent.
      body: call.body ?? ((values) => values['record']),
      as: write.as,
      set: Object.entries(write.set).map(([place, value]) => ({
        at: this.#place([...at, 'set', place], place),
        value: this.#template([...at, 'set', place], value, names),
      })),
      without: write.without.map((place, index) => this.#place([...at, 'without', index], place)),
      isConditional,
      // SCIM servers need not have versions (RFC 7643, 3.1), and a draft of them names {version}.
      needsVersion: isConditional && !write.unversioned && write.as !== 'scim-patch',
    };
  }

  #reading(at: Path, read: Definition['read']): HttpDefinition['reading'] {
    const reads = { ...this.#reads(at, read, 'item'), ...this.#answers(at, read, 'version') };
    return { ...this.#call(at, read, ['id'], 'id'), ...reads, absent: read.absent };
  }

  /** Expressions of a whole answer; others read its body, or a record. */
  #answers<Part extends object, Key extends keyof Part & string>(at: Path, part: Part, ...keys: Key[]) {
    for (const key of keys) {
      const [, first = 'body'] = /^([A-Za-z]\w*)(?=[.[\s=!]|$)/.exec(String(part[key] ?? '')) ?? [];
      if (['status', 'headers', 'body', 'function'].includes(first)) continue;
      const name = [...at, key].join('.');
      this.#wrong(
        [...at, key],
        `"${name}" reads { status, headers, body }, so "${first}" is not there: body.${first}?`,
      );
    }
    return this.#reads(at, part, ...keys);
  }

  /** The expressions of one part, by their keys. */
  #reads<Part extends object, Key extends keyof Part & string>(at: Path, part: Part, ...keys: Key[]) {
    const read = keys.map((key) => [key, this.#maybe([...at, key], part[key] as string | undefined)]);
    return Object.fromEntries(read) as {
      [One in Key]: undefined extends Part[One] ? Expression | undefined : Expression;
    };
  }

  #list(at: Path, request: ListOf, names: string[], needed?: 'id'): CallPlan & { items: Expression } {
    const items = this.#compiled([...at, 'items'], request.items, compileList);
    return { ...this.#call(at, request, names, needed), items };
  }

  /** `needed` is what the request has to name, so that it is about one employee. */
  #call(at: Path, request: RequestOf, names: string[], needed?: 'id' | 'ticket'): CallPlan {
    const used = METHODS.filter((method) => request[method] !== undefined);
    const method = used[0] ?? 'get';
    if (used.length !== 1)
      this.#wrong(
        used[1] === undefined ? at : [...at, used[1]],
        `"${at.join('.')}" needs one of ${METHODS.join(', ')}, with a path such as /employees; it has ${used.length}.`,
      );
    const path = request[method] ?? '/';
    if (!path.startsWith('/'))
      this.#wrong(
        [...at, method],
        `"${[...at, method].join('.')}" is not a path. Begin it with /; it continues hris.url.`,
      );
    if (needed !== undefined && !uses(request, needed))
      this.#wrong(at, `"${at.join('.')}" does not say which record is meant. Add {${needed}}.`);
    const { paging } = request;
    const link = paging?.by === 'link' ? `headers.${paging.header ?? 'link'}` : undefined;
    const all = paging === undefined ? names : [...names, ...PAGE];
    const { file, line, column } = problemAt(this.#source, at, '');
    return {
      what: `${method.toUpperCase()} ${path.split('?', 1)[0]}`,
      purpose: at.join('.'),
      at: `${file}:${line}:${column}`,
      method: method.toUpperCase() as HttpMethod,
      path: this.#template([...at, method], path, all),
      query: this.#templates([...at, 'query'], request.query ?? {}, all),
      headers: this.#headers([...at, 'headers'], request.headers ?? {}, all),
      body: request.body === undefined ? undefined : this.#template([...at, 'body'], request.body, all),
      paging: paging && {
        ...paging,
        first: paging.first ?? 1,
        size: paging.size ?? 100,
        fixed: uses(requestOf(request), 'page.size') ? undefined : paging.size,
        nextIn: this.#ofPage([...at, 'paging', 'next'], paging.next ?? link),
        totalIn: this.#ofPage([...at, 'paging', 'total'], paging.total),
      },
    };
  }

  /** Reads the body of a page, or one of its headers: `headers.x-total-count`. */
  #ofPage(at: Path, text: string | undefined): Expression | undefined {
    const [, header] = /^headers\.([\w-]+)$/.exec(text ?? '') ?? [];
    if (header !== undefined) return (answer) => (answer as Answer).headers[header.toLowerCase()];
    const read = this.#maybe(at, text);
    return read && ((answer) => read((answer as Answer).body));
  }

  #field(at: Path, key: string): string {
    const known = Object.keys(this.#raw.fields);
    if (!known.includes(key)) this.#wrong(at, `"${key}" is not a field of this definition. ${didYouMean(key, known)}`);
    return key;
  }

  #maybe(at: Path, text: string | undefined): Expression | undefined {
    return text === undefined ? undefined : this.#compiled(at, text, compileExpression);
  }

  #compiled(at: Path, text: string, compile: (text: string) => Expression): Expression {
    return this.#tried(
      at,
      () => compile(text),
      async () => undefined,
    );
  }

  #place(at: Path, text: string): PathStep[] {
    const path = plainPath(text);
    if (path !== undefined) return path;
    this.#wrong(
      at,
      `"${text}" is not a place that can be written. Join names with dots, as in name.givenName or ` +
        'emails[type="work"].value, and put any other name in `backticks`.',
    );
    return [];
  }

  /** A numbered item of a list can only be read: a step may write it. */
  #fieldPlans(at: Path, fields: Readonly<Record<string, FieldOf>>): FieldPlan[] {
    return Object.entries(fields).map(([key, field]) => {
      const path = this.#place([...at, key, 'at'], field.at);
      return { ...field, key, path, read: this.#maybe([...at, key, 'read'], field.read) };
    });
  }

  #templates(at: Path, texts: Readonly<Record<string, string>>, names: string[]): Record<string, Template> {
    const entries = Object.entries(texts).filter(([, text]) => text !== undefined);
    return Object.fromEntries(entries.map(([key, text]) => [key, this.#template([...at, key], text, names)]));
  }

  /** By their names in lower case, because the names of headers have none. */
  #headers(at: Path, texts: Readonly<Record<string, string>>, names: string[]): Record<string, Template> {
    for (const name of Object.keys(texts).filter((one) => !HEADER_NAME.test(one)))
      this.#wrong(
        [...at, name],
        `"${name}" cannot be the name of a header. Use letters, digits and dashes, as in X-Api-Key.`,
      );
    const templates = Object.entries(this.#templates(at, texts, names));
    return Object.fromEntries(templates.map(([name, template]) => [name.toLowerCase(), template]));
  }

  #template(at: Path, source: unknown, names: string[]): Template {
    const known = [...this.#options, ...names];
    const judge = (used: string): string | undefined => {
      if (known.includes(used)) return undefined;
      const isUnmade = at.includes('create') && (used === 'id' || used === 'version');
      const hint = isUnmade
        ? 'The HR system gives it in its answer. Use {reference} for a key that is known before.'
        : known.length === 0
          ? 'None can be used here.'
          : didYouMean(used, known);
      return `"{${used}}" is not a placeholder here. ${hint}`;
    };
    return this.#tried(
      at,
      () => compileTemplate(source, judge),
      () => undefined,
    );
  }

  #tried<T>(at: Path, compile: () => T, otherwise: T): T {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof BadExpression)) throw error;
      this.#wrong(at, `"${at.join('.')}" ${error.message}`);
      return otherwise;
    }
  }

  #wrong(at: Path, text: string): void {
    this.problems.push(problemAt(this.#source, at, text));
  }
}
