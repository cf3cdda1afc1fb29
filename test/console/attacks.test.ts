import { request } from 'node:http';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ACTS, type ActName } from '../../src/console/acts.ts';
import { ownPath } from '../../src/console/admit.ts';
import { noteTrouble } from '../../src/store/alarms.ts';
import { audit } from '../../src/store/audit.ts';
import { settleConflicts } from '../../src/store/field-conflicts.ts';
import { recordWrites } from '../../src/store/foreign-writes.ts';
import { insertHires } from '../../src/store/hires.ts';
import { openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { savePlan } from '../../src/store/plans.ts';
import { changeQuarantine } from '../../src/store/quarantine.ts';
import { beginRun, refuseRun } from '../../src/store/streams.ts';
import { pauseTenant } from '../../src/store/tenant-states.ts';
import { addTenant, openConsole, TOKEN } from './open-console.ts';
import { fillFleet } from './scale/fill-fleet.ts';
import { pathsOf } from './scale/measure-pages.ts';

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert('1')</script>`;

/** One of everything that pages show, for one tenant; `text` stands wherever another system says what stands. */
async function fill(store: Store, tenantId: string, text: string, id = '5012'): Promise<{ holdId: string }> {
  const hire = { tenantId, jobCandidateId: id, period: 1 };
  await insertHires(store, [{ ...hire, state: 'open', jobId: text, candidateId: text }]);
  const said = { employee_number: text, employee_id: text, onboarding_status: text, onboarding_candidate_id: text };
  await store.kysely.updateTable('hires').set(said).where('tenant_id', '=', tenantId).execute();
  const question = { code: 'IDENTITY_AMBIGUOUS', message: text, answers: ['link', 'create'] };
  const { holdId } = await openHold(store, {
    ...hire,
    ...question,
    details: { employeeIds: [text, '1'], [text]: text },
  });
  await recordWrites(store, { tenantId, by: text, runId: text, mappingHash: '0123456789abcdef' }, [
    {
      target: 'employee',
      recordId: id,
      kind: 'create',
      foreignId: text,
      changes: { [text]: { old: text, new: text } },
      sensitive: [],
    },
  ]);
  const body = JSON.stringify({ event: text, firstName: text, [text]: text });
  const bodyHash = `abcdef01234${tenantId.length}${'0'.repeat(40)}`;
  const ids = { jobCandidateId: [text] };
  await insertDelivery(store, { tenantId, bodyHash, event: text, ids, state: 'waiting', body });
  const lost = { state: 'undeliverable', last_error: text } as const;
  await store.kysely.updateTable('inbox').set(lost).where('tenant_id', '=', tenantId).execute();
  const key = { tenantId, stream: 'employees' };
  await beginRun(store, key, { runId: 'r1', full: false, firstPage: 0 });
  await changeQuarantine(store, key, 'r1', { page: 0, over: [], news: [{ key: text, reason: text }] });
  await refuseRun(store, key, 'r1', { code: 'REFUSED', message: text });
  const conflict = { field: text, kind: 'held', forms: { partner: 'a', hris: 'b' } } as const;
  await settleConflicts(store, { ...key, pairId: text }, { open: [] }, [
    { ...conflict, values: { partner: text, hris: text }, isSensitive: false },
  ]);
  await openHold(store, {
    tenantId,
    code: 'FIELD_CONFLICTS',
    message: text,
    answers: ['keep-hris', 'keep-partner'],
    details: { stream: 'employees', count: 1 },
  });
  const trouble = { tenantId, kind: 'activity-failing', subject: `planEmployee of job candidate ${id}` } as const;
  await noteTrouble(store, { ...trouble, reason: 'UNREACHABLE', message: text }, 0);
  await audit(store, { by: text, tenantId, act: 'applied', details: text });
  return { holdId };
}

const DELIVERY = 'abcdef012344';

/** Every page there is, of this tenant's things. */
function pagesOf(tenantId: string, holdId: string, delivery = DELIVERY): string[] {
  return [
    '/',
    `/tenants/${tenantId}`,
    `/tenants/${tenantId}/remove`,
    `/hires?tenant=${tenantId}`,
    `/hires/${tenantId}/5012`,
    `/holds?tenant=${tenantId}`,
    `/holds?tenant=${tenantId}&code=IDENTITY_AMBIGUOUS`,
    `/holds/${holdId}`,
    `/holds/${holdId}/answer?answer=create`,
    `/holds/answer?answer=create&hold=${holdId}`,
    `/streams?tenant=${tenantId}`,
    `/streams/${tenantId}/employees`,
    `/streams/${tenantId}/conflicts`,
    `/deliveries?tenant=${tenantId}`,
    `/deliveries/${tenantId}/${delivery}`,
    `/audit?tenant=${tenantId}`,
    `/audit.csv?tenant=${tenantId}`,
    `/audit/${tenantId}/writes`,
    `/audit/${tenantId}/writes.csv`,
  ];
}

/** Where an act is sent, and a form that it would take. */
function addressOfAct(name: ActName, tenantId: string, holdId: string, delivery = DELIVERY): string {
  return ACTS[name].path
    .replace(':tenant', tenantId)
    .replace(':stream', 'employees')
    .replace(':delivery', delivery)
    .replace(':subject', 'employee')
    .replace(':hash', 'abcdef012345')
    .replace(':draft', 'x')
    .replace(':id', name.startsWith('answer') || name === 'revealRecords' ? holdId : '5012');
}

const FORM = { answer: 'create', full: 'yes', adopt: 'yes', since: '2020-01-01', stream: 'employees' };

async function everything(store: Store): Promise<string> {
  const tables = [
    'audit',
    'holds',
    'hires',
    'tenants',
    'freezes',
    'stream_states',
    'hints',
    'field_conflicts',
  ] as const;
  const rows = await Promise.all(tables.map((table) => store.kysely.selectFrom(table).selectAll().execute()));
  // That a page was looked at is written down, and changes nothing.
  const changed = rows.map((all) => (all as object[]).filter((row) => !('act' in row && row.act === 'looked')));
  const inbox = await store.kysely.selectFrom('inbox').select(['body_hash', 'state']).execute();
  return JSON.stringify([changed, inbox]);
}

test('what other systems say is shown as text on every page, also where it is revealed', async () => {
  const { store, signIn } = await openConsole();
  const { holdId } = await fill(store, 'acme', HOSTILE);
  await pauseTenant(store, 'acme', 'KEY_REFUSED', HOSTILE);
  const visitor = await signIn();
  const texts: [string, string][] = [];
  for (const path of pagesOf('acme', holdId)) texts.push([path, (await visitor.get(path)).text]);
  for (const name of ['revealHire', 'revealConflicts', 'revealDelivery'] as const) {
    const answer = await visitor.post(addressOfAct(name, 'acme', holdId), {});
    texts.push([name, await answer.text()]);
  }
  for (const [path, text] of texts.filter(([path]) => !path.includes('.csv'))) {
    expect([path, /<img|<script>|alert\('1'\)/.exec(text)?.[0]]).toEqual([path, undefined]);
  }
  const shown = texts.filter(([, text]) => text.includes('onerror')).map(([path]) => path);
  expect(shown).toEqual(
    expect.arrayContaining(['/', '/hires/acme/5012', `/holds/${holdId}`, 'revealHire', 'revealDelivery']),
  );
});

/** What rows are found by, and words of our own: everything else in the store may have come from elsewhere. */
const OURS = new RegExp(
  '^(tenant_id|job_candidate_id|hold_id|body_hash|plan_hash|batch_id|conflict_id|page_id|id|name|code|state|step|' +
    'kind|act|stream|role|outcome|source|mode|upstream|file|body|receives|answers|decisions|.*_side|.*_type)$',
);

/** Ends every text in the store with what is hostile, inside of JSON as well. */
async function poison(kysely: Store['kysely']): Promise<void> {
  for (const { name, columns } of await kysely.introspection.getTables()) {
    const texts = columns.filter(({ dataType, name: column }) => /text/i.test(dataType) && !OURS.test(column));
    if (/^kysely|_log$/.test(name) || texts.length === 0) continue;
    const table = sql.table(name);
    const { rows } = await sql<Record<string, unknown>>`select rowid as row_number, * from ${table}`.execute(kysely);
    for (const row of rows)
      for (const { name: column } of texts) {
        const value = row[column];
        if (typeof value !== 'string') continue;
        const written = sql`${sql.ref(column)} = ${poisoned(value)}`;
        await sql`update ${table} set ${written} where rowid = ${row['row_number']}`.execute(kysely);
      }
  }
}

function poisoned(value: string): string {
  if (!/^[[{"]/.test(value)) return value + HOSTILE;
  // The text of a file stays one that can be read.
  const end = (text: string): string => (text.includes('\n') ? `${text}# ${HOSTILE}\n` : text + HOSTILE);
  return JSON.stringify(JSON.parse(value, (_key, part: unknown) => (typeof part === 'string' ? end(part) : part)));
}

