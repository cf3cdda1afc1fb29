import { z } from 'zod';

/**
 * Every choice made where the specification leaves a question open. Listed by `doctor` and as `x-assumed` in the
 * OpenAPI document. Keys are the questions' ids; endpoints name them in `assumed`.
 */

/** Choices for sections 1, 4.11, 5, 6, 7 and 8: every endpoint, key, events, users and teams. */
const everywhere = {
  G1: { section: '7', choice: 'The lists of 201 and 202 are complete: every other create answers 200.' },
  G2: { section: '4.6', choice: 'generate-questions answers 200.' },
  G3: { section: '7', choice: 'errorMessage is used by users and teams only; the client reads both everywhere.' },
  G4: {
    section: '7',
    choice: 'The 404 of users and teams is flat { statusCode, code, type, errorMessage }, and so is their 400.',
  },
  G5: {
    section: '7',
    choice:
      'Types not given: validation_error (400), payment_error (402), authorization_error (403), not_found ' +
      '(NOT_FOUND), conflict_error (409), rate_limit_error (429), api_error (500).',
  },
  G6: {
    section: '1',
    choice:
      "If no permission error is named, another company's resource answers 404 NOT_FOUND; a stage of another " +
      'company 403 PERMISSION_DENIED.',
  },
  G7: {
    section: '7',
    choice: '404 without a code of its own is NOT_FOUND; the client reads any other code of it alike.',
  },
  G8: {
    section: '4',
    choice: 'An integer path id of the wrong form answers 400 INVALID_REQUEST, but 404 for campaigns.',
  },
  G9: { section: '8', choice: 'Over a maximum or under a minimum is refused with 400 INVALID_REQUEST, never clamped.' },
  G10: {
    section: '8',
    choice:
      'Stage and job listings accept any perPage of 1 to 100 (INVALID_PER_PAGE outside); the client sends only 10, ' +
      '20, 40, 80, 100.',
  },
  G11: { section: '8', choice: 'A page below the first is 400 INVALID_REQUEST; a page past the end is an empty list.' },
  G12: {
    section: '4',
    choice:
      'Pagination not shown is { page, perPage, total } beside data, and { page, limit, total, totalPages } inside ' +
      'data for onboarding; lists shown without pages have none, and are read on if an answer counts more records.',
  },
  G13: { section: '7', choice: 'Unknown body keys are ignored everywhere but in campaigns.' },
  G14: {
    section: '7',
    choice:
      'Malformed JSON, a body of the wrong kind, or one sent without Content-Type: application/json, is 400 ' +
      'INVALID_REQUEST.',
  },
  G15: { section: '7', choice: 'Validation errors carry details: dotted field path (candidates[3].email) to message.' },
  G16: {
    section: '8',
    choice: '429 is RATE_LIMITED (rate_limit_error) in the canonical body, with Retry-After in seconds.',
  },
  G17: {
    section: '4',
    choice:
      'No coercion in bodies: "5" is not an integer, "true" no boolean; ids of bulk fetches and custom field ' +
      'values may be either.',
  },
  G18: {
    section: '4',
    choice: 'Enum values are case-sensitive, except stage type in GET /job-candidates/stage and callType.',
  },
  G19: { section: '4', choice: 'Names and titles are trimmed before they are checked and stored.' },
  G20: { section: '4.2', choice: 'A job is read from the jobs list; there is no single read.' },
  G21: {
    section: '5',
    choice: 'The key-status endpoint is GET /api-key/status and its success says isApiKeyExists: true.',
    override: 'keyStatusPath',
  },
  G22: {
    section: '4.8',
    choice: 'Reschedule, cancel, check-in and no-show have no route: refused by the client, 404 in the sandbox.',
  },
  G23: {
    section: '2',
    choice: 'An empty optional field is given as null by the sandbox; absent and null are read alike.',
  },
  G24: {
    section: '8',
    choice: 'Time-limited URLs live 15 minutes, need no key, are new on every read and answer 403 once expired.',
  },
  G25: {
    section: '4',
    choice:
      'null in a request is invalid, except a custom field value, a description and the parent of a value (clear), ' +
      'and, as absent, options, externalRef, metadata, and the optional fields of an assessment and of a flow step.',
  },
  G26: {
    section: '7',
    choice:
      'Order of checks: key, account, rate, path and query, resource (404, 403), body (400), state (409), credits ' +
      '(402).',
  },
  PAGES: {
    section: '4',
    choice:
      'If nothing is shown (job candidates, resume batches, submissions, enrolments, offers), pages are counted ' +
      'from 1, like those of jobs.',
    override: 'firstPages',
  },
  U1: {
    section: '4.11',
    choice: 'Invalid status, isCompanyAdmin, page or perPage is 400 INVALID_REQUEST in the flat body.',
  },
  U2: { section: '4.11', choice: 'SUPER_ADMIN and ADMIN match the display names Super Admin and Admin.' },
  U3: { section: '4.11', choice: 'search is trimmed and matches one field at a time.' },
  U4: { section: '4.11', choice: 'Users and teams are listed by creation.' },
  U5: { section: '4.11', choice: 'createdAt of a team is epoch milliseconds.' },
  S1: { section: '5', choice: 'Every key failure is 401; the client reads the flat 403 alike.' },
  S2: {
    section: '5',
    choice: 'A live key on the sandbox is 401, and a key is checked against the environment before a call is made.',
  },
  S3: { section: '5', choice: 'Bearer in any case, one blank; no key in the query.' },
  S4: { section: '5', choice: 'Key and account are checked before everything else.' },
  S5: { section: '5', choice: 'ACCOUNT_INACTIVE is flat { code, message }.' },
  S6: { section: '5', choice: 'An unknown path is checked for the key first, then 404 NOT_FOUND.' },
  E1: { section: '6', choice: 'After four attempts a delivery is given up.' },
  E2: { section: '6', choice: 'companyId may be a number, text or absent.' },
  E3: { section: '6', choice: 'candidate.added_to_job is emitted once per call, not when isAlreadyInJob.' },
  E4: { section: '6', choice: 'A move to HIRED emits candidate.stage_changed and candidate.hired.' },
  E5: { section: '6', choice: 'PATCH evaluationStatus REJECTED emits candidate.rejected.' },
  E6: {
    section: '6',
    choice: 'interview.scoring_completed and interview.ended are flat: { submissionId, externalRef, ... }.',
  },
  E7: {
    section: '6',
    choice:
      'onboarding events carry onboardingCandidateId, flowId, externalRef, overallStatus in the sandbox, that of a ' +
      'completed offer its ids; nothing but ids is read.',
  },
  E8: { section: '6', choice: 'Deliveries may repeat and change order; the timestamp is that of the first attempt.' },
  E9: { section: '6', choice: 'Without a webhook key the header is present and empty.' },
  E10: { section: '6', choice: 'Deleting a stage emits candidate.stage_changed for those moved.' },
  E11: { section: '6', choice: 'started is sent after the answer; jobId is null for company batches.' },
} as const satisfies Record<string, Assumption>;

