import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActivityDeps } from '../../activities/deps.ts';
import { employ } from '../../activities/hire/employ.ts';
import { finishHire } from '../../activities/hire/finish-hire.ts';
import { openHold } from '../../activities/hire/hold-hire.ts';
import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { latestHire } from '../../src/store/hires.ts';
import { listHolds } from '../../src/store/holds.ts';
import { fleetAtSandbox } from '../activities/hire/fleet-at-sandbox.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { listApplicants } from '../harness/world-people.ts';
import { candidateOf, type Human, isFormer, knownHuman, nameOf } from './identity-situations.ts';
import { created, write } from './profile.ts';

const MAPPING = 'fields:\n  birthDate: { from: candidate.dateOfBirth }\n';

/** What became of the candidates, by the HR system and the store. */
export interface Outcome {
  /** Hires that have an employee. */
  employed: number;
  held: number;
  /** Candidates whose hire has the employee of somebody else. */
  wrong: string[];
  /** Humans who have two employees. */
  twice: string[];
  /** Hires whose create was answered into the void. */
  unheard: number;
  /** Why hires are held, by code; one that tells a person nothing would be ''. */
  reasons: Set<string>;
}

/** Candidates by their numbers. */
export interface Numbers {
  from: number;
  count: number;
}

/**
 * Hires candidates from the hiring stage to the verified write-back, by the activities themselves, into the HRIS of
 * `hris`, where as many are employed already. The answer of every fourth create is lost.
 */
export async function playConflicts(hris: string, { from, count }: Numbers): Promise<Outcome> {
  const world = await openWorld(hris, { from, count });
  const outcome: Outcome = { employed: 0, held: 0, wrong: [], twice: [], unheard: 0, reasons: new Set() };
  for (let n = from; n < from + count; n += 1) {
    const employeeId = await world.hire(n);
    const { id } = candidateOf(n);
    const isTheirs = employeeId === undefined || world.humanOf(employeeId) === id;
    if (!isTheirs) outcome.wrong.push(`${n}: ${nameOf(n)}`);
    outcome[employeeId === undefined ? 'held' : 'employed'] += 1;
  }
  for (const { code, message } of await listHolds(world.store)) outcome.reasons.add(message === '' ? '' : code);
  return { ...outcome, twice: world.twice(), unheard: world.unheard() };
}

async function openWorld(hris: string, { from, count }: Numbers) {
  const clock = { ahead: 0 };
  const store = { now: () => Date.now() + clock.ahead };
  const fleet = await fleetAtSandbox({ hris, store, candidates: Math.ceil(1.5 * count) });
  const mapping = join(await scratchFolder(), 'employee.yaml');
  await writeFile(mapping, MAPPING);
  await fleet.apply('acme', `mapping: ${mapping}\n`);
  await fleet.reconcile('acme');
  const { control, partner } = fleet.sandbox;
  await control.act('setCredits', { credits: 10 * count, onboardingCredits: 10 * count });
  const made = createRegister();
  const connection = await fleet.deps.connections.of('acme');
  for (let n = from; n < from + count; n += 1) await employBefore(connection.hris, made, n);
  const applicants = await listApplicants(partner);
  let human: Human = knownHuman(0);
  const watched = { ...connection, hris: losingAnswers(connection.hris, made, () => human.id) };
  const deps: ActivityDeps = { ...fleet.deps, connections: { ...fleet.deps.connections, of: async () => watched } };
  return {
    store: fleet.store,
    ...made,
    /** The employee of the candidate's hire; undefined where it is held. */
    async hire(n: number): Promise<string | undefined> {
      human = candidateOf(n);
      const { jobCandidateId, candidateId } = applicants[n - from] ?? { jobCandidateId: 0, candidateId: 0 };
      await control.act('editCandidate', { candidateId, fields: profileOf(human) });
      await fleet.hire(jobCandidateId);
      const ref = { tenantId: 'acme', jobCandidateId: String(jobCandidateId), period: 1 };
      await patiently(clock, () => fleet.open('acme', ref.jobCandidateId));
      const employed = await patiently(clock, () => employ(deps, ref));
      if (employed.verdict === 'hold') {
        await openHold(deps, { ...ref, hold: employed.hold });
        return undefined;
      }
      const finished = await patiently(clock, () => finishHire(deps, ref));
      if (finished.verdict !== 'verified') throw new Error(`${n}: ${JSON.stringify([employed, finished])}`);
      return (await latestHire(fleet.store, 'acme', ref.jobCandidateId))?.employee_id ?? undefined;
    },
  };
}

/** Whoever is employed, and who that truly is: what was created stands here even where nobody heard of it. */
function createRegister() {
  const humans = new Map<string, number>();
  let unheard = 0;
  return {
    note: (employeeId: string, human: number) => void humans.set(employeeId, human),
    humanOf: (employeeId: string) => humans.get(employeeId),
    loses: () => humans.size % 4 === 0 && (unheard += 1) > 0,
    unheard: () => unheard,
    twice(): string[] {
      const employees = Map.groupBy(humans, ([, human]) => human);
      return [...employees.values()].filter((all) => all.length > 1).map((all) => all.join(' and '));
    },
  };
}

type Register = ReturnType<typeof createRegister>;

async function employBefore({ employees }: HrisConnection, made: Register, n: number): Promise<void> {
  const { id, fields } = knownHuman(n);
  const ref = created(await employees.create(fields, `before:${id}`, write));
  made.note(ref.id, id);
  if (isFormer(n)) await employees.terminate?.(ref.id, '2026-02-20', write);
}

function losingAnswers(hris: HrisConnection, made: Register, human: () => number): HrisConnection {
  const create: HrisConnection['employees']['create'] = async (...args) => {
    const result = await hris.employees.create(...args);
    made.note(created(result).id, human());
    if (made.loses()) throw new ConnectorError({ code: 'LOST', action: 'unknown', message: 'No answer came.' });
    return result;
  };
  return { ...hris, employees: { ...hris.employees, create } };
}

/** As a workflow does: what cannot be said yet is asked again when its time has come. */
async function patiently<T>(clock: { ahead: number }, step: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < 10; tries += 1) {
    try {
      return await step();
    } catch (error) {
      if (!isConnectorError(error) || !['unknown', 'retry', 'throttle'].includes(error.action)) throw error;
      clock.ahead += error.retryAfterMs ?? 1_000;
    }
  }
  throw new Error('a step came to no end');
}

function profileOf({ fields }: Human): Record<string, unknown> {
  const { givenName: firstName, familyName: lastName, email, birthDate: dateOfBirth } = fields;
  return { firstName, lastName, email, dateOfBirth };
}
