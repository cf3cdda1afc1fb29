import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { insertHires } from '../../src/store/hires.ts';
import { openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { addToQuarantine } from '../../src/store/quarantine.ts';
import { beginRun, commitPage, refuseRun } from '../../src/store/streams.ts';
import { freePort } from '../harness/free-port.ts';
import { runCli, scratchDir, startCli, TENANT, tenantDir } from './cli-process.ts';

/** A data directory whose store was filled and closed again. */
async function dataDir(fill: (store: Store) => Promise<unknown>): Promise<string> {
  const dir = await scratchDir();
  const store = await openStore(`sqlite:${join(dir, 'store.db')}`);
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
  ['demo', 'hirebridge demo --once'],
  ['up', 'hirebridge up'],
  ['serve', 'hirebridge serve --host'],
  ['worker', 'hirebridge worker'],
  ['hire', 'Commands:'],
  ['hold', 'Commands:'],
  ['status', 'hirebridge status'],
  ['sync', 'hirebridge sync acme candidates'],
  ['sandbox', 'hirebridge sandbox --jobs 3'],
  ['doctor', 'hirebridge doctor --json'],
  ['openapi', 'hirebridge openapi --yaml'],
  ['collection', 'hirebridge collection --environment sandbox'],
])('%s --help shows an example', async (verb, expected) => {
  const { code, stdout } = await runCli([verb, '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(expected);
});

test.each([
  ['an unknown verb', ['nonsense'], /unknown command/],
  ['an unknown option', ['serve', '--nonsense'], /unknown option/],
  ['a port that is none', ['serve', '--port', '70000'], /whole number from 0 to 65535/],
  [
    'a missing tenant directory',
    ['serve', '--tenants', '/nowhere/tenants', '--port', '0'],
    /\/nowhere\/tenants.*--tenants/,
  ],
])('%s is refused with exit code 2 and one clear line', async (_what, args, expected) => {
  const { code, stderr } = await runCli(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('a tenant file that is wrong is refused with its line and column before anything is written', async () => {
  const [dir, data] = await Promise.all([tenantDir(), scratchDir()]);
  await writeFile(join(dir, 'acme.yaml'), TENANT.replace('environment: sandbox', 'environment: moon'));
  const { code, stderr } = await runCli([
    'serve',
    '--tenants',
    dir,
    '--data',
    join(data, 'new'),
    '--port',
    '0',
    '--health-port',
    '0',
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/acme\.yaml:4:\d+/);
});

test('a missing secret is refused by its reference, with what to do', async () => {
  const dir = await tenantDir();
  await rm(join(dir, 'webhook.key'));
  const { code, stderr } = await runCli([
    'serve',
    '--tenants',
    dir,
    '--data',
    await scratchDir(),
    '--port',
    '0',
    '--health-port',
    '0',
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/webhook\.key.*missing or empty/s);
});

test('a Temporal that does not answer is an error with exit code 1 and its address', async () => {
  const [dir, data, port] = await Promise.all([tenantDir(), scratchDir(), freePort()]);
  const args = ['worker', '--tenants', dir, '--data', data, '--health-port', '0'];
  const { code, stderr } = await runCli(args, { TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
  expect(code).toBe(1);
  expect(stderr).toContain(`127.0.0.1:${port}`);
  expect(stderr).toContain('TEMPORAL_ADDRESS');
});

test('stack traces are shown only when debugging is asked for', async () => {
  const args = ['serve', '--tenants', '/nowhere/tenants', '--port', '0'];
  const [plain, debug] = await Promise.all([runCli(args), runCli(args, { LOG_LEVEL: 'debug' })]);
  expect(plain.stderr).not.toMatch(/\n\s+at /);
  expect(debug.stderr).toMatch(/\n\s+at /);
});

test('hold list and show tell what waits, why, and the answers it takes', async () => {
  const made: { holdId?: string } = {};
  const data = await dataDir(async (store) => Object.assign(made, await openHold(store, HOLD)));
  const holdId = made.holdId ?? '';
  const list = await runCli(['hold', 'list', '--data', data]);
  expect(list).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`${holdId}.*acme.*600013.*MAPPING_INCOMPLETE`)),
  });
  const shown = await runCli(['hold', 'show', holdId, '--data', data]);
  expect(shown.stdout).toContain(HOLD.message);
  expect(shown.stdout).toContain('answers: retry, cancel');
  const json = JSON.parse((await runCli(['hold', 'list', '--json', '--data', data])).stdout) as unknown;
  expect(json).toMatchObject([{ holdId, state: 'open', answers: ['retry', 'cancel'] }]);
});

test('a hold that is not there is refused with exit code 2', async () => {
  const data = await dataDir(async () => undefined);
  const { code, stderr } = await runCli(['hold', 'show', 'ffffffff', '--data', data]);
  expect(code).toBe(2);
  expect(stderr).toContain('hold list');
});

test('hire list and show tell how hires stand, and write nothing', async () => {
  const hire = { tenantId: 'acme', period: 1, state: 'open' } as const;
  const data = await dataDir((store) =>
    insertHires(store, [
      { ...hire, jobCandidateId: '5012', jobId: '9' },
      { ...hire, jobCandidateId: '5013', state: 'before-go-live' },
      { ...hire, tenantId: 'zeta', jobCandidateId: '77' },
    ]),
  );
  const before = await readFile(join(data, 'store.db'));
  const listed = await runCli(['hire', 'list', '--tenant', 'acme', '--state', 'open', '--data', data]);
  expect(listed.stdout).toMatch(/acme +5012 +1 +open +opened/);
  expect(listed.stdout).not.toMatch(/5013|zeta/);
  const all = JSON.parse((await runCli(['hire', 'list', '--json', '--data', data])).stdout) as unknown[];
  expect(all).toHaveLength(3);
  const shown = await runCli(['hire', 'show', 'acme', '5012', '--json', '--data', data]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ jobCandidateId: '5012', jobId: '9', state: 'open', endedAt: null });
  expect(await readFile(join(data, 'store.db'))).toEqual(before);
});

test.each([
  ['a hire that the store does not know', ['hire', 'show', 'acme', '1'], /hirebridge hire list --tenant acme/],
  ['a state that is none', ['hire', 'list', '--state', 'nonsense'], /before-go-live, open, done/],
])('%s is rejected with exit code 2', async (_what, args, expected) => {
  const data = await dataDir(async () => undefined);
  const { code, stderr } = await runCli([...args, '--data', data]);
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
});

test('hire show does not create a store where there is none', async () => {
  const data = await scratchDir();
  const { code, stderr } = await runCli(['hire', 'show', 'acme', '1', '--data', data]);
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
  const { code, stdout } = await runCli(['status', '--json', '--tenants', dir, '--data', data]);
  expect(code).toBe(0);
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
  const readable = await runCli(['status', '--tenants', dir, '--data', data]);
  expect(readable.stdout).toMatch(/acme\s.*1 before-go-live, 2 open/);
  expect(readable.stdout).toContain('MAPPING_INCOMPLETE: The start date is missing');
});

test('status shows the last run of each stream, what was left out, and why one was refused', async () => {
  const dir = await tenantDir();
  const data = await dataDir(async (store) => {
    const candidates = { tenantId: 'acme', stream: 'candidates' };
    const jobs = { tenantId: 'acme', stream: 'jobs' };
    await beginRun(store, candidates, { runId: 'r1', full: false, firstPage: 0 });
    await addToQuarantine(store, candidates, 0, [{ key: '17', reason: 'email: expected text' }]);
    const counts = { unchanged: 90, created: 7, updated: 2, quarantined: 1 };
    await commitPage(store, candidates, 'r1', { next: 1, records: 100, total: 100, counts, state: 'partial' });
    await beginRun(store, jobs, { runId: 'r2', full: false, firstPage: 1 });
    await refuseRun(store, jobs, 'r2', { code: 'LANDING_UNUSABLE', message: 'The landing table is not there.' });
  });
  const { stdout } = await runCli(['status', '--json', '--tenants', dir, '--data', data]);
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
  const readable = await runCli(['status', '--tenants', dir, '--data', data]);
  expect(readable.stdout).toMatch(/acme +candidates +partial .*100 read, 90 unchanged, 7 created, 2 updated +1 *\n/);
  expect(readable.stdout).toContain('acme jobs was refused: The landing table is not there. [LANDING_UNUSABLE]');
});

test('the sandbox prints where it is and the key to use, and logs each request', async () => {
  const sandbox = startCli(['sandbox', '--port', '0', '--control-port', '0', '--jobs', '2', '--candidates', '5']);
  const { partner = '' } = await sandbox.urls();
  await expect.poll(() => /API key\s+sk_test_\w{22}/.exec(sandbox.out.stdout)?.[0]).toBeTruthy();
  const key = /sk_test_\w{22}/.exec(sandbox.out.stdout)?.[0] ?? '';
  const answer = await fetch(`${partner}/jobs`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  sandbox.child.kill('SIGTERM');
  const { code, stderr } = await sandbox.exited;
  expect(code).toBe(0);
  expect(stderr).toContain('"operation":"jobs.list"');
  expect(stderr).not.toContain(key);
});

test('a taken port is one clear error', async () => {
  const first = startCli(['sandbox', '--port', '0', '--control-port', '0']);
  const { partner = '' } = await first.urls();
  const second = await runCli(['sandbox', '--port', new URL(partner).port, '--control-port', '0']);
  expect(second.code).toBe(1);
  expect(second.stderr).toMatch(/choose another port/);
});

test('an unusable variable of the environment is named, not its value', async () => {
  const { code, stderr } = await runCli(['serve'], { HIREBRIDGE_PORT: 'eighty' });
  expect(code).toBe(2);
  expect(stderr).toContain('HIREBRIDGE_PORT');
  expect(stderr).not.toContain('eighty');
});