/** Choices for sections 2.1, 2.2: pipelines and jobs. */
const pipelinesAndJobs = {
  P1: { section: '2.1', choice: 'order 1 for another stage than SOURCED is refused: 400 INVALID_REQUEST.' },
  P2: {
    section: '2.1',
    choice:
      'APPLIED and HIRED are never moved, though others may be placed before them; nothing comes after HIRED: ' +
      'order = count for another stage is placed before HIRED.',
  },
  P3: { section: '4.1', choice: 'type and order are left out of an update of a system stage, answered 200.' },
  P4: { section: '7', choice: 'order on create may be 1 to the stage count before the insert.' },
  P5: {
    section: '7',
    choice: "A well-formed unknown stage id is 404 NOT_FOUND; another company's is 403 PERMISSION_DENIED.",
  },
  P6: {
    section: '4.1',
    choice: 'newStageId equal to the deleted stage or of another pipeline is 400; unknown is 404.',
  },
  P7: {
    section: '4.1',
    choice: 'A stage of another pipeline than pipelineId is 400 INVALID_REQUEST (stage id invalid).',
  },
  P8: { section: '2.1', choice: 'The order of the stages array is the order of the pipeline.' },
  P9: { section: '4.1', choice: 'Several stages of one type are allowed, in any number.' },
  P10: { section: '4.1', choice: 'Pipeline and stage names need not be unique and have no maximum.' },
  P11: {
    section: '4.1',
    choice: 'Changing a type to itself is allowed; an update with neither name, type nor order is 400.',
  },
  P12: { section: '3', choice: "A stage's type may change while candidates are in it." },
  P13: { section: '4.1', choice: 'Every company starts with one pipeline; its oldest is the default.' },
  J1: { section: '2.2', choice: "A new job takes the company's oldest pipeline; if there is none, one is created." },
  J2: { section: '4.2', choice: 'jobTitle, city, state, country: substring, any case; the others exact.' },
  J3: { section: '4.2', choice: 'Jobs are listed newest first.' },
  J4: { section: '4.2', choice: 'DELETED jobs are not listed; status=DELETED is INVALID_STATUS.' },
  J5: { section: '2.2', choice: 'createdAt of a job is epoch milliseconds; the client also reads seconds.' },
  J6: { section: '2.2', choice: 'Salary fields not set are null; totalJobs counts the matching jobs.' },
  J7: { section: '2.2', choice: 'salaryCurrency is any code of three capital letters.' },
  J8: { section: '2.2', choice: 'city and country must not be empty.' },
  J9: { section: '2.2', choice: 'teamId malformed is 400; well-formed and unknown is 404 NOT_FOUND.' },
  J10: {
    section: '4.2',
    choice: 'careerLevel matches no job made through the API; publishType of a new job is EXTERNAL.',
  },
  J11: { section: '2.2', choice: 'screeningQuestion may be an empty array; null is invalid; extra keys are ignored.' },
  J12: {
    section: '2.2',
    choice:
      'customFields on create and update is { id: value }; an unknown id is 404 CUSTOM_FIELD_NOT_FOUND, another ' +
      "company's 403 PERMISSION_DENIED.",
  },
  J13: { section: '2.2', choice: 'customFields show the stored form of a value.' },
  J14: {
    section: '2.2',
    choice: 'runningRevenue is a number, 0 for new jobs; rejectedCandidateCount counts evaluationStatus REJECTED.',
  },
  J15: { section: '2.2', choice: 'A description left out is generated at once.' },
  J16: { section: '6', choice: 'POST /jobs does not emit job.created: only the dashboard does.' },
} as const satisfies Record<string, Assumption>;

