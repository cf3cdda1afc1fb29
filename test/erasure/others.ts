import { type Kysely, sql } from 'kysely';
import { STORE_PLACES } from '../../src/store/data-map.ts';
import type { SeededPerson } from '../store/seeded-person.ts';
import { copyModel, listCrowd, NUMBER, rowOf } from './crowd.ts';
import type { Ground } from './ground.ts';

type Row = Record<string, unknown>;

/** Numbers that come again with a seed. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/**
 * People of random tenants. Numbers are few, so that one id is somebody's candidate, another one's application and a
 * third one's employee, in the same tenant and in others, and begins the id of a fourth.
 */
export function randomPeople(count: number, random: (below: number) => number): SeededPerson[] {
  const tenants = Math.max(2, Math.floor(Math.sqrt(count)));
  const taken = new Set<string>();
  const pick = (tenant: string, kind: string): string => {
    for (;;) {
      const id = String(1 + random(Math.ceil((count / tenants) * 4)));
      if (taken.has(`${tenant} ${kind} ${id}`)) continue;
      taken.add(`${tenant} ${kind} ${id}`);
      return id;
    }
  };
  return Array.from({ length: count }, () => {
    const tenant = `tenant-${random(tenants)}`;
    const id = (kind: string) => pick(tenant, kind);
    const [candidate, application] = [id('candidate'), id('application')];
    return { tenant, candidate, application, enrolment: id('enrolment'), employee: id('employee') };
  });
}

interface Compared {
  erased: number;
  others: number;
  /** Rows of others in store and landing tables before and after, each compared. */
  rows: number;
  faults: string[];
}

/**
 * Puts all of them into store and landing tables, erases some, one after the other, and compares every row: those of
 * whoever was erased are gone, all others stand as they did, and none came.
 */
export async function eraseAmong(
  ground: Omit<Ground, 'erase'> & { erase(person: SeededPerson): Promise<unknown> },
  people: readonly SeededPerson[],
  erased: readonly SeededPerson[],
): Promise<Compared> {
  const { store, hr, model } = ground;
  const our = { kysely: store.kysely as unknown as Kysely<never>, kind: store.kind };
  for (const [reach, tables] of [
    [our, model.store],
    [hr, model.landing],
  ] as const) {
    await listCrowd(reach, people);
    await copyModel(reach, tables);
  }
  const together = Map.groupBy(people, ({ tenant }) => tenant);
  for (const [tenant, some] of together) await share(our.kysely, tenant, some);
  const tables = tablesCompared();
  const look = async () => [
    ...(await rowsOf(our.kysely, tables)),
    ...(await rowsOf(hr.kysely, [...model.landing.keys()])),
  ];
  const before = await look();
  const gone = Map.groupBy(erased, ({ tenant }) => tenant);
  const theirs = new Set(
    erased.flatMap((person) =>
      [...model.store, ...model.landing].flatMap(([table, rows]) =>
        WRITTEN.test(table) ? [] : rows.map((row) => textOf(table, rowOf(row, person))),
      ),
    ),
  );
  const was = new Set(before);
  const missing = [...theirs].filter((row) => !was.has(row)).length;
  for (const person of erased) await ground.erase(person);
  const left = before.filter((row) => !theirs.has(row)).map((row) => withoutThem(row, gone));
  return {
    erased: erased.length,
    others: people.length - erased.length,
    rows: left.length,
    faults: [
      ...(missing === 0 ? [] : [`${missing} rows of whoever is to be erased were not there`]),
      ...(was.size === before.length ? [] : ['two rows are the same, so that one could go unseen']),
      ...compare(left, await look()),
    ],
  };
}

