/** Choices for sections 2.9, 2.10: onboarding, campaigns. */
import type { Assumption } from './assumption.ts';

export const onboardingAndCampaigns = {
  O1: { section: '4.9', choice: 'firstName, lastName and email are all required.' },
  O2: {
    section: '4.9',
    choice: 'external-status takes { status, employeeId }, at least one, also on terminal enrollments.',
    override: 'externalStatusBody',
  },
  O3: {
    section: '4.9',
    choice: 'A duplicate inside a bulk request, or one with an active enrollment, refuses the whole request: 409.',
  },
  O4: { section: '4.9', choice: 'Active means not terminal.' },
  O5: { section: '4.9', choice: 'The bulk list stands at data.enrolled; data itself as an array is read too.' },
  O6: { section: '4.9', choice: 'Filters: externalRef, flowId, status.', override: 'queryNames' },
  O7: { section: '4.9', choice: 'One bad entry refuses the whole request: 400, details by candidates[i].field.' },
  O8: { section: '4.9', choice: 'Enrollments without externalRef never clash.' },
  O9: {
    section: '4.9',
    choice:
      'Flow status is ACTIVE or INACTIVE; an INACTIVE flow refuses enrolment with 400; inactive steps are not in ' +
      'stepProgress.',
  },
  O10: { section: '4.9', choice: 'phoneNumber is checked as E.164; e-mail is compared in lower case.' },
  O11: { section: '4.9', choice: 'terminate takes an optional { reason } or no body.', override: 'terminateReason' },
  O12: {
    section: '4.9',
    choice:
      'Get gives the external status as externalStatus { status, employeeId, updatedAt }, or as externalStatus and ' +
      'employeeId beside the other fields.',
    override: 'externalStatusAt',
  },
  O13: { section: '4.9', choice: 'Order of checks: 400, 409, 402.' },
  O14: {
    section: '4.9',
    choice:
      'Offers come as { status, data: { offers, pagination } }; filters jobCandidateId, candidateId, jobId, status.',
    override: 'queryNames',
  },
  O15: {
    section: '2.9',
    choice: 'createdAt, updatedAt, enrolledAt and verifiedAt are epoch milliseconds; ISO text is read too.',
  },
  O16: {
    section: '2.9',
    choice: 'After terminate journeyUrl stays in Get and stops resolving; steps keep their statuses.',
  },
  O17: {
    section: '2.9',
    choice:
      'Any step in work: in_progress; some submitted: partial_submission; all submitted: under_review; all ' +
      'verified: final_handoff; completed only by a person.',
  },
  DOCUMENTS: {
    section: '4.9',
    choice:
      'A document is { documentId, onboardingCandidateId, stepKey, type (document, report), name, status ' +
      '(uploaded, verified, rejected), createdAt, verifiedAt, pdfUrl }, the filter type; ' +
      'onboarding.documents.verified follows the verification of doc_collection, onboarding.report.ready that of ' +
      'another step.',
  },
  OFFERS: {
    section: '4.9',
    choice:
      'An offer is { offerId, name, status, candidateId, jobCandidateId, jobId, signers: [{ name, email, status, ' +
      'openedAt, signedAt, signingOrder }], createdAt, sentAt, completedAt, signedPdfUrl, certificateUrl }, the ' +
      'URLs null until completed; signers sign one after the other; a cancelled offer is gone.',
  },
  M1: {
    section: '4.10',
    choice:
      'POST leads takes { leads: [{ firstName, lastName, phone, email, externalRef, consentAt }] } and answers { ' +
      'leads: [{ leadId }] }; GET gives { leads: [{ leadId, status, statusLabel, firstName, lastName, email, phone, ' +
      'consentAt }] }, consentAt as ISO text or null; status is PENDING, CALLED, NO_ANSWER or COMPLETED; a phone has ' +
      '5 to 15 digits.',
    override: 'fieldNames',
  },
  M2: { section: '4.10', choice: 'A purpose the workspace has not enabled is 400 INVALID_REQUEST.' },
  M3: {
    section: '4.10',
    choice: 'jobDetails { assessmentTestId, assessmentName, jobTitle }; an unknown assessmentTestId is 404.',
  },
  M4: {
    section: '4.10',
    choice:
      "callTime is HH:mm in the campaign's time zone; callStartTimeUtc wins; a start outside 09:00 to 21:00 moves " +
      'to the next 09:00; one more than a year ago is 400, and so is a retry in UTC before the start in UTC; ' +
      'schedule answers timeBasis LOCAL or UTC, startTimeLocal as HH:mm, startTimeUtc as ISO text.',
  },
  M5: {
    section: '4.10',
    choice:
      'A slot at exactly 21:00 is allowed; the next counts from the moved slot; delayDays counts from the first ' +
      'call; retries given outside the hours move as well, an empty list means none.',
  },
  M6: {
    section: '4.10',
    choice:
      'Interview slots stand in jobDetails.interviewSlots: [{ date, start, end }], date as YYYY-MM-DD, start and a ' +
      'later end as HH:mm; ISO 8601 times are taken too. assessmentFirstReminderDelayHours is a number from 0.',
  },
  M7: { section: '4.10', choice: 'status on create: RUNNING (default) or DRAFT.' },
  M8: { section: '4.10', choice: "A site not linked to the key's user is 400." },
  M9: { section: '4.10', choice: 'An unknown status or purposeType filter gives an empty list.' },
  M10: { section: '4.10', choice: 'companySiteId is answered as a number; the created campaign as { campaign }.' },
  M11: { section: '4.10', choice: 'callType and callTime are optional: AICall and 09:00.' },
  M12: { section: '4.10', choice: 'Leads of an unknown campaign are 404.' },
  SITES: {
    section: '4.10',
    choice: 'GET /company-sites answers { sites: [{ id, name, timezone }] }; data and a bare array are read too.',
  },
} as const satisfies Record<string, Assumption>;