/** Choices for sections 2.3 to 2.5: candidates, job candidates, custom fields. */
const candidateReadings = {
  C1: { section: '4.3', choice: 'email is the only required field of POST /candidates.' },
  C2: { section: '4.3', choice: "The flags are in data beside the candidate's fields; data.candidate is read too." },
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
  C8: { section: '4.3', choice: 'An added candidate is in SOURCED.' },
  C9: { section: '2.3', choice: 'E-mail is compared without case and stored in lower case.' },
  C10: { section: '4.3', choice: 'An unknown jobId is 404 NOT_FOUND and nothing is created.' },
  C11: {
    section: '4.3',
    choice: 'Associated jobs are in data.jobs: [{ jobId, jobCandidateId, title, stageId, stageName, stageType }].',
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
      'the run could be scored; totalRequested counts the ids sent, or the eligible ones if none were; no ' +
      'job.candidate.score events besides.',
  },
  K10: {
    section: '4.4',
    choice: "PATCH takes the application fields of 2.4 and evaluationStatus; REJECTED is the API's way to reject.",
    override: 'bodyNames',
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
    choice: 'A consent that was shown and is NO_CONSENT_RECORD now was withdrawn. Nothing else shows it.',
    override: 'consentWithdrawn',
  },
  K19: { section: '3', choice: 'status stays IN_PROGRESS in every stage.' },
  K20: { section: '2.4', choice: 'profileMatchScore is null before scoring.' },
  STAGED: {
    section: '4.4',
    choice:
      'jobCandidateDetails of the listings by stage is the one application in that stage; a list of applications is ' +
      'refused, because it does not tell which one is meant.',
  },
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
  F13: { section: '2.5', choice: 'entityId is text; a number is read too, and sent where text is refused.' },
  F14: {
    section: '2.5',
    choice: 'number as digits in text is accepted; a date must be YYYY-MM-DD; a checkbox must be a boolean.',
  },
} as const satisfies Record<string, Assumption>;

