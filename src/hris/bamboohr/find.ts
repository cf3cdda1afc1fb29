import { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
import type { FindKey, Found } from '../../hire/hire.ts';
import { foldText, foundBy } from '../fits-key.ts';
import type { BambooApi } from './api.ts';
import { type BambooOptions, readName } from './options.ts';

export interface Bamboo {
  api: BambooApi;
  options: BambooOptions;
}

const Page = z.looseObject({
  data: z.array(z.looseObject({ fields: z.record(z.string(), z.unknown()) })),
  meta: z.looseObject({ totalPages: z.number() }).optional(),
});

type Row = Record<string, string>;

interface Search {
  /** Names of fields in the dataset. */
  fields: readonly string[];
  /** Undefined if the dataset cannot be filtered by it. */
  filter: string | undefined;
  fits: (row: Row) => boolean;
}

/** At most this many pages are read to prove that an employee does not exist. */
const MOST_PAGES = 20;
const PAGE_SIZE = 1_000;
const ID = 'employeeId';
const NUMBER = 'employeeNumber';

/**
 * Searches the dataset: by its filter first, and in full if that finds nobody. It is not documented whether a filter
 * ignores case or knows custom fields, so an empty result of a filter proves nothing. A mere name proves nothing
 * either, so it is not worth reading everybody.
 */
export async function findEmployee(bamboo: Bamboo, key: FindKey, signal: AbortSignal): Promise<Found> {
  const search = searchFor(bamboo.options, key);
  if (search === undefined) return { kind: 'none', trusted: false };
  const hits = search.filter === undefined ? [] : (await readPage(bamboo, search, 1, signal)).rows.filter(search.fits);
  const found =
    hits.length > 0 || key.by === 'name'
      ? { hits, complete: key.by !== 'name' }
      : await scan(bamboo, { ...search, filter: undefined }, signal);
  return foundBy(key, found.hits.map(refOf), found.complete);
}

/** Whether somebody has this value, searched as above: an empty result of a filter proves nothing. */
export async function isTaken(bamboo: Bamboo, name: string, value: string, signal: AbortSignal): Promise<boolean> {
  const field = bamboo.options.fields[name];
  if (field === undefined) throw new Error(`The connection was opened without a field ${name}.`);
  const [read, wanted] = [readName(field), folded(value)];
  const spellings = [...new Set([value, wanted])].map(quoted);
  const search: Search = {
    fields: [read],
    filter: `${read} in (${spellings.join(',')})`,
    fits: (row) => folded(row[read]) === wanted,
  };
  if ((await readPage(bamboo, search, 1, signal)).rows.some(search.fits)) return true;
  const { hits, complete } = await scan(bamboo, { ...search, filter: undefined }, signal);
  if (hits.length > 0 || complete) return hits.length > 0;
  throw new ConnectorError({
    code: 'TOO_MANY_EMPLOYEES',
    action: 'reject',
    message:
      `BambooHR shows more than ${MOST_PAGES * PAGE_SIZE} employees, so hirebridge cannot prove that "${name}" ` +
      'is free. Remove "unique" from the mapping.',
  });
}

async function scan(bamboo: Bamboo, search: Search, signal: AbortSignal): Promise<{ hits: Row[]; complete: boolean }> {
  const hits: Row[] = [];
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const { rows, pages } = await readPage(bamboo, search, number, signal);
    hits.push(...rows.filter(search.fits));
    if (number >= pages) return { hits, complete: true };
  }
  return { hits, complete: false };
}

async function readPage({ api, options }: Bamboo, search: Search, page: number, signal: AbortSignal) {
  const fields = [...new Set([ID, NUMBER, ...search.fields])];
  const ordered = { orderBy: `${ID} asc`, page, pageSize: PAGE_SIZE };
  const filter = search.filter === undefined ? {} : { filter: search.filter };
  const answer = await api.json({
    what: 'POST datasets/data',
    method: 'POST',
    path: `/api/v2/datasets/${encodeURIComponent(options.dataset)}/data`,
    body: { fields, ...filter, ...ordered },
    idempotent: true,
    signal,
  });
  const { data, meta } = Page.parse(answer);
  return { rows: data.map((one) => textRow(one.fields)), pages: meta?.totalPages ?? 1 };
}

/** Numbers arrive as numbers or as text. */
function textRow(fields: Record<string, unknown>): Row {
  const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)]));
}

function refOf(row: Row): { id: string; number?: string } {
  const number = row[NUMBER];
  return { id: row[ID] ?? '', ...(number === undefined || number === '' ? {} : { number }) };
}

function searchFor(options: BambooOptions, key: FindKey): Search | undefined {
  if (key.by === 'reference') return exact(options.referenceField, key.value);
  if (key.by === 'number') return exact(NUMBER, key.value);
  if (key.by === 'email') return byEmail(options, key.value);
  return key.by === 'person' ? byPerson(options, key) : byName(options, key);
}

function exact(field: string | undefined, value: string): Search | undefined {
  if (field === undefined) return undefined;
  return { fields: [field], filter: `${field} eq ${quoted(value)}`, fits: (row) => row[field] === value };
}

function byEmail({ fields }: BambooOptions, value: string): Search | undefined {
  const named = ['email', 'workEmail'].flatMap((key) => fields[key]?.name ?? []);
  const wanted = folded(value);
  if (named.length === 0) return undefined;
  return {
    fields: named,
    filter: named.map((name) => `${name} in (${quoted(value)},${quoted(wanted)})`).join(' or '),
    fits: (row) => named.some((name) => folded(row[name]) === wanted),
  };
}

/** Names are compared here, so that no server's collation decides on identity. */
function byPerson({ fields }: BambooOptions, key: Extract<FindKey, { by: 'person' }>): Search | undefined {
  const { givenName, familyName, birthDate } = fields;
  if (givenName === undefined || familyName === undefined || birthDate === undefined) return undefined;
  const born = readName(birthDate);
  return {
    fields: [givenName.name, familyName.name, born],
    filter: `${born} eq ${quoted(key.birthDate)}`,
    fits: (row) =>
      row[born] === key.birthDate &&
      folded(row[givenName.name]) === folded(key.givenName) &&
      folded(row[familyName.name]) === folded(key.familyName),
  };
}

function byName(
  { fields }: BambooOptions,
  { parts, birthDate: wanted }: Extract<FindKey, { by: 'name' }>,
): Search | undefined {
  const { givenName, familyName, birthDate } = fields;
  if (parts === undefined || givenName === undefined || familyName === undefined) return undefined;
  const born = birthDate === undefined ? undefined : readName(birthDate);
  const { familyName: name } = parts;
  const spellings = [...new Set([name, name.toLowerCase(), name.toUpperCase()])];
  return {
    fields: [givenName.name, familyName.name, ...(born === undefined ? [] : [born])],
    filter: `${familyName.name} in (${spellings.map(quoted).join(',')})`,
    fits: (row) =>
      (wanted === undefined || born === undefined || (row[born] ?? '') === '') &&
      folded(row[givenName.name]) === folded(parts.givenName) &&
      folded(row[familyName.name]) === folded(parts.familyName),
  };
}

/** OData: a quote inside a text is doubled. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function folded(value: string | undefined): string {
  return foldText(value ?? '');
}
