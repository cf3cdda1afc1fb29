import { request } from 'node:http';
import { expect, test } from 'vitest';
import { insertHires } from '../../src/store/hires.ts';
import { answerHold, closeHold, openHold, readHold } from '../../src/store/holds.ts';
import { openConsole, TOKEN } from './open-console.ts';

const HOLD = {
  tenantId: 'acme',
  jobCandidateId: '5012',
  period: 1,
  code: 'MAPPING_INCOMPLETE',
  message: 'Then answer retry.',
  answers: ['retry', 'cancel'],
};

/** A browser says by itself which host it asked; fetch does not let a test say another one. */
function askAs(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.once('error', reject).end();
  });
}

test('the token is exchanged for a cookie that no script reads, and leaves the address', async () => {
  const { url } = await openConsole();
  const entry = await fetch(`${url}/?token=${TOKEN}`, { redirect: 'manual' });
  expect([entry.status, entry.headers.get('location')]).toEqual([303, '/']);
  expect(entry.headers.get('set-cookie')).toMatch(/^hirebridge-console-\d+=[\w-]{43}; .*HttpOnly; SameSite=Lax/);
});

test('without a session there is nothing but the sign-in, and a wrong token gives none', async () => {
  const { url, store } = await openConsole();
  const { holdId } = await openHold(store, HOLD);
  for (const path of ['/', '/hires', '/holds', `/holds/${holdId}`, '/deliveries', '/streams', '/nowhere']) {
    const answer = await fetch(url + path);
    expect([path, answer.status]).toEqual([path, 401]);
    expect((await answer.text()).replaceAll(holdId, '')).not.toContain('5012');
    // As an uptime check asks.
    expect([path, (await fetch(url + path, { method: 'HEAD' })).status]).toEqual([path, 401]);
  }
  const wrong = await fetch(`${url}/?token=${TOKEN}x`, { redirect: 'manual' });
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([403, null]);
  const typed = (token: string): Promise<Response> =>
    fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url },
      body: new URLSearchParams({ token }),
    });
  expect([(await typed('')).status, (await typed(TOKEN)).status]).toEqual([403, 303]);
});

test('a sign-in is in the audit trail, under the identity that signed in; a refused one is not', async () => {
  const { url, store, signIn } = await openConsole();
  await fetch(`${url}/?token=${TOKEN}x`, { redirect: 'manual' });
  await signIn();
  const acts = await store.kysely.selectFrom('audit').select(['by', 'actor', 'act', 'tenant_id']).execute();
  expect(acts).toEqual([{ by: 'ann', actor: 'token:ann', act: 'signed-in', tenant_id: null }]);
});

test('ten wrong tokens close the sign-in of their address for a minute, and no session', async () => {
  let now = 0;
  const { url, signIn } = await openConsole({ clock: () => now });
  const visitor = await signIn();
  const tried = async (token: string): Promise<[number, string | null]> => {
    const answer = await fetch(`${url}/?token=${token}`, { redirect: 'manual' });
    return [answer.status, answer.headers.get('retry-after')];
  };
  for (let n = 0; n < 10; n += 1) expect(await tried(`wrong-${n}`)).toEqual([403, null]);
  now += 20_000;
  expect(await tried(TOKEN)).toEqual([429, '40']);
  expect((await visitor.get('/hires')).status).toBe(200);
  now += 40_000;
  expect(await tried(TOKEN)).toEqual([303, null]);
});

