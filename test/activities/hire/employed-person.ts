import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { expect } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { endEmployment, handOver, judgeDeparture } from '../../../activities/hire/departure.ts';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { employeeIn, type HireRef } from '../../../src/hire/hire.ts';
import type { Held } from '../../../src/hire/holds.ts';
import type { WriteOptions } from '../../../src/hris/port.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { latestHire } from '../../../src/store/hires.ts';
import { answerHold } from '../../../src/store/holds.ts';
import type { OpenStoreOptions } from '../../../src/store/open-store.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { finishOnboardings } from '../../harness/world-people.ts';
import { forgetPeople } from '../../store/known-people.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

interface EmployOptions {
  endColumn?: string;
  /** Inside the braces of `hris`, for another HR system than the table. */
  hris?: string;
  database?: 'sqlite' | 'postgres';
  /** Inside the braces of `policies`. */
  policies?: string;
  store?: OpenStoreOptions;
  /** The partner was not told yet. */
  isOpen?: boolean;
}

/** A tenant at the sandbox with an SQL table as its HR system, and one hire that is done; the first day is in 2099. */
export async function employPerson({ endColumn = 'last_day', isOpen = false, ...options }: EmployOptions = {}) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const ending = endColumn === '' ? '' : `, endColumn: ${endColumn}`;
  const table = `kind: sql, connection: hr, url: "${url}", createTable: true${ending}`;
  const { hris = table, ...rest } = options;
  const fleet = await fleetAtSandbox({ jobs: 3, hris, ...rest });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const steps = stepsIn(fleet);
  const id = await steps.begin();
  expect(await steps.employOnce(id)).toMatchObject({ verdict: 'employee' });
  if (!isOpen) await steps.finish(id);
  const ref = await steps.refOf(id);
  const employeeId = (await steps.row(id))?.employee_id ?? '';
  return {
    fleet,
    id,
    ref,
    employeeId,
    ...steps,
    ...partnerSide(fleet, id),
    row: (of = id) => steps.row(of),
    judge: () => judgeDeparture(fleet.deps, ref),
    end: (hr?: (hris: OwnHris) => OwnHris) => endEmployment(withHris(fleet.deps, hr), ref),
    answer: (verdict: { verdict: string }, answer: string, of = ref) => steps.answerAs(of, verdict, answer),
    employees: () => readTable(url),
    /** The HR system's own table, for what people do to it. */
    change: (sql: string) => runIn(url, sql),
    /** As after a go-live with a new store: only the HR system knows the employee. */
    async forget() {
      await forgetPeople(fleet.store);
    },
    update: async (fields: Record<string, string>) =>
      (await fleet.deps.connections.of('acme')).hris.employees.update(employeeIn('hr', employeeId), fields, write()),
    /** Somebody in the HR system ends the employment. */
    terminate: async (lastDay: string) =>
      (await fleet.deps.connections.of('acme')).hris.employees.terminate?.(
        employeeIn('hr', employeeId),
        lastDay,
        write(),
      ),
  };
}

/** The person of `employPerson` was said to move before the first day, and did: the second job is done. */
export async function movedToSecond() {
  const world = await employPerson();
  const { fleet, ref, move, judge, answer, begin, applyFor, employOnce, finish } = world;
  await move('SCREEN');
  await answer(await judge(), 'moved');
  await handOver(fleet.deps, ref);
  const second = await begin(await applyFor(0));
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await finish(second);
  return { ...world, second };
}

function write(): WriteOptions {
  return { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined };
}

type Fleet = Awaited<ReturnType<typeof fleetAtSandbox>>;

