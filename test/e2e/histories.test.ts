import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { type FleetTenant, joinFleet } from '../harness/fleet.ts';
import { readStatus } from '../harness/hiring.ts';
import { type RecordedWorkflow, readable, readWorkflows } from '../harness/histories.ts';
import { type Applicant, until, writtenBack } from '../harness/world.ts';

let world: FleetTenant;

beforeAll(async () => {
  world = await joinFleet({ hired: 2, startDates: false });
});

afterAll(() => world?.close());

/** Names, e-mails and phones of everybody in the sandbox. */
async function personalWords(): Promise<string[]> {
  const { items } = await world.partner.readAll(contract.candidates.list);
  const words = items.flatMap((one) => [one.firstName, one.lastName, one.email, one.phone]);
  return [...new Set(words.filter((word): word is string => typeof word === 'string' && word.length > 3))];
}

async function setStartDate({ candidateId }: Applicant): Promise<void> {
  const value = {
    customFieldId: world.startDateField,
    entityType: 'candidate' as const,
    entityId: candidateId,
    value: '2027-02-01',
  };
  await world.partner.customFieldValues.upsert({ body: value });
}

async function hold(code: string): Promise<string> {
  const { holdId } = await until(`a hold ${code}`, async () => {
    if (!(await readStatus(world)).holds.includes(code)) return undefined;
    const { stdout } = await world.cli(['hold', 'list', '--tenant', world.tenant, '--json']);
    const holds = JSON.parse(stdout) as { holdId: string; code: string }[];
    return holds.find((one) => one.code === code);
  });
  return holdId;
}

/**
 * Plays a plain hire, one that is held and answered, and one that is cancelled, and looks through everything Temporal
 * keeps of them.
 * With HIREBRIDGE_RECORD_HISTORIES=DIR the histories are written there: that is how the replay tests' fixtures were
 * made.
 */
test('histories, ids, search attributes, metrics and logs hold nobody’s name, e-mail or phone', async () => {
  const [plain, held, cancelled] = await world.applicants();
  if (plain === undefined || held === undefined || cancelled === undefined)
    throw new Error('too few people in the sandbox');
  await setStartDate(plain);
  const ids = [plain, held, cancelled].map((one) => one.jobCandidateId);
  for (const id of ids) await world.control.act('move', { jobCandidateIds: [id], stageType: 'HIRED' });
  await until('three enrolments', async () => (await world.effects('enrolment')).length === 3);
  await world.control.act('move', { jobCandidateIds: [cancelled.jobCandidateId], stageType: 'SCREEN' });
  await until('the cancellation', async () => (await readStatus(world)).hires['left'] === 1);
  await world.finishOnboardings();
  const holdId = await hold('MAPPING_INCOMPLETE');
  await setStartDate(held);
  expect((await world.cli(['hold', 'answer', holdId, 'retry'])).code).toBe(0);
  await until('both are done', async () => (await readStatus(world)).hires['done'] === 2);
  expect((await writtenBack(world)).size).toBe(2);
  expect(await world.employees()).toHaveLength(2);

  const workflows = await until('the workflows to be listed', async () => {
    const all = await readWorkflows(world.temporalAddress, world.installationId);
    const found = all.filter(({ workflowId }) => workflowId.includes(`/${world.tenant}`));
    return found.filter((one) => one.type === 'hire').length === 3 ? found : undefined;
  });
  const metrics = await (await fetch(`${world.workerHealth}/metrics`)).text();
  const seen = [
    ...workflows.flatMap((one) => [one.workflowId, one.searchAttributes, readable(one.history)]),
    metrics,
    await world.logs(),
  ].join('\n');
  expect(seen).toContain(String(plain.jobCandidateId));
  const words = await personalWords();
  expect(words.length).toBeGreaterThan(20);
  expect(
    words.filter((word) => new RegExp(`(?<![\\p{L}\\d])${RegExp.escape(word)}(?![\\p{L}\\d])`, 'iu').test(seen)),
  ).toEqual([]);

  const dir = process.env['HIREBRIDGE_RECORD_HISTORIES'];
  if (dir !== undefined) writeHistories(dir, workflows, ids);
});

function writeHistories(dir: string, workflows: RecordedWorkflow[], ids: number[]): void {
  mkdirSync(dir, { recursive: true });
  const names = new Map(
    ids.map((id, index) => [String(id), ['hire-plain', 'hire-held', 'hire-cancelled'][index] ?? '']),
  );
  for (const one of workflows) {
    const name = one.type === 'hire' ? names.get(one.workflowId.split('/').at(-1) ?? '') : 'reconcile-tenant';
    writeFileSync(join(dir, `${name}.json`), one.history);
  }
}
