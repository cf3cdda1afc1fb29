import { expect, onTestFinished, test, vi } from 'vitest';
import { explainRecord } from '../../../src/operator/explain.ts';
import { readHire } from '../../../src/operator/hires.ts';
import type { OpenTenant } from '../../../src/operator/open-tenant.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { answerHold, closeHold, listHolds } from '../../../src/store/holds.ts';
import { accountWorld, killEverywhere, RULES } from './account-world.ts';

test('who was hired gets one account, under our reference; a request without an answer is looked up', async () => {
  const { run, users, steps, store, id, row, fleet, proxy, forgetStep, directory, failed } = await accountWorld();
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  const hire = await row();
  expect(users()).toEqual([
    expect.objectContaining({
      externalId: `17:${hire?.candidate_id}`,
      userName: expect.stringMatching(/^[a-z]+\.[a-z]+$/),
      title: expect.any(String),
      emails: [expect.objectContaining({ type: 'home', value: expect.stringContaining('@') })],
    }),
  ]);
  const [{ id: account } = { id: '' }] = users();
  expect(await steps()).toMatchObject([{ state: 'done', account_id: account, destination: 'directory' }]);
  const noted = await listWrites(store, { tenantId: 'acme', target: 'account:directory' });
  expect(noted.map(({ outcome, kind }) => [kind, outcome])).toEqual([['create', 'done']]);
  expect(await run('two', { full: true })).toMatchObject({ state: 'done', counts: { read: 0 } });
  expect(users()).toHaveLength(1);
  const { story } = await readHire(store, 'acme', id);
  const told = story.filter(({ kind }) => kind === 'account').map(({ text }) => text);
  expect(told).toEqual([`directory: done, account ${account} (create)`]);
  const connection = await fleet.deps.connections.of('acme');
  const open = { store, tenant: connection.tenant, connection, deps: fleet.deps } as unknown as OpenTenant;
  const [explained] = (await explainRecord(open, id, true)).destinations ?? [];
  expect(explained).toMatchObject({ destination: 'directory', state: 'done', plan: 'create', account });
  const title = explained?.fields.find(({ field }) => field === 'title');
  expect(title).toMatchObject({ value: expect.any(String), written: { outcome: 'done', value: title?.value } });
  for (const kind of ['cut', 'answer-lost', 'reset-before', 'executed-late'] as const) {
    await forgetStep();
    const meanwhile = proxy.strike({ kind, on: ({ method }) => method === 'POST' });
    expect(await run(kind, { meanwhile }), kind).toMatchObject({ state: 'done', counts: { created: 1 } });
    expect(users(), kind).toHaveLength(1);
    expect(await steps(), kind).toMatchObject([{ state: 'done', account_id: users()[0]?.id }]);
  }
  const [made] = users();
  const name = made?.userName ?? '';
  await forgetStep();
  const [former = '', alias = ''] = directory.add(2);
  const taken = { ...(directory.users.get(former) as NonNullable<typeof made>), userName: name.toUpperCase() };
  directory.users.set(former, { ...taken, active: false });
  directory.users.set(alias, { ...taken, id: alias, userName: `${name}2` });
  const numbered = await run('names taken');
  expect([numbered, await failed()]).toEqual([expect.objectContaining({ state: 'done' }), []]);
  expect(users().map(({ userName }) => userName)).toEqual([name.toUpperCase(), `${name}2`, `${name}3`]);
});

test('one account, wherever the process is killed', async () => {
  expect(await killEverywhere('sqlite')).toBeGreaterThan(10);
});

test('a directory that is away or refuses its token stops no hire, and is filled by a later pass', async () => {
  const { once, run, users, directory, begin, employOnce, finish, steps } = await accountWorld();
  directory.mood = 'throttled';
  await expect(once('busy')).rejects.toMatchObject({
    action: 'throttle',
    message: expect.stringContaining('"directory"'),
  });
  directory.mood = 'revoked';
  expect(await once('busy')).toMatchObject({ state: 'refused', code: expect.stringMatching(/^ACCOUNTS_/) });
  const second = await begin();
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  directory.mood = 'well';
  expect(await run('again')).toMatchObject({ state: 'done', counts: { created: 2 } });
  expect(users()).toHaveLength(2);
  expect((await steps()).map(({ state }) => state)).toEqual(['done', 'done']);
});

