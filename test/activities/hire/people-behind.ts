import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError, type ErrorFacts } from '../../../src/errors.ts';
import type { KnownEmployee } from '../../../src/hire/hire.ts';
import type { HoldRequest } from '../../../src/hire/holds.ts';
import type { CreateResult } from '../../../src/hris/port.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { latestHire } from '../../../src/store/hires.ts';
import { answerHold, readHold } from '../../../src/store/holds.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

export const HOUR_MS = 3_600_000;

/** The same human, hired as two candidates. */
export async function hireTwice(options: IntoOptions = {}) {
  const world = await hireInto({ ...options, samePerson: true });
  const { store, ref } = world;
  return {
    ...world,
    names: { hold: { code: 'PERSON_BEING_HIRED', details: { other: ref } } },
    /** The leases were taken so much earlier. */
    letPassLeases: (ms: number) =>
      store.kysely
        .updateTable('person_keys')
        .set((eb) => ({ at: eb('at', '-', ms) }))
        .where('kind', '=', 'creating')
        .execute(),
    cancel: () => endHire(store, ref, 'cancelled'),
  };
}

interface IntoOptions {
  samePerson?: boolean;
  database?: 'sqlite' | 'postgres';
  /** What becomes of a create: people finish it later, its answer or the request is lost, or it is made at once. */
  create?: 'pending' | 'lost' | 'never-came' | 'made';
  /** Searches show who was made. */
  shows?: boolean;
  /** Fields that the tenant maps besides the usual ones. */
  mapping?: string;
  /** Inside the braces of `hris`. */
  hris?: string;
  jobs?: number;
}

/** One hire into an HR system whose people finish what was asked for. */
export async function hireInto({
  samePerson = false,
  database = 'sqlite',
  create = 'pending',
  shows = true,
  mapping = samePerson ? '  birthDate: { from: candidate.dateOfBirth }\n' : undefined,
  hris: kind,
  jobs = 1,
}: IntoOptions = {}) {
  const fleet = await fleetAtSandbox({ jobs, database, policies: 'pendingDeadline: 2d', ...(kind && { hris: kind }) });
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  if (mapping !== undefined) {
    const file = join(await scratchFolder(), 'employee.yaml');
    await writeFile(file, `fields:\n${mapping}`);
    await fleet.apply('acme', `mapping: ${file}\n`);
  }
  if (samePerson) await makeSame(fleet);
  const id = await fleet.hire();
  await fleet.open('acme', id);
  const secondId = await fleet.hire();
  await fleet.open('acme', secondId);
  const ref = { tenantId: 'acme', jobCandidateId: id, period: 1 };
  const { hris } = await fleet.deps.connections.of('acme');
  const hr = peopleBehind(shows ? hris : unseen(hris), create);
  const connections: ActivityDeps['connections'] = {
    ...fleet.deps.connections,
    of: async (tenantId) => ({ ...(await fleet.deps.connections.of(tenantId)), hris: hr.connection }),
  };
  const { store } = fleet;
  const deps = { ...fleet.deps, connections };
  return {
    hr,
    store,
    ref,
    move: (stageType: 'SCREEN' | 'HIRED') =>
      fleet.sandbox.control.act('move', { jobCandidateIds: [Number(id)], stageType }),
    /** As when the person has left for good. */
    leave: () => cancelHire(deps, ref),
    employOnce: () => employ(deps, ref),
    /** The same candidate, hired for another job. */
    async employForOtherJob() {
      const added = await applyForOtherJob(fleet, Number(id));
      await fleet.hire(added);
      await fleet.open('acme', String(added));
      return employ(deps, { ...ref, jobCandidateId: String(added) });
    },
    employSecond: () => employ(deps, { ...ref, jobCandidateId: secondId }),
    /** With an HR system that shows nobody of late for so long. */
    finishUnshown: (readLagMs: number) =>
      finishHire({ ...fleet.deps, connections: lagging(connections, readLagMs) }, ref),
    employee: () => latestHire(store, 'acme', id),
    /** What the question asks whose activity told only this to the workflow. */
    async asks(held: { verdict: string; hold?: HoldRequest }): Promise<string | undefined> {
      if (held.hold === undefined) throw new Error('not held');
      const { holdId } = await openHold(fleet.deps, { ...ref, hold: held.hold });
      return (await readHold(store, holdId))?.message;
    },
    async answer(held: { verdict: string; hold?: HoldRequest }, answer: string, ...given: string[]) {
      if (held.hold === undefined) throw new Error('not held');
      const { holdId } = await openHold(fleet.deps, { ...ref, hold: held.hold });
      await answerHold(store, holdId, { answer, arguments: given, by: 'ada' });
      expect(await takeAnswer(fleet.deps, { ...ref, holdId })).toMatchObject({ verdict: 'answered' });
    },
    /** The create was taken so much earlier. */
    letPass: (ms: number) =>
      store.kysely
        .updateTable('intents')
        .set((eb) => ({
          decided_at: eb('decided_at', '-', ms),
          sent_at: eb('sent_at', '-', ms),
          give_up_at: eb('give_up_at', '-', ms),
        }))
        .execute(),
  };
}

