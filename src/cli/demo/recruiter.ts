import { createPartnerClient, type PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import type { ControlClient } from '../../sandbox/control/client.ts';
import type { HireView } from './report.ts';

/** A person who will be hired. */
interface Recruit {
  jobCandidateId: number;
  candidateId: number;
  /** What is special about this hire. */
  story: string;
}

/** The demo's five hires, by what happens to them. */
const STORIES = {
  plain: 'hired',
  together: 'hired in the same event',
  twice: 'announced three times',
  workerDead: 'hired while the worker is dead',
  noStartDate: 'lacks a start date',
} as const;

export type Cast = Record<keyof typeof STORIES, Recruit>;

const START_DATE = 'Start date';
const STAGES = ['SHORTLISTED', 'SCREEN', 'ASSESSMENT', 'APPLIED', 'SOURCED'] as const;

/** The partner API, for the simulated recruiter. */
export function openPartner(baseUrl: string, apiKey: string): PartnerClient {
  return createPartnerClient({ baseUrl, apiKey, environment: 'sandbox', allowPrivate: true });
}

/** Chooses five people who are not hired yet, creates the start date field, and fills it for four of them. */
export async function castHires(partner: PartnerClient): Promise<Cast> {
  const people = await findPeople(partner, Object.keys(STORIES).length);
  const names = Object.keys(STORIES) as (keyof typeof STORIES)[];
  const cast = Object.fromEntries(
    names.map((name, index) => [
      name,
      { ...(people[index] ?? { jobCandidateId: 0, candidateId: 0 }), story: STORIES[name] },
    ]),
  ) as Cast;
  await partner.customFields.create({ body: { entityType: 'candidate', fieldLabel: START_DATE, fieldType: 'date' } });
  for (const recruit of Object.values(cast)) {
    if (recruit !== cast.noStartDate) await setStartDate(partner, recruit);
  }
  return cast;
}

/** People not hired yet, with people of one job first: two are hired by one event, and an event covers one job. */
async function findPeople(partner: PartnerClient, wanted: number): Promise<Omit<Recruit, 'story'>[]> {
  const found: (Omit<Recruit, 'story'> & { jobId: number })[] = [];
  for (const stageType of STAGES) {
    const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query: { stageType } });
    for (const { jobCandidateDetails, candidate_details: candidate } of items) {
      // The sandbox's control plane takes ids as numbers.
      const { id, jobId } = jobCandidateDetails;
      found.push({ jobCandidateId: Number(id), candidateId: Number(candidate.id), jobId: Number(jobId) });
    }
  }
  if (found.length < wanted)
    throw new Error(`The sandbox has only ${found.length} people to hire; the demo needs ${wanted}.`);
  return found.sort((a, b) => a.jobId - b.jobId || a.jobCandidateId - b.jobCandidateId).slice(0, wanted);
}

/** The first of a month, two months ahead: a valid start date whenever the demo runs. */
export async function setStartDate(partner: PartnerClient, recruit: Recruit): Promise<void> {
  const { items } = await partner.readAll(contract.customFields.list, { query: { entityType: 'candidate' } });
  const field = items.find((item) => item.fieldLabel === START_DATE);
  const now = new Date();
  const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2, 1)).toISOString().slice(0, 10);
  const { candidateId: entityId } = recruit;
  await partner.customFieldValues.upsertBulk({
    body: [{ customFieldId: field?.id ?? '', entityType: 'candidate', entityId, value: day }],
  });
}

/** Moves people into the hiring stage in the dashboard; one event covers all people of a job. */
export async function hire(control: ControlClient, recruits: readonly Recruit[]): Promise<void> {
  await control.act('move', { jobCandidateIds: recruits.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

/** Plays the new employees and reviewers in onboarding: one small step for each enrolment per turn. */
export async function playOnboarding(
  control: ControlClient,
  partner: PartnerClient,
  views: readonly HireView[],
): Promise<void> {
  for (const view of views) {
    const [onboardingCandidateId] = view.enrolmentIds;
    if (onboardingCandidateId === undefined || view.onboardingDone) continue;
    const { data } = await partner.onboarding.getCandidate({ params: { onboardingCandidateId } });
    const open = data.stepProgress?.find((step) => step.status !== 'verified');
    if (open === undefined) await control.act('finishOnboarding', { onboardingCandidateId });
    else if (open.status === 'submitted')
      await control.act('verifyStep', { onboardingCandidateId, stepKey: open.stepKey as never });
    else await control.act('submitStep', { onboardingCandidateId, stepKey: open.stepKey as never });
  }
}