test('a step that is refused is told, keeps no other waiting, and is retried alone', async () => {
  const rules = RULES.replace('{ from: employee.email }', '{ from: employee.number, required: true }');
  const { run, users, failed, retry, record, fleet, begin, employOnce, finish, store } = await accountWorld({ rules });
  await store.kysely.updateTable('hires').set({ employee_number: null }).execute();
  const second = await begin();
  await employOnce(second);
  await finish(second);
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: 1, quarantined: 1 } });
  expect(await failed()).toMatchObject([{ record_key: record, reason: expect.stringContaining('employee.number') }]);
  await store.kysely.updateTable('hires').set({ employee_number: '77' }).where('employee_number', 'is', null).execute();
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { created: 0, quarantined: 1 } });
  await retry(`${second}/directory`);
  expect(await run('other')).toMatchObject({ counts: { created: 0, quarantined: 1 } });
  await retry(record);
  expect(await run('three')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(users()).toHaveLength(2);
  expect(await failed()).toEqual([]);
  expect((await fleet.deps.connections.of('acme')).tenant.hris.connection).toBe('hr');
});

test('who has left the hiring stages is looked at daily for a month, and then only if somebody asks', async () => {
  const { run, failed, retry, record, store, steps, move } = await accountWorld();
  await move('SCREEN');
  const refused = { state: 'partial', counts: { quarantined: 1 } };
  const reason = expect.stringMatching(/until 30 days after the hire ended/);
  const triedIn = async () => (await steps()).map(({ run_id: runId, code }) => [runId, code]);
  const ago = (days: number) =>
    store.kysely
      .updateTable('hires')
      .set((eb) => ({ ended_at: eb('ended_at', '-', days * 86_400_000) }))
      .execute()
      .then(() => store.kysely.updateTable('hire_steps').set({ updated_at: 0 }).execute());
  expect(await run('one')).toMatchObject(refused);
  expect(await failed()).toMatchObject([{ record_key: record, reason }]);
  await ago(29);
  expect(await run('two')).toMatchObject(refused);
  expect(await triedIn()).toEqual([['two', 'NOT_IN_STAGE']]);
  await ago(2);
  expect(await run('three')).toMatchObject(refused);
  expect(await triedIn()).toEqual([['two', 'NOT_IN_STAGE']]);
  expect(await failed()).toMatchObject([{ record_key: record, reason }]);
  await move('HIRED');
  await retry(record);
  expect(await run('four')).toMatchObject({ state: 'done', counts: { created: 1 } });
});

test('what keeps a step from being taken is told without answers: they belong to questions about hires', async () => {
  const { run, fleet, failed, row } = await accountWorld();
  await fleet.sandbox.control.act('setJobStatus', { jobId: Number((await row())?.job_id), status: 'DELETED' });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(await failed()).toMatchObject([{ reason: expect.stringMatching(/needs its data \(title, department\)\.$/) }]);
});

test('somebody of the same address is asked about; the answer is taken by the next pass', async () => {
  const { run, users, directory, fleet, store, row, steps, forgetStep } = await accountWorld();
  const params = { candidateId: Number((await row())?.candidate_id) };
  const { data } = await fleet.sandbox.partner.candidates.get({ params });
  for (const answer of ['link', 'create', 'dismiss'] as const) {
    await forgetStep();
    const [other = ''] = directory.add(1);
    const user = directory.users.get(other);
    if (user !== undefined) directory.users.set(other, { ...user, emails: [{ type: 'home', value: data.email }] });
    expect(await run(`${answer} 1`)).toMatchObject({ state: 'partial', counts: { created: 0, held: 1 } });
    expect(await run(`${answer} 2`)).toMatchObject({ counts: { created: 0, held: 1 } });
    const [hold, ...more] = await listHolds(store, { tenantId: 'acme' });
    expect([hold?.code, more]).toEqual(['ACCOUNT_UNCLEAR', []]);
    expect(hold?.message).toContain(`email: account ${other}`);
    const given = { answer, arguments: answer === 'link' ? [other] : [], by: 'ada' };
    await answerHold(store, hold?.hold_id ?? '', given);
    await closeHold(store, hold?.hold_id ?? '');
    const ended = { link: { updated: 1 }, create: { created: 1 }, dismiss: { unchanged: 1 } }[answer];
    expect(await run(`${answer} 3`), answer).toMatchObject({ state: 'done', counts: ended });
    const own = users().filter(({ id }) => id !== other);
    expect(own, answer).toHaveLength(answer === 'create' ? 1 : 0);
    const account = { link: other, create: own[0]?.id, dismiss: null }[answer];
    expect(await steps(), answer).toMatchObject([{ state: 'done', account_id: account }]);
  }
});

