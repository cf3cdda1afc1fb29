import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { rejected } from '../errors.ts';
import { appendLines } from './audit.ts';
import { STORE_PLACES } from './data-map.ts';
import { eraseOnceMore, forgetBytes, type TenantSubject } from './erasures.ts';
import { type Store } from './open-store.ts';
import { clearNameless, completeIds, erasePersonRows, findPersonRows, NAMED, type Subject } from './person-data.ts';
import {
  allIdsOf,
  erasureLookup,
  type IdKind,
  idsOf,
  legalHoldOf,
  type PersonId,
  personOf,
  takeMarkKey,
  takeMarks,
} from './person-marks.ts';
import { eraseRestoredTenant } from './tenant-rows.ts';

/** An erased person, as the list beside the store and the marks in the store record them. */
export interface ErasedSince {
  tenant: string;
  erasure: string;
  by: string;
  /** The keys that their ids were hashed with. */
  keys: string[];
  person: string[];
  /** Set if the whole tenant was erased: when that was requested, in milliseconds. Absent for a single person. */
  wholeTenant?: number;
  /** The request for that tenant's landing tables. Absent if an earlier version wrote the line. */
  landing?: TenantSubject['landing'];
}

/** File in the data directory, beside the store: one line for each erasure. */
export const ERASURES_FILE = 'erasures.jsonl';

/**
 * Reads the list kept beside a store; empty if there is no file. A line that was cut off is skipped.
 * @throws ConnectorError ERASURES_UNREADABLE
 */
export async function readErasures(file: string): Promise<ErasedSince[]> {
  return linesIn(await textOf(file));
}

/** Adds erasures to that list, each once. */
export async function listErasures(file: string, erased: readonly ErasedSince[]): Promise<void> {
  const known = new Set((await readErasures(file)).map(({ erasure }) => erasure));
  const fresh = erased.filter(({ erasure }) => !known.has(erasure));
  if (fresh.length > 0) await appendLines(file, fresh);
}

/** A list that cannot be read is never taken for an empty one: a restore would bring the people on it back. */
async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw rejected(
      'ERASURES_UNREADABLE',
      `${file} lists who was erased, and cannot be read (${error.code ?? 'unknown'}). Nothing was changed. Let the ` +
        'user who runs hirebridge read and write it, then try again.',
    );
  });
}

function linesIn(text: string): ErasedSince[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as ErasedSince];
    } catch {
      return [];
    }
  });
}

/**
 * Erases from a restored store the people who were erased after its backup was made. Whoever is under a legal hold
 * stays, with an open erasure: a worker goes on with it once the hold is released. Returns how many it erased.
 */
export async function eraseRestored(store: Store, erased: readonly ErasedSince[]): Promise<number> {
  for (const key of new Set(erased.flatMap(({ keys }) => keys))) await takeMarkKey(store, key);
  for (const { tenant: tenantId, erasure: about, by, person } of erased)
    await takeMarks(store, { tenantId, mark: 'erased', by, about }, person);
  let gone = 0;
  const held = new Set<string>();
  for (const { wholeTenant, ...since } of erased) {
    if (wholeTenant === undefined) continue;
    const done = await eraseRestoredTenant(store, { ...since, wholeTenant });
    if (done === 'erased') gone += 1;
    if (done === 'held') held.add(since.tenant);
  }
  const byOf = new Map(erased.map(({ erasure, by }) => [erasure, by]));
  const tenants = [...new Set(erased.map(({ tenant }) => tenant))];
  for (const [tenantId, people] of await peopleMet(store, tenants))
    for (const group of groupsOf(people)) {
      const [free, kept] = await eraseGroup(store, tenantId, group, byOf);
      gone += free;
      if (kept > 0) held.add(tenantId);
    }
  for (const tenantId of tenants) if (!held.has(tenantId)) await clearNameless(store, tenantId);
  if (erased.length > 0) await forgetBytes(store);
  return gone;
}

/** People by their erasure, with their ids. */
type Met = Map<string, PersonId[]>;

/**
 * Ids in one statement. Names of people inside values have no index, so each statement reads a whole table: for people
 * one by one, that would read the whole store for each of them. SQLite takes at most a thousand alternatives.
 */
const MOST_IDS = 200;

function groupsOf(people: Met): Met[] {
  const groups: Met[] = [];
  let left = 0;
  for (const [erasure, own] of people) {
    if (own.length > left) {
      groups.push(new Map());
      left = MOST_IDS;
    }
    groups.at(-1)?.set(erasure, own);
    left -= own.length;
  }
  return groups;
}

