import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { noteTrouble } from '../../src/store/alarms.ts';
import { insertHires } from '../../src/store/hires.ts';
import { closeHold, listHolds, openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { noteCases } from '../../src/store/privacy-cases.ts';
import { changeQuarantine } from '../../src/store/quarantine.ts';
import { beginRun, commitPage, refuseRun } from '../../src/store/streams.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { runCommand } from '../harness/run-command.ts';
import { storeIn } from '../store/stores.ts';
import { scratchDir, tenantDir } from './cli-process.ts';

/** A data directory whose store was filled and closed again. */
async function dataDir(fill: (store: Store) => Promise<unknown>): Promise<string> {
  const dir = await scratchDir();
  const store = await openStore(await storeIn(dir), { relaxed: true });
  await fill(store);
  await store.close();
  return dir;
}

const HOLD = {
  tenantId: 'acme',
  jobCandidateId: '600013',
  period: 1,
  code: 'MAPPING_INCOMPLETE',
  message: 'The start date is missing. Fill it in, then answer retry.',
  answers: ['retry', 'cancel'],
};

test.each([
  ['hold', 'answer', 'h1', 'retry'],
  ['sync', 'acme', 'jobs'],
  ['rollout', 'build-1'],
])('%s %s in a directory without a store makes none', async (...args) => {
  const data = await scratchDir();
  const { code, stderr } = await runCommand([...args, '--data', data]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('[STORE_MISSING]') });
  expect(await readdir(data)).toEqual([]);
});

test('hold list and show tell what waits, why, and the answers it takes', async () => {
  const made: { holdId?: string } = {};
  const data = await dataDir(async (store) => Object.assign(made, await openHold(store, HOLD)));
  const holdId = made.holdId ?? '';
  const list = await runCommand(['hold', 'list', '--data', data]);
  expect(list).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`${holdId}.*acme.*600013.*MAPPING_INCOMPLETE`)),
  });
  expect(list.stdout).toMatch(/\n\nHow to answer one: hirebridge hold show ID\n$/);
  const shown = await runCommand(['hold', 'show', holdId, '--data', data]);
  expect(shown.stdout).toContain(HOLD.message);
  expect(shown.stdout).toContain('\nEach value and its rule, with file and line: hirebridge explain acme 600013\n');
  expect(shown.stdout).toContain(
    `  hirebridge hold answer ${holdId} retry\n` +
      '      Reads both sides again and continues; asks again if the cause is still\n      there.\n' +
      `  hirebridge hold answer ${holdId} cancel\n      Ends this hire`,
  );
  const json = JSON.parse((await runCommand(['hold', 'list', '--json', '--data', data])).stdout) as unknown;
  expect(json).toMatchObject([{ holdId, state: 'open', answers: ['retry', 'cancel'] }]);
});

test('hold list counts holds of one reason together and says what answers them all', async () => {
  const last = { holdId: '' };
  const data = await dataDir(async (store) => {
    for (let n = 1; n <= 5; n += 1) await openHold(store, { ...HOLD, jobCandidateId: `${n}` });
    last.holdId = (await listHolds(store)).at(-1)?.hold_id ?? '';
    await openHold(store, { ...HOLD, code: 'IDENTITY_AMBIGUOUS', answers: ['link', 'create'] });
  });
  const { stdout } = await runCommand(['hold', 'list', '--data', data]);
  expect(stdout.match(/^\w{8} +acme +\d+ +open/gm)).toHaveLength(4);
  expect(stdout).toContain('5 of acme wait for the same reason: MAPPING_INCOMPLETE');
  const answer = 'hirebridge hold answer --all MAPPING_INCOMPLETE ANSWER --tenant acme';
  expect(stdout).toContain(`${answer} --until ${last.holdId}`);
  const one = await runCommand(['hold', 'list', '--code', 'MAPPING_INCOMPLETE', '--data', data]);
  expect(one.stdout.match(/MAPPING_INCOMPLETE$/gm)?.length).toBeGreaterThanOrEqual(5);
});

test('hold list --all does not say of closed holds that they wait', async () => {
  const data = await dataDir(async (store) => {
    for (let n = 1; n <= 5; n += 1) await openHold(store, { ...HOLD, jobCandidateId: `${n}` });
    for (const { hold_id: id } of (await listHolds(store)).slice(0, 3)) await closeHold(store, id);
  });
  const { stdout } = await runCommand(['hold', 'list', '--all', '--data', data]);
  expect(stdout).toContain('2 of acme wait, 3 no more, for the same reason: MAPPING_INCOMPLETE');
});