test('an id that the question did not show is linked only to the same name, or on a second answer', async () => {
  const { run, directory, fleet, store, row, steps } = await accountWorld();
  const params = { candidateId: Number((await row())?.candidate_id) };
  const { data } = await fleet.sandbox.partner.candidates.get({ params });
  const [shown = '', stranger = ''] = directory.add(2);
  const made = directory.users.get(shown);
  if (made === undefined) throw new Error('no user');
  directory.users.set(shown, { ...made, emails: [{ type: 'home', value: data.email }] });
  directory.users.set(stranger, { ...made, id: stranger, userName: 'liv', active: false });
  const answerNext = async (answer: string, ...given: string[]) => {
    const [hold] = await listHolds(store, { tenantId: 'acme' });
    await answerHold(store, hold?.hold_id ?? '', { answer, arguments: given, by: 'ada' });
    await closeHold(store, hold?.hold_id ?? '');
    return hold?.code;
  };
  await run('one');
  expect(await answerNext('link', stranger)).toBe('ACCOUNT_UNCLEAR');
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { held: 1 } });
  expect(directory.users.get(stranger)).toMatchObject({ active: false });
  expect(await answerNext('link-anyway')).toBe('ACCOUNT_OTHER_NAME');
  expect(await run('three')).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect(await steps()).toMatchObject([{ state: 'done', account_id: stranger }]);
});

/** A person whose account was made inactive, and who was hired again. */
async function hiredAgain() {
  const world = await accountWorld();
  const { run, users, directory, applyFor, begin, employOnce, answerAs, finish, refOf } = world;
  await run('one');
  const [account] = users();
  directory.users.set(account?.id ?? '', { ...(account as NonNullable<typeof account>), active: false });
  const second = await begin(await applyFor(0));
  await answerAs(await refOf(second), await employOnce(second), 'new-employment');
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  return { ...world, account };
}

test('a person who is hired again keeps the account, which is made active', async () => {
  const { run, users, steps, store, account } = await hiredAgain();
  expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 1, created: 0 } });
  expect(users()).toMatchObject([{ id: account?.id, active: true }]);
  expect((await steps()).map(({ account_id: of }) => of)).toEqual([account?.id, account?.id]);
  const noted = await listWrites(store, { tenantId: 'acme', target: 'account:directory' });
  expect(noted.map(({ kind, outcome }) => `${kind} ${outcome}`).toSorted()).toEqual(['create done', 'update done']);
});

test.each([
  ['stood still for too long', 'DEADLINE_PASSED'],
  ['was taken over by another', 'RUN_SUPERSEDED'],
])('a run that %s makes no account active', async (_what, code) => {
  const { once, users, store, proxy } = await hiredAgain();
  const now = Date.now.bind(Date);
  onTestFinished(() => void vi.restoreAllMocks());
  const stall = async () => vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
  const other = () => store.kysely.updateTable('streams').set({ run_id: 'other' }).where('stream', '=', 'accounts');
  const meanwhile = code === 'DEADLINE_PASSED' ? stall : () => other().execute();
  const struck = proxy.strike({ kind: 'meanwhile', on: ({ method }) => method === 'GET', meanwhile });
  const ended = await once('two').catch((error: unknown) => error);
  await struck;
  expect(ended).toMatchObject(code === 'DEADLINE_PASSED' ? { code } : { state: 'superseded' });
  expect(users()).toMatchObject([{ active: false }]);
});

test.each(['made', 'linked by a person'])(
  'an account %s that became somebody else is not made active; the person gets their own',
  async (how) => {
    const world = await accountWorld();
    const { run, users, directory, applyFor, begin, employOnce, answerAs, finish, refOf, steps, row, store } = world;
    if (how !== 'made') {
      const params = { candidateId: Number((await row())?.candidate_id) };
      const { data } = await world.fleet.sandbox.partner.candidates.get({ params });
      const [other = ''] = directory.add(1);
      const user = directory.users.get(other) as ReturnType<typeof users>[number];
      directory.users.set(other, { ...user, emails: [{ type: 'home', value: data.email }] });
      await run('asks');
      const [hold] = await listHolds(store, { tenantId: 'acme' });
      await answerHold(store, hold?.hold_id ?? '', { answer: 'link', arguments: [other], by: 'ada' });
      await closeHold(store, hold?.hold_id ?? '');
    }
    await run('one');
    const [account] = users();
    const stranger = { externalId: '99:5001', emails: [{ value: 'liv@example.org' }], userName: 'liv', active: false };
    directory.users.set(account?.id ?? '', { ...(account as NonNullable<typeof account>), ...stranger });
    const second = await begin(await applyFor(0));
    await answerAs(await refOf(second), await employOnce(second), 'new-employment');
    await employOnce(second);
    await finish(second);
    expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 1 } });
    const [first, own] = users();
    expect(first).toMatchObject(stranger);
    expect((await steps()).map(({ account_id: of }) => of)).toEqual(expect.arrayContaining([account?.id, own?.id]));
  },
);
