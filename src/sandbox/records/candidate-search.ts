import type { Context } from '../context.ts';
import { type Candidate, candidateIds } from './candidates.ts';
import { findJobCandidate, jobCandidateIdsOf, renderJobCandidate } from './job-candidates.ts';
import { answeredText } from './resumes.ts';

interface CandidateQuery extends Search {
  pageNumber: number;
  perPage: number;
  includeJobApplicationDetails: boolean;
  jobIds?: number[] | undefined;
  stageIds?: number[] | undefined;
  groupIds?: string[] | undefined;
  candidateEmail?: string | undefined;
  phone?: string | undefined;
  createdAtMin?: string | undefined;
  createdAtMax?: string | undefined;
  appliedAtMin?: string | undefined;
  appliedAtMax?: string | undefined;
}

interface Filter {
  sql: string;
  value?: (given: never) => string | number;
}

/**
 * Each filter as one condition with one value; lists travel as JSON text. Texts match a part, ignoring case (C12,
 * assumed).
 */
const FILTERS: Record<string, Filter> = {
  // No group resource exists in the API (C13, assumed): nobody is in any.
  groupIds: { sql: '? is null', value: (list: string[]) => JSON.stringify(list) },
  candidateEmail: { sql: 'email = lower(?)' },
  phone: { sql: "body ->> 'phone' = ?" },
  createdAtMin: { sql: 'created_at >= ?', value: Date.parse },
  createdAtMax: { sql: 'created_at <= ?', value: Date.parse },
};

/** Filters that one application of the candidate passes together. */
const APPLICATION_FILTERS: Record<string, Filter> = {
  jobIds: { sql: 'job_id in (select value from json_each(?))', value: (list: number[]) => JSON.stringify(list) },
  stageIds: { sql: 'stage_id in (select value from json_each(?))', value: (list: number[]) => JSON.stringify(list) },
  appliedAtMin: { sql: 'applied_at >= ?', value: Date.parse },
  appliedAtMax: { sql: 'applied_at <= ?', value: Date.parse },
};

/** One page of GET /candidates/list as JSON texts, oldest first; the page number is 0-based. */
export function candidatePage(ctx: Context, query: CandidateQuery): { items: string[]; total: number } {
  const found = searched(ctx, query);
  const conditions = conditionsOf(query);
  const page =
    conditions.length === 0
      ? pageOf(ctx, query, found ?? candidateIds(ctx))
      : filtered(ctx, { query, conditions, found });
  const rows = page.rows.map(({ id, body }) => ({ id, body: answeredText(ctx, id, body) }));
  const shown = query.includeJobApplicationDetails
    ? rows.map((row) => withApplications(ctx, row))
    : rows.map(({ body }) => body);
  return { items: shown, total: page.total };
}

interface Page {
  rows: { id: number; body: string }[];
  total: number;
}

/** Ids that pass the filters of the search index; undefined if none is given. */
function searched(ctx: Context, query: CandidateQuery): Int32Array | undefined {
  const results = searchNames.flatMap((name) => {
    const given = query[name];
    return given === undefined ? [] : [searchPeople(ctx, name, given as never)];
  });
  return results.length === 0 ? undefined : results.reduce(intersection);
}

/** A page of people known by id. */
function pageOf(ctx: Context, { pageNumber, perPage }: CandidateQuery, ids: Int32Array): Page {
  const wanted = ids.subarray(pageNumber * perPage, (pageNumber + 1) * perPage);
  if (wanted.length === 0) return { rows: [], total: ids.length };
  const rows = ctx.state.all<{ id: number; body: string }>(
    'select id, body from candidates where id in (select value from json_each(?)) and company_id = ? order by id',
    JSON.stringify([...wanted]),
    ctx.company.id,
  );
  return { rows, total: ids.length };
}

interface Condition {
  sql: string;
  values: (string | number)[];
}

function conditionsOf(query: CandidateQuery): Condition[] {
  const own = given(FILTERS, query);
  const ofApplication = given(APPLICATION_FILTERS, query);
  if (ofApplication.length === 0) return own;
  const together = ofApplication.map(({ sql }) => sql).join(' and ');
  const values = ofApplication.flatMap((condition) => condition.values);
  return [...own, { sql: `id in (select candidate_id from job_candidates where ${together})`, values }];
}

