import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { asAdmin } from '../../src/counterparts/start-postgres.ts';
import { createRootLogger } from '../../src/log.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { listAppliedTenants } from '../../src/store/applied-tenants.ts';
import { audit, keepAudit, verifyAudit } from '../../src/store/audit.ts';
import { insertDeliveries } from '../../src/store/inbox.ts';
import { migrateStore } from '../../src/store/migrate.ts';
import { openStore } from '../../src/store/open-store.ts';
import { keepPresence } from '../../src/store/processes.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { addWebhookRefusals } from '../../src/store/webhook-refusals.ts';
import { forgottenSession } from '../harness/forgotten-session.ts';
import { createDatabase } from '../harness/postgres.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { until } from '../harness/until.ts';

/** A database, and roles that may log in and nothing else. */
async function withRoles() {
  const { url } = await createDatabase();
  const suffix = randomBytes(4).toString('hex');
  const roles = { worker: `hb_worker_${suffix}`, receiver: `hb_serve_${suffix}` };
  for (const role of Object.values(roles)) await asAdmin(url, `create role ${role} login`);
  const as = (role: string): string => Object.assign(new URL(url), { username: role }).href;
  return { url, roles, worker: as(roles.worker), receiver: as(roles.receiver) };
}

const delivery = { tenantId: 'acme', event: 'candidate.hired', ids: {}, body: '{}', state: 'waiting' } as const;

test('a process whose role may not change tables waits until they are made by the one that may', async () => {
  const { url, roles, worker } = await withRoles();
  const opening = openStore(worker);
  await migrateStore(url, roles, false);
  const store = await opening;
  onTestFinished(() => store.close());
  await expect(sql`alter table inbox add column more text`.execute(store.kysely)).rejects.toMatchObject({
    code: '42501',
  });
  await expect(migrateStore(worker, {}, false)).rejects.toMatchObject({ code: 'STORE_NOT_OURS' });
});

/**
 * The database as behind a pooler, which gives each client the number of no server process, and in transaction mode the
 * server's session that became free last.
 */
async function pooled(url: string, mode: 'session' | 'transaction'): Promise<string> {
  const { hostname, port } = new URL(url);
  const free: Socket[] = [];
  const open = new Set<Socket>();
  const pooler = createServer((client) => {
    let server: Socket | undefined = connect(Number(port), hostname);
    let rest = Buffer.alloc(0);
    const end = () => {
      client.destroy();
      server?.destroy();
    };
    const take = (taken: Socket): Socket => taken.on('data', answer).on('error', end).on('close', end);
    const answer = (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let length; rest.length >= 5 && rest.length >= (length = rest.readInt32BE(1) + 1); ) {
        const message = Buffer.from(rest.subarray(0, length));
        rest = rest.subarray(length);
        if (message[0] === 'K'.charCodeAt(0)) message.writeInt32BE(1, 5);
        client.write(message);
        if (mode === 'session' || message.toString('latin1') !== 'Z\0\0\0\x05I' || server === undefined) continue;
        server.off('data', answer).off('error', end).off('close', end);
        free.push(server);
        server = undefined;
      }
    };
    take(server);
    open.add(client).add(server);
    client.on('error', end).on('close', () => server?.destroy());
    client.on('data', (bytes) => (server ??= take(free.pop() as Socket)).write(bytes));
  });
  onTestFinished(() => {
    pooler.close();
    for (const socket of open) socket.destroy();
  });
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve));
  return Object.assign(new URL(url), { port: (pooler.address() as AddressInfo).port }).href;
}

test('tables are changed at the server itself, and processes behind a transaction pooler wait for that', async () => {
  const { url } = await createDatabase();
  const behind = await pooled(url, 'transaction');
  await expect(migrateStore(behind, {}, false)).rejects.toMatchObject({ code: 'STORE_POOLED' });
  const opening = openStore(behind);
  await migrateStore(url, {}, false);
  await (await opening).close();
  await expect(migrateStore(behind, {}, false)).resolves.toEqual([]);
});

test('a proxy that leaves each client its session is no hindrance', async () => {
  const { url } = await createDatabase();
  const behind = await pooled(url, 'session');
  await (await openStore(behind)).close();
  await expect(migrateStore(behind, {}, false)).resolves.toEqual([]);
});

test('the role of a worker adds to the audit trail, and changes and deletes nothing of it', async () => {
  const { url, roles, worker } = await withRoles();
  await migrateStore(url, roles, false);
  const store = await openStore(worker);
  onTestFinished(() => store.close());
  await store.kysely.insertInto('audit').values({ at: 1, by: 'old', act: 'frozen' }).execute();
  await audit(store, { by: 'ann', act: 'thawed', details: 'x' });
  await keepAudit(store, await scratchFolder());
  expect(await verifyAudit(store, { tenantId: undefined, files: [] })).toMatchObject([{ rows: 2, sealedLater: 1 }]);
  const denied = { code: '42501' };
  await expect(store.kysely.deleteFrom('audit').execute()).rejects.toMatchObject(denied);
  await expect(sql`truncate audit`.execute(store.kysely)).rejects.toMatchObject(denied);
  await expect(store.kysely.updateTable('audit').set({ by: 'eve' }).execute()).rejects.toMatchObject(denied);
  await expect(store.kysely.updateTable('audit').set({ hash: 'x' }).execute()).rejects.toMatchObject(denied);
});