/** Erases the people of a group who are in the store again. Returns how many, and how many stay under a legal hold. */
async function eraseGroup(
  store: Store,
  tenantId: string,
  group: Met,
  byOf: ReadonlyMap<string, string>,
): Promise<[gone: number, kept: number]> {
  const subjects = new Map<string, Subject>();
  for (const [erasure, ids] of group) subjects.set(erasure, await completeIds(store, tenantId, personOf(ids)));
  const [first] = subjects.values();
  if (first === undefined) return [0, 0];
  const all = { ...first, ...personOf([...subjects.values()].flatMap(allIdsOf)) };
  const rows = (await findPersonRows(store, all)).flatMap((found) => found.all);
  const texts = new Set(
    rows.flatMap((row) => Object.entries(row).flatMap((one) => idsIn(...one))).map(({ text }) => text),
  );
  const met = { gone: 0, kept: 0 };
  const free: Subject[] = [];
  for (const [erasure, subject] of subjects) {
    const isHeld = (await legalHoldOf(store, tenantId, idsOf(subject))) !== undefined;
    if (!isHeld) free.push(subject);
    if (!allIdsOf(subject).some(({ id, kind }) => texts.has(isPart(kind) ? id.slice(id.indexOf('/') + 1) : id)))
      continue;
    await eraseOnceMore(store, subject, { erasure, by: byOf.get(erasure) ?? 'hirebridge', isHeld });
    met[isHeld ? 'kept' : 'gone'] += 1;
  }
  if (free.length > 0) await erasePersonRows(store, { ...first, ...personOf(free.flatMap(allIdsOf)) });
  return [met.gone, met.kept];
}

/** An employee is known by connection and id, a record by stream and id. */
const isPart = (kind: IdKind): boolean => kind === 'employee' || kind === 'record';

/** By tenant and erasure: those ids of erased people that are anywhere in the store. */
async function peopleMet(store: Store, tenants: readonly string[]): Promise<Map<string, Met>> {
  const connections = await connectionsIn(store);
  const asked = new Map<string, Asked>();
  for (const tenant of tenants) {
    const erasureOf = await erasureLookup(store, tenant);
    const own = { met: new Map(), looked: new Set<string>(), connections: connections.get(tenant) ?? [] };
    if (erasureOf !== undefined) asked.set(tenant, { ...own, erasureOf });
  }
  if (asked.size === 0) return new Map();
  for (const [table, place] of ID_COLUMNS)
    for await (const rows of batchesOf(store, table, place.read))
      for (const row of rows) {
        const own = asked.get(String(row['tenant_id']));
        if (place.isOfOne && own === undefined) continue;
        const found = place.columns.flatMap((column) => idsIn(column, row[column]));
        for (const one of place.isOfOne && own !== undefined ? [own] : asked.values()) meet(one, found);
      }
  return new Map([...asked].map(([tenant, { met }]) => [tenant, met]));
}

/** The ids to look for in one tenant. */
interface Asked {
  erasureOf: (one: PersonId) => string | undefined;
  met: Met;
  /** Texts that need not be looked up again. */
  looked: Set<string>;
  connections: readonly string[];
}

function meet({ erasureOf, met, looked, connections }: Asked, found: readonly Found[]): void {
  for (const one of found) {
    const name = `${one.kind ?? ''} ${one.text}`;
    if (looked.has(name)) continue;
    if (looked.size >= MOST_LOOKED) looked.clear();
    looked.add(name);
    for (const id of meanings(one, connections)) {
      const erasure = erasureOf(id);
      if (erasure !== undefined) met.set(erasure, [...(met.get(erasure) ?? []), id]);
    }
  }
}

/** How many texts to remember, so that memory stays bounded. */
const MOST_LOOKED = 500_000;

interface IdColumns {
  columns: readonly string[];
  /** The columns, and that of the tenant. */
  read: readonly string[];
  /** Each row belongs to one tenant. Other rows belong to all: tenants of a company share people. */
  isOfOne: boolean;
}

/** Every column of the data map that can hold an id of a person: a new table is read from the start. */
const ID_COLUMNS: ReadonlyMap<string, IdColumns> = new Map(
  Object.entries(STORE_PLACES).flatMap(([table, place]) => {
    if (!('people' in place)) return [];
    const columns = Object.entries(place.people)
      // Bodies of unknown webhooks may name somebody beside the person whom their row names.
      .filter(([column, classes]) => classes.includes('pseudonym') || `${table}.${column}` === 'inbox.body')
      .filter(([column]) => !/(hash|digest|sha256)$/.test(column))
      .map(([column]) => column);
    const isOfOne = place.others.split(' ').includes('tenant_id') && !table.startsWith('person');
    const read = isOfOne ? ['tenant_id', ...columns] : columns;
    return columns.length === 0 ? [] : [[table, { columns, read, isOfOne }] as const];
  }),
);