function given(filters: Record<string, Filter>, query: CandidateQuery): Condition[] {
  return Object.entries(filters).flatMap(([name, { sql, value }]) => {
    const asked = query[name as keyof CandidateQuery] as never;
    return asked === undefined ? [] : [{ sql, values: [value === undefined ? asked : value(asked)] }];
  });
}

interface Filtering {
  query: CandidateQuery;
  conditions: Condition[];
  found: Int32Array | undefined;
}

function filtered(ctx: Context, { query, conditions, found }: Filtering): Page {
  const among =
    found === undefined
      ? []
      : [{ sql: 'id in (select value from json_each(?))', values: [JSON.stringify([...found])] }];
  const all = [...conditions, ...among];
  const where = ['company_id = ?', ...all.map(({ sql }) => sql)].join(' and ');
  const values = all.flatMap((condition) => condition.values);
  const total = ctx.state.count('candidates', where, ctx.company.id, ...values);
  const rows = ctx.state.all<{ id: number; body: string }>(
    // Sorts ids, not records, which are large.
    `select id, body from candidates where id in (select id from candidates where ${where} order by id limit ? offset ?)
     order by id`,
    ctx.company.id,
    ...values,
    query.perPage,
    query.pageNumber * query.perPage,
  );
  return { rows, total };
}

/** jobCandidateDetails is a list: a candidate may be in many jobs (C15, assumed). */
function withApplications(ctx: Context, row: { id: number; body: string }): string {
  const applications = jobCandidateIdsOf(ctx, row.id).map((id) => renderJobCandidate(ctx, findJobCandidate(ctx, id)));
  return `${row.body.slice(0, -1)},"jobCandidateDetails":[${applications.join(',')}]}`;
}

/** The filters that this index answers, each with its value. */
interface Search {
  searchTerm?: string | undefined;
  skills?: string[] | undefined;
  currentJobTitle?: string | undefined;
  currentCompany?: string | undefined;
}

/** Index of a company's people, kept in memory and updated before each search. */
interface SearchIndex {
  texts: GramIndex;
  skills: ValueIndex;
  titles: ValueIndex;
  companies: ValueIndex;
  /** Results since the last change: the next page of a search usually follows soon. */
  found: Map<string, Int32Array>;
  /** The newest change that is in it. */
  version: number;
}

/** Texts match a part, ignoring case (C12, assumed); a skill matches whole. */
const SEARCHES: { [Name in keyof Search]-?: (index: SearchIndex, given: NonNullable<Search[Name]>) => Int32Array } = {
  searchTerm: ({ texts }, term) => texts.find(term.toLowerCase()),
  skills: ({ skills }, wanted) => skills.having(wanted),
  currentJobTitle: ({ titles }, part) => titles.containing(part),
  currentCompany: ({ companies }, part) => companies.containing(part),
};

const searchNames = Object.keys(SEARCHES) as (keyof Search)[];

const FOUND_KEPT = 32;
/** Rows read at once: bodies of 100,000 people are 100 MB, and short-lived objects are cheap to collect. */
const ROWS_AT_ONCE = 100;

const indexes = new WeakMap<object, Map<number, SearchIndex>>();

/** Ids that pass one filter, ascending. */
export function searchPeople<Name extends keyof Search>(
  ctx: Context,
  name: Name,
  given: NonNullable<Search[Name]>,
): Int32Array {
  const index = searchIndex(ctx);
  const key = JSON.stringify([name, given]);
  const known = index.found.get(key);
  if (known !== undefined) return known;
  const found = SEARCHES[name](index, given as never);
  if (index.found.size >= FOUND_KEPT) index.found.clear();
  index.found.set(key, found);
  return found;
}

/**
 * The index, with every change since the last search. The stored data decides: an undone change never had a lasting
 * version.
 */
export function searchIndex(ctx: Context): SearchIndex {
  const index = indexOf(ctx);
  for (let isMore = true; isMore; ) isMore = takeChanges(ctx, index) === ROWS_AT_ONCE;
  const ids = candidateIds(ctx);
  if (index.texts.size !== ids.length) dropGone(index, new Set(ids));
  return index;
}

