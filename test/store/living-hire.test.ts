import { describe, expect, test } from 'vitest';
import { endHire, moveResting, recordEmployee } from '../../src/store/hire-states.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import { linkEmployee, linkOfEmployee } from '../../src/store/identity.ts';
import { moveLink, takeLink } from '../../src/store/living-hire.ts';
import type { Store } from '../../src/store/open-store.ts';
import { freshStore, kinds } from './stores.ts';

const first = refOf('5012');
const second = refOf('5013');
const third = refOf('5014');
const person = { connection: 'hr', partnerCompany: '17', candidateId: '900' };
const employee = { connection: 'hr', id: '7' };

describe.each(kinds)('whose employee it is, on %s', (kind) => {
  test('a hire ends and hands its employee back, or neither', async () => {
    const { store, other } = await takenOver(kind);
    await store.kysely.schema.alterTable('employments').renameTo('employments_away').execute();
    await expect(endHire(store, second, 'left')).rejects.toThrow('employments');
    expect(await latestHire(other, 'acme', '5013')).toMatchObject({ state: 'open' });
    await store.kysely.schema.alterTable('employments_away').renameTo('employments').execute();
    await endHire(store, second, 'left');
    expect(await linked(other)).toMatchObject({ job_candidate_id: '5012' });
  });

  test('a hire that rests and is seen to have left hands its employee back', async () => {
    const { store } = await takenOver(kind);
    await endHire(store, second, 'kept');
    expect(await linked(store)).toMatchObject({ job_candidate_id: '5013' });
    const seen = await latestHire(store, 'acme', '5013');
    if (seen !== undefined) await moveResting(store, seen, 'left');
    expect(await linked(store)).toMatchObject({ job_candidate_id: '5012' });
  });

  test('hires of an older worker, which noted no connection, hand their employee back too', async () => {
    const { store } = await takenOver(kind);
    await store.kysely.updateTable('hires').set({ connection: null }).execute();
    await endHire(store, second, 'left');
    expect(await linked(store)).toMatchObject({ job_candidate_id: '5012' });
  });

  test('an employee who was handed back is linked no later than before', async () => {
    const { store } = await takenOver(kind);
    await store.kysely.updateTable('links').set({ linked_at: 5 }).execute();
    await endHire(store, second, 'left');
    expect(await linked(store)).toMatchObject({ job_candidate_id: '5012', linked_at: 5 });
  });

  test('a hire takes its employee over from whichever hire has them by now', async () => {
    const { store } = await takenOver(kind);
    await takeLink(store, employee, { seen: first, to: third });
    expect(await linked(store)).toMatchObject({ job_candidate_id: '5014' });
  });
});

function refOf(jobCandidateId: string) {
  return { tenantId: 'acme', jobCandidateId, period: 1 };
}

/** Three hires of one person and one employee; the second took the employee over from the first. */
async function takenOver(kind: (typeof kinds)[number]): Promise<{ store: Store; other: Store }> {
  const { store, other } = await freshStore(kind);
  await insertHires(
    store,
    [first, second, third].map((ref) => ({ ...ref, state: 'open' as const })),
  );
  for (const ref of [first, second, third]) await recordEmployee(store, ref, { ...employee, number: null });
  await store.kysely.updateTable('hires').set({ candidate_id: '900' }).execute();
  // The third is the oldest: what is handed back goes to the newest.
  const times = [second, first, third].map(({ jobCandidateId }, at) => [jobCandidateId, 100 - at] as const);
  for (const [id, opened_at] of times)
    await store.kysely.updateTable('hires').set({ opened_at }).where('job_candidate_id', '=', id).execute();
  await linkEmployee(store, person, first, { id: '7', number: null });
  await moveLink(store, employee, { from: first, to: second });
  return { store, other };
}

function linked(store: Store) {
  return linkOfEmployee(store, 'hr', '7');
}