test('the role of the receiver stores webhooks, and sees and changes nothing else', async () => {
  const { url, roles, receiver } = await withRoles();
  await migrateStore(url, roles, false);
  const owner = await openStore(url);
  onTestFinished(() => owner.close());
  await readTenantState(owner, 'acme');

  const store = await openStore(receiver);
  onTestFinished(() => store.close());
  expect((await insertDeliveries(store, [{ ...delivery, bodyHash: 'a' }])).size).toBe(1);
  await addWebhookRefusals(store, [{ tenantId: 'acme', reason: 'WEBHOOK_KEY_WRONG', count: 1 }]);
  await listAppliedTenants(store);
  expect((await sql`select 1 from tenants`.execute(store.kysely)).rows).toHaveLength(1);
  const presence = keepPresence(store, 'receiver', createRootLogger(undefined, 'silent'));
  await presence.close();
  expect(presence.unwritten()).toBeUndefined();

  const denied = { code: '42501' };
  for (const table of ['hires', 'holds', 'intents', 'persons', 'foreign_writes', 'plans'])
    await expect(sql`select * from ${sql.table(table)}`.execute(store.kysely)).rejects.toMatchObject(denied);
  for (const table of ['inbox', 'tenants', 'installation'])
    await expect(sql`delete from ${sql.table(table)}`.execute(store.kysely)).rejects.toMatchObject(denied);
});

test('a version that does not know a widening of the tables starts on them; a narrowing keeps it out', async () => {
  const { url } = await createDatabase();
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const note = (table: string) =>
    sql`insert into ${sql.table(table)} (name, timestamp) values ('9999-of-a-later-version', '')`.execute(store.kysely);
  await note('kysely_widening');
  const again = await openStore(url);
  await again.close();
  await note('kysely_migration');
  await expect(openStore(url)).rejects.toMatchObject({ code: 'STORE_TOO_NEW' });
});

test.each(['postgres', 'sqlite'] as const)('twelve processes bring one store up to date at once (%s)', async (kind) => {
  const url = kind === 'postgres' ? (await createDatabase()).url : `sqlite:${join(await scratchFolder(), 'store.db')}`;
  const stores = await Promise.all(Array.from({ length: 12 }, () => openStore(url)));
  for (const store of stores) onTestFinished(() => store.close());
  expect(new Set(stores.map(({ installationId }) => installationId)).size).toBe(1);
  await expect(migrateStore(url, {}, true)).resolves.toEqual([]);
});

test('webhooks are stored while an index of theirs is built, and half an index is built again', async () => {
  const { url } = await createDatabase();
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const index = async () => {
    const of = sql<{ valid: boolean }>`
      select indisvalid as valid from pg_index where indexrelid = to_regclass('inbox_left_by_time')`;
    return (await of.execute(store.kysely)).rows;
  };
  await sql`drop index inbox_left_by_time`.execute(store.kysely);
  await sql`delete from kysely_widening where name = '0106-inbox-left'`.execute(store.kysely);
  const writer = await forgottenSession(url, 'lock table inbox in row exclusive mode');
  onTestFinished(() => writer.end());
  const migrating = migrateStore(url, {}, false);
  migrating.catch(() => undefined);
  await until('the build waits for an earlier write', async () => (await index())[0]?.valid === false);
  expect((await insertDeliveries(store, [{ ...delivery, bodyHash: 'a' }])).size).toBe(1);
  // Its connection dies in the middle, and the next try finds what it left.
  await asAdmin(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where query ~ '^create index concurrently'`,
  );
  await expect(migrating).rejects.toMatchObject({ code: 'DATABASE_SILENT' });
  expect(await index()).toEqual([{ valid: false }]);
  await writer.query('rollback');
  await migrateStore(url, {}, false);
  expect(await index()).toEqual([{ valid: true }]);
});

test('a dry run says what would be changed, and changes nothing', async () => {
  const { url } = await createDatabase();
  const pending = await migrateStore(url, {}, true);
  expect(pending.find(({ name }) => name === '0001-tables')).toMatchObject({ isWidening: false });
  expect(pending.find(({ name }) => name === '0105-process-trouble')).toMatchObject({ isWidening: true });
  const { kysely, close } = openDatabase<never>(url);
  onTestFinished(close);
  expect((await sql`select 1 from pg_tables where schemaname = 'public'`.execute(kysely)).rows).toEqual([]);
});
