/** Choices for sections 1, 4.11, 5, 6, 7 and 8: every endpoint, key, events, users and teams. */
import type { Assumption } from './assumption.ts';

export const everywhere = {
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
      "Where no permission error is named, another company's resource answers 404 NOT_FOUND; a stage of another " +
      'company 403 PERMISSION_DENIED.',
  },
  G7: { section: '7', choice: '404 without a code of its own is NOT_FOUND.' },
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
      'data for onboarding.',
  },
  G13: { section: '7', choice: 'Unknown body keys are ignored everywhere but in campaigns.' },
  G14: { section: '7', choice: 'Malformed JSON, or a body of the wrong kind, is 400 INVALID_REQUEST.' },
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
      'null in a request is invalid, except a custom field value (clears), options, externalRef and metadata (as ' +
      'absent).',
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
      'Where nothing is shown (job candidates, resume batches, submissions, enrolments, offers), pages are counted ' +
      'from 1, as those of jobs are.',
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
  E6: { section: '6', choice: 'interview.scoring_completed is flat: { submissionId, externalRef, ... }.' },
  E7: {
    section: '6',
    choice:
      'onboarding events carry onboardingCandidateId, flowId, externalRef, overallStatus in the sandbox; nothing ' +
      'but ids is read.',
  },
  E8: { section: '6', choice: 'Deliveries may repeat and change order; the timestamp is that of the first attempt.' },
  E9: { section: '6', choice: 'Without a webhook key the header is there and empty.' },
  E10: { section: '6', choice: 'Deleting a stage emits candidate.stage_changed for those moved.' },
  E11: { section: '6', choice: 'started is sent after the answer; jobId is null for company batches.' },
} as const satisfies Record<string, Assumption>;
