import type { Client } from '@temporalio/client';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { listHolds } from '../../src/store/holds.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { createHireClient } from '../../src/temporal/hire-client.ts';
import { expectExactlyHired, readStatus, takeApplicants, untilHired } from '../harness/exactly-hired.ts';
import { editTenant, type FleetTenant, joinFleet } from '../harness/fleet.ts';
import { hiredBody } from '../harness/hired-deliveries.ts';
import { sendDelivery } from '../harness/send-delivery.ts';
import { type Applicant, until } from '../harness/world.ts';

let world: FleetTenant;

async function build(settings = ''): Promise<string> {
  world = await joinFleet({ candidates: 40, edit: (text) => `${settings}${text}` });
  onTestFinished(world.close);
  return world.tenant;
}

async function cli(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.cli(args);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

async function hire(people: readonly Applicant[]): Promise<void> {
  await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

/** The server's schedules of this installation: what each does and how often. */
async function withSchedules<T>(use: (client: Client, ids: { reconcile: string; jobs: string }) => Promise<T>) {
  const { installationId, tenant, temporalAddress } = world;
  const temporal = await connectTemporal({ TEMPORAL_ADDRESS: temporalAddress });
  try {
    const { client } = createHireClient(temporal, installationId, readConfig());
    return await use(client, {
      reconcile: `${installationId}/reconcile/${tenant}`,
      jobs: `${installationId}/sync/${tenant}/jobs`,
    });
  } finally {
    await temporal.close();
  }
}

async function everyOf(client: Client, id: string): Promise<number | undefined> {
  const described = await client.schedule
    .getHandle(id)
    .describe()
    .catch(() => undefined);
  return described?.spec.intervals?.[0]?.every;
}

test('an edit is shown, applied on confirmation alone, and taken up by schedules without a restart', async () => {
  const tenant = await build();
  await editTenant(world, (text) => `${text.replace('every: 1h', 'every: 30m')}streams:\n  jobs: { every: 2h }\n`);
  const asked = await world.cli(['tenant', 'apply']);
  expect(asked).toMatchObject({ code: 2, stdout: expect.stringContaining('policies.reconcile.every: 1h -> 30m') });
  await cli('tenant', 'apply', '--yes', '--as', 'ada');
  expect(await cli('tenant', 'show', tenant)).toMatch(/applied by \S+ for ada: .*1h -> 30m/);
  await withSchedules(async (client, { reconcile, jobs }) => {
    await until('both schedules', async () => {
      return (await everyOf(client, reconcile)) === 1_800_000 && (await everyOf(client, jobs)) === 7_200_000;
    });
    // Deleted, edited and paused by hand, and put right with the next change.
    await client.schedule.getHandle(reconcile).delete();
    const handle = client.schedule.getHandle(jobs);
    await handle.update((known) => ({ ...known, spec: { intervals: [{ every: 60_000 }] } }));
    await handle.pause('by hand');
    await cli('pause', tenant);
    await until('the reconcile again, paused', async () => {
      const described = await client.schedule
        .getHandle(reconcile)
        .describe()
        .catch(() => undefined);
      return described?.state.paused;
    });
    await cli('resume', tenant);
    await until('both as they are applied', async () => {
      const both = await Promise.all([reconcile, jobs].map((id) => client.schedule.getHandle(id).describe()));
      const every = both.map(({ spec, state }) => [spec.intervals?.[0]?.every, state.paused]);
      return JSON.stringify(every) === '[[1800000,false],[7200000,false]]';
    });
  });
});

test('a paused tenant stores its webhooks, a frozen one writes nothing; both hire once they may', async () => {
  const tenant = await build();
  const people = await takeApplicants(world, 3);
  await cli('pause', tenant);
  await hire(people.slice(0, 1));
  await until('the webhook in the inbox', async () => {
    const { inbox } = await readStatus(world);
    return Object.values(inbox).some((count = 0) => count > 0);
  });
  await cli('freeze', tenant, '--as', 'ada');
  await cli('resume', tenant);
  await hire(people.slice(1));
  await until('three hires that may not enrol', async () => (await readStatus(world)).hires['open'] === 3);
  expect(await world.effects('enrolment')).toEqual([]);
  expect(await cli('status', '--verbose')).toMatch(/ is frozen by \S+ for ada/);
  await cli('thaw', tenant);
  await untilHired(world, 3);
  await expectExactlyHired(world, people);
});

test('what a tenant observed is shown, and hired once it goes live and somebody says so', async () => {
  const tenant = await build('mode: observe\n');
  const people = await takeApplicants(world, 3);
  await hire(people);
  await until(
    'three observed hires',
    async () => /3 hired while it only observed/.test(await cli('tenant', 'show', tenant)),
    { everyMs: 1_000 },
  );
  expect(await world.effects('enrolment')).toEqual([]);
  expect(await world.employees()).toEqual([]);
  const [first] = people;
  expect(await cli('hire', 'show', tenant, String(first?.jobCandidateId), '--verbose')).toContain(
    'would enrol (1 credit) and create',
  );
  expect(await world.cli(['sync', tenant, 'jobs'])).toMatchObject({ code: 2 });
  expect(await world.cli(['tenant', 'go-live', tenant, '--since', '2026-01-01', '--yes'])).toMatchObject({ code: 2 });
  await editTenant(world, (text) => text.replace('mode: observe\n', ''));
  const shown = await world.cli(['tenant', 'apply']);
  expect(shown).toMatchObject({ code: 2, stdout: expect.stringContaining('costs at most 3 credits') });
  expect(await cli('tenant', 'apply', '--yes', '--as', 'ada')).toContain(`A worker starts those of ${tenant}`);
  await untilHired(world, 3);
  await expectExactlyHired(world, people);
  expect(await cli('tenant', 'show', tenant)).toMatch(/went-live by \S+ for ada/);
});

test('a rejection that is told only as an edited application ends its hire before the next reconcile', async () => {
  await build();
  // Whether such a rejection is told as candidate.rejected as well is not specified (E5).
  for (const on of ['candidate.rejected', 'candidate.stage_changed'])
    await world.control.act('addFault', { kind: 'webhook-lost', on });
  const people = await takeApplicants(world, 2);
  await hire(people);
  await until('two enrolments', async () => (await world.effects('enrolment')).length === 2);
  const [rejected] = people;
  await world.partner.jobCandidates.update({
    params: { jobCandidateId: rejected?.jobCandidateId ?? 0 },
    body: { evaluationStatus: 'REJECTED' },
  });
  await until('a hire over', async () => (await readStatus(world)).hires['left'] === 1);
  expect(await world.effects('termination')).toHaveLength(1);
  await untilHired(world, 1);
  expect(await world.employees()).toHaveLength(1);
  expect(await world.effects('onboarding-credit')).toHaveLength(2);
});

test('a removed tenant is answered 410, and its schedules and workflows end', async () => {
  const tenant = await build();
  const people = await takeApplicants(world, 2);
  await hire(people);
  await until('two enrolments', async () => (await world.effects('enrolment')).length === 2);
  expect(await cli('tenant', 'remove', tenant)).toMatch(/schedules and workflows have ended.*2 open/s);
  const body = hiredBody(people, { at: new Date(Date.UTC(2026, 0, 1)) });
  // Receivers follow the store within a second or two; from then on it stays so.
  const send = () => sendDelivery(world.webhookUrl, { body, key: world.webhookKey });
  await until('webhooks of the removed tenant are answered 410', async () => (await send()) === 410);
  await withSchedules(async (client, { reconcile }) => {
    expect(await everyOf(client, reconcile)).toBeUndefined();
    const running = client.workflow.list({ query: `TenantId = "${tenant}" and ExecutionStatus = "Running"` });
    const left: string[] = [];
    for await (const { workflowId } of running)
      if (workflowId.startsWith(reconcile.split('/', 1)[0] ?? '')) left.push(workflowId);
    expect(left).toEqual([]);
  });
});

test('a hire whose workflow Temporal lost goes on with the next reconcile', async () => {
  const tenant = await build();
  const people = await takeApplicants(world, 1);
  await cli('freeze', tenant, '--as', 'ada');
  await hire(people);
  await until('a hire that may not enrol', async () => (await readStatus(world)).hires['open'] === 1);
  const id = `${world.installationId}/hire/${tenant}/${people[0]?.jobCandidateId}`;
  await withSchedules(async (client, { reconcile }) => {
    await client.workflow.getHandle(id).terminate('lost');
    await until('that no workflow is listed', async () => {
      const query = `TenantId = '${tenant}' AND Flow = 'hire' AND ExecutionStatus = 'Running'`;
      return (await client.workflow.count(query)).count === 0;
    });
    await cli('thaw', tenant);
    await passMinutes(2);
    await client.schedule.getHandle(reconcile).trigger();
    await untilHired(world, 1);
  });
  await expectExactlyHired(world, people);
});

test('who left and is not known to a restored store is asked about by the next reconcile', async () => {
  const tenant = await build();
  const people = await takeApplicants(world, 1);
  await hire(people);
  await untilHired(world, 1);
  const jobCandidateId = String(people[0]?.jobCandidateId);
  await restoreFromBefore(jobCandidateId);
  await world.control.act('move', { jobCandidateIds: [Number(jobCandidateId)], stageType: 'SCREEN' });
  await withSchedules((client, { reconcile }) => client.schedule.getHandle(reconcile).trigger());
  await until('a question about the employee', async () => {
    const holds = await withStore((store) => listHolds(store, { tenantId: tenant }));
    return holds.some((hold) => hold.job_candidate_id === jobCandidateId && hold.code.startsWith('LEFT_'));
  });
  await expectExactlyHired(world, people);
});

/** The store as a backup from before the hire, an hour old, would leave it. */
async function restoreFromBefore(jobCandidateId: string): Promise<void> {
  await withStore(async ({ kysely }) => {
    for (const { name, columns } of await kysely.introspection.getTables())
      if (columns.some((column) => column.name === 'job_candidate_id'))
        await sql`delete from ${sql.table(name)} where tenant_id = ${world.tenant}
                  and job_candidate_id = ${jobCandidateId}`.execute(kysely);
    await kysely
      .updateTable('tenants')
      .set((eb) => ({ reconciled_at: eb('reconciled_at', '-', 3_600_000) }))
      .where('tenant_id', '=', world.tenant)
      .execute();
  });
}

/** As if nothing had been noted of the tenant's hires for so long. */
async function passMinutes(minutes: number): Promise<void> {
  await withStore(({ kysely }) =>
    kysely
      .updateTable('hires')
      .set((eb) => ({ updated_at: eb('updated_at', '-', minutes * 60_000) }))
      .where('tenant_id', '=', world.tenant)
      .execute(),
  );
}

async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(world.storeUrl);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
