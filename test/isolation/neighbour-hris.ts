import { randomBytes } from 'node:crypto';
import { asAdmin, newDatabase } from '../../src/counterparts/start-postgres.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { type FaultProxy, startFaultProxy } from '../harness/fault-proxy.ts';
import { readEmployees } from '../harness/world-people.ts';

/** The neighbour's HR system in a Postgres that asks for a password, behind a line that can fall silent. */
export interface NeighbourHris {
  /** As the tenant file names it. */
  url: string;
  /** The same database without a password, for the judge. */
  adminUrl: string;
  line: FaultProxy;
  /** Ends the password and every connection that was made with it. */
  expirePassword(): Promise<void>;
  renewPassword(): Promise<void>;
  /** Another password from now on, and no connection with the old one. Gives the new address. */
  rotatePassword(): Promise<string>;
  countEmployees(): Promise<number>;
}

export async function startNeighbourHris(serverUrl: string): Promise<NeighbourHris> {
  const adminUrl = await newDatabase(serverUrl);
  await ensureHrisSchema(adminUrl, undefined, landings);
  const [role, password] = [`hr_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
  await asAdmin(serverUrl, `create role ${role} superuser login password '${password}'`);
  await askForPassword(serverUrl, role);
  const line = await startFaultProxy(Number(new URL(serverUrl).port));
  const { pathname } = new URL(adminUrl);
  const urlWith = (secret: string) => `postgres://${role}:${secret}@127.0.0.1:${line.port}${pathname}`;
  const alter = async (change: string): Promise<void> => {
    await asAdmin(serverUrl, `alter role ${role} ${change}`);
    await asAdmin(serverUrl, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
  };
  return {
    url: urlWith(password),
    adminUrl,
    line,
    expirePassword: () => alter("valid until '2001-01-01'"),
    renewPassword: () => asAdmin(serverUrl, `alter role ${role} valid until 'infinity'`),
    async rotatePassword() {
      const next = randomBytes(8).toString('hex');
      await alter(`password '${next}'`);
      return urlWith(next);
    },
    countEmployees: async () => (await readEmployees(adminUrl)).length,
  };
}

/** The server trusts everybody else, apart from roles of before: it is a throw-away one on this machine. */
async function askForPassword(serverUrl: string, role: string): Promise<void> {
  // Read first: the copy empties the file before it asks for its rows.
  await asAdmin(
    serverUrl,
    `do $do$ declare known text := pg_read_file(current_setting('hba_file'));
    begin execute format($of$copy (select 'host all ${role} 127.0.0.1/32 scram-sha-256'
      union all select line from regexp_split_to_table(%L, '\\n') as line where line ~ '^[^#]'
      union all select 'host all all 127.0.0.1/32 trust') to %L$of$, known, current_setting('hba_file')); end $do$`,
  );
  await asAdmin(serverUrl, 'select pg_reload_conf()');
}
