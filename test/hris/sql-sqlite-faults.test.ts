import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openHris } from '../../src/hris/registry.ts';
import { created, employee, refusal, signal, write } from './profile.ts';
import { countEmployees } from './start-sql-hris.ts';

let folder: string;
let url: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hirebridge-hris-'));
  url = `sqlite:${join(folder, 'data', 'hr.sqlite')}`;
});

afterEach(() => rm(folder, { recursive: true }));

test('createTable makes folder, file and table, by however many at once', async () => {
  const adapters = await Promise.all(
    Array.from({ length: 4 }, () => openHris('sql', 'test-hr', { url, createTable: true })),
  );
  await Promise.all(adapters.map((adapter, i) => adapter.employees.create(employee(`first-${i}`), `17:${i}`, write)));
  expect(await countEmployees(url)).toBe(4);
  await Promise.all(adapters.map((adapter) => adapter.close()));
});

test('without createTable a missing file is a retry and is not made', async () => {
  const adapter = await openHris('sql', 'test-hr', { url });
  expect(await refusal(adapter.employees.find({ by: 'number', value: '1' }, signal))).toMatchObject({
    code: 'HRIS_UNREACHABLE',
    action: 'retry',
  });
  expect(await refusal(adapter.employees.create(employee('x'), '17:1', write))).toMatchObject({
    code: 'HRIS_UNREACHABLE',
    action: 'retry',
  });
  expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
  await adapter.close();
});

test('another process’s lock is a retry before the deadline, and nothing is written', async () => {
  const adapter = await openHris('sql', 'test-hr', { url, createTable: true });
  created(await adapter.employees.create(employee('before'), '17:1', write));
  const other = new DatabaseSync(url.slice('sqlite:'.length));
  other.exec('begin immediate');
  const blocked = await refusal(
    adapter.employees.create(employee('blocked'), '17:2', { ...write, remainingMs: () => 200 }),
  );
  expect(blocked).toMatchObject({ code: 'HRIS_BUSY', action: 'retry' });
  other.exec('rollback');
  other.close();
  expect(await countEmployees(url)).toBe(1);
  created(await adapter.employees.create(employee('blocked'), '17:2', write));
  await adapter.close();
});

test('options that are not right are refused without their values', async () => {
  const opened = openHris('sql', 'test-hr', { url: 'mysql://me:hunter2@db/hr' });
  const { code, action, message } = await refusal(opened);
  expect({ code, action }).toEqual({ code: 'HRIS_OPTIONS_INVALID', action: 'reject' });
  expect(message).toMatch(/"test-hr".*url: expected sqlite:PATH/);
  expect(message).not.toContain('hunter2');
  expect(await refusal(openHris('slq', 'test-hr', {}))).toMatchObject({ code: 'HRIS_KIND_UNKNOWN' });
});
