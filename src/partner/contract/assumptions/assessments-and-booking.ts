/** Choices for sections 2.6 to 2.8: assessments, flows, booking. */
import type { Assumption } from './assumption.ts';

export const assessmentsAndBooking = {
  A1: { section: '4.6', choice: 'PUT keys: title, duration, aiLanguage, skills, purposeOfInterview.' },
  A2: {
    section: '4.6',
    choice:
      'The level is inferred from the role (lead, head, director, manager, senior, chief, vp: SENIOR_LEADERSHIP); ' +
      'half rounds up.',
  },
  A3: {
    section: '4.6',
    choice: 'generate-questions takes jobDescription and skills, at least one; questions are appended.',
  },
  A4: {
    section: '4.6',
    choice:
      'data { batchId, status (processing, completed), totalCount, successCount, failedCount, skippedCount, ' +
      'results: [{ index, status (invited, skipped, failed), jobCandidateId, emailAddress, externalRef, reason }] ' +
      '}.',
  },
  A5: { section: '4.6', choice: 'An invalid entry refuses the whole bulk request with 400.' },
  A6: { section: '4.6', choice: 'Inviting to an INACTIVE assessment is 400.' },
  A7: { section: '4.6', choice: 'The same e-mail is the same person, invited by id or by name.' },
  A8: { section: '4.6', choice: 'jobCandidateId wins over names.' },
  A9: {
    section: '4.6',
    choice: 'question is required, the rest optional; type is any text, SUBJECTIVE by default.',
  },
  A10: { section: '2.6', choice: "Another company's assessment is 404 to reads and 403 ACCESS_DENIED to changes." },
  A11: { section: '4.6', choice: 'Question texts may repeat and their number is not bounded.' },
  A12: { section: '4.6', choice: 'maxResumeCount without resumeAllowed is ignored and answered null.' },
  A13: {
    section: '4.6',
    choice: 'auto-generate: role and duration are optional (duration 20); a title sent is ignored.',
  },
  A14: {
    section: '2.6',
    choice: 'buckets: 0 to 5, names unique; an empty list takes the defaults; the defaults pass, but Not a Fit fails.',
  },
  A15: {
    section: '4.6',
    choice: 'A submission of another assessment is 404; the share link gives REPORT_NOT_READY too.',
  },
  A16: { section: '4.6', choice: 'jobId is sent as an integer and answered as text, empty when there is none.' },
  A17: {
    section: '4.6',
    choice: 'Creating, auto-generating and generating questions cost one credit each; invitations cost none.',
  },
  A18: { section: '4.6', choice: 'Assessment candidates: pageNumber from 1 and perPage of the set.' },
  A19: { section: '2.6', choice: 'companyId is given as a number; text is read too.' },
  A20: { section: '4.6', choice: 'A PUT without any changeable key is 400.' },
  A21: { section: '2.6', choice: 'Every assessment made through the API is AI_AUDIO_INTERVIEW.' },
  A22: {
    section: '4.6',
    choice:
      'AI_GENERATION_FAILED and AI_GENERATION_EMPTY are answered by auto-generate and generate-questions when the ' +
      'generator fails at the call; credits are not taken.',
  },
  A23: { section: '4.6', choice: 'A submission carries the name of the invitation.' },
  A24: { section: '4.6', choice: 'Scoring is due at the close that follows the last resume.' },
  POSTED: { section: '2.6', choice: "createdBy and postedBy are the key's user, clientId the company's id as text." },
  SUBMISSION: {
    section: '2.6',
    choice:
      'interviewStatus is IN_PROGRESS, PAUSED, COMPLETED or TIMED_OUT; an entry is { submissionId, ' +
      'interviewStatus, firstName, lastName, email, jobCandidateId, externalRef, score, bucket, bucketStatus, ' +
      'cefrLevel, startedAt, endedAt, scoredAt }, scores null until scored.',
    override: 'fieldNames',
  },
  INTERVIEW_ERROR: {
    section: '6',
    choice:
      'The unnamed interview error event is interview.error in the sandbox; the connector takes any name as unknown.',
  },
  SHARE: { section: '4.6', choice: 'share-link answers data { shareUrl }; data as text is read too.' },
  L1: { section: '4.7', choice: 'Assigning the same e-mail twice answers the same flowCandidateId.' },
  L2: {
    section: '4.7',
    choice:
      'PATCH steps is the full list, existing ones first; a removal or change of them is 400; passThreshold may ' +
      'change.',
  },
  L3: {
    section: '4.7',
    choice:
      'status may be ACTIVE, INACTIVE or DELETED; DELETED ones are not listed and 404 from then on; nobody new is ' +
      'assigned to an INACTIVE one (400).',
  },
  L4: {
    section: '2.7',
    choice:
      "A step needs assessmentId; passThreshold is 0 by default; assessments must be the company's, and stand in a " +
      'flow once (400).',
  },
  L5: {
    section: '4.7',
    choice:
      'After assign a candidate is NOT_STARTED; an entry is { flowCandidateId, email, firstName, lastName, status, ' +
      'jobCandidateId, currentStep from 1 }; it is IN_PROGRESS once an interview begins, and below a threshold ' +
      'FAILED.',
    override: 'fieldNames',
  },
  L6: { section: '4.7', choice: 'pageSize wins over perPage.' },
  L7: { section: '4.7', choice: 'jobCandidateId of another company is 404; talentId is kept as given.' },
  L8: { section: '4.7', choice: 'Both assessmentType and type are given in answers; either is accepted.' },
  L9: { section: '4.7', choice: 'With jobCandidateId no e-mail is needed.' },
  B1: {
    section: '4.8',
    choice: 'The existing ACTIVE link is returned; a link is REPLACED when it had expired and a new one is made.',
  },
  B2: {
    section: '4.8',
    choice: 'Body: entityType, entityId, scheduledStartAt, selectedFormat, selectedLocationId, bookingAnswers.',
  },
  B3: {
    section: '4.8',
    choice:
      'A booking needs no link; an ACTIVE link of the same entity and schedule is locked and named in ' +
      'bookingLinkId, else null.',
  },
  B4: {
    section: '4.8',
    choice: 'A taken slot is 409 SLOT_UNAVAILABLE, and so is a second booking of an entity in a schedule.',
  },
  BOOKING: {
    section: '4.8',
    choice:
      'A booking is { id, bookingScheduleId, bookingLinkId, entityType, entityId, scheduledStartAt, ' +
      'scheduledEndAt, selectedFormat, selectedLocationId, bookingAnswers, attendance (null, CHECKED_IN, NO_SHOW), ' +
      'createdAt }; a cancelled one frees its slot and is listed no longer.',
    override: 'fieldNames',
  },
  B5: { section: '4.8', choice: 'selectedFormat (ONLINE, ONSITE) on a schedule that is not BOTH is 400.' },
  B6: { section: '4.8', choice: 'A link for an EVENT schedule is 400 INVALID_REQUEST.' },
  B7: {
    section: '4.8',
    choice: 'Locations and questions come as { status, data: [...] }; the bare array is read too.',
  },
  B8: {
    section: '4.8',
    choice:
      "from and to are dates in the schedule's time zone, or full timestamps; from must be before to; a past from " +
      'is allowed.',
  },
  B9: { section: '4.8', choice: 'visibleDaysAhead caps silently.' },
  B10: {
    section: '4.8',
    choice: "expiresInHours is 1 to 8,760; without it the link takes the schedule's expiresAt or none.",
  },
  B11: { section: '4.8', choice: 'entityId as a number is refused.' },
  B12: { section: '4.8', choice: 'OUTREACH_CAMPAIGN_CANDIDATE and NOVA_CANDIDATE ids cannot be looked up: 404.' },
  B13: { section: '2.8', choice: 'The unlimited capacity is 999999.' },
  B14: {
    section: '4.8',
    choice: 'GET /bookings has no pages and answers { status, data: [...] }; an unknown entityType is 400.',
  },
  B15: { section: '4.8', choice: 'An expired schedule gives no slots and refuses links and bookings with 400.' },
  B16: { section: '2.8', choice: "A schedule's id is text; a number is read too." },
  B17: { section: '4.8', choice: 'An existing link keeps its expiry.' },
  B18: { section: '3', choice: 'LOCKED is for good.' },
} as const satisfies Record<string, Assumption>;
