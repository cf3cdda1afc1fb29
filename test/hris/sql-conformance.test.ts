import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../harness/postgres.ts';
import { describeHris } from './conformance.ts';
import { created, employee, type HrisUnderTest, refusal, signal, write } from './profile.ts';
import { startSqlHris } from './start-sql-hris.ts';

const databases = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-hris-'));
    return { url: `sqlite:${join(folder, 'hr.sqlite')}`, drop: () => rm(folder, { recursive: true, force: true }) };
  },
  Postgres: createDatabase,
};

const CARELESS = { referenceColumn: 'none', readLag: '150ms' };

describe.each(Object.entries(databases))('%s', (name, database) => {
  const strict = async (): Promise<HrisUnderTest> => startSqlHris(await database(), {});
  const careless = async (): Promise<HrisUnderTest> => startSqlHris(await database(), CARELESS);

  describeHris(`${name}, strict`, strict);
  describeHris(`${name}, careless`, careless);

  describe('strict: a unique reference column', () => {
    let hris: HrisUnderTest;
    beforeAll(async () => {
      hris = await strict();
    });
    afterAll(() => hris.stop());

    test('it supports our reference, visible at once', () => {
      expect(hris.adapter.capabilities).toMatchObject({ storesReference: true, readLagMs: 0 });
    });

    test('a second create of one reference gives back the first employee', async () => {
      const ref = created(await hris.adapter.employees.create(employee('once'), '17:10', write));
      expect(await hris.adapter.employees.find({ by: 'reference', value: '17:10' }, signal)).toEqual({
        kind: 'one',
        ref,
        by: 'reference',
      });
      const again = await refusal(hris.second.employees.create(employee('once'), '17:10', write));
      expect(again).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore', details: { ...ref } });
      expect(await hris.count()).toBe(1);
    });

    test('of concurrent creates of one reference exactly one happens', async () => {
      const before = await hris.count();
      const both = await Promise.allSettled(
        [hris.adapter, hris.second, hris.adapter, hris.second].map((one) =>
          one.employees.create(employee('race'), '17:11', write),
        ),
      );
      expect(both.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
      expect(
        both.filter((one) => one.status === 'rejected').map((one) => (one.reason as { code: string }).code),
      ).toEqual(Array(3).fill('ALREADY_EXISTS'));
      expect(await hris.count()).toBe(before + 1);
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
      const ref = created(await hris.adapter.employees.create(employee('lag'), '17:21', write));
      expect(await hris.adapter.employees.read(ref.id, signal)).toBeUndefined();
      expect(await hris.adapter.employees.find({ by: 'email', value: 'lag@example.org' }, signal)).toMatchObject({
        kind: 'none',
      });
      await expect
        .poll(() => hris.adapter.employees.read(ref.id, signal), { interval: 20, timeout: 2_000 })
        .toMatchObject({ ref });
    });

    test('the same person twice is accepted, and found as several', async () => {
      await hris.adapter.employees.create(employee('twice'), '17:22', write);
      await hris.adapter.employees.create(employee('twice'), '17:22', write);
      await expect
        .poll(() => hris.adapter.employees.find({ by: 'email', value: 'twice@example.org' }, signal), {
          interval: 20,
          timeout: 2_000,
        })
        .toMatchObject({ kind: 'many', by: 'email', refs: [{}, {}] });
    });
  });
});
