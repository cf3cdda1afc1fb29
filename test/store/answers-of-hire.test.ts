import { describe, expect, test } from 'vitest';
import { endHire, moveResting } from '../../src/store/hire-states.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import { answerHold, answersOf, closeHold, lastAnswered, openHold } from '../../src/store/holds.ts';
import { freshStore, kinds } from './stores.ts';

const key = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };

describe.each(kinds)('what people answered, on %s', (kind) => {
  test('a hire that was opened again after a cancel hears nothing of it', async () => {
    const { store } = await freshStore(kind);
    await insertHires(store, [{ ...key, state: 'open' }]);
    const hold = { ...key, code: 'MAPPING_INCOMPLETE', message: 'm', answers: ['cancel', 'retry'] };
    const answer = async (word: string) => {
      const { holdId } = await openHold(store, hold);
      await answerHold(store, holdId, { answer: word, arguments: [], by: 'ann' });
      await closeHold(store, holdId);
    };
    await answer('cancel');
    await endHire(store, key, 'cancelled');
    const seen = await latestHire(store, 'acme', '5012');
    if (seen === undefined) throw new Error('no hire');
    // The database's clock counts milliseconds: opened, asked about and opened again are three of them.
    await store.kysely
      .updateTable('hires')
      .set({ opened_at: seen.opened_at - 2 })
      .execute();
    await store.kysely
      .updateTable('holds')
      .set({ opened_at: seen.opened_at - 1 })
      .execute();
    await moveResting(store, seen, 'open');
    expect(await answersOf(store, key)).toEqual([]);
    expect(await lastAnswered(store, key)).toBeUndefined();
    await answer('retry');
    expect(await answersOf(store, key)).toMatchObject([{ answer: 'retry' }]);
  });
});
