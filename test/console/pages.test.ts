import { expect, test } from 'vitest';
import { holdOf } from '../../src/hire/holds.ts';
import { answerHold } from '../../src/operator/holds.ts';
import { noteTrouble } from '../../src/store/alarms.ts';
import { settleConflicts } from '../../src/store/field-conflicts.ts';
import { recordWrites } from '../../src/store/foreign-writes.ts';
import { insertHires } from '../../src/store/hires.ts';
import { openHold, readHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import { changeQuarantine } from '../../src/store/quarantine.ts';
import { beginRun } from '../../src/store/streams.ts';
import { type OpenConsole, openConsole } from './open-console.ts';

const HIRE = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const HOSTILE = `<img src=x onerror="alert('1')">`;

const ambiguous = holdOf('IDENTITY_AMBIGUOUS', {
  jobCandidateId: '5012',
  reason: 'two people',
  keys: ['name'],
  employeeIds: ['4711', HOSTILE],
});

async function withHold(wanted: Parameters<typeof openConsole>[0] = {}): Promise<OpenConsole & { holdId: string }> {
  const open = await openConsole(wanted);
  await insertHires(open.store, [{ ...HIRE, state: 'open' }]);
  const { holdId } = await openHold(open.store, { ...HIRE, ...ambiguous });
  return { ...open, holdId };
}

test('the overview begins with what needs a person, by cause, with the hires that it blocks', async () => {
  const { store, signIn } = await withHold();
  for (const id of ['1', '2', '3'])
    await openHold(store, {
      ...HIRE,
      jobCandidateId: id,
      ...holdOf('PERSON_BEING_HIRED', { jobCandidateId: id, other: HIRE }),
    });
  const trouble = { tenantId: 'acme', kind: 'activity-failing', subject: 'planEmployee of job candidate 77' } as const;
  await noteTrouble(store, { ...trouble, reason: 'UNREACHABLE', message: 'The HR system is away.' }, 0);
  const { text } = await (await signIn()).get('/');
  expect(text.indexOf('What needs a person now')).toBeLessThan(text.indexOf('<h2 id="tenants-head">'));
  expect(text).toMatch(/PERSON_BEING_HIRED<\/h3>\s[^]*?blocks 3 hires/);
  expect(text).toMatch(/UNREACHABLE<\/h3>\s[^]*?blocks 1 hire</);
  expect(text).toContain('href="/hires/acme/77"');
  expect(text).toContain('NO_WORKER');
});

test('a thousand tenants are one table, and a search narrows it without a script', async () => {
  const { store, signIn } = await openConsole();
  const rows = Array.from({ length: 1_000 }, (_, n) => ({ ...HIRE, tenantId: `tenant-${n}`, state: 'open' as const }));
  await store.kysely
    .insertInto('tenants')
    .values(rows.map(({ tenantId }) => ({ tenant_id: tenantId, state: 'active' as const })))
    .execute();
  await insertHires(store, rows);
  const visitor = await signIn();
  const all = (await visitor.get('/')).text;
  expect(all.match(/href="\/hires\?tenant=tenant-\d+"/g)).toHaveLength(1_000);
  expect(all.match(/<td>1<\/td><td>1<\/td><td>never<\/td>/g)).toHaveLength(1_000);
  const one = (await visitor.get('/?q=tenant-777')).text;
  expect(one.match(/href="\/hires\?tenant=[\w-]+"/g)).toEqual(['href="/hires?tenant=tenant-777"']);
});

test('a hire begins with the sentence that its command begins with, and tells its story and its values', async () => {
  const { store, holdId, signIn } = await withHold();
  const write = { recordId: '5012', target: 'employee', kind: 'create', foreignId: '4711' } as const;
  await recordWrites(store, { tenantId: 'acme', by: 'hirebridge', runId: 'r1', mappingHash: '0123456789abcdef' }, [
    { ...write, changes: { title: { new: HOSTILE }, iban: { new: 'DE00' } }, sensitive: ['iban'] },
  ]);
  const { text } = await (await signIn()).get('/hires/acme/5012');
  const told = /<p class="lead">(.*)<\/p>/.exec(text)?.[1];
  expect(told).toMatch(/^The hire of job candidate 5012 in acme waits for a person since \S+: IDENTITY_AMBIGUOUS\.$/);
  expect(text).toContain(`<a href="/holds/${holdId}">Answer hold ${holdId}: IDENTITY_AMBIGUOUS</a>`);
  expect(text).toContain('read as hired; opened, period 1');
  expect(text).toContain('&lt;img src=x');
  expect(text).not.toMatch(/<img|DE00/);
  expect(text).toContain('•••');
});

test('a hold shows what was seen beside what is asked, each answer with what it does and takes', async () => {
  const { holdId, signIn } = await withHold();
  const { text } = await (await signIn()).get(`/holds/${holdId}`);
  expect(text).toContain('Whether job candidate 5012 is an employee already is not certain');
  expect(text).toContain('Answer link &lt;employeeId&gt; if one of them is this person');
  expect(text).toContain('Links this hire to the employee that you name; nothing new is made.');
  expect(text).toMatch(/<label>ID of the employee in the HR system<input name="id" required/);
  expect(text).not.toContain('<img');
});

test('an answer is looked at once more, then stored as the command stores it; a second one is refused', async () => {
  const { store, holdId, signalled, signIn } = await withHold();
  const other = await openHold(store, { ...HIRE, jobCandidateId: '5013', ...ambiguous });
  const visitor = await signIn();
  const last = await visitor.get(`/holds/${holdId}/answer?answer=link&id=4711`);
  expect(last.text).toContain('<b>link 4711</b>');
  expect(last.text).toContain('it cannot be taken back');
  expect((await readHold(store, holdId))?.answered_at).toBeNull();
  const answer = await visitor.post(`/holds/${holdId}/answer`, { answer: 'link', id: '4711' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `/holds/${holdId}`]);
  expect(signalled).toEqual(['hb/hire/acme/5012']);
  expect((await visitor.get(`/holds/${holdId}`)).text).toContain('Answered link by ann.');

  const workflow = { signalWithStart: async () => undefined };
  const hires = { client: { workflow }, installationId: 'hb', timing: { heartbeatMs: 1, attemptMs: 1, retryMs: 1 } };
  const given = { holdId: other.holdId, answer: 'link', arguments: ['4711'], by: 'ann' };
  await answerHold({ store, hires: hires as never }, given);
  const [byPage, byCommand] = await Promise.all([readHold(store, holdId), readHold(store, other.holdId)]);
  const answered = (row: typeof byPage) => [row?.answer, row?.answer_arguments, row?.answered_by, row?.closed_at];
  expect(answered(byPage)).toEqual(answered(byCommand));

  const second = await visitor.post(`/holds/${holdId}/answer`, { answer: 'create' });
  expect([second.status, await second.text()]).toEqual([409, expect.stringContaining('the first answer stands')]);
  expect((await readHold(store, holdId))?.answer).toBe('link');
});

test('an answer that is stored although nobody could be told of it yet is shown as given', async () => {
  const { store, holdId, signIn, logged } = await withHold({ isAway: true });
  const visitor = await signIn();
  const answer = await visitor.post(`/holds/${holdId}/answer`, { answer: 'create' });
  expect([answer.status, (await readHold(store, holdId))?.answer]).toEqual([303, 'create']);
  expect(logged.join('')).toContain('answer stored and not told yet');
});

test.each([
  ['an answer that it does not take', 'answer=dismiss', 'is none of them'],
  ['an answer without the id that it needs', 'answer=link', 'needs an id'],
  ['no answer at all', '', 'is none of them'],
])('%s is refused with a page that says so, before anything is stored', async (_what, query, said) => {
  const { store, holdId, signIn } = await withHold();
  const visitor = await signIn();
  const look = await visitor.get(`/holds/${holdId}/answer?${query}`);
  const sent = await visitor.post(`/holds/${holdId}/answer`, Object.fromEntries(new URLSearchParams(query)));
  expect([look.status, sent.status]).toEqual([422, 422]);
  expect(look.text).toContain(said);
  expect((await readHold(store, holdId))?.answered_at).toBeNull();
});

test('a delivery is shown without its payload, found by an id in it, and acted upon again', async () => {
  const { store, signIn } = await openConsole();
  const delivery = { tenantId: 'acme', ids: { jobCandidateId: ['7'] }, state: 'waiting' } as const;
  const body = '{"email":"jane@example.com"}';
  await insertDelivery(store, { ...delivery, bodyHash: 'abcdef0123456789', event: HOSTILE, body });
  await insertDelivery(store, { ...delivery, bodyHash: 'ffffff0123456789', event: 'x', ids: {}, body });
  await store.kysely.updateTable('inbox').set({ state: 'undeliverable', failures: 10 }).execute();
  const visitor = await signIn();
  const { text } = await visitor.get('/deliveries?delivery=jobCandidateId');
  expect(text).toContain('abcdef012345');
  expect(text).not.toMatch(/jane@example|<img|ffffff/);
  const part = await visitor.post('/deliveries/again', { tenant: 'acme', delivery: '', state: 'undeliverable' });
  expect(part.status).toBe(404);
  const again = { tenant: 'acme', delivery: 'abcdef012345', state: 'undeliverable' };
  expect((await visitor.post('/deliveries/again', again)).status).toBe(303);
  const rows = await store.kysely.selectFrom('inbox').select(['body_hash', 'state']).orderBy('body_hash').execute();
  expect(rows.map(({ state }) => state)).toEqual(['waiting', 'undeliverable']);
});

test('streams show runs, what was left out with its reason, and conflicts that are decided by their hold', async () => {
  const { store, signIn } = await openConsole();
  const key = { tenantId: 'acme', stream: 'candidates' };
  await beginRun(store, key, { runId: 'r1', full: false, firstPage: 0 });
  await changeQuarantine(store, key, 'r1', {
    page: 0,
    over: [],
    news: [{ key: '17', reason: 'email: expected text' }],
  });
  const conflict = { field: 'city', kind: 'held', forms: { partner: 'a', hris: 'b' } } as const;
  const pair = { ...key, stream: 'employees', pairId: '9' };
  const values = { partner: HOSTILE, hris: 'Rome' };
  await settleConflicts(store, pair, { open: [] }, [{ ...conflict, values, isSensitive: false }]);
  const iban = { partner: 'DE00', hris: 'DE01' };
  await settleConflicts(store, pair, { open: [] }, [{ ...conflict, field: 'iban', values: iban, isSensitive: true }]);
  const { holdId } = await openHold(store, {
    tenantId: 'acme',
    ...holdOf('FIELD_CONFLICTS', { stream: 'employees', count: 2 }),
  });
  const visitor = await signIn();
  const { text } = await visitor.get('/streams?tenant=acme');
  expect(text).toContain('email: expected text');
  expect(text).not.toMatch(/<img|DE0/);
  const [, id = ''] = /name="id" value="(\w+)"/.exec(text) ?? [];
  const last = await visitor.get(`/holds/${holdId}/answer?id=${id}&answer=keep-hris`);
  expect(last.text).toContain(`<b>keep-hris ${id}</b>`);
  await visitor.post(`/holds/${holdId}/answer`, { answer: 'keep-hris', id });
  const rows = await store.kysely.selectFrom('field_conflicts').select(['conflict_id', 'kept']).execute();
  expect(rows.filter(({ kept }) => kept !== null)).toEqual([{ conflict_id: id, kept: 'hris' }]);
});

test.each([
  ['/holds/ffffffff', 'There is no hold'],
  ['/hires/acme/1', 'no hire of job candidate 1'],
  ['/hires/acme/%3Cimg%3E', '&lt;img&gt;'],
  ['/nowhere', 'no such page'],
])('%s is a clear page, not an empty one', async (path, said) => {
  const { signIn } = await openConsole();
  const { status, text } = await (await signIn()).get(path);
  expect([status, text.includes(said)]).toEqual([404, true]);
});