test('whatever text the store holds, every page shows it as text', async () => {
  const { store, signIn } = await openConsole();
  await fillFleet(store, { tenants: 10, hires: 100, audit: 40 });
  const paths = await pathsOf(store);
  await store.kysely.transaction().execute(poison);
  const visitor = await signIn();
  let shown = 0;
  for (const [name, path] of Object.entries(paths)) {
    const { status, text } = await visitor.get(path);
    expect([name, status]).toEqual([name, expect.toBeOneOf([200, 303])]);
    expect([name, /<img|<script>|alert\('1'\)/.exec(text)?.[0]]).toEqual([name, undefined]);
    if (text.includes('onerror')) shown += 1;
  }
  expect(shown).toBeGreaterThan(20);
});

const ALL = Object.keys(ACTS) as ActName[];

test('every act is refused for a viewer, and of another tenant whoever asks', async () => {
  const viewer = await openConsole({ grants: [{ role: 'viewer', tenants: ['acme'] }] });
  const { store } = viewer;
  await addTenant(store, 'globex');
  const own = await fill(store, 'acme', 'x');
  const other = await fill(store, 'globex', 'y');
  const visitor = await viewer.signIn();
  const before = await everything(store);
  for (const name of ALL) {
    const elsewhere = addressOfAct(name, 'globex', other.holdId, 'abcdef012346');
    const foreign = await visitor.post(elsewhere, { ...FORM, hold: other.holdId });
    expect([name, foreign.status]).toEqual([name, expect.toBeOneOf([403, 404])]);
    expect([name, await foreign.text()]).toEqual([name, expect.not.stringMatching(/5012|abcdef012346<|\by\b<\/dd>/)]);
    if (ACTS[name].needs === 'viewer') continue;
    const answer = await visitor.post(addressOfAct(name, 'acme', own.holdId), { ...FORM, hold: own.holdId });
    expect([name, answer.status]).toEqual([name, 403]);
  }
  expect(await everything(store)).toBe(before);
  expect(viewer.signalled).toEqual([]);
});