/** Choices for sections 2.6 to 2.8: assessments, flows, booking. */
const assessmentsAndBooking = {
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
    override: 'bodyNames',
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
  A7: {
    section: '4.6',
    choice:
      'The same e-mail, in lower case, is the same person, invited by id or by name; an outcome names it as it was ' +
      'sent.',
  },
  A8: { section: '4.6', choice: 'jobCandidateId wins over names.' },
  A9: {
    section: '4.6',
    choice: 'question is required, the rest optional; type is any text, SUBJECTIVE by default.',
  },
  A10: { section: '2.6', choice: "Another company's assessment is 404 to reads and 403 ACCESS_DENIED to changes." },
  A11: { section: '4.6', choice: 'Question texts may repeat, in any number.' },
  A12: { section: '4.6', choice: 'maxResumeCount without resumeAllowed is ignored and answered null.' },
  A13: {
    section: '4.6',
    choice: 'auto-generate: role and duration are optional (duration 20); a title sent is ignored.',
  },
  A14: {
    section: '2.6',
    choice:
      'buckets: 0 to 5, each with a status, names unique; an empty list takes the defaults; the defaults pass, but ' +
      'Not a Fit fails.',
  },
  A15: {
    section: '4.6',
    choice: 'A submission of another assessment is 404; the share link gives REPORT_NOT_READY too.',
  },
  A16: {
    section: '4.6',
    choice: 'jobId is sent as an integer and answered as text, empty when there is none; either is taken.',
  },
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
    override: 'bodyNames',
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

/** Choices for sections 2.9, 2.10: onboarding, campaigns. */
const onboardingAndCampaigns = {
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
  O10: {
    section: '4.9',
    choice:
      'phoneNumber is checked as E.164; e-mail is kept and compared in lower case, and an answer to a bulk ' +
      'enrolment names it as it was sent.',
  },
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
    override: 'fieldNames',
  },
  OFFERS: {
    section: '4.9',
    choice:
      'An offer is { offerId, name, status, candidateId, jobCandidateId, jobId, signers: [{ name, email, status, ' +
      'openedAt, signedAt, signingOrder }], createdAt, sentAt, completedAt, signedPdfUrl, certificateUrl }, the ' +
      'URLs null until completed; signers sign one after the other; a cancelled offer is gone.',
    override: 'fieldNames',
  },
  M1: {
    section: '4.10',
    choice:
      'POST leads takes { leads: [{ firstName, lastName, phone, email, externalRef, consentAt }] } and answers { ' +
      'leads: [{ leadId }] }, any other answer is read as a success too; GET gives { leads: [{ leadId, status, ' +
      'statusLabel, firstName, lastName, email, phone, consentAt }] }, consentAt as ISO text or null; status is ' +
      'PENDING, CALLED, NO_ANSWER or COMPLETED; a phone has 5 to 15 digits.',
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

export const assumptions = {
  ...everywhere,
  ...pipelinesAndJobs,
  ...candidateReadings,
  ...assessmentsAndBooking,
  ...onboardingAndCampaigns,
} as const satisfies Record<string, Assumption>;

export interface Assumption {
  /** Section of the specification. */
  section: string;
  choice: string;
  /** The reading a tenant's configuration may set instead (`Overrides`). */
  override?: keyof Overrides;
}

/**
 * The assumed names a tenant's configuration may replace, as data. Schemas in the contract use the default names; the
 * client renames what it sends and reads by this table, so that no other room knows of a tenant's variant.
 */
const name = z.string().min(1);

export const Overrides = z.strictObject({
  /** S3, G21: path of the read-only key-status endpoint, relative to the base URL. */
  keyStatusPath: z.templateLiteral(['/', z.string()]).default('/api-key/status'),
  /** O2: body keys of PATCH external-status. */
  externalStatusBody: z
    .strictObject({ status: name.default('status'), employeeId: name.default('employeeId') })
    .prefault({}),
  /** O12: dotted path in the onboarding candidate where the two are given back under the same keys. */
  externalStatusAt: name.default('externalStatus'),
  /** O11: body key of the reason of terminate; null sends no body. */
  terminateReason: name.nullable().default('reason'),
  /** 2.4: key of the job candidate that names its stage, by id or by type; not shown, so none. */
  jobCandidateStageField: name.nullable().default(null),
  /** C3: the answer to an e-mail conflict on candidate update; `either` takes 400 and 409 alike. */
  emailConflict: z.enum(['400', '409', 'either']).default('either'),
  /** F3: key that wraps the array of the bulk upsert; null sends the bare array. */
  valuesBulkKey: name.nullable().default(null),
  /** CONSENT: codes of the consent document that say of a consent shown before that it was withdrawn; [] for none. */
  consentWithdrawn: z.array(name).default(['NO_CONSENT_RECORD']),
  /** K18: whether expiresAt of the consent document is the day of the consent; false where it is that of its link. */
  consentExpires: z.boolean().default(true),
  /**
   * Query parameters under another name: operation id to { name in the contract: name on the wire }, for example
   * `{ 'jobCandidates.listByStageType': { stageType: 'type' } }` (K1, O6, O14).
   */
  queryNames: z.record(z.string(), z.record(z.string(), name)).default({}),
  /**
   * Keys of a body, and of the records in its lists, under another name: operation id to { name in the contract: name
   * on the wire }, for example `{ 'campaigns.addLeads': { phone: 'phoneNumber' } }` (A3, B2, K10, M1).
   */
  bodyNames: z.record(z.string(), z.record(z.string(), name)).default({}),
  /**
   * Lists whose pages this partner counts from another number: operation id to the number of its first page, for
   * example `{ 'jobCandidates.listByStageType': 0 }` (PAGES).
   */
  firstPages: z.record(z.string(), z.union([z.literal(0), z.literal(1)])).default({}),
  /**
   * Fields of listed records under another name: operation id to { name in the contract: dotted path on the wire }, for
   * example `{ 'assessments.listCandidates': { score: 'result.overallScore' } }` (SUBMISSION, L5, BOOKING, M1).
   */
  fieldNames: z.record(z.string(), z.record(z.string(), name)).default({}),
});
export type Overrides = z.infer<typeof Overrides>;

export const defaultOverrides: Overrides = Overrides.parse({});