test('hold show names the id that an answer needs', async () => {
  const made: { holdId?: string } = {};
  const hold = { ...HOLD, code: 'ENROLLED_ELSEWHERE', answers: ['adopt', 'cancel'] };
  const data = await dataDir(async (store) => Object.assign(made, await openHold(store, hold)));
  const { stdout } = await runCommand(['hold', 'show', made.holdId ?? '', '--data', data]);
  expect(stdout).toContain(`hirebridge hold answer ${made.holdId} adopt <onboardingCandidateId>`);
  expect(stdout).not.toMatch(/adopt$/m);
});

test.each([
  ['hold list', ['hold', 'list']],
  ['hold show', ['hold', 'show', '1f2e3d4c']],
  ['status', ['status']],
  ['inbox list', ['inbox', 'list']],
])('%s does not create a store where there is none', async (_what, args) => {
  const data = await scratchDir();
  const { code } = await runCommand([...args, '--tenants', await tenantDir(), '--data', data]);
  expect({ code, files: await readdir(data) }).toEqual({ code: 2, files: [] });
});

test('a hold that is not there is refused with exit code 2', async () => {
  const data = await dataDir(async () => undefined);
  const { code, stderr } = await runCommand(['hold', 'show', 'ffffffff', '--data', data]);
  expect(code).toBe(2);
  expect(stderr).toContain('hold list');
});

