import { describe, expect, test } from 'vitest';
import { eraseRestored } from '../../src/store/erase-restored.ts';
import { askErasure } from '../../src/store/erasures.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows } from '../../src/store/person-data.ts';
import { readMarks } from '../../src/store/person-marks.ts';
import { seedEverywhere } from './seeded-person.ts';
import { freshStore, kinds } from './stores.ts';

const EVA = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
/** Ids are known by their names; bodies may name people in other ways. */
const DELIVERIES = {
  free: { ids: {}, body: '{"data":{"from":"eva@example.com"}}' },
  merged: { ids: { candidateId: ['502'] }, body: '{"data":{"candidateId":502,"from":{"id":501}}}' },
  nested: { ids: {}, body: '{"data":{"candidate":{"id":501,"email":"eva@example.com"}}}' },
  others: { ids: { candidateId: ['502'] }, body: '{"data":{"candidateId":502,"note":"room 5010"}}' },
};
const ALL = Object.keys(DELIVERIES);

async function fill(store: Store): Promise<void> {
  for (const [bodyHash, { ids, body }] of Object.entries(DELIVERIES))
    for (const tenantId of ['acme', 'umbrella'])
      await insertDelivery(store, { tenantId, bodyHash, event: 'candidate.noted', ids, body, state: 'unknown' });
}

async function withBody(store: Store, tenant: string): Promise<string[]> {
  const rows = store.kysely.selectFrom('inbox').select('body_hash').where('tenant_id', '=', tenant);
  return (await rows.where('body', '!=', '').execute()).map((row) => row.body_hash).toSorted();
}

describe.each(kinds)('bodies of unknown webhooks, on %s', (kind) => {
  test('those that may be about an erased person are emptied, also in a store that is put back', async () => {
    const { store } = await freshStore(kind);
    const { store: restored } = await freshStore(kind);
    for (const one of [store, restored]) await fill(one);
    await seedEverywhere(store, EVA);
    const ids = { candidates: [EVA.candidate], jobCandidates: [], enrolments: [], employees: [] };
    const subject = await completeIds(store, 'acme', ids);
    await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
    await erasePersonRows(store, subject);
    expect([await withBody(store, 'acme'), await withBody(store, 'umbrella')]).toEqual([['others'], ALL]);

    const { keys, marks } = await readMarks(store);
    const person = marks.map(({ digest }) => digest);
    await eraseRestored(restored, [{ tenant: 'acme', erasure: 'e', by: 'ann', keys, person }]);
    expect([await withBody(restored, 'acme'), await withBody(restored, 'umbrella')]).toEqual([['others'], ALL]);
  });
});