test('every act is refused without the token of its session, or from elsewhere', async () => {
  const { store, signIn, signalled } = await openConsole();
  const { holdId } = await fill(store, 'acme', 'x');
  const visitor = await signIn();
  const other = await signIn();
  const before = await everything(store);
  const fields = { ...FORM, hold: holdId };
  for (const name of ALL) {
    const address = addressOfAct(name, 'acme', holdId);
    const forged = [
      await visitor.post(address, { ...fields, csrf: '' }),
      await visitor.post(address, { ...fields, csrf: other.csrf }),
      await visitor.post(address, fields, { origin: 'https://evil.example' }),
      await visitor.post(address, fields, { origin: '' }),
      await visitor.post(address, fields, { cookie: '' }),
    ];
    expect([name, ...forged.map(({ status }) => status)]).toEqual([name, 403, 403, 403, 403, 401]);
    expect((await visitor.get(address)).status).not.toBe(303);
  }
  expect(await everything(store)).toBe(before);
  expect(signalled).toEqual([]);
});

test("another tenant's ids lead nowhere, in any address, and no list names it", async () => {
  const { store, signIn } = await openConsole({ grants: [{ role: 'admin', tenants: ['acme'] }] });
  await addTenant(store, 'globex');
  await fill(store, 'acme', 'x');
  const { holdId } = await fill(store, 'globex', 'secret-of-globex', '6013');
  const visitor = await signIn();
  const own = new Set(['/']);
  for (const path of pagesOf('globex', holdId, 'abcdef012346')) {
    const { status, text } = await visitor.get(path);
    if (!own.has(path)) expect([path, status]).toEqual([path, 404]);
    expect([path, /secret-of-globex|6013/.exec(text)?.[0]]).toEqual([path, undefined]);
  }
  expect((await visitor.get('/hires?id=6013')).text).toContain('No hire matches');
  for (const path of ['/', '/hires', '/holds', '/holds?all=yes', '/streams', '/deliveries', '/audit', '/audit.csv']) {
    const { status, text } = await visitor.get(path);
    expect([path, status, /globex|6013/.exec(text)?.[0]]).toEqual([path, 200, undefined]);
  }
});

