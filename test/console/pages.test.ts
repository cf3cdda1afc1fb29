import { expect, test } from 'vitest';
import { holdOf } from '../../src/hire/holds.ts';
import { answerHold } from '../../src/operator/holds.ts';
import { noteTrouble } from '../../src/store/alarms.ts';
import { settleConflicts } from '../../src/store/field-conflicts.ts';
import { saveFields } from '../../src/store/fields.ts';
import { purgeBatches, recordWrites } from '../../src/store/foreign-writes.ts';
import { insertHires, updateHire } from '../../src/store/hires.ts';
import { openHold, readHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import { decideIntent, openIntent } from '../../src/store/intents.ts';
import { changeQuarantine } from '../../src/store/quarantine.ts';
import { beginRun } from '../../src/store/streams.ts';
import { type OpenConsole, openConsole } from './open-console.ts';

const HIRE = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const HOSTILE = `<img src=x onerror="alert('1')">`;

async function actsIn({ kysely }: OpenConsole['store']): Promise<string[]> {
  return (await kysely.selectFrom('audit').select('act').where('act', '<>', 'signed-in').orderBy('act').execute()).map(
    ({ act }) => act,
  );
}

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
  expect(text).toMatch(/PERSON_BEING_HIRED<\/code><\/h3>\s[^]*?blocks 3 hires/);
  expect(text).toMatch(/UNREACHABLE<\/code><\/h3>\s[^]*?blocks 1 hire</);
  expect(text).toContain('href="/hires/acme/77"');
  expect(text).toContain('NO_WORKER');
});

test('of a thousand tenants those that need a person come first, and a search finds one without a script', async () => {
  const { store, signIn } = await openConsole();
  const rows = Array.from({ length: 1_000 }, (_, n) => ({ ...HIRE, tenantId: `tenant-${n}`, state: 'open' as const }));
  await store.kysely
    .insertInto('tenants')
    .values(rows.map(({ tenantId }) => ({ tenant_id: tenantId, state: 'active' as const })))
    .execute();
  await insertHires(store, rows);
  await openHold(store, { ...HIRE, tenantId: 'tenant-901', ...ambiguous });
  const visitor = await signIn();
  const named = async (query: string): Promise<(string | undefined)[]> => {
    const { text } = await visitor.get(`/${query}`);
    return [...text.matchAll(/<th scope="row"><a href="\/tenants\/([\w-]+)"/g)].map(([, name]) => name);
  };
  const first = await named('');
  expect([first.length, first[0], first[1]]).toEqual([50, 'tenant-901', 'acme']);
  expect(await named('?q=tenant-777')).toEqual(['tenant-777']);
  const all = new Set<string | undefined>();
  for (let from = 0; from < 1_001; from += 50) for (const name of await named(`?from=${from}`)) all.add(name);
  expect(all.size).toBe(1_001);
});

test('a tenant says that it observes, when each side was last heard, and what is wrong with it', async () => {
  const { store, signIn } = await openConsole();
  const receives = JSON.stringify({ mode: 'observe', webhooks: 'on' });
  await store.kysely.updateTable('tenants').set({ receives }).execute();
  const visitor = await signIn();
  const badges = async (path: string): Promise<(string | undefined)[]> => {
    const { text } = await visitor.get(path);
    return [...text.matchAll(/<span class="badge\s+(\w*)">([^<]*)/g)].map(([, look, said]) => `${look} ${said}`);
  };
  expect(await badges('/?q=acme')).toEqual(expect.arrayContaining(['accent observes', 'warn no webhooks']));
  const before = (await visitor.get('/tenants/acme')).text;
  expect(before).toMatch(/No webhook of the last 90 days is known for acme; only the reconcile finds hires/);
  expect(before).toMatch(/<dt>hiring platform answered<\/dt><dd>never<\/dd>/);

  await store.kysely
    .insertInto('answers')
    .values((['partner', 'hris'] as const).map((side) => ({ tenant_id: 'acme', side, answered_at: store.now })))
    .execute();
  await insertDelivery(store, {
    tenantId: 'acme',
    event: 'candidate.hired',
    bodyHash: 'a'.repeat(64),
    body: '{}',
    state: 'ignored',
    ids: {},
  });
  const trouble = { tenantId: 'acme', kind: 'activity-failing', subject: 'planEmployee of job candidate 77' } as const;
  await noteTrouble(store, { ...trouble, reason: 'UNREACHABLE', message: 'The HR system is away.' }, 0);
  const { text } = await visitor.get('/tenants/acme');
  for (const what of ['hiring platform answered', 'HR system answered', 'last webhook'])
    expect(text).toMatch(new RegExp(`<dt>${what}</dt><dd>\\d+ \\w+ ago</dd>`));
  expect(text).toContain('The HR system is away.');
  expect(text).toContain('href="/hires/acme/77"');
  expect(text).not.toMatch(/no webhooks|No webhook of/);
});

