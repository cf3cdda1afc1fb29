import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  audit,
  type ChainVerdict,
  exportAudit,
  HEADS_FILE,
  keepAudit,
  noteHeadsRestored,
  noteLook,
  verifyAudit,
} from '../../src/store/audit.ts';
import type { Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows } from '../../src/store/person-data.ts';
import type { AuditRow } from '../../src/store/schema.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { kinds, storesOfFile, unguardAudit } from './stores.ts';

const storeOf = storesOfFile();
const act = (by: string, tenantId?: string) =>
  ({ by, act: 'paused', details: `by ${by}`, ...(tenantId === undefined ? {} : { tenantId }) }) as const;

async function acts(store: Store, count: number, tenantId = 'acme'): Promise<void> {
  for (let nth = 1; nth <= count; nth += 1) await audit(store, act(`ann-${nth}`, tenantId));
}

async function verdictOf(store: Store, tenantId: string, dataDir?: string): Promise<ChainVerdict> {
  const files = dataDir === undefined ? [] : [join(dataDir, HEADS_FILE)];
  const [verdict] = await verifyAudit(store, { tenantId, files });
  if (verdict === undefined) throw new Error('no verdict');
  return verdict;
}

/** As whoever owns the tables does it. */
async function tamper(store: Store, does: (trx: Store['kysely']) => Promise<unknown>): Promise<void> {
  await store.kysely
    .transaction()
    .execute((trx) => unguardAudit(store.kind, trx, async () => void (await does(trx as Store['kysely']))));
}

function change(trx: Store['kysely'], seq: number, set: Partial<AuditRow>): Promise<unknown> {
  return trx.updateTable('audit').set(set).where('chain', '=', 'acme').where('seq', '=', seq).execute();
}

function leaveOut(trx: Store['kysely'], seq: number): Promise<unknown> {
  return trx.deleteFrom('audit').where('chain', '=', 'acme').where('seq', '=', seq).execute();
}