/** What a hire's workflow does, and the person who answers it. */
export function stepsIn({ store, deps, sandbox, hire, open }: Fleet) {
  const row = (of: string) => latestHire(store, 'acme', of);
  const refOf = async (jobCandidateId: string, tenantId = 'acme'): Promise<HireRef> => {
    const { period = 0 } = (await latestHire(store, tenantId, jobCandidateId)) ?? {};
    return { tenantId, jobCandidateId, period };
  };
  /** As the workflow goes on to where it was asked: before the enrolment. */
  const enrolAnswered = async ({ tenantId, jobCandidateId }: HireRef): Promise<void> => {
    const hired = await latestHire(store, tenantId, jobCandidateId);
    if (hired?.state !== 'open' || hired.employee_id !== null || hired.onboarding_candidate_id !== null) return;
    await open(tenantId, jobCandidateId);
    await finishOnboardings(sandbox.control, sandbox.partner);
  };
  return {
    row,
    refOf,
    enrolAnswered,
    /** Hires and onboards. */
    async begin(given?: number, tenantId = 'acme'): Promise<string> {
      const id = await hire(given);
      await open(tenantId, id);
      await finishOnboardings(sandbox.control, sandbox.partner);
      return id;
    },
    employOnce: async (id: string, hr?: (hris: OwnHris) => OwnHris, tenantId = 'acme') =>
      employ(withHris(deps, hr), await refOf(id, tenantId)),
    finish: async (id: string) => expect(await finishHire(deps, await refOf(id))).toEqual({ verdict: 'verified' }),
    async answerAs(ref: HireRef, verdict: { verdict: string }, answer: string, ...given: string[]) {
      expect(verdict).toMatchObject({ verdict: 'hold' });
      const { holdId } = await openHold(deps, { ...ref, hold: (verdict as Held).hold });
      await answerHold(store, holdId, { answer, arguments: given, by: 'ada' });
      const taken = await takeAnswer(deps, { ...ref, holdId });
      await enrolAnswered(ref);
      return taken;
    },
    /** Requests left so much earlier. */
    letPass: (ms: number) =>
      store.kysely
        .updateTable('intents')
        .set((eb) => ({ give_up_at: eb('give_up_at', '-', ms), sent_at: eb('sent_at', '-', ms) }))
        .execute(),
  };
}

/** What recruiters do with the person, and what the partner shows of them. */
export function partnerSide({ store, sandbox }: Fleet, id: string) {
  const hired = () => latestHire(store, 'acme', id);
  const moveTo = (stageType: 'SCREEN' | 'HIRED', of: string) =>
    sandbox.control.act('move', { jobCandidateIds: [Number(of)], stageType });
  return {
    moveTo,
    move: (stageType: 'SCREEN' | 'HIRED') => moveTo(stageType, id),
    /** The same person on the nth other job; gives the application. */
    async applyFor(n: number): Promise<number> {
      const { candidate_id: candidateId, job_id: jobId } = (await hired()) ?? {};
      const { items } = await sandbox.partner.readAll(contract.jobs.list);
      const job = items.filter((one) => String(one.id) !== jobId)[n];
      const { data } = await sandbox.partner.candidates.get({ params: { candidateId: Number(candidateId) } });
      const candidate = { email: String(data.email) };
      const added = await sandbox.control.act('addCandidate', { candidate, jobId: Number(job?.id) });
      const { id: own, jobCandidateId = own } = added as { id?: number; jobCandidateId?: number };
      return Number(jobCandidateId);
    },
    /** Status and Employee ID. */
    async shown(of = id) {
      const { onboarding_candidate_id: enrolment } = (await latestHire(store, 'acme', of)) ?? {};
      const params = { onboardingCandidateId: enrolment ?? '' };
      return (await sandbox.partner.onboarding.getCandidate({ params })).data.externalStatus;
    },
  };
}

/** The tenant's HR system, changed. */
export function withHris(deps: ActivityDeps, change: (hris: OwnHris) => OwnHris = (hris) => hris): ActivityDeps {
  const of: ActivityDeps['connections']['of'] = async (tenantId) => {
    const connection = await deps.connections.of(tenantId);
    return { ...connection, hris: change(connection.hris) };
  };
  return { ...deps, connections: { ...deps.connections, of } };
}

export async function runIn(url: string, sql: string): Promise<void> {
  const { kysely, close } = openDatabase<Record<string, never>>(url);
  try {
    await kysely.executeQuery(CompiledQuery.raw(sql));
  } finally {
    await close();
  }
}

export async function readTable(url: string) {
  const { kysely, close } = openDatabase<{
    employees: { id: number; employee_number: string; title: string; start_date: string; last_day?: string | null };
  }>(url);
  try {
    return await kysely.selectFrom('employees').selectAll().orderBy('id').execute();
  } finally {
    await close();
  }
}
