import type { Context } from '../../context.ts';
import { type Candidate, candidateIds } from './candidates.ts';
import { GramIndex } from './gram-index.ts';
import { ValueIndex } from './value-index.ts';

/** The filters that this index answers, each with what it was given. */
export interface Search {
  searchTerm?: string | undefined;
  skills?: string[] | undefined;
  currentJobTitle?: string | undefined;
  currentCompany?: string | undefined;
}

/** What a company's people are searched by, kept in memory and brought up to date before each search. */
interface SearchIndex {
  texts: GramIndex;
  skills: ValueIndex;
  titles: ValueIndex;
  companies: ValueIndex;
  /** What was found since the last change: the next page of a search is asked for soon. */
  found: Map<string, Int32Array>;
  /** The newest change that is in it. */
  version: number;
}

/** Texts match a part, whatever the case (C12, assumed); a skill matches whole. */
const SEARCHES: { [Name in keyof Search]-?: (index: SearchIndex, given: NonNullable<Search[Name]>) => Int32Array } = {
  searchTerm: ({ texts }, term) => texts.find(term.toLowerCase()),
  skills: ({ skills }, wanted) => skills.having(wanted),
  currentJobTitle: ({ titles }, part) => titles.containing(part),
  currentCompany: ({ companies }, part) => companies.containing(part),
};

export const searchNames = Object.keys(SEARCHES) as (keyof Search)[];

const FOUND_KEPT = 32;
/** Rows read at once: bodies of 100,000 people are 100 MB, and what lives briefly is cheap to forget. */
const ROWS_AT_ONCE = 100;

const indexes = new WeakMap<object, Map<number, SearchIndex>>();

/** Ids of those whom one filter lets through, ascending. */
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
 * The index, with every change since the last search. What is stored decides: a change that was undone never had a
 * version that stayed.
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