function indexOf({ state, company }: Context): SearchIndex {
  const ofState = indexes.get(state) ?? new Map<number, SearchIndex>();
  indexes.set(state, ofState);
  const known = ofState.get(company.id);
  if (known !== undefined) return known;
  const index: SearchIndex = {
    texts: new GramIndex(),
    skills: new ValueIndex(),
    titles: new ValueIndex(),
    companies: new ValueIndex(),
    found: new Map(),
    version: 0,
  };
  ofState.set(company.id, index);
  return index;
}

function takeChanges(ctx: Context, index: SearchIndex): number {
  const changed = ctx.state.all<{ version: number; body: string }>(
    'select version, body from candidates where company_id = ? and version > ? order by version limit ?',
    ctx.company.id,
    index.version,
    ROWS_AT_ONCE,
  );
  if (changed.length > 0) index.found.clear();
  for (const { version, body } of changed) {
    put(index, JSON.parse(body) as Candidate);
    index.version = version;
  }
  return changed.length;
}

function put(index: SearchIndex, candidate: Candidate): void {
  const { id, firstName, lastName, email, currentJobTitle, currentCompany } = candidate;
  const told = [firstName, lastName, email, currentJobTitle, currentCompany];
  const text = told.filter((part) => typeof part === 'string').join(' ');
  if (index.texts.has(id)) take(index, id);
  index.texts.add(id, text.toLowerCase());
  index.skills.add(id, Array.isArray(candidate['skills']) ? candidate['skills'] : []);
  index.titles.add(id, [currentJobTitle]);
  index.companies.add(id, [currentCompany]);
}

function take({ texts, skills, titles, companies }: SearchIndex, id: number): void {
  for (const part of [texts, skills, titles, companies]) part.remove(id);
}

function dropGone(index: SearchIndex, there: ReadonlySet<number>): void {
  index.found.clear();
  const gone = [...index.texts.ids()].filter((id) => !there.has(id));
  for (const id of gone) take(index, id);
}

/** Characters that gram codes distinguish; texts with others are found too, with more candidates to check. */
const CHARACTERS = 1024;

/**
 * Which of many short texts contain a term, by the three-letter groups in them: 100,000 people are searched in
 * milliseconds, where looking at each text took half a second. Texts and terms are in lower case.
 */
export class GramIndex {
  readonly #texts = new Map<number, string>();
  readonly #lists = new Map<number, IdList>();
  #isExact = true;

  get size(): number {
    return this.#texts.size;
  }

  ids(): Iterable<number> {
    return this.#texts.keys();
  }

  has(id: number): boolean {
    return this.#texts.has(id);
  }

  /** The id must not be there yet. */
  add(id: number, text: string): void {
    this.#texts.set(id, text);
    for (const gram of gramsOf(text)) {
      const list = this.#lists.get(gram) ?? new IdList();
      this.#lists.set(gram, list);
      list.add(id);
    }
    this.#isExact &&= isNarrow(text);
  }

  remove(id: number): void {
    const text = this.#texts.get(id);
    if (text === undefined) return;
    this.#texts.delete(id);
    for (const gram of gramsOf(text)) this.#lists.get(gram)?.remove(id);
  }

  /** Ids of the texts that contain the term, ascending. */
  find(term: string): Int32Array {
    const found = term.length < 3 ? this.#beginningWith(term) : this.#rarestOf(term);
    // A gram is the whole of a short term; a longer one must also stand together.
    if (term.length <= 3 && this.#isExact && isNarrow(term)) return found;
    return found.filter((id) => this.#texts.get(id)?.includes(term) === true);
  }

  #rarestOf(term: string): Int32Array {
    let rarest: IdList | undefined;
    for (let at = 0; at + 3 <= term.length; at += 1) {
      const list = this.#lists.get(gramAt(term, at));
      if (list === undefined) return new Int32Array();
      if (rarest === undefined || list.length < rarest.length) rarest = list;
    }
    return rarest?.toArray() ?? new Int32Array();
  }

  /** One or two letters begin many grams: those are put together. */
  #beginningWith(term: string): Int32Array {
    if (term === '') return Int32Array.from(this.#texts.keys()).sort();
    const shift = 10 * (3 - term.length);
    const wanted = gramAt(term, 0) >> shift;
    const lists = [...this.#lists].filter(([gram]) => gram >> shift === wanted).map(([, list]) => list.toArray());
    return union(lists);
  }
}

/** The three letters from `at` on; beyond the end there is nothing, which is a letter too. */
function gramAt(text: string, at: number): number {
  return (letterAt(text, at) << 20) | (letterAt(text, at + 1) << 10) | letterAt(text, at + 2);
}

function letterAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) % CHARACTERS : 0;
}

