import { asAdmin, type TestPostgres } from '../../src/counterparts/start-postgres.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import type { Powers } from '../../src/hris-kit/hris-under-test.ts';
import { ownClock, signal } from './profile.ts';
import { jobOf, leaveNumbersToJob } from './sql-job.ts';
import { openSqlWire } from './sql-wire.ts';
import type { RoleDatabase } from './start-sql-hris.ts';
import { startTlsProxies } from './tls-proxy.ts';

/** A role of its own in a new database on `server`, which may do nothing yet. */
export async function createRole(server: TestPostgres, adminUrl: string): Promise<RoleDatabase> {
  const role = `hr_${new URL(adminUrl).pathname.slice(-12)}`;
  await asAdmin(adminUrl, `create role ${role} login password 'secret'`);
  // The test server is set to forget its last commits in a crash.
  await asAdmin(adminUrl, `alter role ${role} set synchronous_commit = on`);
  const url = Object.assign(new URL(adminUrl), { username: role, password: 'secret' }).href;
  return {
    url,
    powers: (open) => postgresPowers({ url, adminUrl, role, server }, open),
    job: jobOf(adminUrl),
    leaveNumbersToJob: () => leaveNumbersToJob(adminUrl),
    async grant(table) {
      await asAdmin(adminUrl, `grant usage on sequence ${table}_number_seq to ${role}`);
      await asAdmin(adminUrl, `grant select on ${table}_directory to ${role}`);
      for (const [right, without] of Object.entries(WITHOUT))
        await asAdmin(adminUrl, grantOf(table, role, right, without));
    },
  };
}

const PRIVATE = ['created_at', 'visible_at'];
const OWN = [...PRIVATE, 'id', 'employee_number', 'changed_at'];

/** What stays the customer's own, by right: columns that we have no business with, and what is filled over there. */
const WITHOUT = { select: PRIVATE, insert: [...OWN, 'refused'], update: [...OWN, 'external_ref'] };

function grantOf(table: string, role: string, right: string, without: readonly string[]): string {
  const names = without.map((name) => `'${name}'`).join();
  return `do $$ begin execute (
    select format('grant ${right} (%s) on ${table} to ${role}', string_agg(quote_ident(column_name), ','))
    from information_schema.columns where table_name = '${table}' and column_name not in (${names})); end $$`;
}

/** What a Postgres can be made to do, by its administrator and by what stands between. */
function postgresPowers(
  database: { url: string; adminUrl: string; role: string; server: TestPostgres },
  open: (url: string) => Promise<HrisConnection>,
): Partial<Powers> {
  const { adminUrl, role, server } = database;
  /** Sessions that are open already would go on. */
  const alter = async (what: string) => {
    await asAdmin(adminUrl, `alter role ${role} ${what}`);
    await asAdmin(adminUrl, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
  };
  const spell = (bad: string, good: string) => async () => {
    const adapter = await open(database.url);
    await adapter.probe(signal);
    await alter(bad);
    return { adapter, end: () => alter(good) };
  };
  return {
    wire: () => openSqlWire(database.url, open),
    tls: () => openTls(database.url, open),
    busy: spell('connection limit 0', 'connection limit -1'),
    revoke: spell('nologin', 'login'),
    restart: () => server.restart(),
    ownClock,
  };
}

async function openTls(url: string, open: (url: string) => Promise<HrisConnection>): ReturnType<Powers['tls']> {
  const proxies = await startTlsProxies(url, 'postgres');
  const at = (port: number) =>
    open(Object.assign(new URL(url), { host: `localhost:${port}`, search: 'sslmode=verify-full' }).href);
  const [right, wrong] = await Promise.all([at(proxies.right), at(proxies.wrong)]);
  return { right, wrong, reached: proxies.reached, close: proxies.close };
}
