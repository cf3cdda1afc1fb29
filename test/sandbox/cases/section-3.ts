import { expect } from 'vitest';
import { terminalStatuses } from '../../../src/partner/contract/onboarding.ts';
import { eventually } from '../open-sandbox.ts';
import { order } from './booking.ts';
import { applied } from './job-candidates.ts';
import { newEnrolment, newJobCandidate, newPipeline, stageOfJobs } from './records.ts';
import { openWorld, type World } from './world.ts';

/** Section 3, row by row: subject, state and what moves it are the words of the table. */
export const section3: Record<string, (world: World) => Promise<void>> = {
  'Stage delete | candidates in stage S | DELETE stage S': async (world) => {
    const { jobId, pipelineId, jobCandidateId } = await newJobCandidate(world);
    const { data: before } = await world.partner.pipelines.get({ params: { pipelineId } });
    const made = await world.partner.pipelines.saveStage({ body: { pipelineId, name: 'Extra', type: 'SCREEN' } });
    const applied = Number(before.stages.find(({ type }) => type === 'APPLIED')?.id);
    const params = { jobCandidateId };
    await world.partner.jobCandidates.move({ params, body: { stageId: made.data.id } });
    const body = { pipelineId, newStageId: applied };
    await world.partner.pipelines.deleteStage({ params: { stageId: made.data.id }, body });
    expect(await stagesOf(world, pipelineId)).toEqual(before.stages.map(({ id }) => Number(id)));
    expect(await inStage(world, applied, jobId)).toEqual([jobCandidateId]);
  },
  'Stage order change | any non-locked stage | POST stage with order': async (world) => {
    const { pipelineId, stages } = await newPipeline(world.partner);
    const [sourced, applied, assessment, ...others] = stages.map(({ id }) => Number(id));
    const shortlisted = Number(stages.find(({ type }) => type === 'SHORTLISTED')?.id);
    await world.partner.pipelines.saveStage({ body: { pipelineId, stageId: shortlisted, order: 3 } });
    const rest = others.filter((id) => id !== shortlisted);
    expect(await stagesOf(world, pipelineId)).toEqual([sourced, applied, shortlisted, assessment, ...rest]);
  },
  'Job candidate | any stage | PUT move to stage': async (world) => {
    const { jobId, jobCandidateId } = await newJobCandidate(world);
    const stageId = await stageOfJobs(world.partner, 'SHORTLISTED');
    const moved = await world.partner.jobCandidates.move({ params: { jobCandidateId }, body: { stageId } });
    expect(moved.data).toMatchObject({ status: 'IN_PROGRESS' });
    expect(await inStage(world, stageId, jobId)).toEqual([jobCandidateId]);
    await told(world, 'candidate.stage_changed', 'jobCandidateIds', [jobCandidateId]);
  },
  'Job candidate | in a job | DELETE job candidate': async (world) => {
    const { jobCandidateId, candidateId } = await newJobCandidate(world);
    await world.partner.jobCandidates.remove({ params: { jobCandidateId } });
    const kept = await world.partner.candidates.get({ params: { candidateId } });
    expect(kept.data).toMatchObject({ id: String(candidateId), jobs: [] });
    await told(world, 'candidate.removed_from_job', 'jobCandidateIds', [jobCandidateId]);
  },
  'Job candidate | applying | hosted application submission': async (world) => {
    const { jobCandidateId } = await applied(world, true);
    expect(await inStage(world, await stageOfJobs(world.partner, 'APPLIED'))).toContain(jobCandidateId);
    await told(world, 'candidate.applied', 'jobCandidateId', jobCandidateId);
  },
  'Booking link | ACTIVE | candidate books': async (world) => {
    const { params, link, scheduledStartAt } = await newLink(world);
    await world.control.act('bookThroughLink', { bookingLinkId: link, scheduledStartAt });
    expect(await linksOf(world, params)).toEqual(['LOCKED']);
  },
  'Booking link | ACTIVE | invalidated': async (world) => {
    const { params, link } = await newLink(world);
    await world.control.act('revokeBookingLink', { bookingLinkId: link });
    expect(await linksOf(world, params)).toEqual(['REVOKED']);
  },
  /**
   * An existing active link is given back (section 4.8), so a new one takes its place only once it has expired (B1).
   */
  'Booking link | ACTIVE | new link created for same candidate and schedule': async () => {
    await using world = await openWorld({ clock: 'stepped' });
    const { params, body } = await newLink(world, { expiresInHours: 1 });
    await world.control.act('advanceClock', { ms: 2 * 3_600_000 });
    await world.partner.bookingSchedules.createLink({ params, body });
    expect(await linksOf(world, params)).toEqual(['REPLACED', 'ACTIVE']);
  },
  'Onboarding candidate | any non-terminal | POST terminate': async (world) => {
    for (const overallStatus of ['not_started', 'in_progress', 'under_review', 'final_handoff'] as const) {
      const { onboardingCandidateId } = await newEnrolment(world);
      await world.control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus });
      const params = { onboardingCandidateId };
      await world.partner.onboarding.terminate({ params });
      const { data } = await world.partner.onboarding.getCandidate({ params });
      expect(data.overallStatus).toBe('terminated');
      await expect(world.control.act('openJourney', params)).rejects.toMatchObject({ action: 'reject' });
      await told(world, 'onboarding.candidate.status_changed', 'onboardingCandidateId', onboardingCandidateId);
    }
  },
  'Onboarding candidate | terminal (completed, rejected, failed, terminated) | POST terminate': async (world) => {
    for (const overallStatus of terminalStatuses) {
      const { onboardingCandidateId } = await newEnrolment(world);
      const params = { onboardingCandidateId };
      await world.control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus });
      const refused = world.partner.onboarding.terminate({ params });
      await expect(refused).rejects.toMatchObject({ status: 409, code: 'ALREADY_TERMINAL' });
      const { data } = await world.partner.onboarding.getCandidate({ params });
      expect(data.overallStatus).toBe(overallStatus);
    }
  },
  'Rescore run | queued | processing ends': async (world) => {
    const { jobId } = await newJobCandidate(world);
    const { data } = await world.partner.jobCandidates.rescore({ body: { jobId } });
    const params = { rescoreId: String(data.rescoreId) };
    const status = async () => (await world.partner.jobCandidates.getRescore({ params })).data.status;
    expect(await status()).toBe('queued');
    await eventually(status, (now) => now === 'completed');
    await told(world, 'job.candidates.rescored', 'rescoreId', data.rescoreId);
  },
};

