import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { createRootLogger } from '../../src/log.ts';
import { alignAlarms, leaseNotices, listAlarms, noteTrouble, tenantsToTell } from '../../src/store/alarms.ts';
import { insertHires } from '../../src/store/hires.ts';
import { answerHold, closeHold, openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { insertReconcile, saveReconcile } from '../../src/store/reconciles.ts';
import {
  listTenantStates,
  pauseTenant,
  readTenantState,
  recordReconcile,
  resumeTenant,
} from '../../src/store/tenant-states.ts';
import { everyStream } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { Notify } from '../../src/tenants/sections.ts';
import { createNotifier } from '../../src/worker/chores.ts';
import { createAlarmRound } from '../../src/worker/raise-alarms.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { freshStore, kinds } from '../store/stores.ts';

const { signal } = new AbortController();
const HOLD = { tenantId: 'acme', code: 'TEST', message: 'A test.', answers: ['retry'] };

interface Told {
  headers: IncomingHttpHeaders;
  body: string;
}

/** An address that takes what it is told, or answers a refusal while `refuses` gives one. */
async function listen(
  refuses: (body: string) => number | boolean = () => false,
): Promise<{ url: string; told: Told[] }> {
  const told: Told[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    told.push({ headers: request.headers, body });
    const refused = refuses(body);
    response.writeHead(typeof refused === 'number' ? refused : refused ? 503 : 200).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, told };
}

function tenantOf(notify: Partial<Notify>): Tenant {
  const partner = { allowPrivateAddress: true };
  return {
    tenant: 'acme',
    partner,
    configHash: 'a',
    notify: { form: 'webhook', timezone: 'UTC', ...notify },
  } as unknown as Tenant;
}

function notifierOf(store: Store) {
  return createNotifier({ store, log: createRootLogger(undefined, 'silent') } as ActivityDeps);
}

function typesOf(told: readonly Told[]): string[] {
  return told.map(({ body }) => (JSON.parse(body) as { type: string }).type);
}

describe.each(kinds)('notifications on %s', (kind) => {
  test('a hold and an alarm are told once each, signed, with the command that shows them', async () => {
    const { store } = await freshStore(kind);
    const { url, told } = await listen();
    const key = Buffer.alloc(32, 7);
    const secretFile = join(await scratchFolder(), 'notify.secret');
    await writeFile(secretFile, `whsec_${key.toString('base64')}\n`);
    await readTenantState(store, 'acme');
    const { holdId } = await openHold(store, HOLD);
    const trouble = { tenantId: 'acme', kind: 'tenant-paused', subject: 'tenant', reason: 'UNAUTHORIZED' } as const;
    await alignAlarms(store, [{ ...trouble, message: 'The key is refused.' }]);
    expect(await tenantsToTell(store)).toEqual(new Set(['acme']));
    const notify = notifierOf(store);
    for (const _ of [1, 2]) await notify(tenantOf({ url, secret: `file:${secretFile}` }), signal);
    expect(await tenantsToTell(store)).toEqual(new Set());
    expect(told.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { type: 'hold.opened', data: { holdId, command: `hirebridge hold show ${holdId}` } },
      { type: 'alarm.raised', data: { kind: 'tenant-paused', command: 'hirebridge check acme' } },
    ]);
    for (const { headers, body } of told) {
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
      const expected = createHmac('sha256', key)
        .update(`${String(id)}.${String(at)}.${body}`)
        .digest('base64');
      expect(signature).toBe(`v1,${expected}`);
    }
  });

  test('what was refused is told again under the same id', async () => {
    const { store } = await freshStore(kind);
    let down = true;
    const { url, told } = await listen(() => down);
    await readTenantState(store, 'acme');
    await openHold(store, HOLD);
    const notify = notifierOf(store);
    expect(await notify(tenantOf({ url }), signal)).toBe('failed');
    down = false;
    expect(await notify(tenantOf({ url }), signal)).toBe('done');
    expect(told.map(({ headers }) => headers['webhook-id'])).toEqual(Array(2).fill(told[0]?.headers['webhook-id']));
  });

  test('a notice that is refused for itself holds up no other, however many are, and is told later', async () => {
    const { store } = await freshStore(kind);
    let refuses = true;
    const { url, told } = await listen((body) => (refuses && body.includes('TEST') ? 413 : 200));
    await readTenantState(store, 'acme');
    for (let n = 0; n < 60; n += 1) await openHold(store, { ...HOLD, jobCandidateId: `${n}`, period: 1 });
    const notify = notifierOf(store);
    for (const ended of ['failed', 'failed', 'done']) expect(await notify(tenantOf({ url }), signal)).toBe(ended);
    // Each was tried once, although the rounds began at once.
    expect(told).toHaveLength(60);
    await openHold(store, { ...HOLD, code: 'OTHER' });
    expect(await notify(tenantOf({ url }), signal)).toBe('done');
    expect(told.slice(60).map(({ body }) => (JSON.parse(body) as { data: { code: string } }).data.code)).toEqual([
      'OTHER',
    ]);
    expect(await tenantsToTell(store)).toEqual(new Set(['acme']));
    refuses = false;
    for (const _ of [1, 2]) await notifierOf(store)(tenantOf({ url }), signal);
    expect(await tenantsToTell(store)).toEqual(new Set());
  });

  test('a question that is asked again after a retry is told under another id', async () => {
    const { store } = await freshStore(kind);
    const { url, told } = await listen();
    await readTenantState(store, 'acme');
    const ref = { tenantId: 'acme', jobCandidateId: '7', period: 1 };
    await insertHires(store, [{ ...ref, state: 'open' }]);
    const notify = notifierOf(store);
    for (const _ of [1, 2]) {
      const { holdId } = await openHold(store, { ...HOLD, ...ref });
      await notify(tenantOf({ url }), signal);
      await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
      await closeHold(store, holdId);
    }
    const [first, second, ...more] = told.map(({ headers }) => String(headers['webhook-id']));
    expect([second, more]).toEqual([`${first}_2`, []]);
  });

  test('a failure that gets another reason is told anew, and two reasons in turn at most once an hour', async () => {
    const { store } = await freshStore(kind);
    const { url, told } = await listen();
    await readTenantState(store, 'acme');
    const notify = notifierOf(store);
    const failing = { tenantId: 'acme', kind: 'activity-failing', subject: 'enrol', message: 'It fails.' } as const;
    const fail = async (reason: string): Promise<void> => {
      await noteTrouble(store, { ...failing, reason }, 0);
      await notify(tenantOf({ url }), signal);
    };
    const hourPasses = () =>
      store.kysely
        .updateTable('alarms')
        .set((eb) => ({ notified_at: eb('notified_at', '-', 3_600_001) }))
        .execute();
    const reasons = () => told.map(({ body }) => (JSON.parse(body) as { data: { reason: string } }).data.reason);
    for (const reason of ['NO_ANSWER', 'REFUSED', 'NO_ANSWER', 'REFUSED']) await fail(reason);
    expect(reasons()).toEqual(['NO_ANSWER']);
    await hourPasses();
    for (const _ of [1, 2]) await fail('REFUSED');
    expect(reasons()).toEqual(['NO_ANSWER', 'REFUSED']);
    await hourPasses();
    await fail('REFUSED');
    expect(reasons()).toEqual(['NO_ANSWER', 'REFUSED']);
  });

  test('what a worker finds to be old for a period is an alarm, although each process ends before', async () => {
    const { store } = await freshStore(kind);
    await readTenantState(store, 'acme');
    await recordReconcile(store, 'acme', true);
    await store.kysely.updateTable('tenants').set({ reconciled_at: 1, baseline_done_at: 1 }).execute();
    const tenant = { ...tenantOf({}), policies: { reconcile: { every: 60_000 } }, streams: everyStream(() => ({})) };
    const log = createRootLogger(undefined, 'silent');
    const round = async (): Promise<string[]> => {
      await createAlarmRound(store, log)(await listTenantStates(store), new Map([['acme', tenant as Tenant]]));
      return (await listAlarms(store)).map((alarm) => alarm.kind);
    };
    const passes = (ms: number) =>
      store.kysely
        .updateTable('alarms')
        .set((eb) => ({ since: eb('since', '-', ms) }))
        .execute();
    expect(await round()).toEqual([]);
    await passes(30_000);
    expect(await round()).toEqual([]);
    await passes(30_000);
    expect(await round()).toEqual(['reconcile-stale']);
    await recordReconcile(store, 'acme', true);
    expect(await round()).toEqual([]);
  });

  test('a baseline that stands still, and a notice that waits for an hour, are alarms', async () => {
    const { store } = await freshStore(kind);
    await readTenantState(store, 'acme');
    await store.kysely.updateTable('tenants').set({ baseline_started_at: 1 }).execute();
    const reconcile = {
      tenantId: 'acme',
      holder: 'one',
      kind: 'baseline',
      plan: {},
      position: {},
      counts: {},
    } as const;
    await insertReconcile(store, reconcile);
    await openHold(store, HOLD);
    const tenant = { ...tenantOf({}), policies: { reconcile: { every: 60_000 } }, streams: everyStream(() => ({})) };
    const log = createRootLogger(undefined, 'silent');
    const round = async (): Promise<string[]> => {
      await createAlarmRound(store, log)(await listTenantStates(store), new Map([['acme', tenant as Tenant]]));
      return (await listAlarms(store)).map(({ reason }) => reason).toSorted();
    };
    expect(await round()).toEqual([]);
    await store.kysely.updateTable('reconciles').set({ updated_at: 1 }).execute();
    await store.kysely.updateTable('holds').set({ opened_at: 1 }).execute();
    await round();
    await store.kysely.updateTable('alarms').set({ since: 1 }).execute();
    expect(await round()).toEqual(['BASELINE_STUCK', 'NOTICES_WAIT']);
    await store.kysely.updateTable('holds').set({ notified_at: 1 }).execute();
    await saveReconcile(store, { tenantId: 'acme', holder: 'one' }, { position: {}, counts: {} });
    expect(await round()).toEqual([]);
  });

  test('two processes do not tell the same thing at the same time', async () => {
    const { store, other } = await freshStore(kind);
    const { url, told } = await listen();
    await readTenantState(store, 'acme');
    await openHold(store, HOLD);
    expect(await leaseNotices(other, 'acme', 60_000)).toBe(true);
    await notifierOf(store)(tenantOf({ url }), signal);
    expect(told).toEqual([]);
    expect(await tenantsToTell(store)).toEqual(new Set(['acme']));
  });

  test('the digest of a day is sent once', async () => {
    const { store } = await freshStore(kind);
    const { url, told } = await listen();
    await readTenantState(store, 'acme');
    const minuteAgo = new Date(Date.now() - 60_000).toISOString().slice(11, 16);
    const notify = notifierOf(store);
    for (const _ of [1, 2]) await notify(tenantOf({ url, digest: minuteAgo }), signal);
    expect(typesOf(told)).toEqual(['digest']);
    expect(JSON.parse(told[0]?.body ?? '')).toMatchObject({ data: { tenantId: 'acme', hires: { begun: 0, open: 0 } } });
  });

  test('an alarm ends by itself when its cause does, and a quiet round writes nothing', async () => {
    const { store } = await freshStore(kind);
    const lines: string[] = [];
    const log = createRootLogger({ write: (line) => void lines.push(line) }, 'info');
    const alarms = createAlarmRound(store, log);
    const round = async () => alarms(await listTenantStates(store), new Map());
    const kindsNow = async () =>
      (await store.kysely.selectFrom('alarms').select(['kind', 'times']).orderBy('kind').execute()).map(
        (row) => `${row.kind} ${row.times}`,
      );
    await readTenantState(store, 'acme');
    await pauseTenant(store, 'acme', 'UNAUTHORIZED', 'The key is refused.');
    const delivery = { tenantId: 'acme', bodyHash: 'a', ids: {}, body: '{}', state: 'unknown' } as const;
    await insertDelivery(store, { ...delivery, event: 'candidate.sang' });
    for (const _ of [1, 2, 3]) await round();
    expect(await kindsNow()).toEqual(['tenant-paused 1', 'unknown-event 1']);
    await resumeTenant(store, 'acme');
    await store.kysely
      .updateTable('inbox')
      .set((eb) => ({ received_at: eb('received_at', '-', 86_400_001) }))
      .execute();
    await round();
    expect(await kindsNow()).toEqual([]);
    const told = lines.map((line) => JSON.parse(line) as { msg: string; kind: string });
    expect(told.map(({ msg, kind: what }) => `${msg}: ${what}`)).toEqual([
      'alarm raised: tenant-paused',
      'alarm raised: unknown-event',
      'alarm over: tenant-paused',
      'alarm over: unknown-event',
    ]);
  });
});
