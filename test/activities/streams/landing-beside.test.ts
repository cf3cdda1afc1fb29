import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { employ, readOnboarding } from '../../../activities/hire/go-on.ts';
import { pushRecords } from '../../../activities/push/push-records.ts';
import { pullPages } from '../../../activities/streams/pull-pages.ts';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { listHolds } from '../../../src/store/holds.ts';
import type { PullName } from '../../../src/streams/streams.ts';
import { createDatabase } from '../../harness/postgres.ts';
import { finishOnboardings } from '../../harness/world-people.ts';
import { fleetAtSandbox } from '../hire/fleet-at-sandbox.ts';

const STREAMS =
  'streams: { jobs: { every: 1h }, candidates: { every: 1h }, applications: { every: 1h }, ' +
  'requisitions: { every: 1h } }\n';

/** Employees go to BambooHR, and everything else into a Postgres beside it. */
async function besideBamboo() {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  vi.stubEnv('TEST_BAMBOO_KEY', API_KEY);
  const lake = await createDatabase();
  onTestFinished(lake.drop);
  vi.stubEnv('TEST_LANDING_URL', lake.url);
  const hris =
    `kind: bamboohr, connection: acme-hr, url: "${double.url}", apiKey: env:TEST_BAMBOO_KEY, ` +
    `referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true`;
  const fleet = await fleetAtSandbox({ hris, jobs: 2, candidates: 6 });
  const level = { entityType: 'job' as const, fieldLabel: 'Requisition', fieldType: 'text' as const };
  const { data } = await fleet.sandbox.partner.customFields.create({ body: level });
  const reference = String(data.id);
  const landing = 'landing: { kind: sql, url: env:TEST_LANDING_URL, createTable: true, requisitions: {} }\n';
  await fleet.apply('acme', `${landing}${STREAMS}requisitions: { reference: "${reference}" }\n`);
  const database = openDatabase(lake.url);
  onTestFinished(() => database.close());
  let runs = 0;
  return {
    fleet,
    double,
    lake,
    reference,
    pull: (stream: PullName) => {
      runs += 1;
      return pullPages(fleet.deps, { tenantId: 'acme', stream, runId: `run-${runs}`, mode: 'full', begun: false });
    },
    rows: async (table: string) =>
      (await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(database.kysely)).rows,
    run: (statement: string) => sql.raw(statement).execute(database.kysely),
  };
}

test('jobs, candidates and applications land in Postgres beside BambooHR, and positions come from it', async () => {
  const { fleet, double, pull, rows, run, reference } = await besideBamboo();
  const { partner } = fleet.sandbox;
  for (const stream of ['jobs', 'candidates', 'applications'] as const)
    expect(await pull(stream)).toMatchObject({ state: 'done' });
  const { items: people } = await partner.readAll(contract.candidates.list, {});
  const landed = await rows('partner_candidates');
  expect(landed.map((row) => row['partner_id']).toSorted()).toEqual(people.map(({ id }) => String(id)).toSorted());
  expect(landed[0]).toMatchObject({ tenant: 'acme', row_hash: expect.any(String), email: expect.any(String) });
  expect(await rows('partner_jobs')).toHaveLength((await partner.readAll(contract.jobs.list, {})).items.length);
  expect((await rows('partner_applications')).length).toBeGreaterThan(0);
  expect(double.company.employees.size).toBe(0);
  expect(await pull('candidates')).toMatchObject({ state: 'done', counts: { created: 0, updated: 0 } });

  await run(`insert into requisitions (id, title, city, state, country) values ('P-1', 'Chef', 'Pune', 'MH', 'India')`);
  const push = { tenantId: 'acme', stream: 'requisitions', runId: 'push-1', full: false, begun: false } as const;
  expect(await pushRecords(fleet.deps, push)).toMatchObject({ state: 'done', counts: { created: 1 } });
  const { items: jobs } = await partner.readAll(contract.jobs.list, {});
  const made = jobs.filter(({ customFields }) => customFields?.[reference]?.value === 'P-1');
  expect(made.map(({ title }) => title)).toEqual(['Chef']);
});

test('a landing database that is away holds its streams up, and nobody who is hired', async () => {
  const { fleet, double, lake, pull } = await besideBamboo();
  await fleet.reconcile('acme');
  vi.stubEnv('TEST_LANDING_URL', lake.url.replace(/:\d+\//, ':1/'));
  await fleet.deps.connections.reopen('acme');
  await expect(pull('candidates')).rejects.toMatchObject({ code: expect.stringMatching(/^LANDING_/), action: 'retry' });
  const jobCandidateId = await fleet.hire();
  const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
  await fleet.open('acme', jobCandidateId);
  await finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner);
  for (const step of [readOnboarding, employ]) await step(fleet.deps, ref);
  expect(double.company.employees.size).toBe(1);
  expect(await listHolds(fleet.store, { tenantId: 'acme' })).toEqual([]);
});

test('credentials that the landing database refuses end the run, and pause neither tenant nor HR system', async () => {
  const { fleet, lake, pull, run } = await besideBamboo();
  await run(`create role stranger login password 'x'`);
  onTestFinished(() => run('drop role if exists stranger').catch(() => undefined) as Promise<never>);
  vi.stubEnv('TEST_LANDING_URL', lake.url.replace('postgres@', 'stranger@'));
  await fleet.deps.connections.reopen('acme');
  const step = await pull('candidates');
  expect(step).toMatchObject({ state: 'refused', code: expect.stringMatching(/^LANDING_/) });
  expect(fleet.deps.pausedHris.size).toBe(0);
  expect(await listHolds(fleet.store, { tenantId: 'acme' })).toEqual([]);
});

test.each([
  ['LANDING_SECRET_MISSING', ''],
  ['LANDING_OPTIONS_INVALID', 'postgres://u:hush-hush@landing.example.com/lake'],
  ['LANDING_OPTIONS_INVALID', 'mysql://u:hush-hush@landing.example.com/lake'],
])('%s where the address reads "%s": streams are refused, and whoever is hired is hired', async (code, address) => {
  const { fleet, double, pull } = await besideBamboo();
  await fleet.reconcile('acme');
  vi.stubEnv('TEST_LANDING_URL', address);
  await fleet.deps.connections.reopen('acme');
  const ended = await pull('candidates');
  expect(ended).toMatchObject({ state: 'refused', code });
  expect(JSON.stringify(ended)).not.toContain('hush-hush');
  expect(await fleet.deps.connections.reopenIfRotated('acme')).toBe(false);
  const jobCandidateId = await fleet.hire();
  const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
  await fleet.open('acme', jobCandidateId);
  await finishOnboardings(fleet.sandbox.control, fleet.sandbox.partner);
  for (const step of [readOnboarding, employ]) await step(fleet.deps, ref);
  expect(double.company.employees.size).toBe(1);
  expect(fleet.deps.pausedHris.size).toBe(0);
  expect(await listHolds(fleet.store, { tenantId: 'acme' })).toEqual([]);
});
