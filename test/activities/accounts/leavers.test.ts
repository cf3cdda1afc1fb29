import { expect, test } from 'vitest';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { answerHold, closeHold, listHolds } from '../../../src/store/holds.ts';
import { accountWorld } from './account-world.ts';

const LONG_AGO = '2020-01-31';

type World = Awaited<ReturnType<typeof accountWorld>>;

async function openHolds({ store }: World): Promise<string[]> {
  return (await listHolds(store, { tenantId: 'acme' })).map(({ code }) => code);
}

async function give({ store }: World, answer: string): Promise<void> {
  const [hold] = await listHolds(store, { tenantId: 'acme' });
  await answerHold(store, hold?.hold_id ?? '', { answer, arguments: [], by: 'ada' });
  await closeHold(store, hold?.hold_id ?? '');
}

test('the account of somebody who left is asked about, and ended or kept as answered', async () => {
  const world = await accountWorld();
  const { run, user, terminate, aDayLater, steps, store, retry, record } = world;
  await run('made');
  await aDayLater();
  expect(await run('at work')).toMatchObject({ state: 'done', counts: { read: 0 } });
  await terminate(LONG_AGO);
  expect(await run('not yet looked at')).toMatchObject({ counts: { read: 0 } });
  await aDayLater();
  expect(await run('left')).toMatchObject({ state: 'partial', counts: { held: 1 } });
  expect(await openHolds(world)).toEqual(['ACCOUNT_OF_LEAVER']);
  expect(await run('waits')).toMatchObject({ counts: { held: 1, updated: 0 } });
  expect([user()['active'], (await steps())[0]?.state]).toEqual([true, 'leaving']);
  await give(world, 'dismiss');
  expect(await run('kept')).toMatchObject({ state: 'done' });
  await aDayLater();
  expect(await run('and stays', { full: true })).toMatchObject({ state: 'done', counts: { read: 0 } });
  expect([user()['active'], (await steps())[0]?.state]).toEqual([true, 'kept']);
  await store.kysely.updateTable('hire_steps').set({ state: 'done' }).execute();
  await retry(record);
  expect(await run('asked by name')).toMatchObject({ counts: { held: 1 } });
  await give(world, 'end-account');
  expect(await run('ended')).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect([user()['active'], (await steps())[0]?.state]).toEqual([false, 'ended']);
  const noted = await listWrites(store, { tenantId: 'acme', target: 'account:directory' });
  expect(noted.map(({ kind, outcome }) => `${kind} ${outcome}`).toSorted()).toEqual(['create done', 'end done']);
});

test('where the tenant says so accounts end by themselves, once, as many an hour as hires are cancelled', async () => {
  const world = await accountWorld({ leavers: 'end' });
  const { run, user, terminate, aDayLater, steps, proxy, directory, change, store } = world;
  await run('made');
  await terminate(LONG_AGO);
  for (const kind of ['cut', 'answer-lost', 'reset-before', 'executed-late'] as const) {
    await aDayLater();
    const meanwhile = proxy.strike({ kind, on: ({ method }) => method === 'PATCH' });
    expect(await run(kind, { meanwhile }), kind).toMatchObject({ state: 'done', counts: { updated: 1 } });
    expect([user()['active'], (await steps())[0]?.state], kind).toEqual([false, 'ended']);
    // It was a mistake: the employment goes on.
    await change('update employees set last_day = null');
    await aDayLater();
    await run('seen again');
    expect(await run('back')).toMatchObject({ state: 'done' });
    expect([user()['active'], (await steps())[0]?.state], kind).toEqual([true, 'done']);
    await terminate(LONG_AGO);
  }
  directory.mood = 'throttled';
  await aDayLater();
  await expect(run('as many')).rejects.toMatchObject({ action: 'throttle' });
  directory.mood = 'well';
  const [step] = await steps();
  const ended = { ...step, reference: 'other', state: 'ended', done_at: Date.now(), account_id: 'u9' } as const;
  for (const period of [7, 8, 9])
    await store.kysely
      .insertInto('hire_steps')
      .values({ ...(ended as NonNullable<typeof step>), period })
      .execute();
  expect(await run('as many')).toMatchObject({ counts: { held: 1 } });
  expect([user()['active'], await openHolds(world)]).toEqual([true, ['ACCOUNT_OF_LEAVER']]);
  await give(world, 'end-account');
  expect(await run('as answered')).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect(user()['active']).toBe(false);
});

test('an account that another hire of the person has stays until that employment is over, too', async () => {
  const world = await accountWorld({ leavers: 'end' });
  const { run, user, aDayLater, steps, change, applyFor, begin, employOnce, answerAs, finish, refOf, employeeId } =
    world;
  await run('one');
  const second = await begin(await applyFor(0));
  await answerAs(await refOf(second), await employOnce(second), 'new-employment');
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  await run('two');
  await change(`update employees set last_day = '${LONG_AGO}' where id = ${employeeId}`);
  await aDayLater();
  expect(await run('left the one')).toMatchObject({ counts: { updated: 0, held: 0 } });
  expect(user()['active']).toBe(true);
  await change(`update employees set last_day = '${LONG_AGO}'`);
  await aDayLater();
  await run('left both');
  await aDayLater();
  expect(await run('the day after')).toMatchObject({ state: 'done' });
  expect([user()['active'], (await steps()).map(({ state }) => state)]).toEqual([false, ['ended', 'ended']]);
});

test('an employee whom the HR system shows no more, a person is asked about, whatever the tenant says', async () => {
  const world = await accountWorld({ leavers: 'end' });
  const { run, user, aDayLater, change } = world;
  await run('made');
  await change('delete from employees');
  await aDayLater();
  expect(await run('gone')).toMatchObject({ counts: { held: 1 } });
  expect([user()['active'], await openHolds(world)]).toEqual([true, ['ACCOUNT_OF_LEAVER']]);
});