test('the list of hires says whom each one waits for', async () => {
  const { store, holdId, signIn } = await withHold();
  const others = { '1': 'onboard', '2': 'await-credits', '3': 'employ', '4': 'employ', '5': 'write-back' } as const;
  for (const [jobCandidateId, step] of Object.entries(others)) {
    const hire = { ...HIRE, jobCandidateId };
    await insertHires(store, [{ ...hire, state: 'open' }]);
    await updateHire(store, hire, { step });
  }
  const creation = { ...HIRE, jobCandidateId: '3', verb: 'create-employee', attempt: 1, pinned: {}, budgetMs: 1 };
  const intent = await openIntent(store, creation);
  if (intent !== undefined) await decideIntent(store, intent, 'done', { kind: 'pending', ticket: 'T-7' });
  await openHold(store, { ...HIRE, jobCandidateId: '9', ...ambiguous });
  const observed = JSON.stringify({ would: 'create', credits: 1 });
  await insertHires(store, [{ ...HIRE, jobCandidateId: '6', state: 'before-go-live' }]);
  await store.kysely.updateTable('hires').set({ observed }).where('job_candidate_id', '=', '6').execute();

  const { text } = await (await signIn()).get('/hires?tenant=acme');
  const waits = Object.fromEntries(
    [...text.matchAll(/<tr><th scope="row"><a [^>]*>(\d+)<.*?<\/span><\/td><td>(.*?)<\/td>/gs)].map(
      ([, id, cell = '']) => [id, cell.replaceAll(/<[^>]*>/g, '')],
    ),
  );
  expect(waits).toEqual({
    1: 'the onboarding',
    2: 'onboarding credits',
    3: 'the HR system',
    4: 'hirebridge',
    5: 'hirebridge',
    6: 'go-live; would enrol (1 credit) and create an employee',
    5012: 'an answer: Identity ambiguous',
  });
  expect(text).toContain(`an answer: <a href="/holds/${holdId}">`);
});

test('who was hired while a tenant observed is started once it no longer does', async () => {
  const { store, signIn } = await openConsole();
  await insertHires(store, [{ ...HIRE, state: 'before-go-live' }]);
  const observed = JSON.stringify({ would: 'create', credits: 1 });
  await store.kysely.updateTable('hires').set({ observed }).execute();
  const visitor = await signIn();
  const pageIn = async (mode: string): Promise<string> => {
    const receives = JSON.stringify({ mode, webhooks: 'off' });
    await store.kysely.updateTable('tenants').set({ receives }).execute();
    return (await visitor.get('/tenants/acme')).text;
  };
  expect(await pageIn('live')).toMatch(
    /Hired while this tenant only observed: 1 person.*action="\/tenants\/acme\/go-live"/s,
  );
  const observing = await pageIn('observe');
  expect(observing).toContain('its file says <code>mode: live</code>');
  expect(observing).not.toContain('/go-live');
});

