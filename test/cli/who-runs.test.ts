import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { asAdmin, nameOf } from '../../src/counterparts/start-postgres.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { keepPresence, noteProcess } from '../../src/store/processes.ts';
import { createDatabase } from '../harness/postgres.ts';
import { runCommand } from '../harness/run-command.ts';
import { until } from '../harness/until.ts';
import { ACME } from '../tenants/acme.ts';
import { scratchDir } from './cli-process.ts';

const log = pino({ level: 'silent' });

/** A tenant with webhooks that is applied, and its store. */
async function applied() {
  const [tenants, data] = [await scratchDir(), await scratchDir()];
  await writeFile(join(tenants, 'acme.yaml'), ACME);
  const places = ['--tenants', tenants, '--data', data];
  const cli = (...args: string[]) => runCommand([...args, ...places]);
  expect(await cli('tenant', 'apply', '--yes', '--unchecked')).toMatchObject({ code: 0 });
  const store = await openStore(`sqlite:${join(data, 'store.db')}`);
  return { cli, store, [Symbol.asyncDispose]: () => store.close() };
}

async function untilSeen({ kysely }: Store, count: number): Promise<void> {
  await until('the processes have left word', async () => {
    return (await kysely.selectFrom('processes').selectAll().execute()).length === count;
  });
}

test('status says at once who runs, and ends with 3 where a worker or receiver should and does not', async () => {
  await using fleet = await applied();
  const { cli, store } = fleet;
  const nobody = await cli('status', '--verbose');
  expect(nobody.code).toBe(3);
  const [, , workerLine, receiverLine] = nobody.stdout.split('\n');
  expect(workerLine).toMatch(
    /^No worker runs \(none has ever run\)\. Hires stand still\. Start it: hirebridge worker,/,
  );
  expect(receiverLine).toMatch(/^No receiver runs \(none has ever run\)\. Webhooks are lost/);
  const [worker, receiver] = [keepPresence(store, 'worker', log), keepPresence(store, 'receiver', log)];
  await untilSeen(store, 2);
  const both = await cli('status', '--verbose');
  expect(both.code).toBe(0);
  expect(both.stdout).toMatch(/^No hire is under way; nobody needs to do anything\.\n\n/);
  for (const role of ['worker', 'receiver'])
    expect(both.stdout).toMatch(
      new RegExp(`^The ${role} has been running since \\d{4}-\\S+Z on .*, version \\d\\S+\\.$`, 'm'),
    );
  await Promise.all([worker.close(), receiver.close()]);
  const stopped = await cli('status', '--verbose');
  expect([stopped.code, stopped.stdout]).toEqual([
    3,
    expect.stringMatching(/\nNo worker runs \(the last one was seen .* ago on .*, and was stopped\)/),
  ]);
});

test('a 429 that asked for an hour without calls stands in status and rate-limit, a short one does not', async () => {
  await using fleet = await applied();
  const { cli, store } = fleet;
  const clock = { now: Date.now, random: () => 0.5 };
  const told = async (retryAfterMs: number): Promise<string[]> => {
    const limiter = createRateLimiter(clock, { rate: 10, limit: 10, noise: 0, limitSeen: true });
    limiter.answered({ sentAt: Date.now(), status: 429, retryAfterMs });
    const state = JSON.stringify({ ...limiter.save(), version: 2 });
    await store.kysely.deleteFrom('rate_limits').execute();
    const key = { tenant_id: 'acme', upstream: 'partner', version: 1, paused_until: 0 };
    await store.kysely
      .insertInto('rate_limits')
      .values({ ...key, state })
      .execute();
    return [(await cli('status')).stdout.replaceAll('\n', ' '), (await cli('rate-limit', 'acme')).stdout];
  };
  const [status, limits] = await told(3_600_000);
  expect(status).toMatch(/warning: partner of acme answered 429: no call is made for \d+ \w+ more, and its hires/);
  expect(limits).toMatch(/paused, \d+ \w+ more/);
  expect((await told(10_000))[0]).not.toContain('answered 429');
});

test('a worker that was killed is missed, by status, doctor and check alike', async () => {
  await using fleet = await applied();
  const { cli, store } = fleet;
  await noteProcess(store, { processId: 'w', role: 'worker', version: '1.2.3', host: 'elsewhere (7)' });
  await noteProcess(store, { processId: 'r', role: 'receiver', version: '1.2.3', host: 'elsewhere (8)' });
  expect((await cli('status')).code).toBe(0);
  await store.kysely
    .updateTable('processes')
    .set((eb) => ({ seen_at: eb('seen_at', '-', 300_000) }))
    .where('process_id', '=', 'w')
    .execute();
  const missed = /No worker runs \(the last one was seen .* ago on elsewhere \(7\), and it did not shut down cleanly\)/;
  expect(await cli('status', '--verbose')).toMatchObject({ code: 3, stdout: expect.stringMatching(missed) });
  expect((await cli('doctor')).stdout).toMatch(missed);
  expect((await cli('check', 'acme')).stdout).toMatch(missed);
  const { processes } = JSON.parse((await cli('status', '--json')).stdout) as { processes: unknown };
  expect(processes).toMatchObject([
    { role: 'worker', running: [], needed: true, last: { version: '1.2.3', ended: 'not' } },
    { role: 'receiver', running: [{ version: '1.2.3' }], needed: true },
  ]);
});

test('a store that takes no writes is wrong to doctor, and status sends whoever reads it there', async () => {
  const { url } = await createDatabase();
  const [tenants, data] = [await scratchDir(), await scratchDir()];
  await writeFile(join(tenants, 'acme.yaml'), ACME);
  const cli = (...args: string[]) =>
    runCommand([...args, '--tenants', tenants, '--data', data], { HIREBRIDGE_STORE_URL: url });
  expect(await cli('tenant', 'apply', '--yes', '--unchecked')).toMatchObject({ code: 0 });
  const store = await openStore(url);
  await noteProcess(store, { processId: 'w', role: 'worker', version: '1.2.3', host: 'elsewhere (7)' });
  await store.kysely
    .updateTable('processes')
    .set((eb) => ({ seen_at: eb(store.now, '-', 60_000) }))
    .execute();
  await store.close();
  expect((await cli('doctor')).stdout).toMatch(/^good +store +postgres, installation/m);
  await asAdmin(url, `alter database "${nameOf(url)}" set default_transaction_read_only = on`);
  expect((await cli('doctor')).stdout).toMatch(/^wrong +store +postgres answers but takes no writes \(.*read-only/m);
  expect((await cli('status', '--verbose')).stdout).toMatch(
    /^No worker runs .* If it runs, see whether the store takes writes: hirebridge doctor$/m,
  );
});

test('when each side last answered stands in status', async () => {
  await using fleet = await applied();
  const { cli, store } = fleet;
  const worker = keepPresence(store, 'worker', log);
  worker.answered('acme', 'partner');
  await untilSeen(store, 1);
  await worker.close();
  const again = keepPresence(store, 'worker', log);
  again.answered('acme', 'hris');
  again.answered('acme', 'partner');
  await until(
    'the answers are told',
    async () => {
      return (await store.kysely.selectFrom('answers').selectAll().execute()).length === 2;
    },
    { timeoutMs: 30_000 },
  );
  await again.close();
  expect((await cli('status', '--verbose')).stdout).toMatch(/acme\s.*partner \d+ s, HR \d+ s/);
});
