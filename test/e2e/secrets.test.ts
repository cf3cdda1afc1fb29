import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { expectExactlyHired, takeApplicants, untilBaseline } from '../harness/exactly-hired.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { hiredBody } from '../harness/hired-deliveries.ts';
import { sendDelivery } from '../harness/send-delivery.ts';
import { fromHarness } from '../harness/services.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World } from '../harness/world.ts';
import { startNeighbourHris } from '../isolation/neighbour-hris.ts';

let world: World;

afterEach(() => world?.close());

/** A world whose HR system is a Postgres that asks for a password, and all of whose secrets are files. */
async function build() {
  const { address: temporalAddress } = await temporalForTests();
  const postgres = await fromHarness('postgres');
  const hris = await startNeighbourHris(postgres.url);
  onTestFinished(() => hris.line.close());
  world = await startWorld({
    temporalAddress,
    candidates: 30,
    policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 3s }\n  cancel: { grace: 2s }',
    hrisUrl: hris.adminUrl,
    hrisProxyUrl: 'file:secrets/hris.url',
    env: shortWaits,
  });
  await writeSecret('hris.url', hris.url);
  await Promise.all([world.startReceiver(), world.startWorker()]);
  await untilBaseline(world);
  return hris;
}

function secretFile(name: string): string {
  return join(world.tenantsDir, 'secrets', name);
}

async function writeSecret(name: string, secret: string): Promise<void> {
  await writeFile(secretFile(name), `${secret}\n`);
}

async function untilStatus(what: string, holds: (text: string) => boolean): Promise<void> {
  await until(what, async () => holds((await world.cli(['status'])).stdout), { timeoutMs: 120_000, everyMs: 500 });
}

test('each secret behind file: rotated, revoked and restored during a burst: every hire ends, once', async () => {
  const hris = await build();
  const people = await takeApplicants(world, 12);
  const body = hiredBody(people.slice(0, 1), { at: new Date(Date.UTC(2026, 0, 1)) });
  const deliver = (key: string) => sendDelivery(world.webhookUrl, { body, key });
  const traffic = startTraffic(world, people);
  await traffic.keep(3);

  // Rotated: on the other side first, in the file only once more people are hired.
  const { key } = (await world.control.act('regenerateKey')) as { key: string };
  const rotated = await hris.rotatePassword();
  const webhookKey = `${world.webhookKey}-next`;
  await world.control.act('setWebhook', { url: world.webhookUrl, key: webhookKey });
  await traffic.keep(6);
  await Promise.all([
    writeSecret('partner.key', key),
    writeSecret('hris.url', rotated),
    writeSecret('webhook.key', webhookKey),
  ]);
  await until('three employees', async () => (await world.employees()).length >= 3, { timeoutMs: 120_000 });
  expect(await deliver(webhookKey)).toBe(200);
  expect(await deliver(world.webhookKey)).toBe(401);

  // Revoked and restored: the HR system's side alone, then the partner's.
  await hris.expirePassword();
  await traffic.keep(9);
  await untilStatus('a hold of the HR system', (text) => text.includes('HRIS_'));
  await hris.renewPassword();
  await untilStatus('the HR system at work', (text) => !text.includes('HRIS_'));
  await world.control.act('deactivateKey');
  await Promise.all([rm(secretFile('partner.key')), rm(secretFile('webhook.key'))]);
  await traffic.keep(traffic.left() + (await traffic.inFlight()).length);
  await untilStatus('the pause', (text) => text.includes('acme is paused'));
  // The receiver knows the keys it has read for a second.
  await until('a 503 without any webhook key', async () => (await deliver(webhookKey)) === 503, { timeoutMs: 10_000 });
  await world.control.act('activateKey');
  await Promise.all([writeSecret('partner.key', key), writeSecret('webhook.key', webhookKey)]);

  const isOver = async () => traffic.left() === 0 && (await traffic.inFlight()).length === 0;
  await until('twelve Employee IDs written back', isOver, { timeoutMs: 120_000 });
  await traffic.close();
  await expectExactlyHired(world, people);
  await untilStatus('a quiet tenant', (text) => text.includes('No holds.') && !text.includes('is paused'));
  const logs = await world.logs();
  expect([key, webhookKey, new URL(rotated).password].filter((secret) => logs.includes(secret))).toEqual([]);
}, 400_000);
