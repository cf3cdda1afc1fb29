import { type RawBuilder, sql } from 'kysely';
import { type MariadbServer, onMariadb } from '../../src/counterparts/start-mariadb.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import type { Powers } from '../../src/hris-kit/hris-under-test.ts';
import { mariadbWire } from './mariadb-wire.ts';
import { ownClock, signal } from './profile.ts';
import { openSqlWire } from './sql-wire.ts';
import type { RoleDatabase } from './start-sql-hris.ts';

const PRIVATE = ['created_at', 'visible_at'];
const OWN = [...PRIVATE, 'id', 'employee_number', 'changed_at'];
/** What stays the customer's own, by right. */
const WITHOUT = { select: PRIVATE, insert: [...OWN, 'refused'], update: [...OWN, 'external_ref'] };

interface Role {
  name: string;
  url: string;
  admin<Row>(statement: RawBuilder<Row>): Promise<Row[]>;
}

/** A user of its own in a new database, who may do nothing yet. */
export async function createMariadbRole(server: MariadbServer, adminUrl: string): Promise<RoleDatabase> {
  const name = `hr_${new URL(adminUrl).pathname.slice(-12)}`;
  const admin: Role['admin'] = (statement) => onMariadb(adminUrl, statement);
  await admin(sql.raw(`create user ${name} identified by 'secret'`));
  const role = { name, admin, url: Object.assign(new URL(adminUrl), { username: name, password: 'secret' }).href };
  return {
    url: role.url,
    grant: (table) => grant(role, table),
    powers: (open) => powersOf(server, role, open),
    job: jobOf(adminUrl),
    async leaveNumbersToJob() {
      await admin(sql`alter table employees modify employee_number varchar(20), add column refused text`);
    },
  };
}

async function grant({ name, admin }: Role, table: string): Promise<void> {
  await admin(sql.raw(`grant select, insert on ${table}_number_seq to ${name}`));
  await admin(sql.raw(`grant select on ${table}_directory to ${name}`));
  const columns = await admin(sql<{ name: string }>`select column_name as name from information_schema.columns
    where table_schema = database() and table_name = ${table}`);
  for (const [right, without] of Object.entries(WITHOUT)) {
    const granted = columns.filter((column) => !without.includes(column.name)).map((column) => column.name);
    await admin(sql.raw(`grant ${right} (${granted.join()}) on ${table} to ${name}`));
  }
}

type Open = (url: string) => Promise<HrisConnection>;

function powersOf(server: MariadbServer, role: Role, open: Open): Partial<Powers> {
  const connect = async () => {
    const adapter = await open(role.url);
    await adapter.probe(signal);
    return adapter;
  };
  /** Sessions that are open already would go on. */
  const alter = async (what: string) => {
    await role.admin(sql.raw(`alter user ${role.name} ${what}`));
    await role.admin(sql.raw(`kill user ${role.name}`));
  };
  return {
    wire: () => openSqlWire(role.url, open, mariadbWire),
    tls: () => openTls(role, open),
    async busy() {
      const adapter = await connect();
      await alter('with max_user_connections 1');
      const other = openSqlDatabase(role.url);
      await sql`select 1`.execute(other.kysely);
      const end = async () => {
        await other.close();
        await alter('with max_user_connections 0');
      };
      return { adapter, end };
    },
    async revoke() {
      const adapter = await connect();
      await alter('account lock');
      return { adapter, end: () => alter('account unlock') };
    },
    restart: () => server.restart(),
    ownClock,
  };
}

/** The server's own TLS: its certificate says `localhost`; 127.1 is a name that leads there too, and no IP address. */
async function openTls({ url, admin }: Role, open: Open): ReturnType<Powers['tls']> {
  const at = (hostname: string) => open(Object.assign(new URL(url), { hostname, search: 'sslmode=verify-full' }).href);
  const [right, wrong] = await Promise.all([at('localhost'), at('127.1')]);
  const asked = async (): Promise<number> => {
    const [row] = await admin(sql<{ Value: string }>`show global status like 'Com_select'`);
    return Number(row?.Value);
  };
  const before = await asked();
  return { right, wrong, reached: async () => (await asked()) - before, close: async () => undefined };
}

/** The customer's job, as in Postgres: takes up rows nobody else has taken up, one at a time, and numbers them. */
export function jobOf(adminUrl: string): RoleDatabase['job'] {
  return {
    finish: async (ticket) => void (await runMariadbJob(adminUrl, sql`and id = ${ticket}`)),
    refuse: async (ticket) =>
      void (await onMariadb(adminUrl, sql`update employees set refused = 'no such cost centre' where id = ${ticket}`)),
  };
}

export async function runMariadbJob(url: string, only: RawBuilder<unknown> = sql``): Promise<string[]> {
  const database = openSqlDatabase(url);
  const numbers: string[] = [];
  try {
    for (;;) {
      const number = await database.kysely.transaction().execute(async (trx) => {
        const { rows } = await sql<{ id: number }>`select id from employees
          where employee_number is null and refused is null ${only}
          order by id limit 1 for update skip locked`.execute(trx);
        if (rows[0] === undefined) return undefined;
        const next = sql<{ number: string }>`select lpad(nextval(employees_number_seq), 6, '0') as number`;
        const given = (await next.execute(trx)).rows[0]?.number;
        await sql`update employees set employee_number = ${given} where id = ${rows[0].id}`.execute(trx);
        return given;
      });
      if (number === undefined) return numbers;
      numbers.push(number);
    }
  } finally {
    await database.close();
  }
}
