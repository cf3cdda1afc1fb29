import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  beginNextEnrolment,
  closeCreditGate,
  openCreditGate,
  passCreditGate,
  recordEnrolment,
  releaseCanary,
} from '../../src/store/enrolments.ts';
import { addHints, clearHints, readHints } from '../../src/store/hints.ts';
import { endHire, moveResting } from '../../src/store/hire-states.ts';
import { insertHires, latestHire, reserveCancellation, updateHire } from '../../src/store/hires.ts';
import { answerHold, closeHold, listHolds, openHold, readHold } from '../../src/store/holds.ts';
import { decideIntent, latestIntent, openIntent, requestUnderWay } from '../../src/store/intents.ts';
import { openStore, readClock, type Store } from '../../src/store/open-store.ts';
import { pauseTenant, readTenantState, resumeTenant } from '../../src/store/tenant-states.ts';
import { patience } from '../harness/pace.ts';
import { holdPerson, who } from './known-people.ts';
import { emptyStoreUrl, freshStore, freshStoreUrl, kinds } from './stores.ts';

const key = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const intent = {
  ...key,
  verb: 'create-employee',
  attempt: 1,
  pinned: { reference: '17:900' },
  budgetMs: 5_000,
};

const run = promisify(execFile);

async function installationIdByProcess(url: string): Promise<string> {
  const module = new URL('../../src/store/open-store.ts', import.meta.url).href;
  const code =
    `const { openStore } = await import(${JSON.stringify(module)}); const s = await ` +
    `openStore(${JSON.stringify(url)}); console.log(s.installationId); await s.close();`;
  return (await run(process.execPath, ['--input-type=module', '-e', code])).stdout.trim();
}

