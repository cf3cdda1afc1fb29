import { DatabaseSync } from 'node:sqlite';
import { type RawBuilder, sql } from 'kysely';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import type { SqlOptionsInput } from '../../src/hris/sql/options.ts';
import type { HrisUnderTest, Need, Powers } from '../../src/hris-kit/hris-under-test.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { sqlProfile } from './profile.ts';

/** A column of the customer's beside those that every employee has. */
const CUSTOM = { shoe: { column: 'shoe_size', label: 'Shoe size' } } as const;
/** What tells former employees and changed ones. */
const DATED = { endColumn: 'last_day', changes: { column: 'changed_at' } } as const;
const WIDE = Array.from({ length: 400 }, (_, at) => `extra${at}`);

/** A database as the customer's administrator lets us in. */
export interface RoleDatabase {
  /** With our role. */
  url: string;
  /** What the customer grants on a table: to insert, to read, and to correct fields that are ours. */
  grant(table: string): Promise<void>;
  /** What can be done to the database, by its administrator and by what stands between. */
  powers(open: (url: string) => Promise<HrisConnection>): Partial<Powers>;
  job: Powers['job'];
  /** The table as a customer has it whose own job numbers new rows. */
  leaveNumbersToJob(): Promise<void>;
}

/** `as`: the role that we are; without it we own the table. */
export interface SqlTestDatabase {
  url: string;
  drop(): Promise<void>;
  as?: RoleDatabase;
}

type Options = Omit<SqlOptionsInput, 'url'>;

export interface SqlHrisUnderTest extends HrisUnderTest {
  /** A third connection, with other options. */
  open(changes: Partial<SqlOptionsInput>): Promise<HrisConnection>;
  /** As if the lag had passed: reads see all that is written. */
  catchUp(): Promise<void>;
}

/** The demonstration table in a database of its own, two connections, and a look past every read lag. */
export async function startSqlHris(database: SqlTestDatabase, given: Options): Promise<SqlHrisUnderTest> {
  const options: Options = { ...DATED, ...given, fields: CUSTOM };
  const { url } = database;
  await ensureHrisSchema(url, options, landings);
  if (options.job !== undefined) await database.as?.leaveNumbersToJob();
  await database.as?.grant('employees');
  const lagging = options.readLag === undefined ? {} : { readFrom: 'employees_directory' };
  const open = (changes: Partial<SqlOptionsInput> = {}) =>
    openHris('sql', 'test-hr', { ...options, ...lagging, url: database.as?.url ?? url, ...changes }, { landings });
  const [adapter, second] = await Promise.all([open(), open()]);
  const ofKind = database.as === undefined ? sqlitePowers(url, open) : database.as.powers((at) => open({ url: at }));
  return {
    profile: sqlProfile,
    adapter,
    second,
    count: () => countEmployees(url),
    powers: {
      ...ofKind,
      ...(options.job === undefined || database.as === undefined ? {} : { job: database.as.job }),
      ...(options.referenceColumn === undefined ? { uniqueReference: true as const } : {}),
      custom: { key: 'shoe', label: 'shoe_size', value: '44½' },
      wide: () => openWide(database, open),
      people: { add: (count) => addPeople(url, count), touch: (ids) => touchPeople(url, ids) },
    },
    lacks: lacksOf(options, database),
    open,
    catchUp: async () => void (await directly(url, sql`update employees set visible_at = ${clockOf(url)}`)),
    async stop() {
      await Promise.all([adapter.close(), second.close()]);
      await database.drop();
    },
  };
}

/** A table of the customer's with 400 columns of their own. */
async function openWide(
  database: SqlTestDatabase,
  open: (changes: Partial<SqlOptionsInput>) => ReturnType<typeof openHris>,
): ReturnType<Powers['wide']> {
  const fields = Object.fromEntries(WIDE.map((name) => [name, { column: name }]));
  const wide = { ...DATED, table: 'wide', fields, referenceColumn: 'external_ref', readFrom: 'wide' };
  await ensureHrisSchema(database.url, wide, landings);
  await database.as?.grant('wide');
  const values = Object.fromEntries(WIDE.map((name, at) => [name, `value ${at}`]));
  return { adapter: await open({ ...wide, readLag: '0ms', job: undefined }), fields: values };
}

const KEYLESS: Partial<Record<Need, string>> = {
  reference: 'this table has no column for our reference',
  uniqueReference: 'this table has no column for our reference',
};

const FILE = 'SQLite is a file on this machine: no wire, no server, no login and no clock of its own';

const AT_ONCE = 'an insert is answered at once';

function lacksOf({ referenceColumn, job }: Options, { as }: SqlTestDatabase): Partial<Record<Need, string>> {
  const wireless = { wire: FILE, tls: FILE, revoke: FILE, restart: FILE, ownClock: FILE };
  return {
    ...(referenceColumn === undefined ? {} : KEYLESS),
    ...(as === undefined ? wireless : {}),
    webhooks: 'a database calls nobody: changes are asked for',
    files: 'a folder beside the table, without a wire: sql-files.test.ts',
    stored: 'a folder beside the table, without a wire: sql-files.test.ts',
    http: 'a database is not spoken to over HTTP',
    staleUpdate: 'an update is one statement that writes only the fields given',
    ...(job === undefined ? { pending: AT_ONCE, job: AT_ONCE } : {}),
  };
}

/** Another process that holds the file's write lock. */
function sqlitePowers(url: string, open: () => ReturnType<typeof openHris>): Partial<Powers> {
  return {
    async busy() {
      const other = new DatabaseSync(url.slice('sqlite:'.length));
      other.exec('begin immediate');
      const end = async () => {
        if (other.isOpen) other.close();
      };
      return { adapter: await open(), end };
    },
  };
}

/** As somebody over there imports them: one statement, in Postgres one stamp too. */
async function addPeople(url: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, at) => {
    const tag = `imported-${at}`;
    return sql`('Ana', ${tag}, ${`${tag}@example.org`}, '2026-02-01')`;
  });
  const inserted = await directly(
    url,
    sql<{ id: number | string }>`insert into employees (given_name, family_name, email, start_date)
      values ${sql.join(rows)} returning id`,
  );
  return inserted.map(({ id }) => String(id));
}

/** The same stamp for all; the trigger of the table gives each its own where no stamp is written. */
async function touchPeople(url: string, ids: readonly string[]): Promise<void> {
  const [row] = await directly(url, sql<{ now: string | number }>`select ${clockOf(url)} as now`);
  const list = sql.join(ids.map((id) => sql.lit(Number(id))));
  await directly(url, sql`update employees set changed_at = ${row?.now} where id in (${list})`);
}

function clockOf(url: string): RawBuilder<unknown> | undefined {
  const clocks = { sqlite: sql`unixepoch('subsec')`, mariadb: sql`sysdate(6)`, postgres: sql`clock_timestamp()` };
  return Object.entries(clocks).find(([name]) => url.startsWith(name))?.[1];
}

async function directly<Row>(url: string, statement: RawBuilder<Row>): Promise<Row[]> {
  const direct = openSqlDatabase(url);
  try {
    return (await statement.execute(direct.kysely)).rows;
  } finally {
    await direct.close();
  }
}

/** Employees in the table itself. */
export async function countEmployees(url: string): Promise<number> {
  const [row] = await directly(url, sql<{ n: number | string }>`select count(*) as n from employees`);
  return Number(row?.n);
}
