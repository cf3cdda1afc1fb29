import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Landing } from '../../src/hris/port.ts';
import { STORE_PLACES } from '../../src/store/data-map.ts';
import type { Store } from '../../src/store/open-store.ts';
import { type SeededPerson, seedEverywhere } from '../store/seeded-person.ts';

type Row = Record<string, unknown>;

/** Whose rows are copied for everybody: each id of theirs is a word that stands nowhere else. */
const MODEL: SeededPerson = {
  tenant: 'tokentenant',
  candidate: 'tokencandidate',
  application: 'tokenapplication',
  enrolment: 'tokenenrolment',
  employee: 'tokenemployee',
};
const IDS = Object.keys(MODEL) as (keyof SeededPerson)[];
const TOKEN = new RegExp(`token(${IDS.join('|')})`);
const AT_ONCE = 200;
/** A number that the database gives each row. */
export const NUMBER = 'event_no';

/** Streams whose rows name people by their own id, and by the ids of others. */
export const LANDED = { candidates: 'candidate', applications: 'application', onboarding: 'enrolment' } as const;

export interface Reach {
  kysely: Kysely<never>;
  kind: 'sqlite' | 'postgres';
}

export interface Model {
  /** Rows of the one who is copied, by table. */
  store: Map<string, Row[]>;
  landing: Map<string, Row[]>;
}

/** Puts the one who is copied into store and landing tables, and reads what is theirs there. */
export async function seedModel(store: Store, hr: Reach, landing: Landing): Promise<Model> {
  await seedEverywhere(store, MODEL);
  const { tenant, candidate } = MODEL;
  const options = { tenant, signal: AbortSignal.timeout(120_000) };
  for (const [stream, own] of Object.entries(LANDED)) {
    const fields = stream === 'applications' ? { candidateId: candidate, jobId: '12' } : {};
    await landing.land(stream, [{ id: MODEL[own], hash: `h-${MODEL[own]}`, fields }], options);
  }
  const tables = Object.keys(STORE_PLACES).filter((table) => !table.startsWith('kysely') && table !== 'audit_heads');
  return {
    store: await rowsOfModel(store.kysely as unknown as Kysely<never>, tables),
    landing: await rowsOfModel(hr.kysely, Object.keys(LANDED).map(landingTableOf)),
  };
}

function landingTableOf(stream: string): string {
  return `partner_${stream}`;
}

async function rowsOfModel(kysely: Kysely<never>, tables: readonly string[]): Promise<Map<string, Row[]>> {
  const found = new Map<string, Row[]>();
  for (const table of tables) {
    const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(kysely);
    const theirs = rows.filter((row) => Object.values(row).some((value) => TOKEN.test(String(value))));
    // What triggers write comes by itself.
    if (theirs.length > 0 && table !== 'hire_counts') found.set(table, theirs);
  }
  return found;
}

/** What one of the model's rows is for somebody. */
export function rowOf(row: Row, person: SeededPerson): Row {
  const fill = (value: unknown) =>
    typeof value === 'string'
      ? value.replaceAll(new RegExp(TOKEN, 'g'), (_, id: keyof SeededPerson) => person[id])
      : value;
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, fill(value)]));
}

/** Everybody of whom rows are to be made, in a table of its own. */
export async function listCrowd({ kysely }: Reach, people: readonly SeededPerson[]): Promise<void> {
  await makeCrowdTable(kysely);
  for (let from = 0; from < people.length; from += AT_ONCE) {
    const rows = people.slice(from, from + AT_ONCE).map((one) => sql`(${sql.join(IDS.map((id) => one[id]))})`);
    await sql`insert into crowd values ${sql.join(rows)}`.execute(kysely);
  }
}

/** As many, all of one tenant, by numbers; `most` stands for the size of the table. */
export async function countCrowd({ kysely, kind }: Reach, tenant: string, most: number): Promise<void> {
  await makeCrowdTable(kysely);
  const series =
    kind === 'postgres'
      ? sql`select generate_series(1, ${sql.lit(most)}) as n`
      : sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(most)})
          select n from numbers`;
  await sql`insert into crowd select ${sql.lit(tenant)}, cast(n as text), cast(n + 10000000 as text),
    cast(n + 20000000 as text), cast(n + 30000000 as text) from (${series}) as series`.execute(kysely);
}

async function makeCrowdTable(kysely: Kysely<never>): Promise<void> {
  const columns = sql.join(IDS.map((id) => sql`${sql.ref(id)} text not null`));
  await sql`drop table if exists crowd`.execute(kysely);
  await sql`create table crowd (${columns})`.execute(kysely);
}

/** Copies the model's rows for everybody who is listed, a statement a row. Gives how many rows there are of a table. */
export async function copyModel({ kysely }: Reach, model: Map<string, Row[]>): Promise<void> {
  for (const [table, rows] of model)
    for (const { [NUMBER]: _, ...row } of rows) {
      const columns = Object.keys(row).map((column) => sql.ref(column));
      const values = Object.values(row).map(valueFor);
      await sql`insert into ${sql.table(table)} (${sql.join(columns)}) select ${sql.join(values)} from crowd`.execute(
        kysely,
      );
    }
}

/** A value of the model as an expression over the crowd. */
function valueFor(value: unknown): RawBuilder<unknown> {
  if (typeof value !== 'string') return sql.lit(value as number | null);
  const parts = value
    .split(TOKEN)
    .map((part, nth) => (nth % 2 === 1 ? sql`${sql.ref(`crowd.${part}`)}` : sql`${sql.lit(part)}`));
  const said = parts.filter((_, nth) => nth % 2 === 1 || value.split(TOKEN)[nth] !== '');
  return said.length === 0 ? sql`''` : sql`${sql.join(said, sql` || `)}`;
}
