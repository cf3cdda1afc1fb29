import { expect } from 'vitest';
import { offerStatuses, overallStatuses, stepStatuses } from '../../../src/partner/contract/onboarding.ts';
import { eventually } from '../open-sandbox.ts';
import { interviewOf } from './assessments.ts';
import { order } from './booking.ts';
import { newOffer } from './onboarding.ts';
import { interview, newAssessment, newEmail, newEnrolment, newJob } from './records.ts';
import type { World } from './world.ts';

/** The list under the table of section 3: states without stated moves, each value seen through the API. */
export const stateLists: Record<string, (world: World) => Promise<void>> = {
  'Job status': async ({ partner, control }) => {
    for (const status of ['DRAFT', 'ACTIVE'] as const) expect(await newJob(partner, status)).toMatchObject({ status });
    const id = Number((await newJob(partner)).id);
    await control.act('setJobStatus', { jobId: id, status: 'INACTIVE' });
    const listed = await partner.jobs.list({ query: { status: 'INACTIVE', perPage: 100 } });
    expect(listed.jobs).toContainEqual(expect.objectContaining({ id, status: 'INACTIVE' }));
    await control.act('setJobStatus', { jobId: id, status: 'DELETED' });
    const after = await partner.jobs.list({ query: { status: 'INACTIVE', perPage: 100 } });
    expect(after.jobs).not.toContainEqual(expect.objectContaining({ id }));
  },
  'Onboarding overallStatus': async (world) => {
    for (const overallStatus of overallStatuses) {
      const { onboardingCandidateId } = await newEnrolment(world);
      await world.control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus });
      const { data } = await world.partner.onboarding.getCandidate({ params: { onboardingCandidateId } });
      expect(data.overallStatus).toBe(overallStatus);
    }
  },
  'Onboarding step status': async (world) => {
    const { onboardingCandidateId } = await newEnrolment(world);
    for (const status of stepStatuses) {
      await world.control.act('submitStep', { onboardingCandidateId, stepKey: 'doc_collection', status });
      const { data } = await world.partner.onboarding.getCandidate({ params: { onboardingCandidateId } });
      expect(data.stepProgress).toContainEqual(expect.objectContaining({ stepKey: 'doc_collection', status }));
    }
  },
  'Offer document': async (world) => {
    const offerId = await newOffer(world);
    const acts = [
      'draft',
      () => world.control.act('sendOffer', { offerId }),
      () => world.control.act('completeOffer', { offerId }),
    ];
    for (const [index, status] of offerStatuses.entries()) {
      const act = acts[index];
      if (typeof act === 'function') await act();
      expect((await world.partner.onboarding.getOffer({ params: { offerId } })).data.status).toBe(status);
    }
  },
  'Assessment status': async (world) => {
    const inactive = { ...interview(), status: 'INACTIVE' as const };
    expect((await world.partner.assessments.createAudioInterview({ body: inactive })).data.status).toBe('INACTIVE');
    const { assessmentId } = await interviewOf(world, true);
    expect((await world.partner.assessments.get({ params: { assessmentId } })).data.status).toBe('ACTIVE');
    await passes(world, 90, 'COMPLETED');
    await passes(world, 10, 'FAILED');
  },
  /** Nothing of it is shown; that a booking keeps its time is all that can be seen. */
  'Booking lifecycle': async (world) => {
    const made = await order(world);
    const { data } = await world.partner.bookingSchedules.createBooking(made);
    expect(Date.parse(String(data.scheduledStartAt))).toBe(Date.parse(made.body.scheduledStartAt));
  },
};

/** Somebody in a flow of one step, threshold 50, before and after an interview with this score. */
async function passes(world: World, score: number, after: string): Promise<void> {
  const { assessmentFlows } = world.partner;
  const steps = [{ assessmentId: await newAssessment(world.partner), passThreshold: 50 }];
  const { data: flow } = await assessmentFlows.create({ body: { flowName: 'Flow', steps } });
  const params = { id: flow.id };
  const { data } = await assessmentFlows.assign({ params, body: { email: newEmail(world) } });
  const status = async () =>
    ((await assessmentFlows.listCandidates({ params })).data as { status: string }[])[0]?.status;
  expect(await status()).toBe('NOT_STARTED');
  await world.control.act('finishFlowStep', { flowCandidateId: Number(data.flowCandidateId), score });
  await eventually(status, (now) => now === after);
}