async function stagesOf({ partner }: World, pipelineId: number): Promise<number[]> {
  return (await partner.pipelines.get({ params: { pipelineId } })).data.stages.map(({ id }) => Number(id));
}

async function inStage({ partner }: World, stageId: number, jobId?: number): Promise<number[]> {
  const query = { perPage: 100, ...(jobId === undefined ? {} : { jobId }) };
  const { data } = await partner.jobCandidates.listByStage({ params: { stageId }, query });
  return (data as { jobCandidateDetails: { id: number } }[]).map((one) => one.jobCandidateDetails.id);
}

async function told(world: World, event: string, key: string, value: unknown): Promise<void> {
  const same = JSON.stringify(value);
  await eventually(
    () => world.received.some((one) => one.event === event && JSON.stringify(one.body.data[key]) === same),
    Boolean,
  );
}

async function newLink(world: World, more: object = {}) {
  const { params, body: booking } = await order(world);
  const { scheduledStartAt, ...entity } = booking;
  const body = { ...entity, ...more };
  const { data } = await world.partner.bookingSchedules.createLink({ params, body });
  expect(data.status).toBe('ACTIVE');
  return { params, body: entity, link: String(data.id), scheduledStartAt };
}

async function linksOf({ control }: World, schedule: { bookingScheduleId: string }): Promise<unknown[]> {
  return (await control.act('listBookingLinks', schedule)).links.map(({ status }) => status);
}