test.each(['evil.example', 'evil.example:8790', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1'])(
  'a request for %s is refused, whatever it brings: a name may lead here by DNS rebinding',
  async (host) => {
    const { url } = await openConsole();
    expect(await askAs(`${url}/?token=${TOKEN}`, host)).toBe(421);
  },
);

test.each([
  ['of another origin', { origin: 'http://evil.example' }, {}, 403],
  ['of another port of this machine', { origin: 'http://127.0.0.1:1' }, {}, 403],
  ['of a page that hides its origin', { origin: 'null' }, {}, 403],
  ['without the token of the session', {}, { csrf: '' }, 403],
  ['with another token', {}, { csrf: 'x'.repeat(43) }, 403],
  ['without a session', { cookie: '' }, {}, 401],
  ['as JSON', { 'content-type': 'application/json' }, {}, 415],
  ['larger than any form', {}, { id: 'x'.repeat(520_000) }, 413],
])('a form %s is refused, and nothing is done', async (_what, over, fields, status) => {
  const { store, signalled, signIn } = await openConsole();
  const { holdId } = await openHold(store, HOLD);
  const visitor = await signIn();
  const answer = await visitor.post(`/holds/${holdId}/answer`, { answer: 'retry', ...fields }, over);
  expect(answer.status).toBe(status);
  expect((await readHold(store, holdId))?.answered_at).toBeNull();
  expect(signalled).toEqual([]);
});

test('an answer to a question that another one took the place of is refused, and names that one', async () => {
  const { store, signIn } = await openConsole();
  await insertHires(store, [{ tenantId: 'acme', jobCandidateId: '5012', period: 1, state: 'open' }]);
  const { holdId } = await openHold(store, HOLD);
  const visitor = await signIn();
  // Somebody else answers, and the hire asks about something else.
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ben' });
  await closeHold(store, holdId);
  const { holdId: anew } = await openHold(store, { ...HOLD, message: 'About somebody else.' });
  const late = await visitor.post(`/holds/${holdId}/answer`, { answer: 'cancel' });
  expect([late.status, await late.text()]).toEqual([409, expect.stringContaining(anew)]);
  const lastLook = await visitor.get(`/holds/${holdId}/answer?answer=cancel`);
  expect([lastLook.status, lastLook.text]).toEqual([409, expect.stringContaining(anew)]);
  const many = await visitor.post('/holds/answer', { answer: 'cancel', hold: holdId });
  expect(many.headers.get('location')).toBe('/holds?did=some');
  expect((await readHold(store, anew))?.answered_at).toBeNull();
  expect((await visitor.post(`/holds/${anew}/answer`, { answer: 'cancel' })).status).toBe(303);
  expect(await readHold(store, anew)).toMatchObject({ answer: 'cancel' });
});

test('one answer to many says so if somebody else answered some of them', async () => {
  const { store, signIn } = await openConsole();
  const visitor = await signIn();
  const { holdId: mine } = await openHold(store, HOLD);
  const first = await visitor.post('/holds/answer', { answer: 'retry', hold: mine });
  expect(first.headers.get('location')).toBe('/holds?did=many');
  const { holdId: theirs } = await openHold(store, { ...HOLD, jobCandidateId: '5013' });
  await answerHold(store, theirs, { answer: 'cancel', arguments: [], by: 'ben' });
  const answer = await visitor.post('/holds/answer', { answer: 'retry', hold: theirs });
  expect(answer.headers.get('location')).toBe('/holds?did=some');
  expect(await readHold(store, theirs)).toMatchObject({ answer: 'cancel' });
});

test('people who were observed are started from a day that can be read alone', async () => {
  const { store, signIn } = await openConsole();
  const visitor = await signIn();
  for (const since of ['', '31.01.2026', '2026-13-01']) {
    const answer = await visitor.post('/tenants/acme/go-live', { since });
    expect([since, answer.status >= 400, await answer.text()]).toEqual([
      since,
      true,
      expect.stringContaining('2026-01-31'),
    ]);
  }
  const acts = await store.kysely.selectFrom('audit').select('act').execute();
  expect(acts.filter(({ act }) => act.includes('start'))).toEqual([]);
});

test('a viewer is shown everything and does nothing', async () => {
  const { store, signIn } = await openConsole({ grants: [{ role: 'viewer', tenants: 'all' }] });
  const { holdId } = await openHold(store, HOLD);
  const visitor = await signIn();
  const { text } = await visitor.get(`/holds/${holdId}`);
  expect(text).toContain('not with your role');
  expect(text).not.toMatch(/<button>(retry|cancel)/);
  const answer = await visitor.post(`/holds/${holdId}/answer`, { answer: 'retry' });
  expect([answer.status, (await readHold(store, holdId))?.answered_at]).toEqual([403, null]);
});

test('whoever signs out is out, also with the cookie of before', async () => {
  const { signIn } = await openConsole();
  const visitor = await signIn();
  expect((await visitor.post('/sign-out', {})).status).toBe(303);
  expect((await visitor.get('/')).status).toBe(401);
});

test('every answer forbids other hosts, frames and scripts of its own; every asset is served from here', async () => {
  const { url, signIn } = await openConsole();
  const visitor = await signIn();
  for (const path of ['/', '/holds', '/nowhere', '/console.css', '/console.js']) {
    const { headers, text } = await visitor.get(path);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self';.*frame-ancestors 'none'$/);
    expect(text).not.toMatch(/(?:href|src|action)="(?![/#])|innerHTML = |style=|onclick|<script>|url\(/);
  }
  const { text } = await visitor.get('/');
  for (const [, name = ''] of text.matchAll(/(?:href|src)="(\/console\.\w+)"/g))
    expect([name, (await fetch(url + name)).status]).toEqual([name, 200]);
  expect((await fetch(url, { method: 'DELETE' })).status).toBe(405);
});

test('the log names what was done and by whom, and neither token nor cookie', async () => {
  const { store, signIn, logged } = await openConsole();
  const { holdId } = await openHold(store, HOLD);
  const visitor = await signIn();
  await visitor.post(`/holds/${holdId}/answer`, { answer: 'retry' });
  const log = logged.join('');
  expect(log).toContain(`"act":"answer","path":"/holds/${holdId}/answer","by":"ann","msg":"done"`);
  expect(log).not.toContain(TOKEN);
  expect(log).not.toContain(visitor.cookie.split('=')[1]);
});