/** Columns with ids of only one kind. All others are checked for every kind: the marks distinguish kinds. */
const KIND_OF: Readonly<Record<string, IdKind>> = {
  candidate_id: 'candidate',
  job_candidate_id: 'job-candidate',
  onboarding_candidate_id: 'enrolment',
  lead_id: 'lead',
};

/** A text that may be an id, with its kind if the column tells it. */
interface Found {
  kind: IdKind | undefined;
  text: string;
}

/** Possible ids in a value: the whole value, texts inside JSON, words of a sentence, the record of `5012/resume`. */
function idsIn(column: string, value: unknown): Found[] {
  const kind = KIND_OF[column];
  if (kind !== undefined) return typeof value === 'string' ? [{ kind, text: value }] : [];
  const texts = new Set(textsIn(parsed(value)).flatMap(wordsOf));
  return [...texts].filter((text) => text.length > 0 && text.length <= LONGEST).map((text) => ({ kind, text }));
}

const LONGEST = 200;

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [...(Array.isArray(value) ? [] : [name]), ...textsIn(one)]);
}

function wordsOf(text: string): string[] {
  const parts = text.split(/\s+/).flatMap((part) => {
    const pieces = part.split('/');
    return pieces.map((_, n) => pieces.slice(0, n + 1).join('/'));
  });
  return [text, ...parts, ...(text.match(/[\w-]+/g) ?? [])];
}

/** The ids that a text may stand for. One too many does no harm: only ids of erased people are marked. */
function meanings({ kind, text: id }: Found, connections: readonly string[]): PersonId[] {
  if (kind !== undefined) return [{ kind, id }];
  return [
    ...Object.values(KIND_OF).map((one) => ({ kind: one, id })),
    ...connections.map((connection): PersonId => ({ kind: 'employee', id: `${connection}/${id}` })),
    ...NAMED.map((stream): PersonId => ({ kind: 'record', id: `${stream}/${id}` })),
  ];
}

/** By tenant: the HR systems that employees of its rows are in. */
async function connectionsIn({ kysely }: Store): Promise<Map<string, string[]>> {
  const columns = Object.entries(STORE_PLACES).flatMap(([table, { others }]) =>
    others.split(' ').flatMap((column) => (['connection', 'scope'].includes(column) ? [[table, column] as const] : [])),
  );
  const found = new Map<string, string[]>();
  for (const [table, column] of columns) {
    const rows = sql<{ tenant: string | null; name: string | null }>`
      select distinct tenant_id as tenant, ${sql.ref(column)} as name from ${sql.table(table)}`;
    for (const { tenant, name } of (await rows.execute(kysely)).rows)
      if (tenant !== null && name !== null) found.set(tenant, [...new Set([...(found.get(tenant) ?? []), name])]);
  }
  return found;
}

type Row = Record<string, unknown>;

/** All rows of a table, in file order, some at a time. */
async function* batchesOf({ kysely, kind }: Store, table: string, columns: readonly string[]): AsyncGenerator<Row[]> {
  const read = sql.join(columns.map((column) => sql.ref(column)));
  if (kind === 'postgres') {
    const size = await sql<{ blocks: string }>`select pg_relation_size(${table}::regclass)
      / current_setting('block_size')::int as blocks`.execute(kysely);
    for (let from = 0; from < Number(size.rows[0]?.blocks); from += BLOCKS) {
      const [first, end] = [`(${from},0)`, `(${from + BLOCKS},0)`];
      const rows = sql<Row>`select ${read} from ${sql.table(table)} where ctid >= ${first}::tid and ctid < ${end}::tid`;
      yield (await rows.execute(kysely)).rows;
    }
    return;
  }
  for (let after = 0, isEnd = false; !isEnd; ) {
    const { rows } = await sql<Row & { at: number }>`select rowid as at, ${read} from ${sql.table(table)}
      where rowid > ${after} order by rowid limit ${sql.lit(ROWS)}`.execute(kysely);
    if (rows.length > 0) yield rows;
    after = rows.at(-1)?.at ?? after;
    isEnd = rows.length < ROWS;
  }
}

const ROWS = 500;
const BLOCKS = 64;
