import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { carryOutErasure } from '../../../activities/erase/carry-out.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import { exportPerson } from '../../../src/operator/person.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { askErasure } from '../../../src/store/erasures.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { addHints } from '../../../src/store/hints.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { openPullWorld } from './pull-world.ts';

const DAY_MS = 86_400_000;

/** A tenant that asks for all of a candidate in one column beside the others. */
async function wholeCandidates(database: 'sqlite' | 'postgres') {
  const made = database === 'postgres' ? await createDatabase() : undefined;
  if (made !== undefined) onTestFinished(made.drop);
  const url = made?.url ?? `sqlite:${join(await scratchFolder(), 'lake.sqlite')}`;
  vi.stubEnv('TEST_LANDING_URL', url);
  const opened = await openPullWorld(
    '{ candidates: { every: 1h, mapping: whole.yaml } }\n' +
      'landing: { kind: sql, url: env:TEST_LANDING_URL, createTable: true, ' +
      'tables: { candidates: { fields: { payload: { column: payload } } } } }',
    { jobs: 1, candidates: 3 },
  );
  const { world, store } = opened;
  await writeFile(join(world.tenantsDir, 'whole.yaml'), 'fields:\n  payload: { from: "candidate.*" }\n');
  const { kysely, close } = openDatabase(url);
  onTestFinished(() => close());
  return {
    ...opened,
    ask: { store, places: { tenantsDir: world.tenantsDir, dataDir: world.dataDir }, tenantId: 'acme' },
    records: async () => (await world.partner.readAll(contract.candidates.list, {})).items,
    run: (statement: string) => sql.raw(statement).execute(kysely),
    landed: async () =>
      (await sql<Record<string, unknown>>`select * from partner_candidates order by partner_id`.execute(kysely)).rows,
  };
}

const held = (payload: unknown): unknown => (typeof payload === 'string' ? JSON.parse(payload) : payload);

test.each(['sqlite', 'postgres'] as const)(
  'all of a record lands in one column of %s, and goes with its person',
  async (database) => {
    const { world, store, pull, edit, ask, records, landed, run } = await wholeCandidates(database);
    const written = async (recordId: string) =>
      (await listWrites(store, { tenantId: 'acme', recordId })).map(({ changes }) => changes).join(' ');
    expect(await pull('full')).toMatchObject({ state: 'done', counts: { created: 3, quarantined: 0 } });
    if (database === 'postgres')
      await run('alter table partner_candidates alter column payload type jsonb using payload::jsonb');
    const before = await records();
    const shown = async () => new Map((await landed()).map((row) => [row['partner_id'], held(row['payload'])]));
    expect(await shown()).toEqual(new Map(before.map((one) => [String(one.id), one])));
    // The list, and a record by its id, say the same.
    await addHints(store, 'acme', 'candidates', [String(before[0]?.id)]);
    expect(await pull('incremental')).toMatchObject({ counts: { read: 1, unchanged: 1 } });
    expect(await pull('full')).toMatchObject({ counts: { created: 0, updated: 0, unchanged: 3 } });

    const candidateId = String(before[0]?.id);
    await world.partner.candidates.update({ params: { candidateId }, body: { summary: 'Cooks for many' } });
    expect(await pull('full')).toMatchObject({ counts: { updated: 1, unchanged: 2 } });
    expect((await shown()).get(candidateId)).toMatchObject({ summary: 'Cooks for many' });
    const texts = await written(candidateId);
    expect(texts).toMatch(/"payload":\{"old":"sha256:[0-9a-f]{64}","new":"sha256:[0-9a-f]{64}"\}/);
    expect(texts).not.toContain('Cooks for many');

    const exported = await exportPerson({ ...ask, by: 'ada' }, candidateId);
    expect(JSON.stringify(exported.landed)).toContain('Cooks for many');
    const person = { candidates: [candidateId], jobCandidates: [], enrolments: [], employees: [] };
    const subject = { tenantId: 'acme', companies: ['acme'], ...person };
    const { erasure_id: erasure } = await askErasure(store, { subject, by: 'ada', reason: 'asked', employee: 'keep' });
    await store.kysely
      .updateTable('erasures')
      .set({ asked_at: Date.now() - DAY_MS })
      .execute();
    const receipt = await withTenant(ask, async ({ deps, connection }) =>
      carryOutErasure(
        {
          ...deps,
          dataDir: world.dataDir,
          connect: async () => connection,
          forgetHire: async () => 0,
          forgetTenant: async () => 0,
        },
        erasure,
      ),
    );
    expect(receipt).toMatchObject({ erased: { 'landing table of candidates': 1 } });
    expect(await landed()).toHaveLength(2);
    expect(JSON.stringify(await landed())).not.toContain('Cooks for many');
    expect(await pull('full')).toMatchObject({ state: 'done', counts: { created: 0 } });
    expect(await landed()).toHaveLength(2);

    // A row that is taken away leaves no more in the log than one that changed.
    const gone = before[1];
    await edit((text) => text.replace('mapping: whole.yaml', 'mapping: whole.yaml, deletion: delete'));
    await world.control.act('deleteCandidate', { candidateIds: [Number(gone?.id)] });
    await addHints(store, 'acme', 'candidates', [String(gone?.id)], true);
    expect(await pull('incremental')).toMatchObject({ counts: { skipped: 1 } });
    expect(await landed()).toHaveLength(1);
    const ended = await written(String(gone?.id));
    expect(ended).toMatch(/"payload":\{"old":"sha256:[0-9a-f]{64}","new":null\}/);
  },
);
