import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contract } from '../../src/partner/contract/index.ts';
import { readStatus } from './hiring.ts';
import { type Applicant, startWorld, until, type World, type WorldOptions } from './world.ts';
import { TENANT } from './world-tenant.ts';

const FIELD = 'EMPLOYEE_ID_FIELD';
const RECONCILE = 'reconcile: { every: 1h }\n  cancel: { grace: 2s }';

/** A running product with nothing to do but hire: no reconcile within the hour, a custom field for the Employee ID. */
export async function startCountedWorld(onboarding: 'skip' | 'played', options: WorldOptions): Promise<World> {
  const world = await startWorld({
    policies: `onboarding: ${onboarding === 'skip' ? 'skip' : '{ flow: "{flow}" }'}\n  ${RECONCILE}`,
    writeBack: `customField: "${FIELD}"`,
    ...options,
  });
  const field = await world.partner.customFields.create({
    body: { entityType: 'candidate', fieldLabel: 'Employee ID', fieldType: 'text', parentSection: 'Miscellaneous' },
  });
  const file = join(world.tenantsDir, `${TENANT}.yaml`);
  await writeFile(file, (await readFile(file, 'utf8')).replace(FIELD, String(field.data.id)));
  await Promise.all([world.startReceiver(), world.startWorker()]);
  // The pass of the baseline goes on after it went live, and its calls are no hire's.
  await until('the pass of the baseline has ended', async () => (await readStatus(world)).reconciled);
  return world;
}

/** Somebody who comes after everybody else, so last in each list, as the partner orders them. */
export async function addNewcomer(world: World): Promise<Applicant> {
  const [someone] = await world.applicants();
  const candidate = { email: 'zoe.newcomer@example.com', firstName: 'Zoe', lastName: 'Newcomer' };
  const added = await world.control.act('addCandidate', { candidate, jobId: someone?.jobId ?? 0 });
  const newcomer = added as unknown as Applicant;
  const startDate = { customFieldId: world.startDateField, entityType: 'candidate' as const, value: '2099-01-11' };
  const body = [{ ...startDate, entityId: String(newcomer.candidateId) }];
  await world.partner.inChunks(contract.customFieldValues.upsertBulk, { body });
  return newcomer;
}

/** Hires these people at once, plays their onboardings, and counts the requests until all are done and at rest. */
export async function countCalls(world: World, people: readonly Applicant[]): Promise<Map<string, number>> {
  const done = ((await readStatus(world)).hires['done'] ?? 0) + people.length;
  const before = (await world.control.ledger({ last: 1 }))[0]?.seq ?? 0;
  await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
  let played = before;
  let seen = 0;
  await until(
    `${people.length} hires done`,
    async () => {
      for (const { seq, subject } of await world.control.ledger({
        kind: 'effect',
        name: 'enrolment',
        afterSeq: played,
      })) {
        played = seq;
        await world.control.act('finishOnboarding', { onboardingCandidateId: String(subject) });
      }
      const { hires, inbox } = await readStatus(world);
      const now = (await world.control.ledger({ last: 1 }))[0]?.seq ?? 0;
      const atRest = now === seen && (inbox['waiting'] ?? 0) === 0;
      seen = now;
      return hires['done'] === done && atRest;
    },
    { timeoutMs: 240_000, everyMs: 700 },
  );
  const calls = new Map<string, number>();
  for (const { name } of await world.control.ledger({ kind: 'request', afterSeq: before, limit: 100_000 }))
    calls.set(name, (calls.get(name) ?? 0) + 1);
  return calls;
}

export function sumOf(calls: ReadonlyMap<string, number>): number {
  return [...calls.values()].reduce((sum, count) => sum + count, 0);
}
