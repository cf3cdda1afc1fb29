import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { askErasure } from '../../../src/store/erasures.ts';
import { erasePersonRows, findPersonRows, type Subject } from '../../../src/store/person-data.ts';
import { purgeWriteLog, purgeWrites } from '../../../src/store/retention.ts';
import { optionWorld } from './option-world.ts';

const NOBODY = { candidates: [], jobCandidates: [], enrolments: [], employees: [] };

function subjectOf(ids: Partial<Subject>): Subject {
  return { tenantId: 'acme', companies: ['acme'], ...NOBODY, ...ids };
}

/** Two candidates whose value was brought to a new name. */
async function renamed() {
  const { hr, run, hold, sandbox, store } = await optionWorld({ candidates: 2, entityType: 'candidate' });
  const bar = hr.add('Bar');
  hr.add('Kitchen');
  await run('one');
  const { items } = await sandbox.partner.readAll(contract.candidates.list, {});
  const ids = items.map(({ id }) => String(id));
  for (const id of ids) await hold(id, 'Bar');
  hr.rename(bar, 'Lounge');
  await run('two');
  const placesOf = async (of: Partial<Subject>) => {
    const found = await findPersonRows(store, subjectOf(of));
    return found.map(({ place, count }) => `${place} ${count}`);
  };
  return { store, ids, placesOf, hr, bar, run };
}

test('a value that followed its option is found and erased as its candidate’s, and as nobody else’s', async () => {
  const { store, ids, placesOf } = await renamed();
  const [eva = '', ben = ''] = ids;
  expect(await placesOf({ candidates: [eva] })).toEqual(['foreign_writes 1']);
  // The application of somebody else has the same number.
  expect(await placesOf({ jobCandidates: [eva] })).toEqual([]);
  await erasePersonRows(store, subjectOf({ jobCandidates: [eva, ben] }));
  expect(await placesOf({ candidates: [eva] })).toEqual(['foreign_writes 1']);
  await erasePersonRows(store, subjectOf({ candidates: [eva] }));
  expect([await placesOf({ candidates: [eva] }), await placesOf({ candidates: [ben] })]).toEqual([
    [],
    ['foreign_writes 1'],
  ]);
});

test('whose value followed its option is forgotten by the write log in the end', async () => {
  const { store, ids, placesOf } = await renamed();
  const [eva = '', ben = ''] = ids;
  await store.kysely.updateTable('foreign_writes').set({ sent_at: 1 }).execute();
  await purgeWrites(store, 'acme', 1_000);
  expect(await placesOf({ candidates: [eva] })).toEqual(['purged_writes 1']);
  await erasePersonRows(store, subjectOf({ candidates: [eva] }));
  expect([await placesOf({ candidates: [eva] }), await placesOf({ candidates: [ben] })]).toEqual([
    [],
    ['purged_writes 1'],
  ]);
  await purgeWriteLog(store, 'acme', 1_000);
  expect(await placesOf({ candidates: [ben] })).toEqual([]);
});

test('the value of an erased candidate follows no option, and nothing is noted of them', async () => {
  const { store, ids, placesOf, hr, bar, run } = await renamed();
  const [eva = '', ben = ''] = ids;
  const subject = subjectOf({ candidates: [eva] });
  await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
  await erasePersonRows(store, subject);
  hr.rename(bar, 'Salon');
  await run('three');
  expect([await placesOf({ candidates: [eva] }), await placesOf({ candidates: [ben] })]).toEqual([
    [],
    ['foreign_writes 2'],
  ]);
});