test('holds name their reason in words and when they were asked; no two buttons of a page have one name', async () => {
  const { store, signIn } = await withHold();
  await openHold(store, { ...HIRE, jobCandidateId: '5013', ...ambiguous });
  for (const stream of ['jobs', 'candidates'])
    await beginRun(store, { tenantId: 'acme', stream }, { runId: 'r1', full: false, firstPage: 0 });
  const visitor = await signIn();
  const { text: holds } = await visitor.get('/holds');
  expect(holds).toContain('<th scope="col">asked</th>');
  expect(holds).toMatch(/<a href="\/holds\?code=IDENTITY_AMBIGUOUS">Identity ambiguous</);
  for (const path of ['/streams?tenant=acme', '/tenants/acme', '/holds?code=IDENTITY_AMBIGUOUS']) {
    const { text } = await visitor.get(path);
    const names = [...text.matchAll(/<button[^>]*>(.*?)<\/button>/gs)].map(([, name = '']) =>
      name.replace(/<.*?>/g, ''),
    );
    expect([path, names]).toEqual([path, [...new Set(names)]]);
  }
});

test('a hire begins with the sentence that its command begins with, and tells its story and its values', async () => {
  const { store, holdId, signIn } = await withHold();
  const write = { recordId: '5012', target: 'employee', kind: 'create', foreignId: '4711' } as const;
  await recordWrites(store, { tenantId: 'acme', by: 'hirebridge', runId: 'r1', mappingHash: '0123456789abcdef' }, [
    { ...write, changes: { title: { new: HOSTILE }, iban: { new: 'DE00' } }, sensitive: ['iban'] },
  ]);
  const { text } = await (await signIn()).get('/hires/acme/5012');
  const told = /<p class="lead">(.*?)<\/p>/s.exec(text)?.[1];
  expect(told).toMatch(/^The hire of job candidate 5012 waits for an answer since \d+ \w+\.$/);
  expect(text).toContain(`<a href="/holds/${holdId}">Answer hold ${holdId}: IDENTITY_AMBIGUOUS</a>`);
  expect(text).toContain('read as hired; opened, period 1');
  expect(text).not.toMatch(/<img|DE00/);
  // The page has a button for the command, and a word of the code says nothing to a reader.
  expect(text).not.toMatch(/To answer: hirebridge|needsPerson/);
  expect(text).toContain('•••');
});

test('a hold shows what was seen beside what is asked, each answer with what it does and takes', async () => {
  const { holdId, signIn } = await withHold();
  const { text } = await (await signIn()).get(`/holds/${holdId}`);
  expect(text).toContain('It is not certain whether job candidate 5012 is already an employee');
  expect(text).toContain('Answer link &lt;employeeId&gt; if one of them is this person');
  expect(text).toContain('Links this hire to the employee that you name; creates nothing.');
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
  const { store, holdId, signIn } = await withHold({ isAway: true });
  const visitor = await signIn();
  const answer = await visitor.post(`/holds/${holdId}/answer`, { answer: 'create' });
  expect([answer.status, (await readHold(store, holdId))?.answer]).toEqual([303, 'create']);
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
  const { text } = await visitor.get('/deliveries?text=jobCandidateId');
  expect(text).toContain('abcdef012345');
  expect(text).not.toMatch(/jane@example|<img|ffffff/);
  const { text: one } = await visitor.get('/deliveries/acme/abcdef012345');
  expect(one).toContain('&quot;email&quot;: &quot;•••&quot;');
  expect(one).not.toMatch(/jane@example|<img/);
  const revealed = await visitor.post('/deliveries/acme/abcdef012345', {});
  expect(await revealed.text()).toContain('jane@example.com');
  expect((await visitor.post('/deliveries/acme/abc/replay', {})).status).toBe(404);
  expect((await visitor.post('/deliveries/acme/abcdef012345/replay', {})).status).toBe(303);
  expect(await actsIn(store)).toEqual(['deliveries-replayed', 'revealed']);
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
  const { text: masked } = await visitor.get('/streams/acme/conflicts');
  expect(masked).not.toMatch(/<img|DE0|Rome/);
  const shown = await (await visitor.post('/streams/acme/conflicts', {})).text();
  expect(shown).toContain('Rome');
  expect(shown).toContain('&lt;img src=x');
  const [, id = ''] = /name="id" value="(\w+)" form="settle"\s+aria-label="city/.exec(masked) ?? [];
  expect((await visitor.post('/streams/acme/settle', { answer: 'keep-hris', id })).status).toBe(303);
  expect(await actsIn(store)).toEqual(['hold-answered', 'revealed']);
  expect((await readHold(store, holdId))?.answer).toBe('keep-hris');
  const rows = await store.kysely.selectFrom('field_conflicts').select(['conflict_id', 'kept']).execute();
  expect(rows.filter(({ kept }) => kept !== null)).toEqual([{ conflict_id: id, kept: 'hris' }]);
});