/** The next two candidates are of one name and birth date, which the HR system is told. */
async function makeSame({ sandbox }: Awaited<ReturnType<typeof fleetAtSandbox>>): Promise<void> {
  const fields = { firstName: 'Ada', lastName: 'Byron', dateOfBirth: '1990-12-10' };
  for (const { candidateId } of (await listApplicants(sandbox.partner)).slice(0, 2))
    await sandbox.control.act('editCandidate', { candidateId, fields });
}

async function applyForOtherJob(
  { sandbox }: Awaited<ReturnType<typeof fleetAtSandbox>>,
  jobCandidateId: number,
): Promise<number> {
  const applicant = (await listApplicants(sandbox.partner)).find((one) => one.jobCandidateId === jobCandidateId);
  const { items: jobs } = await sandbox.partner.readAll(contract.jobs.list);
  const { items: people } = await sandbox.partner.readAll(contract.candidates.list);
  const email = people.find((one) => Number(one.id) === applicant?.candidateId)?.email ?? '';
  const jobId = Number(jobs.find((one) => Number(one.id) !== applicant?.jobId)?.id);
  const added = await sandbox.control.act('addCandidate', { candidate: { email }, jobId });
  return (added as { jobCandidateId: number }).jobCandidateId;
}

/** A read of it shows nobody yet. */
function lagging(connections: ActivityDeps['connections'], readLagMs: number): ActivityDeps['connections'] {
  return {
    ...connections,
    of: async (tenantId) => {
      const connection = await connections.of(tenantId);
      const { hris } = connection;
      const capabilities = { ...hris.capabilities, readLagMs };
      return {
        ...connection,
        hris: { ...hris, capabilities, employees: { ...hris.employees, read: async () => undefined } },
      };
    },
  };
}

function unseen(hris: OwnHris): OwnHris {
  return { ...hris, employees: { ...hris.employees, find: async () => ({ kind: 'none', trusted: true }) } };
}

/** Takes every create; its people approve or reject the last one. */
function peopleBehind(hris: OwnHris, mode: NonNullable<IntoOptions['create']>) {
  const asked: Parameters<OwnHris['employees']['create']>[] = [];
  const answers = new Map<string, CreateResult<KnownEmployee> | ConnectorError>();
  const ticket = () => `ticket-${asked.length}`;
  const make = () => {
    const [fields, reference, write] = asked.at(-1) ?? [];
    if (fields === undefined || reference === undefined || write === undefined) throw new Error('nothing was asked');
    return hris.employees.create(fields, reference, { ...write, signal: AbortSignal.timeout(120_000) });
  };
  const create: OwnHris['employees']['create'] = async (...args) => {
    args[2].beforeSend();
    asked.push(args);
    if (mode !== 'pending') {
      const made = mode === 'never-came' ? undefined : await hris.employees.create(...args);
      if (mode === 'made' && made !== undefined) return made;
      throw new ConnectorError({ code: 'HRIS_NO_ANSWER', action: 'unknown', message: 'No answer came.' });
    }
    return { kind: 'pending', ticket: ticket(), nextCheckMs: 900_000 };
  };
  const resolve = async (of: string): Promise<CreateResult<KnownEmployee>> => {
    const answer = answers.get(of) ?? { kind: 'pending', ticket: of, nextCheckMs: 900_000 };
    if (answer instanceof ConnectorError) throw answer;
    return answer;
  };
  return {
    asked,
    connection: { ...hris, employees: { ...hris.employees, create }, pending: { resolve } },
    approve: async () => void answers.set(ticket(), await make()),
    reject: (reason: string, facts: Partial<ErrorFacts> = {}) =>
      answers.set(ticket(), new ConnectorError({ code: 'HIRE_REJECTED', action: 'reject', message: reason, ...facts })),
    /** As a system that keeps the outcome of a request only for a while. */
    forget: () =>
      answers.set(ticket(), new ConnectorError({ code: 'REQUEST_UNKNOWN', action: 'reject', message: 'Not known.' })),
    /** The request counts as finished, by the id of somebody with another reference. */
    async nameAnother() {
      const [fields = {}, , write] = asked.at(-1) ?? [];
      if (write === undefined) throw new Error('nothing was asked');
      const stranger = { ...fields, familyName: 'Stranger', email: 'stranger@acme.example' };
      const signal = AbortSignal.timeout(120_000);
      const made = await hris.employees.create(stranger, '9:9', { ...write, signal });
      answers.set(ticket(), made);
      return made.kind === 'created' ? made.ref.id : '';
    },
    /** Somebody makes a record with the same e-mail and name, and without our reference. */
    async makeAlike() {
      const [fields = {}, , write] = asked.at(-1) ?? [];
      if (write === undefined) throw new Error('nothing was asked');
      await hris.employees.create(fields, '9:9', { ...write, signal: AbortSignal.timeout(120_000) });
    },
    async makeByHand() {
      const made = await make();
      if (made.kind === 'pending') throw new Error('not made');
      return made.ref;
    },
  };
}
