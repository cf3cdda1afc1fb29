import { expect, onTestFinished, test, vi } from 'vitest';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { pushRecords } from '../../../activities/push/push-records.ts';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const TABLES = ['events_out', 'unique_names', 'hire_documents', 'hire_steps', 'option_labels'] as const;
const NAMED = `fields:
  workEmail: { template: "{candidate.firstName}.{candidate.lastName}@acme.example", transform: [login], unique: true }
`;
const ACCOUNTS = `fields:
  givenName: { from: candidate.firstName }
  familyName: { from: candidate.lastName }
  email: { from: employee.workEmail }
  startDate: { from: "candidate.customFields[Start date]", transform: [date] }
`;

/** What a hire that waits once, and a pass of two streams after it, cost a tenant that names all of it, or nothing. */
async function costOf(using: boolean) {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  vi.stubEnv('TEST_BAMBOO_KEY', API_KEY);
  vi.stubEnv('TEST_EVENTS_SECRET', `whsec_${Buffer.alloc(32, 9).toString('base64')}`);
  const fleet = await fleetAtSandbox({
    hris: `kind: bamboohr, connection: hr, url: "${double.url}", apiKey: env:TEST_BAMBOO_KEY,
      referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true`,
  });
  const { sandbox, store, deps } = fleet;
  const text = async (fieldLabel: string): Promise<string> => {
    const body = { entityType: 'candidate', fieldLabel, fieldType: 'text', parentSection: 'Miscellaneous' } as const;
    return String((await sandbox.partner.customFields.create({ body })).data.id);
  };
  const [url, reason] = [await text('In HR'), await text('Why it waits')];
  await fleet.write('acme-mapping.yaml', NAMED);
  await fleet.write('accounts.yaml', ACCOUNTS);
  const settings = `mapping: acme-mapping.yaml
writeBack: { employeeUrl: "${url}", holdReason: "${reason}" }
events: { url: "https://hooks.acme.example/", secret: env:TEST_EVENTS_SECRET }
destinations:
  - { kind: sql, connection: directory, url: sqlite:./other.sqlite, createTable: true, mapping: ./accounts.yaml }
streams: { accounts: { every: 1m } }
`;
  await fleet.apply('acme', using ? settings : '');
  await fleet.reconcile('acme');
  const steps = stepsIn(fleet);
  const id = await steps.begin();
  const ref = await steps.refOf(id);
  const asked = async () => new Map(Object.entries((await sandbox.control.counts({ kind: 'request' })).request ?? {}));
  const [before, hrBefore] = [await asked(), double.requests];
  const hold = holdOf('MAPPING_INCOMPLETE', { jobCandidateId: id, problems: 'x', fields: { title: 'MISSING' } });
  const { holdId } = await openHold(deps, { ...ref, hold });
  await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
  await takeAnswer(deps, { ...ref, holdId });
  await steps.employOnce(id);
  await steps.finish(id);
  for (const stream of ['options', 'documents', 'accounts'] as const)
    await pushRecords(deps, { tenantId: 'acme', stream, runId: stream, full: true, begun: false });
  const calls = [...(await asked())].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  const counted = TABLES.map(async (table) => [
    table,
    (await store.kysely.selectFrom(table).selectAll().execute()).length,
  ]);
  const writes = await store.kysely.selectFrom('foreign_writes').select('target').execute();
  return {
    calls: Object.fromEntries(calls.filter(([, count]) => count > 0)),
    hrCalls: double.requests - hrBefore,
    rows: Object.fromEntries(await Promise.all(counted)) as Record<(typeof TABLES)[number], number>,
    written: writes.map(({ target }) => target).toSorted(),
  };
}

test('what a tenant does not ask for costs it no call, no write and no row', async () => {
  const [plain, all] = [await costOf(false), await costOf(true)];
  expect(plain).toEqual({
    calls: {
      'jobCandidates.bulkFetch': 1,
      'jobCandidates.listByStageType': 1,
      'jobs.list': 1,
      'onboarding.getCandidate': 2,
      'onboarding.setExternalStatus': 1,
    },
    // One of them reads the account's names of countries, once for each connection.
    hrCalls: 18,
    rows: { events_out: 0, unique_names: 0, hire_documents: 0, hire_steps: 0, option_labels: 0 },
    written: ['employee', 'enrolment', 'external-status'],
  });
  // The same counts see what is used.
  expect(all.rows).toMatchObject({ events_out: 2, unique_names: 1, hire_steps: 1 });
  expect(all.written).toContain('account:directory');
  expect(all.written.filter((target) => target === 'custom-fields')).toHaveLength(3);
  expect(all.calls['customFieldValues.upsertBulk']).toBe(3);
  expect(all.hrCalls).toBeGreaterThan(plain.hrCalls);
});