test('one tenant with rights and one without: each act counts for its own', async () => {
  const grants = [
    { role: 'operator', tenants: ['acme'] },
    { role: 'viewer', tenants: ['globex'] },
  ] as const;
  const { store, signIn } = await openConsole({ grants });
  await addTenant(store, 'globex');
  const own = await fill(store, 'acme', 'x');
  const other = await fill(store, 'globex', 'y');
  const visitor = await signIn();
  const both = new URLSearchParams([
    ['answer', 'create'],
    ['hold', own.holdId],
    ['hold', other.holdId],
  ]);
  expect((await visitor.postAll('/holds/answer', both)).status).toBe(403);
  expect((await visitor.post(`/holds/${other.holdId}/answer`, { answer: 'create' })).status).toBe(403);
  expect((await visitor.post('/tenants/globex/pause', {})).status).toBe(403);
  expect((await visitor.post('/freeze', {})).status).toBe(403);
  expect((await visitor.post('/tenants/acme/remove', {})).status).toBe(403);
  expect((await visitor.post(`/holds/${own.holdId}/answer`, { answer: 'create' })).status).toBe(303);
  const answered = await store.kysely.selectFrom('holds').select('tenant_id').where('answer', 'is not', null).execute();
  expect(answered).toEqual([{ tenant_id: 'acme' }]);
});

const OF_PLAN = { subject: 'hire 5012/1', source: 'records', by: 'ann' } as const;

test('ids of another tenant that nearly fit are answered as if there were none', async () => {
  const { store, signIn } = await openConsole({ grants: [{ role: 'operator', tenants: ['globex'] }] });
  await addTenant(store, 'globex');
  const { holdId } = await fill(store, 'acme', 'x');
  const hash = await savePlan(store, { ...OF_PLAN, tenantId: 'acme', mappingHash: '0', records: [] });
  const visitor = await signIn();
  const answerTo = async (place: string, id: string): Promise<string> => {
    const { status, text } = await visitor.get(place + id);
    return `${status} ${/role="alert">([^<]*)/.exec(text)?.[1]?.replaceAll(id, 'ID')}`;
  };
  const holds = await Promise.all([holdId, holdId.slice(0, 4), 'none'].map((id) => answerTo('/holds/', id)));
  const plans = await Promise.all([hash, hash.slice(0, 4), 'none'].map((id) => answerTo('/changes/globex/plans/', id)));
  for (const told of [holds, plans]) expect([...new Set(told)]).toEqual([expect.stringMatching(/^404 .*\bID\b/)]);
});

test('a viewer who asks for personal data is not shown what is sensitive, and that they asked is kept', async () => {
  const { store, signIn } = await openConsole({ grants: [{ role: 'viewer', tenants: 'all' }] });
  await insertHires(store, [{ tenantId: 'acme', jobCandidateId: '5012', period: 1, state: 'open' }]);
  const origin = { tenantId: 'acme', by: 'hirebridge', runId: 'r', mappingHash: null };
  const changes = { city: { new: 'Rome' }, iban: { new: 'DE00' } };
  await recordWrites(store, origin, [
    { target: 'employee', recordId: '5012', kind: 'create', changes, sensitive: ['iban'] },
  ]);
  const visitor = await signIn();
  expect((await visitor.get('/hires/acme/5012')).text).not.toMatch(/Rome|DE00/);
  const shown = await (await visitor.post('/hires/acme/5012', {})).text();
  expect(shown).toContain('Rome');
  expect(shown).not.toContain('DE00');
  const rows = await store.kysely
    .selectFrom('audit')
    .select(['by', 'tenant_id', 'act', 'details'])
    .where('act', '<>', 'signed-in')
    .execute();
  expect(rows).toEqual([
    { by: 'ann', tenant_id: 'acme', act: 'looked', details: 'story of a hire' },
    { by: 'ann', tenant_id: 'acme', act: 'revealed', details: 'what was written for a hire' },
  ]);
});