describe.each(kinds)('the store on %s', (kind) => {
  test('of hires that leave at once no more are ended than an hour may have', async () => {
    const { store } = await freshStore(kind);
    await readTenantState(store, 'acme');
    const refs = Array.from({ length: 6 }, (_, nth) => ({ ...key, jobCandidateId: String(nth) }));
    await insertHires(
      store,
      refs.map((ref) => ({ ...ref, state: 'open' as const })),
    );
    const ask = () => Promise.all(refs.map((ref) => reserveCancellation(store, ref, { most: 3, windowMs: 3_600_000 })));
    const allowed = await ask();
    expect(allowed.filter(Boolean)).toHaveLength(3);
    // The answer was lost: each is asked again, and those that were allowed are so still.
    expect(await ask()).toEqual(allowed);
    const ended = refs.filter((_, nth) => allowed[nth]);
    for (const ref of ended) await endHire(store, ref, 'left');
    expect((await ask()).filter(Boolean)).toEqual([]);
  });

  test('processes that open a new store at once agree on one installation', async () => {
    const url = await emptyStoreUrl(kind);
    const ids = await Promise.all(Array.from({ length: 4 }, () => installationIdByProcess(url)));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^hb[0-9a-f]{10}$/);
  });

  test('a hire is one row a period, whoever records it', async () => {
    const { store, other } = await freshStore(kind);
    const counts = await Promise.all([
      insertHires(store, [{ ...key, state: 'open' }]),
      insertHires(other, [{ ...key, state: 'open' }]),
    ]);
    expect(counts.toSorted()).toEqual([0, 1]);
    await insertHires(store, [{ ...key, period: 2, state: 'open' }]);
    expect((await latestHire(other, 'acme', '5012'))?.period).toBe(2);
  });

  test('one of two executions makes the intent, and a decided intent keeps its outcome', async () => {
    const { store, other } = await freshStore(kind);
    await insertHires(store, [{ ...key, state: 'open' }]);
    const made = (await Promise.all([openIntent(store, intent), openIntent(other, intent)])).filter(
      (row) => row !== undefined,
    );
    expect(made).toHaveLength(1);
    const [row] = made;
    if (row === undefined) throw new Error('no intent');
    expect(row.give_up_at - row.sent_at).toBe(5_000);
    await decideIntent(store, row, 'done', { id: '7' });
    await decideIntent(other, row, 'absent', null);
    expect(await latestIntent(other, key, 'create-employee')).toMatchObject({ outcome: 'done', result: '{"id":"7"}' });
  });

  test('once a hire is over, a worker that stood still intends, claims and notes nothing more', async () => {
    const { store, other } = await freshStore(kind);
    await insertHires(store, [{ ...key, state: 'open' }]);
    await endHire(store, key, 'left');
    expect(await openIntent(other, intent)).toBeUndefined();
    expect(await holdPerson(other, who('900'), key)).toMatchObject({ refusal: { reason: 'over' } });
    await updateHire(other, key, { step: 'onboard', onboarding_candidate_id: 'late' });
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({
      state: 'left',
      step: 'ended',
      onboarding_candidate_id: null,
    });
  });

  test('a worker that stood still changes nothing of a hire that was opened again since it looked', async () => {
    const { store, other } = await freshStore(kind);
    await insertHires(store, [{ ...key, state: 'open' }]);
    await endHire(store, key, 'kept');
    const seen = await latestHire(store, 'acme', '5012');
    if (seen === undefined) throw new Error('no hire');
    await moveResting(store, seen, 'open');
    expect(await openIntent(store, intent)).toBeDefined();
    await moveResting(other, seen, 'left');
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({ state: 'open', step: 'enrol' });
    await endHire(store, key, 'done');
    await endHire(other, key, 'left');
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({ state: 'done' });
  });

  test('a worker that stood still neither counts up nor describes a newer enrolment', async () => {
    const { store, other } = await freshStore(kind);
    await insertHires(store, [{ ...key, state: 'open' }]);
    await recordEnrolment(store, key, 1, { id: 'first', status: 'rejected' });
    await beginNextEnrolment(store, key, 1);
    await recordEnrolment(store, key, 2, { id: 'second', status: 'in_progress' });
    await beginNextEnrolment(other, key, 1);
    await updateHire(other, key, { onboarding_status: 'rejected' }, { enrolment: 1 });
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({
      enrolment: 2,
      onboarding_candidate_id: 'second',
      onboarding_status: 'in_progress',
    });
  });

  test('a worker that records the enrolment late does not move the hire back to its onboarding', async () => {
    const { store, other } = await freshStore(kind);
    await insertHires(store, [{ ...key, state: 'open' }]);
    const enrolment = { id: 'first', status: 'not_started' };
    await recordEnrolment(store, key, 1, enrolment);
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({ step: 'onboard' });
    await updateHire(store, key, { step: 'employ' });
    await recordEnrolment(other, key, 1, enrolment);
    expect(await latestHire(store, 'acme', '5012')).toMatchObject({ step: 'employ' });
  });

  test('a request under way is seen until its deadline, and for longer when it began after the look', async () => {
    const { store, other } = await freshStore(kind);
    await insertHires(store, [{ ...key, state: 'open' }]);
    const before = await readClock(store);
    expect(await requestUnderWay(store, key, before)).toBeUndefined();
    const first = await openIntent(other, { ...intent, budgetMs: 0 });
    expect(await requestUnderWay(store, key, before)).toBe(0);
    expect(await requestUnderWay(store, key, (first?.now ?? 0) + 1)).toBeUndefined();
    const second = await openIntent(other, { ...intent, attempt: 2, budgetMs: 3_600_000 });
    expect(await requestUnderWay(store, key, (second?.now ?? 0) + 1)).toBeGreaterThan(1_800_000);
    if (second !== undefined) await decideIntent(store, second, 'absent', null);
    expect(await requestUnderWay(store, key, (second?.now ?? 0) + 1)).toBeUndefined();
  });

  test('with the credit gate closed one caller a period passes', async () => {
    const { store, other } = await freshStore(kind);
    await readTenantState(store, 'acme');
    const pass = (one: Store) => passCreditGate(one, key, 'enrol:1', 60_000);
    const [early, late] = [await pass(store), await pass(store)];
    if ('waitMs' in early || 'waitMs' in late) throw new Error('the gate is closed from the beginning');
    expect(early).toEqual({ at: expect.any(Number), canary: 'none' });
    const numbers = { required: 1, available: 0 };
    // A gate that closes in the very millisecond in which it was passed would count as passed afterwards.
    while ((await readClock(store)) <= late.at);
    expect(await closeCreditGate(store, 'acme', early, numbers)).toBe(true);
    expect(await closeCreditGate(other, 'acme', late, numbers)).toBe(false);
    expect(await pass(store)).toHaveProperty('waitMs');
    expect(await openCreditGate(store, 'acme', early)).toBe(false);
    await releaseCanary(store, 'acme');
    const tries = await Promise.all([store, other, store, other].map(pass));
    const [turn] = tries.filter((one) => 'canary' in one);
    if (turn === undefined) throw new Error('nobody passed');
    expect(turn).toEqual({ at: expect.any(Number), canary: 'new' });
    expect(tries.filter((one) => 'waitMs' in one)).toHaveLength(3);
    expect(await openCreditGate(store, 'acme', turn)).toBe(true);
    expect(await openCreditGate(store, 'acme', turn)).toBe(false);
    expect(await closeCreditGate(store, 'acme', late, numbers)).toBe(false);
  });

  test('an open hold is not opened twice, and its first answer stands', async () => {
    const { store, other } = await freshStore(kind);
    const hold = { ...key, code: 'MAPPING_INCOMPLETE', message: 'm', answers: ['retry'] };
    const first = await openHold(store, hold);
    expect(await openHold(other, hold)).toEqual({ holdId: first.holdId, fresh: false });
    expect(await answerHold(store, first.holdId, { answer: 'retry', arguments: [], by: 'ann' })).toBe(true);
    expect(await answerHold(other, first.holdId, { answer: 'cancel', arguments: [], by: 'bob' })).toBe(false);
    expect(await readHold(other, first.holdId)).toMatchObject({ answer: 'retry', answered_by: 'ann' });
    await closeHold(store, first.holdId);
    expect(await listHolds(store)).toEqual([]);
    expect((await openHold(store, hold)).holdId).not.toBe(first.holdId);
  });

  test('four processes that open one hold at once open one', async () => {
    const url = await freshStoreUrl(kind);
    const stores: Store[] = [];
    for (let count = 0; count < 4; count += 1) stores.push(await openStore(url));
    onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
    const hold = { code: 'CREDITS_USED_UP', message: 'm', answers: ['retry'] };
    for (const of of [{ tenantId: 'acme' }, key]) {
      const opened = await Promise.all(stores.map((store) => openHold(store, { ...of, ...hold })));
      expect(opened.filter(({ fresh }) => fresh)).toHaveLength(1);
      expect(new Set(opened.map(({ holdId }) => holdId)).size).toBe(1);
    }
  });

  test('a tenant is paused once and resumed once', async () => {
    const { store, other } = await freshStore(kind);
    expect(await pauseTenant(store, 'acme', 'KEY', 'no')).toBe(true);
    expect(await pauseTenant(other, 'acme', 'KEY', 'no')).toBe(false);
    expect(await resumeTenant(store, 'acme')).toBe(true);
    expect(await resumeTenant(store, 'acme')).toBe(false);
  });

  test('a hint is one row however often it comes, and stays until its work is done', async () => {
    const { store, other } = await freshStore(kind);
    await addHints(store, 'acme', 'people', ['1', '2']);
    await addHints(other, 'acme', 'people', ['2', '3']);
    const hints = await readHints(store, 'acme', 'people');
    expect(hints.map((hint) => hint.recordId).toSorted()).toEqual(['1', '2', '3']);
    expect((await readHints(other, 'acme', 'people')).length).toBe(3);
    await clearHints(store, 'acme', 'people', hints);
    expect(await readHints(other, 'acme', 'people')).toEqual([]);
  });

  test('a hint that comes while its work is under way is not cleared with it', async () => {
    const { store, other } = await freshStore(kind);
    await addHints(store, 'acme', 'people', ['1', '2']);
    const [first] = await readHints(store, 'acme', 'people');
    await vi.waitUntil(
      async () => {
        await addHints(other, 'acme', 'people', ['2']);
        return (await readHints(store, 'acme', 'people')).some((hint) => hint.hintedAt > (first?.hintedAt ?? 0));
      },
      { timeout: patience(30_000) },
    );
    await clearHints(store, 'acme', 'people', [
      { recordId: '1', hintedAt: first?.hintedAt ?? 0 },
      { recordId: '2', hintedAt: first?.hintedAt ?? 0 },
    ]);
    expect((await readHints(store, 'acme', 'people')).map((hint) => hint.recordId)).toEqual(['2']);
  });
});
