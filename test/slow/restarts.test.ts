import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import {
  expectExactlyHired,
  hireSilently,
  readStatus,
  takeApplicants,
  untilBaseline,
  untilHired,
} from '../harness/exactly-hired.ts';
import { hiredBody } from '../harness/hired-deliveries.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { sendDelivery } from '../harness/send-delivery.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { type Applicant, startWorld, until, type World } from '../harness/world.ts';

let world: World;

afterEach(() => world?.close());

/**
 * A write that was under way in a killed worker is looked for when its time is over, by default after half a minute.
 */
const quick = {
  HIREBRIDGE_HEARTBEAT_MS: '1500',
  HIREBRIDGE_STICKY_MS: '500',
  HIREBRIDGE_RETRY_MS: '200',
  HIREBRIDGE_REQUEST_MS: '4000',
  HIREBRIDGE_GIVE_UP_MS: '6000',
};

async function build(temporalAddress: string): Promise<void> {
  world = await startWorld({ temporalAddress, candidates: 60, env: quick });
}

/**
 * The sender's own schedule: at once, then after 200, 400 and 800 ms, then never again. True when any attempt got a
 * 2xx.
 */
async function sendAsPartner(body: string): Promise<boolean> {
  for (const wait of [0, 200, 400, 800]) {
    await pause(wait);
    const status = await sendDelivery(world.webhookUrl, { body, key: world.webhookKey });
    if (status !== undefined && status < 300) return true;
  }
  return false;
}

/** Sends 24 deliveries at once every 120 ms until `end`, which waits for the last answer. */
function startBurst(send: (n: number) => Promise<void>): { end(): Promise<void> } {
  const sending: Promise<void>[] = [];
  const timer = setInterval(() => {
    for (let n = 0; n < 24; n += 1) sending.push(send(sending.length));
  }, 120);
  return {
    async end() {
      clearInterval(timer);
      await Promise.all(sending);
    },
  };
}

async function inboxHashes(): Promise<Set<string>> {
  const store = await openStore(world.storeUrl);
  try {
    const rows = await store.kysely.selectFrom('inbox').select('body_hash').execute();
    return new Set(rows.map((row) => row.body_hash));
  } finally {
    await store.close();
  }
}

test('with the receiver killed three times in mid-burst, every delivery that got a 2xx is in the inbox', async () => {
  await build((await temporalForTests()).address);
  let receiver = await world.startReceiver();
  const people = await takeApplicants(world, 1);
  const accepted: string[] = [];
  const marks = new Map<number, () => void>();
  const acceptedMore = (count: number) => new Promise<void>((done) => marks.set(accepted.length + count, done));
  const burst = startBurst(async (n) => {
    const body = hiredBody(people, { at: new Date(Date.UTC(2026, 0, 1) + n) });
    if (!(await sendAsPartner(body))) return;
    accepted.push(body);
    marks.get(accepted.length)?.();
  });
  for (let kills = 0; kills < 3; kills += 1) {
    await acceptedMore(101);
    // In the moment of a 2xx: what was answered before it was stored would be lost.
    await receiver.kill();
    receiver = await world.startReceiver();
  }
  await acceptedMore(101);
  await burst.end();
  const stored = await inboxHashes();
  expect(accepted.filter((body) => !stored.has(createHash('sha256').update(body).digest('hex')))).toEqual([]);
});

test('with the worker killed in mid-burst, every delivery is answered and the hires are exactly those', async () => {
  await build((await temporalForTests()).address);
  await world.startReceiver();
  const worker = await world.startWorker();
  await untilBaseline(world);
  const people = await takeApplicants(world, 20);
  const hire = async (some: readonly Applicant[]) => {
    for (const one of some)
      await world.control.act('move', { jobCandidateIds: [one.jobCandidateId], stageType: 'HIRED' });
  };
  await hire(people.slice(0, 10));
  await until('some of them enrolled', async () => (await world.effects('enrolment')).length >= 3);
  await hire(people.slice(10, 15));
  await worker.kill();
  // A worker that starts takes a processor for a second or two, and the receiver must answer beside it.
  await Promise.all([world.startWorker(), hire(people.slice(15))]);
  await untilHired(world, 20);
  await expectExactlyHired(world, people);
  const deliveries = await world.control.deliveries();
  const last = new Map(deliveries.map((row) => [row.deliveryId, row]));
  expect(last.size).toBeGreaterThanOrEqual(40);
  expect([...last.values()].filter((row) => row.outcome !== 'delivered')).toEqual([]);
});

test('with Temporal away in mid-burst nothing is lost and nothing is done twice', async () => {
  const { cliPath } = await temporalForTests();
  const folder = await scratchFolder();
  const options = { cliPath, dbFile: join(folder, 'temporal.db'), port: await freePort() };
  const awayMs = process.env['HIREBRIDGE_LONG'] === undefined ? 12_000 : 60_000;
  let temporal = await startDevServer(options);
  try {
    await build(temporal.address);
    await Promise.all([world.startReceiver(), world.startWorker()]);
    await untilBaseline(world);
    const people = await takeApplicants(world, 12);
    await hireSilently(world, people);
    const tell = async (some: readonly Applicant[]) => {
      for (const one of some) expect(await sendAsPartner(hiredBody([one], { company: world.company }))).toBe(true);
    };
    await tell(people.slice(0, 4));
    await temporal.stop();
    await tell(people.slice(4, 8));
    await pause(awayMs);
    await tell(people.slice(8));
    expect((await readStatus(world)).inbox['undeliverable'] ?? 0).toBe(0);
    temporal = await startDevServer(options);
    await until('twelve enrolments', async () => (await world.effects('enrolment')).length >= 12, {
      timeoutMs: 90_000,
    });
    await world.control.act('setWebhook', { url: world.webhookUrl });
    await untilHired(world, 12, { timeoutMs: 90_000 });
    await expectExactlyHired(world, people);
  } finally {
    await world.close();
    await temporal.stop();
  }
});
