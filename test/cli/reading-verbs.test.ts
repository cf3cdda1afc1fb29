import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { settleConflicts } from '../../src/store/field-conflicts.ts';
import { openStore } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchDir, tenantDir } from './cli-process.ts';

/** A data directory whose store an earlier version made: it lacks the latest tables. */
async function olderStore() {
  const dataDir = await scratchDir();
  const store = await openStore(`sqlite:${join(dataDir, 'store.db')}`);
  onTestFinished(() => store.close());
  const latest = sql`select max(name) from kysely_migration`;
  await sql`delete from kysely_migration where name = (${latest})`.execute(store.kysely);
  const migrations = async () => (await sql`select * from kysely_migration`.execute(store.kysely)).rows;
  return { dataDir, migrations };
}

const READING = [
  'status',
  'inbox list',
  'hold list',
  'tenant list',
  'tenant show acme',
  'digest acme',
  'rate-limit acme',
  'audit acme',
  'mapping diff acme acme.yaml',
  'plan acme',
  'sync acme --dry-run',
  'revert acme --mapping 0123abcd',
  'doctor',
];

test('commands that only look leave the tables of an older store as they are, and say so', async () => {
  const [{ dataDir, migrations }, tenantsDir] = [await olderStore(), await tenantDir()];
  const before = await migrations();
  const env = { HIREBRIDGE_DATA: dataDir, HIREBRIDGE_TENANTS: tenantsDir };
  const ended = await Promise.all(READING.map((verb) => runCommand(verb.split(' '), env)));
  const told = ended.map(({ stdout, stderr }) => /older than this hirebridge/.test(stdout + stderr));
  expect(READING.filter((_verb, index) => !told[index])).toEqual([]);
  expect(await migrations()).toEqual(before);
});

const LISTING = ['failed acmee', 'conflicts acmee', 'replay acmee --since 2h', 'inbox list --tenant acmee'];

test('conflicts says in words what the codes of its list mean, each once', async () => {
  const dataDir = await scratchDir();
  const store = await openStore(`sqlite:${join(dataDir, 'store.db')}`);
  await readTenantState(store, 'acme');
  const found = ['email', 'phone', 'grade'].map((field, at) => ({
    field,
    kind: 'quarantined' as const,
    code: at === 2 ? 'THEIR_OWN' : 'NOT_KEPT',
    forms: { partner: '"a"', hris: '"b"' },
    values: { partner: 'a', hris: 'b' },
    isSensitive: false,
  }));
  await settleConflicts(store, { tenantId: 'acme', stream: 'profiles', pairId: '7' }, { open: [] }, found);
  await store.close();
  const { stdout } = await runCommand(['conflicts', 'acme'], { HIREBRIDGE_DATA: dataDir });
  expect(stdout.match(/quarantined, NOT_KEPT/g)).toHaveLength(2);
  expect(stdout.match(/^NOT_KEPT: written, but it came back different; left alone until somebody edits it$/gm)).toEqual(
    [expect.any(String)],
  );
  expect(stdout).not.toMatch(/^THEIR_OWN:/m);
});

test('a mistyped tenant is rejected with those that are known, and never reads as nothing wrong', async () => {
  const dataDir = await scratchDir();
  const store = await openStore(`sqlite:${join(dataDir, 'store.db')}`);
  await readTenantState(store, 'acme');
  await store.close();
  const ended = await Promise.all(LISTING.map((verb) => runCommand(verb.split(' '), { HIREBRIDGE_DATA: dataDir })));
  for (const { code, stdout, stderr } of ended) {
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('no tenant "acmee" (known: acme)');
  }
});
