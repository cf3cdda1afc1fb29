import { z } from 'zod';
import { findAssessment } from '../records/assessments/assessments.ts';
import { invite } from '../records/assessments/invites.ts';
import { linkFor, renderLink } from '../records/booking/booking-links.ts';
import { findSchedule } from '../records/booking/booking-schedules.ts';
import { defineAction } from './action.ts';

export const invitations = {
  inviteToInterview: defineAction({
    summary: 'Invite somebody who is on a job to an assessment; the e-mail has the address of its page',
    input: z.strictObject({ assessmentId: z.string(), jobCandidateId: z.int() }),
    run: (ctx, { assessmentId, jobCandidateId }) => invite(ctx, findAssessment(ctx, assessmentId), { jobCandidateId }),
  }),

  sendBookingLink: defineAction({
    summary: 'Send somebody who is on a job a link to book a slot; an active one is sent again',
    input: z.strictObject({ bookingScheduleId: z.string(), jobCandidateId: z.int() }),
    run: (ctx, { bookingScheduleId, jobCandidateId }) =>
      renderLink(
        ctx,
        linkFor(
          ctx,
          findSchedule(ctx, bookingScheduleId),
          { entityType: 'JOB_CANDIDATE', entityId: String(jobCandidateId) },
          undefined,
        ),
      ),
  }),
};
