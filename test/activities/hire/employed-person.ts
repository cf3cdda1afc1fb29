import { join } from 'node:path';
import { expect } from 'vitest';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { judgeDeparture } from '../../../activities/hire/departure.ts';
import { employ } from '../../../activities/hire/employ.ts';
import { endEmployment } from '../../../activities/hire/end-employment.ts';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import type { Held } from '../../../src/hire/holds.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { latestHire } from '../../../src/store/hires.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { finishOnboardings } from '../../harness/world-people.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

/** A tenant at the sandbox with an SQL table as its HR system, and one hire that is done; the first day is in 2099. */
export async function employPerson({ endColumn = 'last_day' }: { endColumn?: string | undefined } = {}) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const ending = endColumn === '' ? '' : `, endColumn: ${endColumn}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true${ending}`;
  const fleet = await fleetAtSandbox({ jobs: 3, hris });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const { sandbox, store, deps } = fleet;

  const refOf = async (jobCandidateId: string) => {
    const { period = 0 } = (await latestHire(store, 'acme', jobCandidateId)) ?? {};
    return { tenantId: 'acme', jobCandidateId, period };
  };
  const employOnce = async (id: string) => employ(deps, await refOf(id));
  /** Hires, onboards and asks for the employee. */
  const begin = async (given?: number) => {
    const id = await fleet.hire(given);
    await fleet.open('acme', id);
    await finishOnboardings(sandbox.control, sandbox.partner);
    return id;
  };
  const finish = async (id: string) => expect(await finishHire(deps, await refOf(id))).toEqual({ verdict: 'verified' });
  const id = await begin();
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  await finish(id);
  const ref = await refOf(id);
  const row = async (of = id) => latestHire(store, 'acme', of);
  const employeeId = (await row())?.employee_id ?? '';
  return {
    fleet,
    id,
    ref,
    row,
    employeeId,
    begin,
    employOnce,
    finish,
    move: (stageType: 'SCREEN' | 'HIRED') => sandbox.control.act('move', { jobCandidateIds: [Number(id)], stageType }),
    /** The same person on the nth other job; gives the application. */
    async applyFor(n: number): Promise<number> {
      const hired = await row();
      const { items } = await sandbox.partner.readAll(contract.jobs.list);
      const job = items.filter((one) => String(one.id) !== hired?.job_id)[n];
      const params = { candidateId: Number(hired?.candidate_id) };
      const { data } = await sandbox.partner.candidates.get({ params });
      const candidate = { email: String(data.email) };
      const added = (await sandbox.control.act('addCandidate', { candidate, jobId: Number(job?.id) })) as {
        id?: number;
        jobCandidateId?: number;
      };
      return Number(added.jobCandidateId ?? added.id);
    },
    judge: () => judgeDeparture(deps, ref),
    end: (hr?: (hris: HrisConnection) => HrisConnection) => endEmployment(withHris(deps, hr), ref),
    /** As a person does, and lets the workflow take it. */
    async answer(verdict: { verdict: string }, answer: string, of = ref) {
      expect(verdict).toMatchObject({ verdict: 'hold' });
      const { holdId } = await openHold(deps, { ...of, hold: (verdict as Held).hold });
      await answerHold(store, holdId, { answer, arguments: [], by: 'ada' });
      return takeAnswer(deps, { ...of, holdId });
    },
    employees: () => readTable(url),
    update: async (fields: Record<string, string>) =>
      (await deps.connections.of('acme')).hris.employees.update(employeeId, fields, {
        signal: AbortSignal.timeout(10_000),
        beforeSend: () => undefined,
      }),
    /** Status and Employee ID as the partner shows them. */
    async shown() {
      const params = { onboardingCandidateId: (await row())?.onboarding_candidate_id ?? '' };
      return (await sandbox.partner.onboarding.getCandidate({ params })).data.externalStatus;
    },
    /** Requests left so much earlier. */
    letPass: (ms: number) =>
      store.kysely
        .updateTable('intents')
        .set((eb) => ({ give_up_at: eb('give_up_at', '-', ms), sent_at: eb('sent_at', '-', ms) }))
        .execute(),
  };
}

function withHris(deps: ActivityDeps, change: (hris: HrisConnection) => HrisConnection = (hris) => hris): ActivityDeps {
  const of: ActivityDeps['connections']['of'] = async (tenantId) => {
    const connection = await deps.connections.of(tenantId);
    return { ...connection, hris: change(connection.hris) };
  };
  return { ...deps, connections: { ...deps.connections, of } };
}

async function readTable(url: string) {
  const { kysely, close } = openDatabase<{
    employees: { id: number; employee_number: string; title: string; start_date: string; last_day?: string | null };
  }>(url);
  try {
    return await kysely.selectFrom('employees').selectAll().orderBy('id').execute();
  } finally {
    await close();
  }
}
