import { beforeAll, describe, expect, test } from 'vitest';
import { hiresDue, type PushContext } from '../../../activities/push/push-context.ts';
import { findHireRow, insertHires } from '../../../src/store/hires.ts';
import { has, type Store } from '../../../src/store/open-store.ts';
import type { HireRow } from '../../../src/store/schema.ts';
import { kinds, storesOfFile } from '../../store/stores.ts';

const stores = storesOfFile();

describe.each(kinds)('%s', (kind) => {
  let store: Store;
  beforeAll(async () => {
    ({ store } = await stores(kind));
  });

  test('whoever is erased after a pass has read their hire is left out of it', async () => {
    const hires = ['1', '2', '3'].map((id) => ({ tenantId: 'acme', jobCandidateId: id, period: 1 }));
    await insertHires(
      store,
      hires.map((hire) => ({ ...hire, state: 'open' as const })),
    );
    const rows = (await Promise.all(hires.map((hire) => findHireRow(store, hire)))) as HireRow[];
    const tenant = { hris: { connection: 'hr' }, streams: { documents: { wholeWithin: 0 } } };
    const key = { tenantId: 'acme', stream: 'documents' };
    const context = { deps: { store }, connection: { tenant }, key, full: true } as unknown as PushContext;
    const due: string[] = [];
    for await (const { job_candidate_id: id } of hiresDue(context, [], [], async (_, after) => (after ? [] : rows))) {
      due.push(id);
      await store.kysely
        .deleteFrom('hires')
        .where(has({ tenant_id: 'acme', job_candidate_id: '2' }))
        .execute();
    }
    expect(due).toEqual(['1', '3']);
  });
});
