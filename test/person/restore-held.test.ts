import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import type { Places } from '../../src/config.ts';
import { createRootLogger } from '../../src/log.ts';
import { holdPerson } from '../../src/operator/person.ts';
import { backUp, restore } from '../../src/store/backups.ts';
import { eraseRestored } from '../../src/store/erase-restored.ts';
import { askErasure, type ErasureReceipt, endErasure, openErasures } from '../../src/store/erasures.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows, findPersonRows } from '../../src/store/person-data.ts';
import { allIdsOf, legalHoldOf, markPerson } from '../../src/store/person-marks.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { type SeededPerson, seedEverywhere } from '../store/seeded-person.ts';
import { freshStore, kinds } from '../store/stores.ts';

const EVA: SeededPerson = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const BEN: SeededPerson = { tenant: 'acme', candidate: '502', application: '9502', enrolment: '7502', employee: '32' };
const NOBODY = { candidates: [], jobCandidates: [], enrolments: [], employees: [] };
const ASKED = { by: 'ann', reason: 'request', employee: 'terminate' } as const;

async function seeded(store: Store) {
  await readTenantState(store, 'acme');
  for (const person of [EVA, BEN]) await seedEverywhere(store, person);
  const of = (candidate: string) => completeIds(store, 'acme', { ...NOBODY, candidates: [candidate] });
  return { eva: await of('501'), ben: await of('502') };
}

function hold(store: Store, given: Parameters<typeof holdPerson>[2]) {
  return holdPerson({ store, places: {} as Places, tenantId: 'acme', by: 'law' }, 'candidate:501', given);
}

function carryOut(store: Store, dataDir: string, erasureId = '') {
  return carryOutErasure(
    {
      store,
      dataDir,
      log: createRootLogger(undefined, 'silent'),
      limits: { giveUpMs: 1, partnerLagMs: 1, pausedMs: 1 },
      connect: async () => undefined,
      forgetHire: async () => 0,
      forgetTenant: async () => 0,
    },
    erasureId,
  );
}

test.each(['is under way', 'had ended'])(
  'a restore keeps whom a hold put since protects; the erasure %s',
  async (how) => {
    const dir = await scratchFolder();
    const [file, backup] = [join(dir, 'store.db'), join(dir, 'backup.db')];
    const store = await openStore(`sqlite:${file}`);
    const { eva, ben } = await seeded(store);
    await backUp(file, backup);
    const asked = await askErasure(store, { ...ASKED, subject: eva });
    await askErasure(store, { ...ASKED, subject: ben });
    const before = await findPersonRows(store, eva);
    if (how === 'had ended') {
      await erasePersonRows(store, eva);
      await endErasure(store, asked, () => ({ receipt: asked.erasure_id }) as ErasureReceipt);
    }
    await hold(store, { reason: 'case 12' });
    const put = await legalHoldOf(store, 'acme', [{ kind: 'candidate', id: '501' }]);
    await store.close();
    await restore(file, backup, 'ann');
    const restored = await openStore(`sqlite:${file}`);
    onTestFinished(() => restored.close());
    expect(await legalHoldOf(restored, 'acme', [{ kind: 'candidate', id: '501' }])).toEqual(put);
    expect(await findPersonRows(restored, eva)).toEqual(before);
    expect(await findPersonRows(restored, ben)).toEqual([]);
    const [own, ...others] = (await openErasures(restored)).filter(({ subject }) => subject.includes('"501"'));
    expect([own?.erasure_id === asked.erasure_id, others]).toEqual([how === 'is under way', []]);
    await expect(carryOut(restored, dir, own?.erasure_id)).rejects.toMatchObject({ code: 'LEGAL_HOLD' });
    await hold(restored, { release: true });
    expect(await carryOut(restored, dir, own?.erasure_id)).toMatchObject({ receipt: own?.erasure_id });
    expect(await findPersonRows(restored, eva)).toEqual([]);
  },
);

describe.each(kinds)('a backup put back in %s', (kind) => {
  test('is erased of nobody whom its own holds protect: their erasure waits for the release, once', async () => {
    const { store } = await freshStore(kind);
    const { eva, ben } = await seeded(store);
    const marked = async (erasure: string, of: typeof eva) => {
      const marking = { tenantId: 'acme', mark: 'erased', by: 'ann', about: erasure } as const;
      return { tenant: 'acme', erasure, by: 'ann', keys: [], person: await markPerson(store, marking, allIdsOf(of)) };
    };
    const listed = [await marked('e1', eva), await marked('e2', ben)];
    await hold(store, { reason: 'case 12' });
    const before = await findPersonRows(store, eva);
    expect(await eraseRestored(store, listed)).toBe(1);
    expect(await eraseRestored(store, listed)).toBe(0);
    expect(await findPersonRows(store, eva)).toEqual(before);
    expect(await findPersonRows(store, ben)).toEqual([]);
    expect((await openErasures(store)).map(({ reason }) => reason).toSorted()).toEqual(
      ['e1', 'e2'].map((erasure) => `a backup was put back that is from before erasure ${erasure}`),
    );
  });
});
