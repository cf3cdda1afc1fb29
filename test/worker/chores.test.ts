import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { pauseHris } from '../../activities/guarded.ts';
import { ConnectorError } from '../../src/errors.ts';
import { createRootLogger } from '../../src/log.ts';
import { listAlarms } from '../../src/store/alarms.ts';
import { applyDefinitions, removeTenant } from '../../src/store/applied-tenants.ts';
import { listHolds, openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import { saveJobs } from '../../src/store/jobs.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { insertPlan } from '../../src/store/plans.ts';
import { purgeBodies, purgeDeliveries } from '../../src/store/retention.ts';
import { listDataKeys, type Sealing } from '../../src/store/sealed-values.ts';
import { eraseTenantRows } from '../../src/store/tenant-rows.ts';
import { pauseTenant, readTenantState } from '../../src/store/tenant-states.ts';
import { addWebhookRefusals } from '../../src/store/webhook-refusals.ts';
import { everyStream } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { addKey } from '../../src/vault/keys.ts';
import { createHrisCheck, createNotifier, startChores } from '../../src/worker/chores.ts';
import { createAlarmRound } from '../../src/worker/raise-alarms.ts';
import { createBackOff, createChoreRunner } from '../../src/worker/run-chores.ts';
import { forgottenSession } from '../harness/forgotten-session.ts';
import { patience } from '../harness/pace.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { until } from '../harness/world.ts';
import { freshStore, freshStoreUrl, sqliteStore } from '../store/stores.ts';

type Probe = () => Promise<{ ok: true } | { ok: false; error: ConnectorError }>;

const delivery = { tenantId: 'acme', bodyHash: 'a', event: 'candidate.hired', ids: {}, body: '{}' };

const works: Probe = async () => ({ ok: true });

async function depsOver(probe: Probe = works): Promise<ActivityDeps> {
  const store = await sqliteStore();
  const connections = { of: async () => ({ hris: { probe } }) };
  return {
    store,
    log: createRootLogger(undefined, 'silent'),
    connections,
    pausedHris: new Set(),
  } as unknown as ActivityDeps;
}

function tenantOf(tenant: string, url?: string, allowPrivateAddress = true): Tenant {
  const policies = { retention: { plans: 1_000, writes: 1_000 }, reconcile: { every: 60_000 } };
  const notify = url === undefined ? undefined : { url, form: 'webhook', timezone: 'UTC' };
  const streams = everyStream(() => ({}));
  return { tenant, partner: { allowPrivateAddress }, policies, streams, notify, configHash: 'a' } as unknown as Tenant;
}

/** An address on this machine; what was posted there. */
async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function hold(store: Store, tenantId: string): Promise<string> {
  await readTenantState(store, tenantId);
  return (await openHold(store, { tenantId, code: 'TEST', message: 'A test.', answers: ['retry'] })).holdId;
}

async function notified(store: Store): Promise<string[]> {
  return (await listHolds(store)).filter((one) => one.notified_at !== null).map((one) => one.tenant_id);
}

test('a tenant whose notify address hangs keeps no other tenant’s holds from being told', async () => {
  const deps = await depsOver();
  let hanging = 0;
  const hangs = await listen(() => (hanging += 1));
  const answers = await listen((_request, response) => void response.end());
  await hold(deps.store, 'acme');
  const tenants = [tenantOf('acme', hangs), tenantOf('globex', answers)];
  const chores = startChores(deps, () => tenants, 10);
  onTestFinished(() => chores.close());
  await until('the first post hangs', async () => hanging > 0);
  await hold(deps.store, 'globex');
  await until('globex was told', async () => (await notified(deps.store)).includes('globex'));
  // Rounds went on all the while, and none began the one that hangs again.
  expect({ hanging, notified: await notified(deps.store) }).toEqual({ hanging: 1, notified: ['globex'] });
});

test('a table that somebody locks keeps no hold from being told', async () => {
  const url = await freshStoreUrl('postgres');
  const store = await openStore(`${url}?lock_timeout=200`);
  await hold(store, 'acme');
  const session = await forgottenSession(url, 'lock table inbox in access exclusive mode');
  const answers = await listen((_request, response) => void response.end());
  const chores = startChores({ ...(await depsOver()), store }, () => [tenantOf('acme', answers)], 500);
  onTestFinished(async () => {
    await session.end();
    await chores.close();
    await store.close();
  });
  const isTold = until('acme was told', async () => (await notified(store)).includes('acme'), { timeoutMs: 20_000 });
  await expect(isTold).resolves.toBe(true);
});

test('of two workers one clears what is old, and the other does when that one has ended', async () => {
  const cleared = [0, 0];
  const deps = await depsOver();
  const depsOf = (worker: number): ActivityDeps => {
    const count: KyselyPlugin = {
      transformQuery({ node }) {
        if (node.kind === 'UpdateQueryNode' && JSON.stringify(node).includes('received_at')) cleared[worker] = 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    return { ...deps, store: { ...deps.store, kysely: deps.store.kysely.withPlugin(count) } };
  };
  // Its lease lasts three of its rounds, which nothing that holds up this process can use up.
  const one = startChores(depsOf(0), () => [], 600_000);
  await until('the first clears', async () => cleared[0] === 1);
  let rounds = 0;
  const other = startChores(depsOf(1), () => ((rounds += 1), []), 20);
  onTestFinished(() => other.close());
  await until('the other goes round', async () => rounds > 5);
  expect(cleared).toEqual([1, 0]);
  await one.close();
  await until('the other clears', async () => cleared[1] === 1);
});

test('of two workers one asks the HR systems, and the other knows which of them stand still', async () => {
  const asked = [0, 0];
  const down = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  let isUp = false;
  const shared = await depsOver();
  const depsOf = (worker: number): ActivityDeps => {
    const probe: Probe = async () => {
      asked[worker] = (asked[worker] ?? 0) + 1;
      return isUp ? { ok: true } : { ok: false, error: down };
    };
    const connections = { of: async () => ({ hris: { probe } }) } as unknown as ActivityDeps['connections'];
    return { ...shared, connections, pausedHris: new Set() };
  };
  const [first, second] = [depsOf(0), depsOf(1)];
  const one = startChores(first, () => [tenantOf('acme')], 2_000);
  await until('the first finds that it does not answer', async () => first.pausedHris.has('acme'));
  const other = startChores(second, () => [tenantOf('acme')], 20);
  onTestFinished(() => other.close());
  await until('the other knows', async () => second.pausedHris.has('acme'));
  isUp = true;
  await until('the other knows that it answers again', async () => !second.pausedHris.has('acme'));
  expect(asked[1]).toBe(0);
  await one.close();
  await until('the other asks', async () => (asked[1] ?? 0) > 0);
});

test('a webhook that should be gone for a day is an alarm until it is', async () => {
  const deps = await depsOver();
  await insertDelivery(deps.store, { ...delivery, state: 'ignored' });
  await readTenantState(deps.store, 'acme');
  await deps.store.kysely.updateTable('inbox').set({ received_at: 86_400_000 }).execute();
  const round = createAlarmRound(deps.store, deps.log);
  await round([], new Map());
  expect(await listAlarms(deps.store)).toMatchObject([
    { tenant_id: 'acme', kind: 'retention-late', message: expect.stringContaining('1970-01-02') as string },
  ]);
  await purgeBodies(deps.store, 1_000);
  await purgeDeliveries(deps.store, 1_000);
  await round([], new Map());
  expect(await listAlarms(deps.store)).toEqual([]);
});

test('webhooks that are refused are an alarm until one is accepted', async () => {
  const deps = await depsOver();
  const receives = { webhooks: 'on' as const, webhookKeys: [] };
  const definition = { tenantId: 'acme', file: '/t.yaml', files: {}, receives, over: null, changes: [] };
  await applyDefinitions(deps.store, [definition], 'ann');
  const state = await readTenantState(deps.store, 'acme');
  const tenants = new Map([['acme', { ...tenantOf('acme'), partner: { webhooks: 'on' } } as Tenant]]);
  const round = createAlarmRound(deps.store, deps.log);
  await addWebhookRefusals(deps.store, [{ tenantId: 'acme', reason: 'WEBHOOK_KEY_WRONG', count: 3 }]);
  await round([state], tenants);
  const raised = { kind: 'webhooks-refused', reason: 'WEBHOOK_KEY_WRONG' };
  expect(await listAlarms(deps.store)).toContainEqual(expect.objectContaining(raised));
  await insertDelivery(deps.store, { ...delivery, state: 'ignored' });
  await round([state], tenants);
  expect(await listAlarms(deps.store)).not.toContainEqual(expect.objectContaining(raised));
});

test('chores end although one of them hangs', async () => {
  const deps = await depsOver(() => new Promise(() => undefined));
  let hanging = 0;
  const hangs = await listen(() => (hanging += 1));
  await hold(deps.store, 'acme');
  const chores = startChores(deps, () => [tenantOf('acme', hangs)], 10);
  await until('the post hangs', async () => hanging > 0);
  await chores.close();
  expect(await notified(deps.store)).toEqual([]);
});

test('a notify address inside the network is not called unless the tenant’s file allows it', async () => {
  const deps = await depsOver();
  let called = 0;
  const address = await listen((_request, response) => {
    called += 1;
    response.end();
  });
  const byName = address.replace('127.0.0.1', 'localhost');
  await hold(deps.store, 'acme');
  const notify = createNotifier(deps);
  const { signal } = new AbortController();
  expect(await notify(tenantOf('acme', address, false), signal)).toBe('failed');
  expect(await notify(tenantOf('acme', byName, false), signal)).toBe('failed');
  expect(called).toBe(0);
  expect(await notify(tenantOf('acme', address, true), signal)).toBe('done');
  expect(called).toBe(1);
});

test('an HR system that comes and goes is one hold, which closes after three good probes in a row', async () => {
  const down = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  const says = [true, false, true, false, false, true, false, true, true, true];
  const answers = says.values();
  const deps = await depsOver(async () => (answers.next().value === true ? { ok: true } : { ok: false, error: down }));
  const check = createHrisCheck(deps);
  const seen: string[] = [];
  for (const _ of says) {
    await check(tenantOf('acme'), new AbortController().signal);
    seen.push(`${(await listHolds(deps.store)).length}${deps.pausedHris.has('acme') ? ' paused' : ''}`);
  }
  expect(seen).toEqual(['0', '0', '0', '0', ...Array(5).fill('1 paused'), '0']);
  expect(await listHolds(deps.store, { all: true })).toHaveLength(1);
});

test('an HR system that works again after a long trouble is asked again in the rounds that follow', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const down = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  const rounds: number[] = [];
  let round = 0;
  const deps = await depsOver(async () => (rounds.push(round) <= 6 ? { ok: false, error: down } : { ok: true }));
  const chores = startChores(deps, () => [tenantOf('acme')], 1_000);
  for (; round < 200 && rounds.length < 9; round += 1) {
    vi.advanceTimersByTime(1_000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  }
  await chores.close();
  const [first = 0, second, third] = rounds.slice(6);
  expect([second, third]).toEqual([first + 1, first + 2]);
  expect(deps.pausedHris.size).toBe(0);
});

test.each([
  ['an HR system', false],
  ['a paused tenant', true],
])('%s that is back after hours goes on within two and a half minutes', async (_who, isPaused) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const down = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  const asked: number[] = [];
  let round = 0;
  const deps = await depsOver(async () => (asked.push(round) ? { ok: false, error: down } : { ok: true }));
  if (isPaused) await pauseTenant(deps.store, 'acme', 'ACCOUNT_INACTIVE', 'The account is inactive.');
  const opened = async () => (asked.push(round) ? Promise.reject(down) : undefined);
  const connections = isPaused ? { of: opened, reopen: async () => undefined } : deps.connections;
  const chores = startChores({ ...deps, connections } as ActivityDeps, () => [tenantOf('acme')], 15_000);
  for (; round < 1_000; round += 1) {
    vi.advanceTimersByTime(15_000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  }
  await chores.close();
  const waits = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
  expect(waits.length).toBeGreaterThan(20);
  expect(Math.max(...waits)).toBe(8);
});

test('a paused tenant’s partner is called by its probe alone, ever later', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const deps = await depsOver();
  await pauseTenant(deps.store, 'acme', 'KEY_REVOKED', 'The key is refused.');
  const rounds: number[] = [];
  let round = 0;
  const opened = async () => {
    rounds.push(round);
    throw new ConnectorError({ code: 'UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  };
  const connections = { ...deps.connections, of: opened, reopen: async () => undefined };
  const chores = startChores({ ...deps, connections }, () => [tenantOf('acme')], 1_000);
  for (; round < 60; round += 1) {
    vi.advanceTimersByTime(1_000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  }
  await chores.close();
  const waits = rounds.slice(1).map((at, index) => at - (rounds[index] ?? 0));
  expect(waits).toEqual([1, 2, 4, 8, 16]);
});

test('an HR system that a call found refusing goes on, although no probe ever failed', async () => {
  const deps = await depsOver();
  const check = createHrisCheck(deps);
  const { signal } = new AbortController();
  for (const _ of [1, 2, 3, 4]) await check(tenantOf('acme'), signal);
  const refused = new ConnectorError({ code: 'HRIS_AUTH', action: 'reauthorize', message: 'It is refused.' });
  await pauseHris(deps, 'acme', refused);
  for (const _ of [1, 2, 3]) await check(tenantOf('acme'), signal);
  expect(deps.pausedHris.has('acme')).toBe(false);
  expect(await listHolds(deps.store)).toEqual([]);
});

test('an HR system that is down from the start is a hold at once', async () => {
  const down = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  const deps = await depsOver(async () => ({ ok: false, error: down }));
  await createHrisCheck(deps)(tenantOf('acme'), new AbortController().signal);
  expect(await listHolds(deps.store)).toMatchObject([{ code: 'HRIS_UNREACHABLE', job_candidate_id: null }]);
});

test('however many notify addresses hang, the holds of others are told', async () => {
  const deps = await depsOver();
  let hanging = 0;
  const hangs = await listen((request) => {
    hanging += 1;
    setTimeout(() => request.destroy(), 20);
  });
  const answers = await listen((_request, response) => void response.end());
  const many = Array.from({ length: 40 }, (_, n) => tenantOf(`many-${n}`, hangs));
  for (const { tenant } of many) await hold(deps.store, tenant);
  const tenants = [...many, tenantOf('globex', answers)];
  const chores = startChores(deps, () => tenants, 10);
  onTestFinished(() => chores.close());
  await until('all were tried', async () => hanging > 40);
  await hold(deps.store, 'globex');
  await until('globex was told', async () => (await notified(deps.store)).includes('globex'));
  expect(await notified(deps.store)).toEqual(['globex']);
});

test('a chore that failed is due at once when what it depends on was corrected', async () => {
  const log = createRootLogger(undefined, 'silent');
  const { signal: stop } = new AbortController();
  let fingerprint = 'wrong';
  const tried: string[] = [];
  const runner = createChoreRunner({ log, everyMs: 3_600_000, stop, fingerprintOf: () => fingerprint });
  const begin = async () => {
    runner.begin('check', async () => (tried.push(fingerprint) ? 'failed' : 'done'), tenantOf('acme'));
    await runner.ended();
  };
  for (const now of ['wrong', 'wrong', 'right', 'right']) {
    fingerprint = now;
    await begin();
  }
  expect(tried).toEqual(['wrong', 'right']);
});

test('the first good probe of a corrected definition ends the hold', async () => {
  const down = new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: 'It does not answer.' });
  const answers = [false, false, true].values();
  const deps = await depsOver(async () => (answers.next().value === true ? { ok: true } : { ok: false, error: down }));
  const check = createHrisCheck(deps);
  const { signal } = new AbortController();
  for (const _ of [1, 2]) expect(await check(tenantOf('acme'), signal)).toBe('failed');
  expect(await listHolds(deps.store)).toHaveLength(1);
  expect(await check({ ...tenantOf('acme'), configHash: 'b' }, signal)).toBe('done');
  expect(await listHolds(deps.store)).toEqual([]);
});

test('what fails is tried ever later, up to a limit, and soon again after a success', () => {
  const clock = { now: 0 };
  const backOff = createBackOff(1_000, 5_000, () => clock.now);
  const waits = [1, 2, 3, 4].map(() => {
    backOff.failed('acme');
    const from = clock.now;
    while (!backOff.isDue('acme')) clock.now += 500;
    return clock.now - from;
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 5_000]);
  backOff.succeeded('acme', 0);
  expect(backOff.isDue('acme')).toBe(true);
});

test('values of tenants that were removed, or cannot be read, are cleared as their file said last', async () => {
  const deps = await depsOver();
  const { store } = deps;
  const dayAgo = Date.now() - 86_400_000;
  const files = {
    // Removed: its hires never end, and its pairs are no longer linked.
    removed: 'policies: { retention: { plans: 12h } }',
    // Of a newer version, say: what it says of retention can be read all the same.
    unreadable: 'unheard: of\npolicies: { retention: { plans: 12h } }',
    broken: 'policies: [',
    patient: 'policies: { retention: { plans: 2d } }',
  };
  for (const [tenantId, text] of Object.entries(files)) {
    const receives = { webhooks: 'off' as const, webhookKeys: [] };
    const definition = { tenantId, file: '/t.yaml', files: { '/t.yaml': text }, receives, over: null, changes: [] };
    await applyDefinitions(store, [definition], 'ann');
    const key = { tenant_id: tenantId, job_candidate_id: '1', period: 1 };
    const state = tenantId === 'unreadable' ? 'done' : 'open';
    const hire = {
      ...key,
      state,
      step: 'employ',
      enrolment: 1,
      opened_at: 1,
      updated_at: 1,
      ended_at: dayAgo,
    } as const;
    await store.kysely.insertInto('hires').values(hire).execute();
    await insertPlan(store, { tenantId, jobCandidateId: '1', period: 1 }, { mappingHash: 'm', change: { a: 'Ada' } });
    const pair = { tenant_id: tenantId, stream: 'employees', pair_id: '1', bases: '{"a":"Ada"}', sent: '{}' };
    await store.kysely
      .insertInto('exchange_pairs')
      .values({ ...pair, version: 1, settles_at: 0, updated_at: 1 })
      .execute();
  }
  for (const tenantId of ['removed', 'patient']) await removeTenant(store, { tenantId, by: 'ann' });
  await store.kysely.updateTable('tenants').set({ removed_at: dayAgo }).where('state', '=', 'removed').execute();
  await store.kysely.updateTable('hires').set({ ended_at: null }).where('tenant_id', '=', 'removed').execute();
  const chores = startChores(deps, () => [], 10);
  onTestFinished(() => chores.close());
  const kept = async () => {
    const plans = await store.kysely.selectFrom('plans').select(['tenant_id']).where('change', '!=', '{}').execute();
    const pairs = await store.kysely.selectFrom('exchange_pairs').select('tenant_id').execute();
    return { plans: plans.map((row) => row.tenant_id).toSorted(), pairs: pairs.map((row) => row.tenant_id).toSorted() };
  };
  const left = { plans: ['broken', 'patient'], pairs: ['broken', 'patient', 'unreadable'] };
  await vi.waitFor(async () => expect(await kept()).toEqual(left), { timeout: patience(30_000), interval: 50 });
});

test('a removed tenant whose values cannot be cleared keeps nobody waiting, and none behind it', async () => {
  const { store: whole } = await freshStore('postgres');
  const deps = { ...(await depsOver()), store: whole };
  const hangs = new Set<unknown>();
  let isHanging = true;
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const text = JSON.stringify(node);
      if (node.kind !== 'UpdateQueryNode' || !text.includes('"plans"')) return node;
      if (text.includes('"afails"')) throw new Error('no disk');
      if (text.includes('"zhangs"')) hangs.add(queryId);
      return node;
    },
    async transformResult({ result, queryId }) {
      while (isHanging && hangs.has(queryId)) await setImmediate();
      return result;
    },
  };
  onTestFinished(() => void (isHanging = false));
  const store = { ...deps.store, kysely: deps.store.kysely.withPlugin(plugin) };
  for (const tenantId of ['afails', 'behind', 'zhangs']) {
    const receives = { webhooks: 'off' as const, webhookKeys: [] };
    const text = 'policies: { retention: { plans: 12h } }';
    const definition = { tenantId, file: '/t.yaml', files: { '/t.yaml': text }, receives, over: null, changes: [] };
    await applyDefinitions(deps.store, [definition], 'ann');
    const job = { tenant_id: tenantId, job_id: '1', record: '{"recruiter":"Ada"}', seen_at: 1 };
    await deps.store.kysely.insertInto('jobs').values(job).execute();
    await removeTenant(deps.store, { tenantId, by: 'ann' });
  }
  await deps.store.kysely.updateTable('tenants').set({ removed_at: 1 }).execute();
  let rounds = 0;
  const chores = startChores({ ...deps, store }, () => ((rounds += 1), []), 10);
  onTestFinished(() => chores.close());
  await until('one of them hangs', async () => hangs.size > 0);
  const before = rounds;
  await until('rounds go on', async () => rounds > before + 2);
  const jobs = deps.store.kysely.selectFrom('jobs').select('tenant_id').orderBy('tenant_id').execute();
  expect(await jobs).toEqual([{ tenant_id: 'afails' }, { tenant_id: 'zhangs' }]);
});

test('the data keys of tenants that nobody works for get the next key of the file as well', async () => {
  const file = join(await scratchFolder(), 'keys');
  addKey(`file:${file}`, '2026-11-26');
  const url = await freshStoreUrl('sqlite');
  const store = await openStore(url, { relaxed: true, keys: { ref: `file:${file}` } });
  onTestFinished(() => store.close());
  for (const tenantId of ['removed', 'erased']) {
    const receives = { webhooks: 'off' as const, webhookKeys: [] };
    const definition = { tenantId, file: '/t.yaml', files: { '/t.yaml': '' }, receives, over: null, changes: [] };
    await applyDefinitions(store, [definition], 'ann');
    await saveJobs(store, tenantId, [{ jobId: '1', record: { recruiter: 'Ada' } }]);
    await removeTenant(store, { tenantId, by: 'ann' });
  }
  await eraseTenantRows(store, 'erased');
  const { keyId } = addKey(`file:${file}`, '2026-11-27');
  await writeFile(file, (await readFile(file, 'utf8')).trim().split('\n').toReversed().join('\n'));
  const again = await openStore(url, { relaxed: true, keys: { ref: `file:${file}` } });
  onTestFinished(() => again.close());
  const chores = startChores({ ...(await depsOver()), store: again }, () => [], 10);
  onTestFinished(() => chores.close());
  const keys = async () => (await listDataKeys(again.sealing as Sealing)).map((row) => [row.tenant_id, row.master_key]);
  await vi.waitFor(async () => expect(await keys()).toEqual([['removed', keyId]]), { timeout: patience(30_000) });
});
