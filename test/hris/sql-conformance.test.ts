import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDatabase, startPostgres, type TestPostgres } from '../../src/counterparts/start-postgres.ts';
import type { HrisUnderTest } from '../../src/hris-kit/hris-under-test.ts';
import { describeHris } from './conformance.ts';
import { createRole } from './postgres-powers.ts';
import { created, employee, signal, write } from './profile.ts';
import { runJob } from './sql-job.ts';
import { type SqlTestDatabase, startSqlHris } from './start-sql-hris.ts';

/** A server of its own: one case kills it. */
let server: TestPostgres | undefined;
afterAll(() => server?.stop());

const databases: Record<string, () => Promise<SqlTestDatabase>> = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-hris-'));
    return { url: `sqlite:${join(folder, 'hr.sqlite')}`, drop: () => rm(folder, { recursive: true, force: true }) };
  },
  async Postgres() {
    server ??= await startPostgres();
    const url = await newDatabase(server.url);
    return { url, drop: async () => undefined, as: await createRole(server, url) };
  },
};

const CARELESS = { referenceColumn: 'none', readLag: '150ms' };

describeHris('sql: Postgres, job', async () =>
  startSqlHris(await databases['Postgres']!(), { job: { errorColumn: 'refused' } }),
);

test("two of the customer's jobs number each row once", async () => {
  const database = await databases['Postgres']!();
  const hris = await startSqlHris(database, { job: { errorColumn: 'refused' } });
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, n) => hris.adapter.employees.create(employee(`job-${n}`), `17:job-${n}`, write)),
  );
  const numbers = (await Promise.all([runJob(database.url), runJob(database.url)])).flat();
  expect(new Set(numbers).size).toBe(40);
  const tickets = results.map((result) => (result.kind === 'pending' ? result.ticket : ''));
  const resolved = await Promise.all(tickets.map(async (ticket) => hris.second.pending?.resolve(ticket, signal)));
  expect(resolved.map((one) => one?.kind)).toEqual(Array(40).fill('created'));
  await hris.stop();
});

describe.each(Object.entries(databases))('%s', (name, database) => {
  const strict = async () => startSqlHris(await database(), {});
  const careless = async (): Promise<HrisUnderTest> => startSqlHris(await database(), CARELESS);

  describeHris(`sql: ${name}`, strict);
  describeHris(`sql: ${name}, no key`, careless);

  describe('strict: a unique reference column', () => {
    let hris: Awaited<ReturnType<typeof strict>>;
    beforeAll(async () => {
      hris = await strict();
    });
    afterAll(() => hris.stop());

    test('it says whether a new employee gets a number, as far as the table shows', async () => {
      const numberless = await hris.open({ numberColumn: 'title' });
      expect([await hris.adapter.givesNumber?.(signal), await numberless.givesNumber?.(signal)]).toEqual([true, false]);
      await numberless.close();
    });

    test('it supports our reference, visible at once', () => {
      expect(hris.adapter.capabilities).toMatchObject({ storesReference: true, readLagMs: 0 });
    });
  });

  describe('careless: no reference, no unique key, reads that lag', () => {
    let hris: HrisUnderTest;
    beforeAll(async () => {
      hris = await careless();
    });
    afterAll(() => hris.stop());

    test('it supports no reference, and an empty answer by reference proves nothing', async () => {
      expect(hris.adapter.capabilities).toMatchObject({ storesReference: false, readLagMs: 150 });
      expect(await hris.adapter.employees.find({ by: 'reference', value: '17:20' }, signal)).toEqual({
        kind: 'none',
        trusted: false,
      });
    });

    test('a new employee is missed by reads until the lag is over', async () => {
      const slow = await startSqlHris(await database(), { ...CARELESS, readLag: '1h' });
      const { employees } = slow.adapter;
      const ref = created(await employees.create(employee('lag'), '17:21', write));
      expect(await employees.read(ref.id, signal)).toBeUndefined();
      expect(await employees.find({ by: 'email', value: 'lag@example.org' }, signal)).toMatchObject({ kind: 'none' });
      await slow.catchUp();
      expect(await employees.read(ref.id, signal)).toMatchObject({ ref });
      await slow.stop();
    });

    test('the same person twice is accepted, and found as several', async () => {
      await hris.adapter.employees.create(employee('twice'), '17:22', write);
      await hris.adapter.employees.create(employee('twice'), '17:22', write);
      await expect
        .poll(() => hris.adapter.employees.find({ by: 'email', value: 'twice@example.org' }, signal), { interval: 20 })
        .toMatchObject({ kind: 'many', by: 'email', refs: [{}, {}] });
    });
  });
});