test('the page of a stream lists the fields that it leaves out, as the count beside it says', async () => {
  const { store, signIn } = await openConsole();
  const key = { tenantId: 'acme', stream: 'employees' };
  await beginRun(store, key, { runId: 'r1', full: false, firstPage: 0 });
  const forms = { partner: null, hris: 'a' };
  const left = { field: 'startDate', kind: 'quarantined', code: 'MISSING', forms } as const;
  const values = { partner: null, hris: '2026-01-31' };
  await settleConflicts(store, { ...key, pairId: '9' }, { open: [] }, [{ ...left, values, isSensitive: false }]);
  const visitor = await signIn();
  const { text } = await visitor.get('/streams/acme/employees');
  expect(text).toContain('startDate: the mapping requires a value, and the source is empty');
  expect(text).toMatch(/href="\/streams\/acme\/conflicts"/);
  expect(text).not.toContain('No record is left out');
  await store.kysely.updateTable('streams').set({ state: 'partial' }).execute();
  expect((await visitor.get('/streams')).text).toContain('its page says what it left out');
});

test('a hire from before go-live has a button, and names no command for it', async () => {
  const { store, signIn } = await openConsole();
  await insertHires(store, [{ ...HIRE, state: 'before-go-live' }]);
  const { text } = await (await signIn()).get('/hires/acme/5012');
  expect(text).toContain('Nothing starts by itself.');
  expect(text).not.toContain('hirebridge hire start');
});

test.each([
  ['/holds/ffffffff', 'There is no hold'],
  ['/hires/acme/1', 'No hire of job candidate 1 is known here'],
  ['/hires/acme/%3Cimg%3E', '&lt;img&gt;'],
  ['/tenants/nobody', 'no tenant &quot;nobody&quot;'],
  ['/deliveries/acme/123', 'no delivery 123'],
  ['/streams/acme/nothing', 'is not a stream'],
  ['/nowhere', 'no such page'],
])('%s is a clear page, not an empty one', async (path, said) => {
  const { signIn } = await openConsole();
  const { status, text } = await (await signIn()).get(path);
  expect([status, text.includes(said)]).toEqual([404, true]);
});

test('the audit trail is narrowed, paged without a loss, and saved as a file in which nothing runs', async () => {
  const { store, signIn } = await openConsole();
  const row = { by: 'ann', tenant_id: 'acme', act: 'paused' as const, details: null };
  // Three of one moment, so that a page ends within them.
  const rows = Array.from({ length: 120 }, (_, n) => ({ ...row, at: Math.floor(n / 3) * 1_000, details: `row-${n};` }));
  await store.kysely.insertInto('audit').values(rows).execute();
  await store.kysely
    .insertInto('audit')
    .values({ ...row, by: 'eve', at: 1, details: '=HYPERLINK("x")' })
    .execute();
  const visitor = await signIn();
  const seen: string[] = [];
  for (let next: string | undefined = '/audit?by=ann&tenant=acme'; next !== undefined; ) {
    const { text } = await visitor.get(next);
    seen.push(...text.matchAll(/row-\d+;/g).map(([found]) => found));
    next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
  }
  expect(seen).toHaveLength(120);
  expect(new Set(seen).size).toBe(120);
  expect((await visitor.get('/audit?tenant=acme')).text).toContain('href="/audit/acme/writes"');
  expect((await visitor.get('/audit?act=frozen')).text).toContain('No act matches');
  expect((await visitor.get('/audit?from=1970-01-02&to=1970-01-03')).text).toContain('No act matches');
  const csv = await visitor.get('/audit.csv?by=eve');
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
  expect(csv.text).toContain(`"'=HYPERLINK(""x"")"`);
  expect(csv.text).not.toContain('row-');
});

