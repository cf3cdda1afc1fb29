import { join } from 'node:path';
import { expect, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const BORN = 'fields:\n  birthDate: { from: candidate.dateOfBirth, transform: [date], sensitive: true }\n';

interface Namesake {
  birthDate: string | null;
  /** The mapping reads the hire's. */
  mapped: boolean;
  policies?: string;
}

/** Somebody is hired whose namesake the HR system has already, under another e-mail. */
async function hiredBesideNamesake({ birthDate, mapped, policies }: Namesake) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const fleet = await fleetAtSandbox({
    skip: true,
    hris: `kind: sql, connection: hr, url: "${url}", createTable: true`,
    ...(policies === undefined ? {} : { policies }),
  });
  if (mapped) await fleet.write('acme-mapping.yaml', BORN);
  await fleet.apply('acme', `writeBack: { customField: "1" }\n${mapped ? 'mapping: acme-mapping.yaml\n' : ''}`);
  await fleet.reconcile('acme');
  const jobCandidateId = await fleet.hire();
  const { items } = await fleet.sandbox.partner.readAll(contract.jobCandidates.bulkFetch, {
    body: { jobCandidateIds: [jobCandidateId] },
  });
  const [hired = {}] = items as { candidate_details?: { firstName: string; lastName: string } }[];
  const { firstName = '', lastName = '' } = hired.candidate_details ?? {};
  await (await fleet.deps.connections.of('acme')).hris.probe(AbortSignal.timeout(120_000));
  const names = { given_name: firstName.toUpperCase(), family_name: lastName.toLowerCase() };
  await write(url, {
    ...names,
    email: 'namesake@example.org',
    title: 'Cook',
    start_date: '2020-01-01',
    birth_date: birthDate,
  });
  await fleet.open('acme', jobCandidateId);
  const asked = { tenantId: 'acme', jobCandidateId, period: 1, seenAtOpening: true };
  return { ...fleet, asked, outcome: await employ(fleet.deps, asked), rows: () => readTable(url) };
}

test.each<[string, Namesake]>([
  ['neither has', { birthDate: null, mapped: false }],
  ['the HR system lacks', { birthDate: null, mapped: true }],
  ['the mapping leaves out', { birthDate: '1980-01-01', mapped: false }],
])('a person of the same name whose birth date %s is asked about', async (_what, namesake) => {
  const { outcome, asked, deps, store, rows } = await hiredBesideNamesake(namesake);
  expect(outcome).toMatchObject({
    verdict: 'hold',
    hold: { code: 'IDENTITY_AMBIGUOUS', details: { reason: 'same-name', keys: ['name'], employeeIds: ['1'] } },
  });
  if (outcome.verdict !== 'hold') return;
  expect(outcome.hold.message).toContain('the same name as employee 1, and no birth date to compare');
  expect(await rows()).toHaveLength(1);
  const { holdId } = await openHold(deps, { ...asked, hold: outcome.hold });
  await answerHold(store, holdId, { answer: 'create', arguments: [], by: 'ada' });
  await takeAnswer(deps, { ...asked, holdId });
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
  expect(await rows()).toHaveLength(2);
});

test.each<[string, Namesake]>([
  ['has another birth date', { birthDate: '1980-01-01', mapped: true }],
  ['may be taken for somebody else', { birthDate: null, mapped: false, policies: 'identity: { sameName: create }' }],
])('a namesake who %s does not hold a hire up', async (_what, namesake) => {
  const { outcome, rows } = await hiredBesideNamesake(namesake);
  expect(outcome).toMatchObject({ verdict: 'employee' });
  expect(await rows()).toHaveLength(2);
});

interface HrTable {
  employees: {
    given_name: string;
    family_name: string;
    email: string;
    title: string;
    start_date: string;
    birth_date: string | null;
  };
}

async function write(url: string, row: HrTable['employees']): Promise<void> {
  const { kysely, close } = openDatabase<HrTable>(url);
  await kysely.insertInto('employees').values(row).execute();
  await close();
}

async function readTable(url: string) {
  const { kysely, close } = openDatabase<HrTable>(url);
  try {
    return await kysely.selectFrom('employees').selectAll().execute();
  } finally {
    await close();
  }
}

/** Two candidates of one name, with an e-mail each; the second is hired while the first one's employee is made. */
async function twoAtOnce(database: (typeof kinds)[number], policies?: string) {
  const world = await employPerson({ database, ...(policies === undefined ? {} : { policies }) });
  const { control, partner } = world.fleet.sandbox;
  const fields = { firstName: 'Ada', lastName: 'Byron' };
  for (const { candidateId } of (await listApplicants(partner)).slice(0, 2))
    await control.act('editCandidate', { candidateId, fields });
  const [first, second] = [await world.begin(), await world.begin()];
  let meanwhile: unknown;
  await world.employOnce(first, (hris) => ({
    ...hris,
    employees: {
      ...hris.employees,
      async create(...given) {
        meanwhile = await world.employOnce(second).catch((error: unknown) => error);
        return hris.employees.create(...given);
      },
    },
  }));
  const employed = async () => (await world.employees()).length - 1;
  return { meanwhile, employed, later: () => world.employOnce(second) };
}

test.each(kinds)('a namesake who is hired at the same moment is asked about, too, in %s', async (database) => {
  const { meanwhile, employed, later } = await twoAtOnce(database);
  expect(meanwhile).toMatchObject({ code: 'IDENTITY_LEASED', action: 'retry' });
  expect(await employed()).toBe(1);
  expect(await later()).toMatchObject({ hold: { code: 'IDENTITY_AMBIGUOUS', details: { reason: 'same-name' } } });
});

test('a namesake who counts as somebody else waits for nobody', async () => {
  const { meanwhile, employed } = await twoAtOnce('sqlite', 'identity: { sameName: create }');
  expect(meanwhile).toMatchObject({ verdict: 'employee' });
  expect(await employed()).toBe(2);
});
