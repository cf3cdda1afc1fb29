import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { expectExactlyHired, takeApplicants, untilBaseline } from '../harness/exactly-hired.ts';
import { asAdmin } from '../harness/new-database.ts';
import { startPostgres } from '../harness/start-postgres.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { type Applicant, startWorld, until, type World, writtenBack } from '../harness/world.ts';
import { startNeighbourHris } from '../isolation/neighbour-hris.ts';

let world: World;

afterEach(() => world?.close());

async function hire(people: readonly Applicant[]): Promise<void> {
  await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

async function untilStatus(what: string, holds: (text: string) => boolean): Promise<void> {
  await until(what, async () => holds((await world.cli(['status'])).stdout), { timeoutMs: 120_000, everyMs: 500 });
}

/** People go on finishing their onboarding, whatever happens to secrets. */
function finishOnboardings(): () => Promise<void> {
  const stop = new AbortController();
  const going = until(
    'the end of the test',
    async () => {
      await world.finishOnboardings();
      return stop.signal.aborted;
    },
    { timeoutMs: 600_000, everyMs: 500 },
  );
  return async () => {
    stop.abort();
    await going;
  };
}

test('an HR system’s password rotated, revoked, taken away and restored during a burst: every hire ends, once', async () => {
  const { address: temporalAddress } = await temporalForTests();
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const hris = await startNeighbourHris(postgres.url);
  onTestFinished(() => hris.line.close());
  const { username: role, pathname } = new URL(hris.url);
  world = await startWorld({
    temporalAddress,
    candidates: 30,
    hrisUrl: Object.assign(new URL(postgres.url), { pathname }).href,
    hrisProxyUrl: 'file:secrets/hris.url',
    env: { HIREBRIDGE_PAUSED_MS: '1000' },
  });
  const secret = join(world.tenantsDir, 'secrets', 'hris.url');
  await writeFile(secret, `${hris.url}\n`);
  await Promise.all([world.startReceiver(), world.startWorker()]);
  await untilBaseline(world);
  const people = await takeApplicants(world, 12);
  const endOnboardings = finishOnboardings();
  await hire(people.slice(0, 3));

  // Rotated: the server first, the file behind it a moment later.
  await asAdmin(postgres.url, `alter role ${role} password 'the-next-one'`);
  await asAdmin(postgres.url, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
  await hire(people.slice(3, 6));
  const rotated = Object.assign(new URL(hris.url), { password: 'the-next-one' }).href;
  await writeFile(secret, `${rotated}\n`);
  await until('six employees', async () => (await world.employees()).length === 6, { timeoutMs: 120_000 });

  // Revoked at the server, and valid again.
  await hris.expirePassword();
  await hire(people.slice(6, 9));
  await untilStatus('a hold of the HR system', (text) => text.includes('HRIS_'));
  await hris.renewPassword();
  await until('nine employees', async () => (await world.employees()).length === 9, { timeoutMs: 120_000 });

  // Taken away, and back.
  await rm(secret);
  await hire(people.slice(9));
  await untilStatus('the pause', (text) => text.includes('SECRET_MISSING'));
  await writeFile(secret, `${rotated}\n`);
  await until('twelve written back', async () => (await writtenBack(world)).size === 12, { timeoutMs: 120_000 });
  await endOnboardings();
  await expectExactlyHired(world, people);
  await untilStatus('a quiet tenant', (text) => text.includes('No holds.') && !text.includes('is paused'));
  expect(await world.logs()).not.toContain('the-next-one');
}, 400_000);