test('what was written is listed with its values masked, shown when asked, and saved without them', async () => {
  const { store, signIn } = await openConsole();
  const origin = { tenantId: 'acme', by: 'hirebridge', runId: 'r1', mappingHash: '0123456789abcdef' };
  for (const id of ['1', '2']) {
    const changes = { city: { old: 'Oslo', new: `Rome-${id}` } };
    await recordWrites(store, origin, [{ target: 'jobs', recordId: id, kind: 'update', changes, sensitive: [] }]);
  }
  const visitor = await signIn();
  const { text } = await visitor.get('/audit/acme/writes?record=2');
  expect(text).toMatch(/city: .*•••/);
  expect(text).not.toMatch(/Rome|Oslo/);
  const shown = await (await visitor.post('/audit/acme/writes?record=2', {})).text();
  expect([shown.includes('Rome-2'), shown.includes('Rome-1')]).toEqual([true, false]);
  const csv = await visitor.get('/audit/acme/writes.csv');
  expect(csv.text).toContain('city');
  expect(csv.text).not.toMatch(/Rome|Oslo/);
  expect(await actsIn(store)).toEqual(['revealed']);
});

test('what was written is narrowed by person, kind and day, and calls custom fields by name', async () => {
  const { store, signIn } = await openConsole();
  const field = { id: 'cf-17', entity: 'candidate', label: 'Employee ID', type: 'TEXT' };
  await saveFields(store, { tenantId: 'acme', side: 'partner' }, [field]);
  const write = async (by: string, recordId: string, kind: 'create' | 'update', sentAt: string) => {
    const origin = { tenantId: 'acme', by, runId: `run-${recordId}`, mappingHash: null };
    const changes = { 'cf-17': { new: '000123' }, 'cf-18': { new: 'x' } };
    const batch = await recordWrites(store, origin, [
      { target: 'custom-fields', recordId, kind, changes, sensitive: [] },
    ]);
    const sent = { sent_at: Date.parse(sentAt), outcome: 'done' as const };
    await store.kysely.updateTable('foreign_writes').set(sent).where('batch_id', '=', batch).execute();
    return batch;
  };
  const old = await write('eve', 'R-1', 'create', '2026-11-02T10:00:00Z');
  await write('ann', 'R-2', 'update', '2026-11-03T10:00:00Z');
  await write('hirebridge', 'R-3', 'update', '2026-11-04T10:00:00Z');
  const visitor = await signIn();
  const found = async (query: string): Promise<string[]> => {
    const { text } = await visitor.get(`/audit/acme/writes${query}`);
    return [...new Set(text.match(/\bR-\d/g))];
  };
  const narrowed = async () => [
    await found(''),
    await found('?by=ann'),
    await found('?kind=create'),
    await found('?from=2026-11-03&to=2026-11-04'),
    await found('?kind=whatever'),
  ];
  const expected = [['R-3', 'R-2', 'R-1'], ['R-2'], ['R-1'], ['R-2'], ['R-3', 'R-2', 'R-1']];
  expect(await narrowed()).toEqual(expected);
  await purgeBatches(store, [old]);
  expect(await narrowed(), 'after the values were purged').toEqual(expected);
  const { text } = await visitor.get('/audit/acme/writes?record=R-2');
  expect(text).toContain('Employee ID: ');
  expect(text).not.toContain('cf-17');
  expect(text).toContain('cf-18: ');
  expect((await visitor.get('/audit/acme/writes.csv?by=ann')).text).not.toMatch(/R-[13]/);
});
