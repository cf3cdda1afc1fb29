import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { expectExactlyHired, readStatus, takeApplicants } from '../harness/exactly-hired.ts';
import { changeTenant, type FleetTenant, joinFleet } from '../harness/fleet.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { hiredBody } from '../harness/hired-deliveries.ts';
import type { TenantStatus } from '../harness/read-store.ts';
import { sendDelivery } from '../harness/send-delivery.ts';
import { fromHarness } from '../harness/services.ts';
import { type Applicant, until } from '../harness/world.ts';
import { startNeighbourHris } from '../isolation/neighbour-hris.ts';

let world: FleetTenant;

/** A tenant whose HR system is a Postgres that asks for a password, and all of whose secrets are files. */
async function build() {
  const postgres = await fromHarness('postgres');
  const hris = await startNeighbourHris(postgres.url);
  onTestFinished(() => hris.line.close());
  world = await joinFleet({
    candidates: 30,
    policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 3s }\n  cancel: { grace: 2s }',
    hrisUrl: hris.adminUrl,
    hrisProxyUrl: hris.url,
    secrets: { 'hris.url': hris.url },
    edit: (text) => text.replace(JSON.stringify(hris.url), 'file:secrets/hris.url'),
  });
  onTestFinished(world.close);
  return hris;
}

function secretFile(name: string): string {
  return join(world.tenantsDir, 'secrets', name);
}

async function writeSecret(name: string, secret: string): Promise<void> {
  await writeFile(secretFile(name), `${secret}\n`);
}

async function untilStatus(what: string, holds: (status: TenantStatus) => boolean): Promise<void> {
  await until(what, async () => holds(await readStatus(world)), { instead: () => readStatus(world) });
}

const isHeldByHris = ({ holds }: TenantStatus): boolean => holds.some((code) => code.startsWith('HRIS_'));

test('each secret behind file: rotated, revoked and restored during a burst: every hire ends, once', async () => {
  const hris = await build();
  const people = await takeApplicants(world, 12);
  const body = hiredBody(people.slice(0, 1), { at: new Date(Date.UTC(2026, 0, 1)) });
  const deliver = (key: string) => sendDelivery(world.webhookUrl, { body, key });
  const hire = async (some: readonly Applicant[]) => {
    const traffic = startTraffic(world, some);
    await traffic.keep(some.length);
    return traffic;
  };
  const bursts = [await hire(people.slice(0, 3))];

  // Rotated: on the other side first, in the file only once more people are hired.
  const { key } = (await world.control.act('regenerateKey')) as { key: string };
  const rotated = await hris.rotatePassword();
  const webhookKey = `${world.webhookKey}-next`;
  // Both keys of webhooks while both are named; the file of the first takes the next one in the end.
  await writeSecret('webhook.next', webhookKey);
  const named = /webhookKeys: .*/;
  let before = '';
  await changeTenant(world, (text) => {
    before = named.exec(text)?.[0] ?? '';
    return text.replace(named, `${before.slice(0, -1)}, file:secrets/webhook.next]`);
  });
  await until('both keys of webhooks', async () => (await deliver(webhookKey)) === 200);
  expect(await deliver(world.webhookKey)).toBe(200);
  await world.control.act('setWebhook', { url: world.webhookUrl, key: webhookKey });
  bursts.push(await hire(people.slice(3, 6)));
  await Promise.all([
    writeSecret('partner.key', key),
    writeSecret('hris.url', rotated),
    writeSecret('webhook.key', webhookKey),
  ]);
  await changeTenant(world, (text) => text.replace(named, before));
  await until('three employees', async () => (await world.employees()).length >= 3);
  await until('the old key of webhooks refused', async () => (await deliver(world.webhookKey)) === 401);
  expect(await deliver(webhookKey)).toBe(200);

  // Revoked and restored: the HR system's side alone, then the partner's. Those who are hired then need that side, so
  // that the hold and the pause come, and stay until it is restored.
  await hris.expirePassword();
  bursts.push(await hire(people.slice(6, 9)));
  await untilStatus('a hold of the HR system', isHeldByHris);
  await hris.renewPassword();
  await untilStatus('the HR system at work', (status) => !isHeldByHris(status));
  await world.control.act('deactivateKey');
  await Promise.all([rm(secretFile('partner.key')), rm(secretFile('webhook.key'))]);
  bursts.push(await hire(people.slice(9)));
  await untilStatus('the pause', ({ state }) => state === 'paused');
  // The receiver knows the keys it has read for a second.
  await until('a 503 without any webhook key', async () => (await deliver(webhookKey)) === 503);
  await world.control.act('activateKey');
  await Promise.all([writeSecret('partner.key', key), writeSecret('webhook.key', webhookKey)]);

  const isOver = async () => (await Promise.all(bursts.map((one) => one.inFlight()))).flat().length === 0;
  await until('twelve Employee IDs written back', isOver);
  await Promise.all(bursts.map((one) => one.close()));
  await expectExactlyHired(world, people);
  await untilStatus('a quiet tenant', ({ state, holds }) => state === 'active' && holds.length === 0);
  const logs = await world.logs();
  const secrets = [key, webhookKey, new URL(rotated).password];
  expect(secrets.filter((secret) => logs.includes(secret))).toEqual([]);
  for (const part of ['cmdline', 'environ'])
    expect(await processesWith(part, secrets), `secrets in ${part}`).toEqual([]);
});

/** Processes of this machine in whose arguments or environment one of these stands. */
async function processesWith(part: string, secrets: readonly string[]): Promise<string[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    all.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/${part}`, 'utf8').catch(() => '');
      return secrets.some((secret) => text.includes(secret)) ? [pid] : [];
    }),
  );
  return found.flat();
}
