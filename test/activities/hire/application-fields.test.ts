import { join } from 'node:path';
import { expect, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const RULES = `fields:
  department: { from: "application.answers[Which shift?]" }
  title: { from: [application.expectedCTC, application.currencyExpectedCTC], transform: [join] }
`;

interface Row {
  department: string | null;
  title: string | null;
}

/** Somebody who applied on the hosted page, or was added by a recruiter, becomes an employee. */
async function employed(mapping: string, applied: boolean) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
  const fleet = await fleetAtSandbox({ skip: true, hris, startDates: false });
  const { partner, control } = fleet.sandbox;
  await fleet.write('acme-mapping.yaml', `${mapping}  startDate: { constant: "2099-01-01" }\n`);
  await fleet.apply('acme', 'writeBack: { customField: "1" }\nmapping: acme-mapping.yaml\n');
  await fleet.reconcile('acme');
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  const candidate = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Byron' };
  const screeningQuestionAnswer = [
    { question: ' which SHIFT? ', answer: 'Night' },
    { question: 'Why us?', answer: 'The bread.' },
  ];
  const application = { expectedCTC: 52_000, currencyExpectedCTC: 'EUR', screeningQuestionAnswer };
  const added = await (applied
    ? control.act('apply', { jobId: Number(job?.id), candidate, application })
    : control.act('addCandidate', { jobId: Number(job?.id), candidate }));
  const id = String((added as { jobCandidateId: number }).jobCandidateId);
  await fleet.hire(Number(id));
  await fleet.open('acme', id);
  expect(await employ(fleet.deps, { tenantId: 'acme', jobCandidateId: id, period: 1 })).toMatchObject({
    verdict: 'employee',
  });
  const { kysely, close } = openDatabase<{ employees: Row }>(url);
  const rows = await kysely.selectFrom('employees').select(['department', 'title']).execute();
  await close();
  const calls = await control.ledger({ kind: 'request', name: 'jobCandidates.getApplication' });
  return { rows, calls: calls.length };
}

test('an answer to a question and the expected pay go into the employee', async () => {
  const { rows, calls } = await employed(RULES, true);
  expect(rows).toEqual([{ department: 'Night', title: '52000 EUR' }]);
  expect(calls).toBe(1);
});

test('whoever did not apply on the hosted page filled in nothing', async () => {
  const { rows } = await employed(RULES, false);
  expect(rows).toEqual([{ department: null, title: null }]);
});

test('a mapping that reads nothing of the application costs no call', async () => {
  const { calls } = await employed('fields:\n  department: { constant: Kitchen }\n', true);
  expect(calls).toBe(0);
});
