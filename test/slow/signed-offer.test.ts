import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { API_KEY, FILE_CATEGORY, REFERENCE_FIELD, startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { joinFleet } from '../harness/fleet.ts';
import { untilHired } from '../harness/hiring.ts';
import { createDatabase } from '../harness/postgres.ts';
import { until } from '../harness/world.ts';

test('an offer is in BambooHR soon after it is signed, and its candidate in a Postgres beside', async () => {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  const lake = await createDatabase();
  onTestFinished(lake.drop);
  const database = openDatabase(lake.url);
  onTestFinished(() => database.close());
  const { company } = double;
  const world = await joinFleet({
    jobs: 1,
    candidates: 2,
    secrets: { 'bamboo.key': API_KEY },
    otherHris: {
      settings: {
        kind: 'bamboohr',
        url: double.url,
        apiKey: 'file:secrets/bamboo.key',
        referenceField: REFERENCE_FIELD,
        fileCategory: FILE_CATEGORY,
        readLag: '0ms',
        allowPrivateAddress: true,
      },
      env: {},
      employees: async () =>
        [...company.employees].map(([id, one]) => ({
          id,
          number: one['employeeNumber'] ?? '',
          reference: one[REFERENCE_FIELD] ?? null,
          email: one['homeEmail'] ?? null,
        })),
    },
    edit: (text) =>
      `${text}landing: { kind: sql, url: "${lake.url}", createTable: true }\ndocuments: [offers]\n` +
      'streams: { documents: { every: 6h }, candidates: { every: 6h } }\n',
  });
  onTestFinished(world.close);
  const [applicant] = await world.applicants();
  const jobCandidateId = applicant?.jobCandidateId ?? 0;
  await world.control.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'HIRED' });
  await untilHired(world, 1);
  const [id = ''] = company.employees.keys();
  const files = () => company.files.get(id) ?? [];
  // Onboarding had an offer of its own, signed while the hire was under way.
  await until('the offer of the onboarding is in the record', async () => files().length === 1);
  const { offerId } = (await world.control.act('createOffer', { jobCandidateId, name: 'Offer' })) as {
    offerId: string;
  };
  await world.control.act('completeOffer', { offerId });
  const signed = performance.now();
  await until('the offer is in the record', async () => files().length === 2);
  expect(performance.now() - signed).toBeLessThan(60_000);
  expect(files().map(({ bytes }) => bytes.subarray(0, 5).toString())).toEqual(['%PDF-', '%PDF-']);
  console.log(`an offer is in the record ${Math.round(performance.now() - signed)} ms after its signature`);
  await until('candidates are in the database beside', async () => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from partner_candidates`.execute(
      database.kysely,
    );
    return rows[0]?.n === 2;
  });
  expect(company.employees.size).toBe(1);
});
