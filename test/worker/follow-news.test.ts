import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../activities/connections.ts';
import { ownHris } from '../../activities/own-hris.ts';
import { openHris } from '../../src/hris/registry.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { createRootLogger } from '../../src/log.ts';
import { readHints } from '../../src/store/hints.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { followNews } from '../../src/worker/follow-news.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { until } from '../harness/world.ts';
import { freshStore, relayOver, TENANT_ID } from './relay-over.ts';

const log = createRootLogger(undefined, 'silent');
const TENANT = {
  tenant: TENANT_ID,
  streams: { employees: { every: 3_600_000, mapping: 'employees.yaml' } },
} as unknown as Tenant;

/** A table with one employee, and how often each of some workers looked at it. */
async function staff() {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  await ensureHrisSchema(url, { changes: { column: 'changed_at' } });
  const hris = await openHris('sql', 'hr', { url, changes: { column: 'changed_at' } });
  const database = openSqlDatabase(url);
  onTestFinished(async () => void (await Promise.all([hris.close(), database.close()])));
  await sql`insert into employees (given_name, family_name, email, start_date)
    values ('Ana', 'One', 'one@example.org', '2026-01-01')`.execute(database.kysely);
  const looks = new Map<string, number>();
  return {
    looks,
    edit: (city: string) => sql`update employees set city = ${city}`.execute(database.kysely),
    async work(name: string, store: Store) {
      const { relay, streams } = relayOver(store);
      const connection = { hris: ownHris('hr', hris) } as unknown as Connection;
      const of = async (): Promise<Connection> => {
        looks.set(name, (looks.get(name) ?? 0) + 1);
        return connection;
      };
      const tenants = { all: () => [TENANT], isPaused: () => false };
      const news = followNews({ store, log, tenants, connections: { of }, hint: relay.hint });
      onTestFinished(() => news.close());
      return { streams, news };
    },
  };
}

const looked = (of: Map<string, number>, name: string, times: number) =>
  until(`${name} looked`, async () => (of.get(name) ?? 0) >= times);

test('who is edited in the HR system is exchanged at once, by one worker, and by the next once it ends', async () => {
  const store = await freshStore();
  const { looks, edit, work } = await staff();
  const first = await work('first', store);
  await looked(looks, 'first', 2);
  expect(await readHints(store, TENANT_ID, 'employees')).toEqual([]);
  const second = await work('second', store);
  await edit('Graz');
  await until('asked for', async () => first.streams.length > 0);
  expect(await readHints(store, TENANT_ID, 'employees')).toMatchObject([{ recordId: '1' }]);
  expect([first.streams, second.streams, looks.get('second')]).toEqual([['employees'], [], undefined]);
  await Promise.all([first.news.close(), second.news.close()]);
  const next = await work('next', store);
  await looked(looks, 'next', 2);
  await edit('Linz');
  await until('asked for by the next', async () => next.streams.length > 0);
});
