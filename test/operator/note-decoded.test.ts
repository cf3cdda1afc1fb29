import { defaultPayloadConverter } from '@temporalio/common';
import { expect, onTestFinished, test, vi } from 'vitest';
import { noteDecoded } from '../../src/cli/encryption.ts';
import { verifyAudit } from '../../src/store/audit.ts';
import type { Store } from '../../src/store/open-store.ts';
import { recordDigest } from '../../src/store/person-marks.ts';
import { addTenant } from '../console/open-console.ts';
import { patience } from '../harness/pace.ts';
import { withoutRandom } from '../harness/without-random.ts';
import { sqliteStore } from '../store/stores.ts';

const PATIENCE = patience(30_000);
const TOGETHER_MS = 60_000;
const NAME = 'Eva Canary-Lind';

async function open() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await sqliteStore();
  await addTenant(store, 'acme');
  const notes = noteDecoded(store, 'ann', TOGETHER_MS);
  const decoded = (...values: object[]) => notes.note(values.map((one) => defaultPayloadConverter.toPayload(one)));
  return { store, notes, decoded };
}

async function told({ kysely }: Store): Promise<string[]> {
  const rows = await kysely.selectFrom('audit').selectAll().orderBy('chain').orderBy('seq').execute();
  return rows.map(({ tenant_id, by, act, details, subject }) => [tenant_id, by, act, details, subject].join(' | '));
}

const hire = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, note: NAME });

test('500 events of one history that are decrypted one by one are two rows, with how many and of whom', async () => {
  const { store, decoded } = await open();
  await decoded(hire('501'));
  const of = await recordDigest(store, 'acme', { kind: 'job-candidate', id: '501' });
  // Before anything is shown.
  expect(await told(store)).toEqual([`acme | ann | looked | payloads of Temporal: 1 | ${of}`]);
  await Promise.all(Array.from({ length: 499 }, () => decoded(hire('501'))));
  expect(await told(store)).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(TOGETHER_MS);
  await vi.waitFor(async () => expect(await told(store)).toHaveLength(2), PATIENCE);
  const rows = await told(store);
  expect(rows[1]).toBe(`acme | ann | looked | payloads of Temporal: 499 more | ${of}`);
  expect(rows.join()).not.toContain(NAME);
  expect(withoutRandom(rows.join())).not.toContain('501');
  await decoded(hire('501'));
  expect(await told(store)).toHaveLength(3);
  expect((await verifyAudit(store, { tenantId: 'acme', files: [] }))[0]?.trouble).toBeUndefined();
});

test('what names no tenant of ours stands in the chain of all; what is only counted is told at the end', async () => {
  const { store, notes, decoded } = await open();
  await decoded();
  await decoded({ verdict: 'ready' }, { tenantId: 'nobody' }, { tenantId: 'acme' });
  await decoded({ verdict: 'gone' });
  await notes.close();
  expect(await told(store)).toEqual([
    ' | ann | looked | payloads of Temporal: 2 | ',
    ' | ann | looked | payloads of Temporal: 1 more | ',
    'acme | ann | looked | payloads of Temporal: 1 | ',
  ]);
});

test('a list of many hires is bounded: those behind the hundredth are told as their tenant', async () => {
  const { store, decoded } = await open();
  await decoded(...Array.from({ length: 150 }, (_, nth) => hire(`${1_000 + nth}`)));
  const rows = await told(store);
  expect(rows).toHaveLength(101);
  expect(rows.at(-1)).toBe('acme | ann | looked | payloads of Temporal: 1 | ');
});

test('where the trail takes no row nothing is shown, and what was counted is told once it does', async () => {
  const { store, decoded } = await open();
  await decoded(hire('501'));
  await decoded(hire('501'));
  await store.kysely.schema.alterTable('audit').renameTo('audit_away').execute();
  await expect(decoded(hire('777'))).rejects.toThrow(/audit/);
  await vi.advanceTimersByTimeAsync(TOGETHER_MS);
  await store.kysely.schema.alterTable('audit_away').renameTo('audit').execute();
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(TOGETHER_MS);
    expect(await told(store)).toHaveLength(2);
  }, PATIENCE);
  expect((await told(store))[1]).toContain('payloads of Temporal: 1 more');
});
