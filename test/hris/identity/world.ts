import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActivityDeps, Connection } from '../../../activities/connections.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { employeeOf, latestHire } from '../../../src/store/hires.ts';
import { fleetAtSandbox } from '../../activities/hire/fleet-at-sandbox.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { type Applicant, listApplicants } from '../../harness/world-people.ts';
import { employee, write } from '../profile.ts';
import type { PlayedHire } from './in-rounds.ts';
import type { OwnHris } from './kinds.ts';
import { losingAnswers } from './losing-answers.ts';
import type { Human, Story } from './situations.ts';

const PAST = '2020-01-31';
/** Every hire reads the stage list of its job: kept short, so that a hire among 1,000 costs what one among 17 does. */
const PEOPLE_A_JOB = 40;

/** A story with its applications. */
export interface Cast {
  story: Story;
  /** Of `story.first`. */
  first: Applicant | undefined;
  hired: Applicant;
}

/** Whom everybody is, as a field that no key of identity looks at. */
export function markOf({ id }: Human): string {
  return `+614${String(id).padStart(8, '0')}`;
}

/** A tenant at the sandbox, its HR system with who is employed there, and a candidate for everybody who is hired. */
export async function openWorld(hris: OwnHris, stories: readonly Story[], seed: number) {
  const clock = { ahead: 0 };
  const store = { now: () => Date.now() + clock.ahead, relaxed: true };
  const candidates = 2 * stories.length;
  const jobs = Math.max(2, Math.ceil(candidates / PEOPLE_A_JOB));
  const fleet = await fleetAtSandbox({ hris: hris.settings, store, candidates, jobs });
  const mapping = join(await scratchFolder(), 'employee.yaml');
  await writeFile(mapping, hris.mapping);
  await fleet.apply('acme', `mapping: ${mapping}\n`);
  await fleet.reconcile('acme');
  const { control, partner } = fleet.sandbox;
  await control.act('setCredits', { credits: 10 * candidates, onboardingCredits: 10 * candidates });
  const connection = await fleet.deps.connections.of('acme');
  const before = await employBefore(connection.hris, stories, hris.written);
  const cast = castOf(stories, await listApplicants(partner));
  for (const { story, first, hired } of cast) {
    if (first !== undefined && first !== hired && story.first)
      await control.act('editCandidate', profileOf(story.first, first));
    await control.act('editCandidate', profileOf(story.hired, hired));
  }
  const watched = { ...connection, hris: losingAnswers(connection.hris, seed) };
  const deps: ActivityDeps = { ...fleet.deps, connections: { ...fleet.deps.connections, of: async () => watched } };
  return {
    clock,
    store: fleet.store,
    deps,
    before,
    cast,
    open: fleet.open,
    ...(await turnsOf(fleet, connection.hris)),
  };
}

/** One who reaches the hiring stage. */
export interface Entrance {
  story: string;
  human: Human;
  jobCandidateId: number;
}

async function turnsOf(fleet: Awaited<ReturnType<typeof fleetAtSandbox>>, hris: Connection['hris']) {
  const { control, partner } = fleet.sandbox;
  const { items: jobs } = await partner.readAll(contract.jobs.list);
  const applyElsewhere = async ({ jobId }: Applicant, { fields }: Human): Promise<{ jobCandidateId: number }> => {
    const other = jobs.find(({ id }) => Number(id) !== jobId);
    const added = await control.act('addCandidate', { candidate: { email: fields.email }, jobId: Number(other?.id) });
    const { id, jobCandidateId = id } = added as { id?: number; jobCandidateId?: number };
    return { jobCandidateId: Number(jobCandidateId) };
  };
  return {
    async begin({ story, human, jobCandidateId }: Entrance): Promise<PlayedHire> {
      await fleet.hire(jobCandidateId);
      return { story, human, jobCandidateId: String(jobCandidateId), employeeId: undefined };
    },
    /** What happens before those of the second act are hired. */
    async between({ story, first }: Cast): Promise<void> {
      if (first === undefined) return;
      const before = await latestHire(fleet.store, 'acme', String(first.jobCandidateId));
      const own = before && employeeOf(before);
      const { onboarding_candidate_id: onboardingCandidateId } = before ?? {};
      // Nobody is onboarded twice at once.
      if (onboardingCandidateId) await control.act('finishOnboarding', { onboardingCandidateId });
      if (own && story.ends === true) await hris.employees.terminate?.(own, PAST, write);
    },
    async secondAct({ story, hired }: Cast): Promise<Entrance> {
      const isSame = story.as === 'same candidate';
      const { jobCandidateId } = isSame ? await applyElsewhere(hired, story.hired) : hired;
      return { story: story.name, human: story.hired, jobCandidateId };
    },
  };
}

async function employBefore(
  { employees }: Connection['hris'],
  stories: readonly Story[],
  written: OwnHris['written'] = (profile) => profile,
): Promise<Map<string, Human>> {
  const employed = new Map<string, Human>();
  for (const { before } of stories) {
    if (before === undefined) continue;
    const { human, former } = before;
    const fields = written(employee('', { ...human.fields, phone: markOf(human), startDate: '2019-03-01' }));
    const result = await employees.create(fields, `before:${human.id}`, write);
    if (result.kind !== 'created') throw new Error('not created');
    if (former) await employees.terminate?.(result.ref, PAST, write);
    employed.set(result.ref.id, human);
  }
  return employed;
}

function castOf(stories: readonly Story[], applicants: readonly Applicant[]): Cast[] {
  const waiting = [...applicants];
  const next = (): Applicant => {
    const applicant = waiting.shift();
    if (applicant === undefined) throw new Error('the sandbox has too few candidates for these stories');
    return applicant;
  };
  return stories.map((story) => {
    const hired = next();
    const first = story.as === 'same candidate' ? hired : next();
    return { story, hired, first: story.first === undefined ? undefined : first };
  });
}

function profileOf(human: Human, { candidateId }: Applicant) {
  const { givenName: firstName, familyName: lastName, email, birthDate: dateOfBirth } = human.fields;
  return { candidateId, fields: { firstName, lastName, email, dateOfBirth, phone: markOf(human) } };
}
