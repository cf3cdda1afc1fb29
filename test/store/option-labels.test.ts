import { expect, test } from 'vitest';
import { noteInUse, noteOptionLabels, readInUse, readOptionLabels } from '../../src/store/fields.ts';
import { freshStore, kinds } from './stores.ts';

const KEY = { tenantId: 'acme', fieldId: '7' };

test.each(kinds)('an option that was found in use rests for a day (%s)', async (kind) => {
  const { store } = await freshStore(kind);
  const entries = ['Bar', 'Cellar', 'Kitchen'].map((label) => ({ id: label, label }));
  await noteOptionLabels(store, KEY, 'one', { entries, missed: [], leaving: [] });
  await noteInUse(store, KEY, ['Bar', 'Cellar']);
  expect((await readInUse(store, KEY)).toSorted()).toEqual(['Bar', 'Cellar']);
  expect(await readInUse(store, { ...KEY, fieldId: '8' })).toEqual([]);
  await store.kysely
    .updateTable('option_labels')
    .set((eb) => ({ in_use_at: eb('in_use_at', '-', 86_400_001) }))
    .where('label', '=', 'Bar')
    .execute();
  expect(await readInUse(store, KEY)).toEqual(['Cellar']);
  // What is noted of the list leaves it as it is.
  await noteOptionLabels(store, KEY, 'two', { entries: [], missed: ['Cellar'], leaving: [] });
  expect(await readInUse(store, KEY)).toEqual(['Cellar']);
  expect((await readOptionLabels(store, KEY)).get('Cellar')).toMatchObject({ missed_run: 'two', leaving: 0 });
});