/** Rows in which all of a tenant stand together. */
async function share(kysely: Kysely<never>, tenant: string, people: readonly SeededPerson[]): Promise<void> {
  const [candidates, applications] = [people.map((one) => one.candidate), people.map((one) => one.application)];
  const known = { version: 'v', shapes: [[]], records: candidates.map((id) => [`print-${id}-x`, id, 'h', 0]) };
  const purged = [{ kind: 'create', outcome: 'done', fields: [], ids: candidates }];
  const details = JSON.stringify({ jobCandidateIds: applications });
  const message = `It does not know job candidates ${applications.join(', ')}.`;
  const [ids, records] = [JSON.stringify(candidates), JSON.stringify(purged)];
  await sql`insert into stream_pages (tenant_id, stream, page, ids, known)
    values (${tenant}, 'candidates', ${SHARED}, ${ids}, ${JSON.stringify(known)})`.execute(kysely);
  await sql`insert into purged_writes
    (tenant_id, page_id, run_id, target, mapping_hash, "by", sent_at, purged_at, records)
    values (${tenant}, ${`${SHARED}-${tenant}`}, 'r', 'candidates', '', '', 1, 1, ${records})`.execute(kysely);
  await sql`insert into holds (tenant_id, hold_id, code, message, answers, details, opened_at, history)
    values (${tenant}, ${`${SHARED}-${tenant}`}, 'HIRES_NOT_RESTORED', ${message}, '[]', ${details}, 1, '[]')`.execute(
    kysely,
  );
}

const SHARED = 4_242;

/** What is to be left of a row: of one that is shared, all that is of others. */
function withoutThem(text: string, gone: ReadonlyMap<string, readonly SeededPerson[]>): string {
  const [, table = '', json = ''] = /^(stream_pages|purged_writes|holds) (.*)$/.exec(text) ?? [];
  const isShared = json.includes(`"page":${SHARED},`) || json.includes(`"${SHARED}-`);
  if (!isShared) return text;
  const row = JSON.parse(json) as Record<string, string>;
  const some = gone.get(row['tenant_id'] ?? '') ?? [];
  const [candidates, applications] = [some.map((one) => one.candidate), some.map((one) => one.application)];
  const parsed = (column: string) => JSON.parse(row[column] ?? '') as unknown;
  if (table === 'stream_pages') {
    const { records, ...known } = parsed('known') as { records: string[][] };
    row['ids'] = JSON.stringify((parsed('ids') as string[]).filter((id) => !candidates.includes(id)));
    row['known'] = JSON.stringify({ ...known, records: records.filter(([, id = '']) => !candidates.includes(id)) });
  } else if (table === 'purged_writes') {
    const alike = parsed('records') as { ids: string[] }[];
    const left = alike.map((one) => ({ ...one, ids: one.ids.filter((id) => !candidates.includes(id)) }));
    row['records'] = JSON.stringify(left);
  } else {
    const { jobCandidateIds: ids } = parsed('details') as { jobCandidateIds: string[] };
    row['details'] = JSON.stringify({ jobCandidateIds: ids.filter((id) => !applications.includes(id)) });
    row['message'] = (row['message'] ?? '').replaceAll(/\d+/g, (id) => (applications.includes(id) ? 'erased' : id));
  }
  return textOf(table, row);
}

/** What an erasure writes itself, and counts that triggers keep; both are looked at by tests of their own. */
const WRITTEN = /^(kysely|person_mark|erasures$|installation$|hire_counts$|leases$|audit)/;

/** Every other table of the store. */
export function tablesCompared(): string[] {
  return Object.keys(STORE_PLACES).filter((table) => !WRITTEN.test(table));
}

/** A line a row. */
export async function rowsOf(kysely: Kysely<never>, tables: readonly string[]): Promise<string[]> {
  const all: string[] = [];
  for (const table of tables) {
    const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(kysely);
    for (const row of rows) all.push(textOf(table, row));
  }
  return all;
}

function textOf(table: string, row: Row): string {
  return `${table} ${JSON.stringify({ ...row, [NUMBER]: undefined })}`;
}

/** What is wrong with the rows that were found. */
export function compare(expected: readonly string[], found: readonly string[]): string[] {
  const [wanted, there] = [new Set(expected), new Set(found)];
  const faults = (what: string, rows: readonly string[]) =>
    [...Map.groupBy(rows, (row) => row.split(' ')[0])].map(
      ([table, some]) => `${table}: ${some.length} rows ${what}, such as ${some[0]?.slice(0, 400)}`,
    );
  return [
    ...faults(
      'of others are gone or changed',
      expected.filter((row) => !there.has(row)),
    ),
    ...faults(
      'are left of whoever was erased, or came',
      found.filter((row) => !wanted.has(row)),
    ),
  ];
}
