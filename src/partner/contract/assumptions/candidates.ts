/** Choices for sections 2.3 to 2.5: candidates, job candidates, custom fields. */
import type { Assumption } from './assumption.ts';

export const candidateReadings = {
  C1: { section: '4.3', choice: 'email is the only required field of POST /candidates.' },
  C2: { section: '4.3', choice: "The flags stand in data beside the candidate's fields; data.candidate is read too." },
  C3: {
    section: '4.3',
    choice: 'An e-mail conflict on update is 409 EMAIL_CONFLICT; the client takes 400 and 409 alike.',
    override: 'emailConflict',
  },
  C4: { section: '4.3', choice: 'The other fields sent for an existing candidate are ignored.' },
  C5: {
    section: '4.3',
    choice:
      'No resume with shouldParseResume true is stored as sent and costs nothing; a parsed resume costs a credit, ' +
      'and so does the scoring in a job, taken when it runs: without one left the call is 402, and one that is ' +
      'gone by then is job.candidate.score.failed.',
  },
  C6: { section: '4.3', choice: 'The four fields may be empty arrays, and are asked for existing candidates too.' },
  C7: { section: '4.3', choice: 'A candidate may be added to a DRAFT, ACTIVE or INACTIVE job; a DELETED one is 404.' },
  C8: { section: '4.3', choice: 'An added candidate stands in SOURCED.' },
  C9: { section: '2.3', choice: 'E-mail is compared without case and stored in lower case.' },
  C10: { section: '4.3', choice: 'An unknown jobId is 404 NOT_FOUND and nothing is created.' },
  C11: {
    section: '4.3',
    choice: 'Associated jobs stand in data.jobs: [{ jobId, jobCandidateId, title, stageId, stageName, stageType }].',
  },
  C12: {
    section: '4.3',
    choice:
      'Text filters: substring, any case; candidateEmail exact; skills: any of them; searchTerm over names, ' +
      'e-mail, title, company.',
  },
  C13: { section: '4.3', choice: 'groupIds matches nobody: no group exists in the API.' },
  C14: {
    section: '4.3',
    choice: 'Bounds are inclusive; a date without time is its midnight UTC; equal bounds are valid.',
  },
  C15: { section: '4.3', choice: 'jobCandidateDetails is an array; an object is read too.' },
  C16: {
    section: '4.3',
    choice:
      'Batch pages begin at 1; data holds { batchId, status, candidates, page, perPage, hasNextPage }; status is ' +
      'processing, completed or failed.',
  },
  C17: {
    section: '4.3',
    choice:
      'http and https URLs; repeats allowed; one invalid URL refuses the whole request; credits are checked in the ' +
      'batch.',
  },
  RESUMES: {
    section: '4.3',
    choice:
      'The sandbox opens no document: the ending of a URL tells a document (pdf, doc, docx, rtf, odt, txt or none) ' +
      'from what cannot be parsed, its file name the person; a parsed file costs a credit, a known e-mail is taken ' +
      'as it is; a single resume fills what the profile leaves empty; single_parse events carry ' +
      '{ candidateId, error }.',
  },
  C18: {
    section: '4.3',
    choice:
      'Bulk fetches leave unknown ids out, keep the order asked for, give repeats once, and treat text that is no ' +
      'number as unknown.',
  },
  C19: { section: '4.3', choice: 'PATCH with a resume is 400 INVALID_REQUEST.' },
  C20: {
    section: '2.3',
    choice:
      'skills, majors, languages are arrays of text; dateOfBirth is YYYY-MM-DD; educations and workExperiences ' +
      'carry an id.',
  },
  C21: { section: '4.3', choice: 'Candidates are deleted only in the dashboard.' },
  K1: {
    section: '4.4',
    choice:
      'Query names: pageNumber (from 1), perPage, stageType, stageId, jobId, startDate, endDate, minScore, ' +
      'maxScore, excludeRejected, sortBy, sortOrder.',
    override: 'queryNames',
  },
  K2: {
    section: '3',
    choice:
      "IN_PROGRESS is given as status in the move's answer { jobCandidateId, jobId, candidateId, stageId, " +
      'stageName, stageType, status }.',
  },
  K3: { section: '3', choice: "A move into any stage of the company's pipelines is allowed." },
  K4: {
    section: '4.4',
    choice: 'A move to the same stage answers 200 without an event; moves out of HIRED are allowed.',
  },
  K5: {
    section: '4.4',
    choice:
      "Eligible are the job's candidates that are not rejected; unknown, foreign and other jobs' ids are left out; " +
      '[] means all.',
  },
  K6: { section: '4.4', choice: 'Without ids the first 250 are taken; a second run may be queued.' },
  K7: {
    section: '4.4',
    choice: "stageId outside the job's pipeline is 400, unknown 404, of another company 403 PERMISSION_DENIED.",
  },
  K8: {
    section: '4.4',
    choice: '402 only at zero credits; otherwise the run is cut to the credits and creditsAvailable is given.',
  },
  K9: {
    section: '4.4',
    choice:
      'GET rescore: data.status queued, completed or failed, with the counters of the event; failed when nobody of ' +
      'the run could be scored; totalRequested counts the ids sent, or the eligible where none were; no ' +
      'job.candidate.score events besides.',
  },
  K10: {
    section: '4.4',
    choice: "PATCH takes the application fields of 2.4 and evaluationStatus; REJECTED is the API's way to reject.",
  },
  K11: { section: '4.4', choice: 'The consent document before any application is NO_APPLICATION.' },
  K12: { section: '4.4', choice: 'A removed job candidate is left out of bulk fetches.' },
  K13: { section: '4.4', choice: 'appliedAt, acceptedAt and expiresAt are epoch milliseconds; ISO text is read too.' },
  APPLIED: {
    section: '6',
    choice: 'candidate.applied carries { jobCandidateId, jobId, candidateId, appliedAt, resumeUrl, dpaDocumentUrl }.',
  },
  K14: { section: '2.4', choice: 'criteriaMatches, recommendToRecruitingFirm and aiSummary are null before scoring.' },
  K15: { section: '2.4', choice: "customFields are the candidate's values, absent when there are none." },
  K16: { section: '4.4', choice: 'onboardingFormDetails is null or an object; nothing is read from it.' },
  K17: { section: '4.4', choice: 'An unknown job is 404 NOT_FOUND.' },
  K18: {
    section: '4.4',
    choice: 'expiresAt of the consent document is the expiry of the consent, epoch milliseconds.',
    override: 'consentExpires',
  },
  CONSENT: {
    section: '4.4',
    choice: 'A consent that was shown and is NO_CONSENT_RECORD now was withdrawn. Nothing else says so.',
    override: 'consentWithdrawn',
  },
  K19: { section: '3', choice: 'status stays IN_PROGRESS in every stage.' },
  K20: { section: '2.4', choice: 'profileMatchScore is null before scoring.' },
  STAGE: {
    section: '2.4',
    choice: 'The job candidate shows no stage; a tenant may name a field that does.',
    override: 'jobCandidateStageField',
  },
  F1: {
    section: '4.5',
    choice:
      'Answers give the stored form: multi-select as JSON text, number as a number, checkbox as a boolean; input ' +
      'forms are read too.',
  },
  F2: { section: '4.5', choice: 'A select value must be one of the options.' },
  F3: {
    section: '4.5',
    choice:
      'The bulk body is the bare array, without maximum in the sandbox, sent in hundreds by the client; one bad ' +
      'entry refuses all.',
    override: 'valuesBulkKey',
  },
  F4: {
    section: '4.5',
    choice: "A parentSection outside its entity's list is 400; the default is the first of the list.",
  },
  F5: { section: '4.5', choice: 'GET values needs entityType and entityId.' },
  F6: { section: '4.5', choice: 'DELETE by entity removes nested values too; with a parent query only those.' },
  F7: {
    section: '4.5',
    choice: 'fieldType and entityType beside other fields of a PUT are left out; alone they are 400.',
  },
  F8: { section: '2.5', choice: 'options of other types are stored as null; labels may repeat.' },
  F9: {
    section: '4.5',
    choice:
      'A value for a deleted definition is 404 CUSTOM_FIELD_NOT_FOUND, for another entityType 400, for an unknown ' +
      'entity or parent 404; a parent is a work_experience, education, project_experience or certification by id.',
  },
  F10: { section: '4.5', choice: 'An empty bulk array is 400.' },
  F11: { section: '4.5', choice: 'value null clears (the value is stored as null); "" is stored for text types.' },
  F12: { section: '4.5', choice: 'Upsert answers the value, bulk the array of values in order.' },
  F13: { section: '2.5', choice: 'entityId is given as text; a number is read too.' },
  F14: {
    section: '2.5',
    choice: 'number as digits in text is accepted; a date must be YYYY-MM-DD; a checkbox must be a boolean.',
  },
} as const satisfies Record<string, Assumption>;
