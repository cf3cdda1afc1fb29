import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MariadbServer, startMariadb } from '../../../src/counterparts/start-mariadb.ts';
import { describeHris } from '../conformance.ts';
import { createMariadbRole, runMariadbJob } from '../mariadb-powers.ts';
import { employee, signal, write } from '../profile.ts';
import { type SqlTestDatabase, startSqlHris } from '../start-sql-hris.ts';
import { trustedPairs } from '../tls-proxy.ts';

let server: MariadbServer;
beforeAll(async () => {
  server = await startMariadb((await trustedPairs()).right);
});
afterAll(() => server?.stop());

async function database(): Promise<SqlTestDatabase> {
  const url = await server.newDatabase();
  return { url, drop: async () => undefined, as: await createMariadbRole(server, url) };
}

describeHris('sql: MariaDB', async () => startSqlHris(await database(), {}));
describeHris('sql: MariaDB, no key', async () =>
  startSqlHris(await database(), { referenceColumn: 'none', readLag: '150ms' }),
);
describeHris('sql: MariaDB, job', async () => startSqlHris(await database(), { job: { errorColumn: 'refused' } }));

test("two of the customer's jobs number each row once", async () => {
  const { url, ...more } = await database();
  const hris = await startSqlHris({ url, ...more }, { job: { errorColumn: 'refused' } });
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, n) => hris.adapter.employees.create(employee(`job-${n}`), `17:job-${n}`, write)),
  );
  const numbers = (await Promise.all([runMariadbJob(url), runMariadbJob(url)])).flat();
  expect(new Set(numbers).size).toBe(40);
  const tickets = results.map((result) => (result.kind === 'pending' ? result.ticket : ''));
  const resolved = await Promise.all(tickets.map(async (ticket) => hris.second.pending?.resolve(ticket, signal)));
  expect(resolved.map((one) => one?.kind)).toEqual(Array(40).fill('created'));
  await hris.stop();
});