function gramsOf(text: string): Set<number> {
  const grams = new Set<number>();
  for (let at = 0; at < text.length; at += 1) grams.add(gramAt(text, at));
  return grams;
}

function isNarrow(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) >= CHARACTERS) return false;
  return true;
}

/** People by value, such as skills. Values are compared in lower case. */
class ValueIndex {
  readonly #lists = new Map<string, IdList>();

  add(id: number, values: readonly unknown[]): void {
    for (const value of values) if (typeof value === 'string') this.#listOf(value.toLowerCase()).add(id);
  }

  /** Takes somebody out of every value: there are few of them, and profiles change seldom. */
  remove(id: number): void {
    for (const list of this.#lists.values()) list.remove(id);
  }

  /** Ids of those with one of the values, ascending. */
  having(values: readonly string[]): Int32Array {
    const wanted = new Set(values.map((value) => value.toLowerCase()));
    return union([...wanted].map((value) => this.#lists.get(value)?.toArray() ?? new Int32Array()));
  }

  /** Ids of those with a value that contains the part, ascending. */
  containing(part: string): Int32Array {
    const wanted = part.toLowerCase();
    return union([...this.#lists].filter(([value]) => value.includes(wanted)).map(([, list]) => list.toArray()));
  }

  #listOf(value: string): IdList {
    const list = this.#lists.get(value) ?? new IdList();
    this.#lists.set(value, list);
    return list;
  }
}

/** Ascending ids off the heap: millions of them cost the garbage collector nothing. */
class IdList {
  #ids = new Int32Array(4);
  length = 0;

  add(id: number): void {
    const at = this.#placeOf(id);
    if (at < this.length && this.#ids[at] === id) return;
    if (this.length === this.#ids.length) this.#grow();
    if (at < this.length) this.#ids.copyWithin(at + 1, at, this.length);
    this.#ids[at] = id;
    this.length += 1;
  }

  remove(id: number): void {
    const at = this.#placeOf(id);
    if (at === this.length || this.#ids[at] !== id) return;
    this.#ids.copyWithin(at, at + 1, this.length);
    this.length -= 1;
  }

  toArray(): Int32Array {
    return this.#ids.subarray(0, this.length);
  }

  #grow(): void {
    const larger = new Int32Array(Math.ceil(this.#ids.length * 1.5));
    larger.set(this.#ids);
    this.#ids = larger;
  }

  /** Where the id stands or would stand; new ids are mostly the greatest. */
  #placeOf(id: number): number {
    if (this.length === 0 || (this.#ids[this.length - 1] ?? 0) < id) return this.length;
    let [low, high] = [0, this.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ids[middle] ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The ids of several ascending lists, each once, ascending. */
function union(lists: readonly Int32Array[]): Int32Array {
  const [only, ...others] = lists;
  if (only === undefined || others.length === 0) return only ?? new Int32Array();
  const first = lists.reduce((least, list) => Math.min(least, list[0] ?? Infinity), Infinity);
  const last = lists.reduce((most, list) => Math.max(most, list.at(-1) ?? -Infinity), -Infinity);
  if (last < first) return new Int32Array();
  const present = new Uint8Array(last - first + 1);
  for (const list of lists) for (const id of list) present[id - first] = 1;
  const found = new Int32Array(present.reduce((sum, one) => sum + one, 0));
  let at = 0;
  for (let offset = 0; offset < present.length; offset += 1) if (present[offset] === 1) found[at++] = first + offset;
  return found;
}

/** The ids that stand in both ascending lists. */
function intersection(one: Int32Array, other: Int32Array): Int32Array {
  let at = 0;
  return one.filter((id) => {
    while (at < other.length && (other[at] ?? 0) < id) at += 1;
    return other[at] === id;
  });
}