test('hire list and show tell how hires stand, and write nothing but who looked', async () => {
  const hire = { tenantId: 'acme', period: 1, state: 'open' } as const;
  const data = await dataDir((store) =>
    insertHires(store, [
      { ...hire, jobCandidateId: '5012', jobId: '9' },
      { ...hire, jobCandidateId: '5013', state: 'before-go-live' },
      { ...hire, tenantId: 'zeta', jobCandidateId: '77' },
    ]),
  );
  const before = await readFile(join(data, 'store.db'));
  const listed = await runCommand(['hire', 'list', '--tenant', 'acme', '--state', 'open', '--data', data]);
  expect(listed.stdout).toMatch(/acme +5012 +1 +open +hirebridge/);
  expect(listed.stdout).not.toMatch(/5013|zeta/);
  const all = JSON.parse((await runCommand(['hire', 'list', '--json', '--data', data])).stdout) as unknown[];
  expect(all).toHaveLength(3);
  expect(await readFile(join(data, 'store.db'))).toEqual(before);
  const known = rowsIn(data);
  const shown = await runCommand(['hire', 'show', 'acme', '5012', '--json', '--data', data]);
  const shownHire = { jobCandidateId: '5012', jobId: '9', state: 'open', endedAt: null };
  // The trace's id is the same for whoever computes it, so that a collector's spans are found by it.
  expect(JSON.parse(shown.stdout)).toMatchObject({ ...shownHire, traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
  const { audit, audit_heads: _heads, person_mark_keys: _keys, ...others } = rowsIn(data);
  expect(audit).toMatchObject([{ act: 'looked', tenant_id: 'acme' }]);
  expect(known).toMatchObject(others);
});

function rowsIn(data: string): Record<string, unknown[]> {
  const file = new DatabaseSync(join(data, 'store.db'), { readOnly: true, timeout: 60_000 });
  const tables = file.prepare("select name from sqlite_master where type = 'table'").all();
  const rows = tables.map(({ name }) => [String(name), file.prepare(`select * from "${String(name)}"`).all()] as const);
  file.close();
  return Object.fromEntries(rows);
}

test.each([
  ['a hire that the store does not know', ['hire', 'show', 'acme', '1'], /hirebridge hire list --tenant acme/],
  ['a state that is none', ['hire', 'list', '--state', 'nonsense'], /before-go-live, open, done/],
])('%s is rejected with exit code 2', async (_what, args, expected) => {
  const data = await dataDir(async () => undefined);
  const { code, stderr } = await runCommand([...args, '--data', data]);
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
});

test('hire show does not create a store where there is none', async () => {
  const data = await scratchDir();
  const { code, stderr } = await runCommand(['hire', 'show', 'acme', '1', '--data', data]);
  expect({ code, files: await readdir(data) }).toEqual({ code: 2, files: [] });
  expect(stderr).toContain('--data');
});

test('status counts hires and deliveries by state and shows holds with their reason', async () => {
  const dir = await tenantDir();
  const data = await dataDir(async (store) => {
    const hire = { tenantId: 'acme', period: 1 };
    await insertHires(store, [
      { ...hire, jobCandidateId: '1', state: 'before-go-live' },
      { ...hire, jobCandidateId: '2', state: 'open' },
      { ...hire, jobCandidateId: '3', state: 'open' },
    ]);
    await insertDelivery(store, {
      tenantId: 'acme',
      bodyHash: 'a',
      event: 'candidate.hired',
      ids: {},
      body: '{}',
      state: 'waiting',
    });
    const unknown = { bodyHash: 'b', event: 'brand.new', state: 'unknown' } as const;
    await insertDelivery(store, { tenantId: 'acme', ids: {}, body: '{}', ...unknown });
    await openHold(store, HOLD);
  });
  const { code, stdout } = await runCommand(['status', '--json', '--tenants', dir, '--data', data]);
  // Nobody works here, and status says so.
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    tenants: [
      {
        tenantId: 'acme',
        hires: { 'before-go-live': 1, open: 2 },
        inbox: { counts: { waiting: 1, unknown: 1 }, oldestWaitingMs: expect.any(Number) },
      },
    ],
    holds: [{ jobCandidateId: '600013', code: 'MAPPING_INCOMPLETE' }],
  });
  const readable = await runCommand(['status', '--verbose', '--tenants', dir, '--data', data]);
  expect(readable.stdout).toMatch(/acme\s.*1 before-go-live, 2 open/);
  expect(readable.stdout).toContain('MAPPING_INCOMPLETE: The start date is missing');
  const short = (await runCommand(['status', '--tenants', dir, '--data', data])).stdout;
  expect(short).toMatch(
    /^2 hires are under way; 1 question waits for an answer\. Not everything is\s+running, see\s+below\.\n/,
  );
  expect(short).toContain('[MAPPING_INCOMPLETE]');
  expect(short.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('status counts no hire of a removed tenant as under way: nothing continues it', async () => {
  const data = await dataDir(async (store) => {
    await insertHires(store, [{ tenantId: 'gone', jobCandidateId: '1', period: 1, state: 'open' }]);
    await readTenantState(store, 'gone');
    await store.kysely.updateTable('tenants').set({ state: 'removed' }).where('tenant_id', '=', 'gone').execute();
  });
  const { stdout } = await runCommand(['status', '--tenants', await tenantDir(), '--data', data]);
  expect(stdout).toMatch(/^No hire is under way/);
});

test('status says that a tenant only observes', async () => {
  const data = await dataDir(async (store) => {
    await readTenantState(store, 'acme');
    await store.kysely.updateTable('tenants').set({ receives: '{"mode":"observe"}' }).execute();
  });
  const { stdout } = await runCommand(['status', '--tenants', await tenantDir(), '--data', data]);
  expect(stdout).toMatch(/^acme +active, observes /m);
});

test('status shows the last run of each stream, what was left out, and why one was refused', async () => {
  const dir = await tenantDir();
  const data = await dataDir(async (store) => {
    const candidates = { tenantId: 'acme', stream: 'candidates' };
    const jobs = { tenantId: 'acme', stream: 'jobs' };
    await beginRun(store, candidates, { runId: 'r1', full: false, firstPage: 0 });
    const news = [{ key: '17', reason: 'email: expected text' }];
    await changeQuarantine(store, candidates, 'r1', { page: 0, over: [], news });
    const counts = { unchanged: 90, created: 7, updated: 2, quarantined: 1 };
    await commitPage(store, candidates, 'r1', { next: 1, records: 100, total: 100, counts, state: 'partial' });
    await beginRun(store, jobs, { runId: 'r2', full: false, firstPage: 1 });
    await refuseRun(store, jobs, 'r2', { code: 'LANDING_UNUSABLE', message: 'The landing table is not there.' });
  });
  const { stdout } = await runCommand(['status', '--json', '--tenants', dir, '--data', data]);
  expect(JSON.parse(stdout)).toMatchObject({
    tenants: [
      {
        streams: [
          {
            stream: 'candidates',
            state: 'partial',
            ageMs: expect.any(Number) as number,
            counts: { read: 100, unchanged: 90, created: 7, updated: 2 },
            quarantined: 1,
          },
          { stream: 'jobs', state: 'refused', quarantined: 0, refused: { code: 'LANDING_UNUSABLE' } },
        ],
      },
    ],
  });
  const readable = await runCommand(['status', '--verbose', '--tenants', dir, '--data', data]);
  expect(readable.stdout).toMatch(/acme +candidates +partial .*100 read, 90 unchanged, 7 created, 2 updated +1 +- *\n/);
  expect(readable.stdout).toContain('acme jobs was refused: The landing table is not there. [LANDING_UNUSABLE]');
});

test('what an alarm says is not said twice, and a stream that was removed since is no trouble', async () => {
  const dir = await tenantDir();
  const data = await dataDir(async (store) => {
    const refusal = { code: 'LANDING_UNUSABLE', message: 'The landing table is not there.' };
    for (const stream of ['jobs', 'candidates']) {
      const key = { tenantId: 'acme', stream };
      await beginRun(store, key, { runId: stream, full: false, firstPage: 1 });
      await refuseRun(store, key, stream, refusal);
    }
    const { code: reason, message } = refusal;
    const alarm = { tenantId: 'acme', kind: 'stream-stale', subject: 'stream jobs', reason, message } as const;
    await noteTrouble(store, alarm, 0);
  });
  const places = ['--tenants', dir, '--data', data];
  const before = (await runCommand(['status', '--verbose', ...places])).stdout;
  expect(before.match(/The landing table is not there/g)).toHaveLength(2);
  expect(before).toContain('acme candidates was refused');
  expect(await runCommand(['tenant', 'apply', '--yes', '--unchecked', ...places])).toMatchObject({ code: 0 });
  expect((await runCommand(['status', '--verbose', ...places])).stdout).not.toContain('was refused');
});

const DELIVERY = {
  tenantId: 'acme',
  bodyHash: 'abcdef0123456789',
  event: 'candidate.hired',
  ids: { jobCandidateId: ['7'] },
  body: '{"data":{"email":"jane@example.com"}}',
  state: 'waiting',
} as const;

test('a name that the partner sent gives the terminal no orders', async () => {
  const event = 'a\u001b[2Jb\u001b]0;title\u0007c\u0008';
  const data = await dataDir(async (store) => {
    await insertDelivery(store, { tenantId: 'acme', bodyHash: 'f1', event, ids: {}, body: '{}', state: 'unknown' });
  });
  const { stdout } = await runCommand(['inbox', 'list', '--data', data]);
  expect(stdout).toContain('a?[2Jb?]0;title?c?');
});

test('inbox list shows undeliverable deliveries without their body; inbox retry has them relayed again', async () => {
  const data = await dataDir(async (store) => {
    await insertDelivery(store, DELIVERY);
    await store.kysely.updateTable('inbox').set({ state: 'undeliverable', failures: 10 }).execute();
    await insertDelivery(store, { ...DELIVERY, bodyHash: 'f0', state: 'other-company' });
  });
  const list = await runCommand(['inbox', 'list', '--data', data]);
  expect(list.stdout).toMatch(/abcdef012345 +acme .*candidate\.hired +undeliverable/);
  expect(list.stdout).not.toContain('jane@example.com');
  const retried = await runCommand(['inbox', 'retry', '--all', '--data', data]);
  expect(retried.stdout).toContain('1 given to the relay again');
  const one = await runCommand(['inbox', 'retry', 'f0', '--data', data]);
  expect(one.stdout).toContain('1 given to the relay again');
  const waiting = JSON.parse(
    (await runCommand(['inbox', 'list', '--state', 'waiting', '--json', '--data', data])).stdout,
  );
  expect(waiting).toMatchObject([{ failures: 0 }, { failures: 0 }]);
});

test.each([
  ['a delivery that is not there', ['retry', 'ffff'], /inbox list/],
  ['neither a delivery nor --all', ['retry'], /--all/],
])('inbox retry of %s is rejected with exit code 2', async (_what, args, expected) => {
  const data = await dataDir(async () => undefined);
  const { code, stderr } = await runCommand(['inbox', ...args, '--data', data]);
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
});

test('person due lists whom the privacy policy is about, and person decide takes the decision', async () => {
  const data = await dataDir(async (store) => {
    await readTenantState(store, 'acme');
    await noteCases(store, { tenantId: 'acme', cause: 'gone' }, ['501', '502']);
    await store.kysely.updateTable('privacy_cases').set({ state: 'asked', why: 'limit' }).execute();
  });
  const due = await runCommand(['person', 'due', 'acme', '--data', data]);
  expect(due.stdout).toMatch(/501 +gone +asked .*erasuresPerHour/);
  const kept = await runCommand(['person', 'decide', 'acme', '501', '--keep', '--data', data]);
  expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('1 person. They are kept.') as string });
  const again = await runCommand(['person', 'decide', 'acme', '501', '--keep', '--data', data]);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('NOBODY_WAITS') as string });
  const unclear = await runCommand(['person', 'decide', 'acme', 'all', '--data', data]);
  expect(unclear.stderr).toContain('--erase');
  await runCommand(['person', 'decide', 'acme', 'all', '--erase', '--data', data]);
  const left = JSON.parse((await runCommand(['person', 'due', 'acme', '--json', '--data', data])).stdout) as unknown;
  expect(left).toMatchObject([
    { candidate: '501', state: 'kept' },
    { candidate: '502', state: 'allowed' },
  ]);
});