test('a session id that was in the browser before the sign-in means nothing after it', async () => {
  const { url, signIn } = await openConsole();
  const name = (await signIn()).cookie.split('=')[0];
  const planted = `${name}=${'p'.repeat(43)}`;
  const entry = await fetch(`${url}/?token=${TOKEN}`, { headers: { cookie: planted }, redirect: 'manual' });
  const given = entry.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect(given).not.toBe(planted);
  expect((await fetch(url, { headers: { cookie: planted } })).status).toBe(401);
  const again = await fetch(`${url}/?token=${TOKEN}`, { headers: { cookie: given }, redirect: 'manual' });
  expect(again.headers.get('set-cookie')?.split(';')[0]).not.toBe(given);
  // Whoever signs in anew ends the session that they had.
  expect((await fetch(url, { headers: { cookie: given } })).status).toBe(401);
});

test('a session ends when nobody uses it, a page that refreshes itself is no use, and each ends at last', async () => {
  let now = 0;
  const { signIn } = await openConsole({ clock: () => now });
  const minute = 60_000;
  const visitor = await signIn();
  const refresh = { 'x-hirebridge-refresh': '1' };
  for (let at = 0; at < 29; at += 1) {
    now += minute;
    expect((await visitor.get('/holds', refresh)).status).toBe(200);
  }
  now += 2 * minute;
  expect((await visitor.get('/holds', refresh)).status).toBe(401);
  const busy = await signIn();
  const begun = now;
  for (let at = 0; at < 12 * 60 - 29; at += 29) {
    now += 29 * minute;
    expect((await busy.get('/holds')).status).toBe(200);
  }
  now = begun + 12 * 60 * minute;
  expect((await busy.get('/holds')).status).toBe(401);
});

test('after a sign-in nobody is led to another host, or out again', async () => {
  const { url } = await openConsole();
  const bad = [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '',
  ];
  for (const to of [...bad, '/sign-out']) {
    expect([to, ownPath(to)]).toEqual([to, '/']);
    const body = new URLSearchParams({ token: TOKEN, to });
    const answer = await fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url },
      body,
    });
    expect([to, answer.status, answer.headers.get('location')]).toEqual([to, 303, '/']);
  }
});

test('after a sign-in the page that was asked for comes, with its questions', async () => {
  const { url, signIn } = await openConsole();
  await signIn();
  const asked = await (await fetch(`${url}/holds?code=NO_SHOW`)).text();
  expect(asked).toContain('name="to" value="/holds?code=NO_SHOW"');
  expect(ownPath('/holds?code=NO_SHOW')).toBe('/holds?code=NO_SHOW');
});

const OUTSIDE = [
  '/../package.json',
  '/console.css/../../package.json',
  '/%2e%2e/%2e%2e/package.json',
  '/..%2f..%2fpackage.json',
  '/hires/acme/..%2f..%2f..%2fetc%2fpasswd',
  '/streams/acme/..%2fconflicts',
  '/deliveries/acme/..%5c..%5cx',
  '/tenants/..%2f..%2fetc',
  '//etc/passwd',
];

test('no address leads to a file', async () => {
  const { url, signIn } = await openConsole();
  const { cookie } = await signIn();
  const { port } = new URL(url);
  // Not by fetch, which would tidy the path.
  const ask = (path: string): Promise<[number, string]> =>
    new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path, headers: { cookie } }, (answer) => {
        let body = '';
        answer.on('data', (chunk) => (body += String(chunk)));
        answer.on('end', () => resolve([answer.statusCode ?? 0, body]));
      });
      sent.once('error', reject).end();
    });
  for (const path of OUTSIDE) {
    const [status, text] = await ask(path);
    expect([path, status]).toEqual([path, 404]);
    expect([path, text]).toEqual([path, expect.not.stringMatching(/"dependencies"|root:x/)]);
  }
});

test('no page is put into a frame, kept by a cache, or reads scripts from elsewhere', async () => {
  const { store, signIn } = await openConsole();
  const { holdId } = await fill(store, 'acme', 'x');
  const visitor = await signIn();
  for (const path of [...pagesOf('acme', holdId), '/nowhere']) {
    const { headers } = await visitor.get(path);
    expect([path, headers.get('x-frame-options'), headers.get('cache-control')]).toEqual([path, 'DENY', 'no-store']);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self';.*frame-ancestors 'none'$/);
  }
});