describe.each(kinds)('the audit trail, on %s', (kind) => {
  let store: Store;
  let other: Store;
  let dataDir: string;
  beforeEach(async () => {
    ({ store, other } = await storeOf(kind));
    dataDir = await scratchFolder();
  });

  test('a noted head that a full disk or a kill cut off spoils neither the next one nor the check', async () => {
    const file = join(dataDir, HEADS_FILE);
    await acts(store, 1);
    await keepAudit(store, dataDir);
    await writeFile(file, (await readFile(file, 'utf8')).slice(0, -20));
    await acts(store, 1);
    await keepAudit(store, dataDir);
    const verdict = await verdictOf(store, 'acme', dataDir);
    expect(verdict).toMatchObject({ rows: 2, notedUntil: 2 });
    expect(verdict.trouble).toBeUndefined();
  });

  test('is one chain a tenant whoever writes, and what is rolled back leaves no gap', async () => {
    const some = Array.from({ length: 40 }, (_, nth) =>
      audit(nth % 2 === 0 ? store : other, act(`ann-${nth}`, nth % 3 === 0 ? 'globex' : 'acme')),
    );
    const undone = store.kysely.transaction().execute(async (kysely) => {
      await audit({ ...store, kysely }, act('bob', 'acme'));
      throw new Error('undone');
    });
    await Promise.allSettled([...some, undone, audit(store, act('eve'))]);
    expect(await verifyAudit(store, { tenantId: undefined, files: [] })).toEqual([
      expect.objectContaining({ chain: '', rows: 1 }),
      expect.objectContaining({ chain: 'acme', rows: 26 }),
      expect.objectContaining({ chain: 'globex', rows: 14 }),
    ]);
  });

  test('is refused to be changed or shortened by a statement', async () => {
    await acts(store, 2);
    const refused = { message: expect.stringContaining('stays as it is') as string };
    await expect(store.kysely.deleteFrom('audit').execute()).rejects.toMatchObject(refused);
    for (const set of [{ by: 'eve' }, { details: 'eve' }, { act: 'resumed' }, { actor: 'eve' }, { seq: 9 }] as const)
      await expect(store.kysely.updateTable('audit').set(set).execute()).rejects.toMatchObject(refused);
    expect(await verdictOf(store, 'acme')).toMatchObject({ rows: 2 });
  });

  test.each<[string, number, string, (trx: Store['kysely']) => Promise<unknown>]>([
    ['another name', 3, 'changed', (trx) => change(trx, 3, { by: 'eve' })],
    ['other words', 3, 'changed', (trx) => change(trx, 3, { details: 'x' })],
    [
      'words that an erasure is said to have taken out',
      3,
      'changed',
      (trx) => change(trx, 3, { details: 'x', salt: null }),
    ],
    ['a time', 1, 'changed', (trx) => change(trx, 1, { at: 1 })],
    ['an act moved to another tenant', 4, 'changed', (trx) => change(trx, 4, { tenant_id: 'globex' })],
    ['a row less', 4, 'missing', (trx) => leaveOut(trx, 4)],
    ['the first row less', 1, 'missing', (trx) => leaveOut(trx, 1)],
    ['the last row less', 6, 'shortened', (trx) => leaveOut(trx, 6)],
    [
      'two rows that changed places',
      2,
      'out of order',
      async (trx) => {
        for (const [from, to] of [
          [2, 99],
          [5, 2],
          [99, 5],
        ] as const)
          await change(trx, from, { seq: to });
      },
    ],
    [
      'a row twice',
      3,
      'doubled',
      async (trx) => {
        await sql`drop index audit_links`.execute(trx);
        const row = await trx
          .selectFrom('audit')
          .selectAll()
          .where('chain', '=', 'acme')
          .where('seq', '=', 3)
          .executeTakeFirstOrThrow();
        await trx.insertInto('audit').values(row).execute();
        await trx.schema.createIndex('audit_links').on('audit').columns(['chain', 'seq']).execute();
      },
    ],
  ])('%s is found', async (_what, row, what, does) => {
    await acts(store, 6);
    await acts(store, 2, 'globex');
    await tamper(store, does);
    const verdict = await verdictOf(store, 'acme');
    expect(verdict.trouble).toMatchObject({ row, what });
    expect(verdict.trouble?.message).toContain(`Row ${row} of the audit trail of acme`);
    expect((await verdictOf(store, 'globex')).trouble).toBeUndefined();
  });

  test('a chain that was cut off and made fit is found by the head that stands outside', async () => {
    await acts(store, 6);
    await keepAudit(store, dataDir);
    await tamper(store, async (trx) => {
      await trx.deleteFrom('audit').where('seq', '>', 4).execute();
      const last = await trx.selectFrom('audit').select('hash').where('seq', '=', 4).executeTakeFirstOrThrow();
      await trx
        .updateTable('audit_heads')
        .set({ seq: 4, hash: last.hash ?? '' })
        .execute();
    });
    expect((await verdictOf(store, 'acme')).trouble).toBeUndefined();
    expect((await verdictOf(store, 'acme', dataDir)).trouble).toMatchObject({ row: 5, what: 'shortened' });
    // Written on, it is another chain from there.
    await acts(store, 3);
    expect((await verdictOf(store, 'acme')).trouble).toBeUndefined();
    expect((await verdictOf(store, 'acme', dataDir)).trouble).toMatchObject({ row: 6, what: 'changed' });
  });

  test('a chain that is gone whole is found; a head that somebody wrote is refused', async () => {
    await acts(store, 3);
    await keepAudit(store, dataDir);
    const file = join(dataDir, HEADS_FILE);
    await tamper(store, async (trx) => {
      await trx.deleteFrom('audit').execute();
      await trx.deleteFrom('audit_heads').execute();
    });
    const all = await verifyAudit(store, { tenantId: undefined, files: [file] });
    expect(all).toEqual([expect.objectContaining({ trouble: expect.objectContaining({ row: 1 }) as object })]);
    await writeFile(file, (await readFile(file, 'utf8')).replace('"seq":3', '"seq":0'));
    const forged = verifyAudit(store, { tenantId: undefined, files: [file] });
    await expect(forged).rejects.toMatchObject({ code: 'SIGNATURE_WRONG' });
  });

  test('after a backup was put back, heads of the store before no longer count', async () => {
    await acts(store, 6);
    await keepAudit(store, dataDir);
    await tamper(store, async (trx) => {
      await trx.deleteFrom('audit').where('seq', '>', 2).execute();
      const last = await trx.selectFrom('audit').select('hash').where('seq', '=', 2).executeTakeFirstOrThrow();
      await trx
        .updateTable('audit_heads')
        .set({ seq: 2, hash: last.hash ?? '', noted: 0 })
        .execute();
    });
    await noteHeadsRestored(store, dataDir);
    await acts(store, 1);
    expect(await verdictOf(store, 'acme', dataDir)).toMatchObject({ rows: 3, notedUntil: 2 });
    expect((await verdictOf(store, 'acme', dataDir)).trouble).toBeUndefined();
  });

  test('rows of an earlier version are sealed as they are, behind what is sealed, and told apart', async () => {
    const old = (nth: number) =>
      ({ at: nth, by: `old-${nth}`, tenant_id: 'acme', act: 'paused', details: 'x' }) as const;
    await store.kysely
      .insertInto('audit')
      .values(Array.from({ length: 520 }, (_, nth) => old(nth)))
      .execute();
    await acts(store, 1);
    expect(await verdictOf(store, 'acme')).toMatchObject({ rows: 1, unsealed: 520, sealedLater: 0 });
    await Promise.all([keepAudit(store, dataDir), keepAudit(other, await scratchFolder())]);
    expect(await verdictOf(store, 'acme', dataDir)).toMatchObject({ rows: 521, unsealed: 0, sealedLater: 520 });
    await acts(store, 1);
    expect((await verdictOf(store, 'acme', dataDir)).trouble).toBeUndefined();
  });

  test('an erasure takes ids out of rows, which are as they should be all the same', async () => {
    await acts(store, 1);
    await audit(store, { by: 'ann', tenantId: 'acme', act: 'hire-started', details: 'job candidate 9501' });
    await acts(store, 1);
    const none = { candidates: [], enrolments: [], employees: [] };
    const eva = await completeIds(store, 'acme', { ...none, jobCandidates: ['9501'] });
    for (let times = 0; times < 2; times += 1) await erasePersonRows(store, eva);
    const rows = await store.kysely.selectFrom('audit').select(['seq', 'details', 'salt']).orderBy('seq').execute();
    expect(rows[1]).toEqual({ seq: 2, details: 'job candidate erased', salt: null });
    expect(rows).toHaveLength(4);
    const verdict = await verdictOf(store, 'acme');
    expect(verdict).toMatchObject({ rows: 4, redacted: 1 });
    expect(verdict.trouble).toBeUndefined();
    await tamper(store, (trx) => trx.updateTable('audit').set({ details: 'nobody' }).where('seq', '=', 2).execute());
    expect((await verdictOf(store, 'acme')).trouble).toMatchObject({ row: 2, what: 'changed' });
  });

  test('who looked is a row with a keyed hash, the same for the same person, and never the id', async () => {
    const of = { kind: 'job-candidate', id: '950177' };
    for (const by of ['ann', 'bob']) await noteLook(store, { by, tenantId: 'acme', what: 'story of a hire', of });
    await noteLook(store, { by: 'ann', tenantId: 'globex', what: 'story of a hire', of });
    const rows = await store.kysely.selectFrom('audit').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('950177');
    const [first, again, elsewhere] = rows.toSorted((a, b) => `${a.chain}${a.seq}`.localeCompare(`${b.chain}${b.seq}`));
    expect(first?.subject).toMatch(/^job-candidate [\w-]{43}$/);
    expect(again?.subject).toBe(first?.subject);
    expect(elsewhere?.subject).not.toBe(first?.subject);
    expect(first?.actor).toMatch(/^user:\d+\//);
  });

  test('an export holds every row of a time, and a head that is signed', async () => {
    await acts(store, 3);
    const wanted = { tenantId: undefined, dataDir, from: 0, to: undefined as number | undefined };
    const exported = async (times: typeof wanted): Promise<object[]> => {
      const lines: object[] = [];
      for await (const line of exportAudit(store, times)) lines.push(line);
      return lines;
    };
    const lines = await exported(wanted);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toMatchObject({ head: { chain: 'acme', seq: 3 } });
    expect(await exported({ ...wanted, to: 1 })).toHaveLength(1);
  });
});
