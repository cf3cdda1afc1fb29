import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { openStore } from '../../src/store/open-store.ts';
import { runCommand } from '../harness/run-command.ts';
import { webhookHeaders } from '../harness/send-delivery.ts';
import { scratchDir, startCli, tenantDir, WEBHOOK_KEY } from './cli-process.ts';

function body(id: number): string {
  return JSON.stringify({
    event: 'candidate.hired',
    timestamp: '2026-11-21T10:00:00Z',
    data: { jobCandidateIds: [id] },
  });
}

async function send(url: string, id: number): Promise<number> {
  const request = { method: 'POST', headers: webhookHeaders('candidate.hired', WEBHOOK_KEY), body: body(id) };
  return fetch(`${url}/webhooks/acme`, request).then(
    (answer) => answer.status,
    () => 0,
  );
}

async function storedIds(dataDir: string): Promise<Set<number>> {
  const store = await openStore(`sqlite:${join(dataDir, 'store.db')}`);
  const rows = await store.kysely.selectFrom('inbox').select('ids').execute();
  await store.close();
  return new Set(rows.map((row) => Number((JSON.parse(row.ids) as { jobCandidateId: [string] }).jobCandidateId[0])));
}

test('every delivery that got a 200 is in the inbox after its receiver is killed in a burst', async () => {
  const [tenants, data, port] = await Promise.all([tenantDir(), scratchDir(), freePort()]);
  const args = ['serve', '--tenants', tenants, '--data', data, '--port', String(port), '--health-port', '0'];
  const first = startCli(args);
  const { webhooks: url = '' } = await first.urls();
  const accepted = new Set<number>();
  let refused = 0;
  async function sender(from: number): Promise<void> {
    for (let id = from; id < from + 60; id++) {
      const status = await send(url, id);
      if (status === 200) accepted.add(id);
      else refused += 1;
      if (accepted.size === 100) first.child.kill('SIGKILL');
    }
  }
  await Promise.all([0, 100, 200, 300].map(sender));
  await first.exited;
  expect(refused).toBeGreaterThan(0);

  const second = startCli(args);
  const { webhooks: again = '' } = await second.urls();
  expect(again).toBe(url);
  for (let id = 300; id < 360; id++) expect(await send(again, id)).toBe(200);
  for (let id = 300; id < 360; id++) accepted.add(id);
  const stored = await storedIds(data);
  for (const id of accepted) expect(stored).toContain(id);
});

test('a receiver told to stop answers what it holds and ends with 0', async () => {
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  const serve = startCli(['serve', '--tenants', tenants, '--data', data, '--port', '0', '--health-port', '0']);
  const { webhooks: url = '' } = await serve.urls();
  expect(await send(url, 1)).toBe(200);
  serve.child.kill('SIGTERM');
  expect((await serve.exited).code).toBe(0);
});

test.each(['serve', 'worker'])('a %s that is told to stop while its start hangs ends with 0', async (part) => {
  const asked = Promise.withResolvers<void>();
  const silent = createServer(() => asked.resolve());
  onTestFinished(() => void silent.close());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  const started = startCli([part, '--tenants', tenants, '--data', data, '--health-port', '0'], {
    HIREBRIDGE_STORE_URL: `postgres://nobody@${at}/store?connect_timeout=60`,
    HIREBRIDGE_PORT: '0',
    TEMPORAL_ADDRESS: at,
  });
  await asked.promise;
  started.child.kill('SIGTERM');
  const { code, stderr } = await started.exited;
  expect([code, stderr]).toEqual([0, '']);
});

test('health pages say when the receiver is ready and count without naming anyone', async () => {
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  const serve = startCli(['serve', '--tenants', tenants, '--data', data, '--port', '0', '--health-port', '0']);
  const { webhooks: url = '', health = '' } = await serve.urls();
  expect(await send(url, 1)).toBe(200);
  expect((await fetch(`${health}/healthz`)).status).toBe(200);
  expect(await (await fetch(`${health}/readyz`)).json()).toEqual({ ok: true, checks: { store: { ok: true } } });
  const metrics = await (await fetch(`${health}/metrics`)).text();
  expect(metrics).toMatch(
    /hirebridge_webhook_deliveries_total\{tenant="acme",status="200",code="STORED",part="serve"\} 1/,
  );
  expect((await fetch(`${health}/elsewhere`)).status).toBe(404);
});

test('no log line holds the webhook key', async () => {
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  const serve = startCli(['serve', '--tenants', tenants, '--data', data, '--port', '0', '--health-port', '0'], {
    LOG_LEVEL: 'trace',
  });
  const { webhooks: url = '' } = await serve.urls();
  await send(url, 1);
  serve.child.kill('SIGTERM');
  const { stderr, stdout } = await serve.exited;
  expect(stderr).toContain('receiving webhooks');
  expect(stderr + stdout).not.toContain(WEBHOOK_KEY);
});

test('an address that `calendar make` printed is answered by the receiver until it is revoked', async () => {
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  const places = ['--tenants', tenants, '--data', data];
  const serve = startCli(['serve', ...places, '--port', '0', '--health-port', '0']);
  const { webhooks: url = '' } = await serve.urls();
  const { stdout } = await runCommand(['calendar', 'make', 'acme', '--url', url, '--json', ...places]);
  const { feed, address } = JSON.parse(stdout) as { feed: string; address: string };
  const answer = await fetch(address);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/calendar; charset=utf-8']);
  expect(await answer.text()).toMatch(/^BEGIN:VCALENDAR\r\n/);
  expect((await runCommand(['calendar', 'list', 'acme', ...places])).stdout).not.toContain(address.slice(-20, -4));
  await runCommand(['calendar', 'revoke', 'acme', feed, ...places]);
  expect((await fetch(address)).status).toBe(404);
  // What is no calendar's is a webhook's.
  expect(await send(url, 1)).toBe(200);
});

test.each([
  ['serve', '--port', '0', '--health-port', '0'],
  ['tenant', 'apply'],
  ['plan', 'acme'],
  ['mapping', 'diff', 'acme', 'new.yaml'],
])('%s %s leaves no store behind where it finds no tenant file', async (...words) => {
  const data = join(await scratchDir(), 'data');
  const { code, stderr } = await runCommand([...words, '--tenants', await scratchDir(), '--data', data]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('holds no tenant file')]);
  expect(stderr).not.toMatch(/receiving webhooks|store cannot be opened/);
  expect(existsSync(data)).toBe(false);
});

test.each([
  [['plan', 'acmee'], 'TENANT_UNKNOWN'],
  [['apply', '3fa1c09b77de'], 'STORE_MISSING'],
])('%s leaves no store behind where it names nothing', async (words, refusal) => {
  const data = join(await scratchDir(), 'data');
  const { code, stderr } = await runCommand([...words, '--tenants', await tenantDir(), '--data', data]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(refusal)]);
  expect(existsSync(data)).toBe(false);
});
