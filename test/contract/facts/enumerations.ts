/** Enumerations of section 2 and of the filters of section 4, copied by hand. */
export interface EnumerationFact {
  what: string;
  /** Where the contract must know exactly these values: a record's field, a query parameter or a body field. */
  at: readonly { endpoint: string; part: 'item' | 'response' | 'query' | 'body'; field: string }[];
  values: readonly string[];
  /** Words of the specification that give the values, in order. */
  quote: string;
}

export const enumerationFacts: readonly EnumerationFact[] = [
  {
    what: 'stage types',
    at: [
      { endpoint: 'GET /pipelines', part: 'item', field: 'stages.type' },
      { endpoint: 'GET /job-candidates/stage', part: 'query', field: 'stageType' },
    ],
    values: ['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'OFFER', 'ONBOARDING', 'HIRED'],
    quote: '| HIRED | yes | no | yes | no |',
  },
  {
    what: 'job statuses',
    at: [{ endpoint: 'GET /jobs', part: 'item', field: 'status' }],
    values: ['DRAFT', 'ACTIVE', 'INACTIVE', 'DELETED'],
    quote: 'Job status (DRAFT, ACTIVE, INACTIVE, DELETED)',
  },
  {
    what: 'job status filter',
    at: [{ endpoint: 'GET /jobs', part: 'query', field: 'status' }],
    values: ['DRAFT', 'ACTIVE', 'INACTIVE'],
    quote: 'status (DRAFT, ACTIVE, INACTIVE), publishType (EXTERNAL, INTERNAL), workMode (REMOTE, ONSITE, HYBRID)',
  },
  {
    what: 'job status on create',
    at: [{ endpoint: 'POST /jobs', part: 'body', field: 'status' }],
    values: ['DRAFT', 'ACTIVE'],
    quote: 'DRAFT (default) or ACTIVE at creation',
  },
  {
    what: 'publish types',
    at: [{ endpoint: 'GET /jobs', part: 'query', field: 'publishType' }],
    values: ['EXTERNAL', 'INTERNAL'],
    quote: 'publishType (EXTERNAL, INTERNAL)',
  },
  {
    what: 'work modes',
    at: [
      { endpoint: 'GET /jobs', part: 'query', field: 'workMode' },
      { endpoint: 'POST /jobs', part: 'body', field: 'workMode' },
      { endpoint: 'GET /jobs', part: 'item', field: 'workMode' },
    ],
    values: ['ONSITE', 'REMOTE', 'HYBRID'],
    quote: 'ONSITE (default), REMOTE, HYBRID',
  },
  {
    what: 'contract types',
    at: [{ endpoint: 'POST /jobs', part: 'body', field: 'contractType' }],
    values: ['Permanent', 'Freelance / Consultant', 'Fixed term contract', 'Internship', 'Student'],
    quote: 'Permanent, Freelance / Consultant, Fixed term contract, Internship, Student',
  },
  {
    what: 'degree levels',
    at: [{ endpoint: 'POST /jobs', part: 'body', field: 'degreeLevel' }],
    values: ['High School', "Bachelor's", "Master's", 'M.B.A.', 'Ph.D.', 'Other'],
    quote: "High School, Bachelor's, Master's, M.B.A., Ph.D., Other",
  },
  {
    what: 'job roles',
    at: [{ endpoint: 'POST /jobs', part: 'body', field: 'jobRole' }],
    values: [
      'Accounting',
      'Administrative',
      'Customer Service',
      'Design',
      'Education',
      'Engineering',
      'Finance',
      'Healthcare',
      'Hospitality & Tourism',
      'Human Resources (HR)',
      'Information Technology (IT)',
      'Legal',
      'Marketing',
      'Media & Public Relations (PR)',
      'Pharmaceuticals',
      'Production',
      'Property Management',
      'Public Service & Security',
      'Real Estate',
      'Retail',
      'Sales',
      'Supply Chain & Logistics',
    ],
    quote:
      'Accounting, Administrative, Customer Service, Design, Education, Engineering, Finance, Healthcare, Hospitality & Tourism, Human Resources (HR), Information Technology (IT), Legal, Marketing, Media & Public Relations (PR), Pharmaceuticals, Production, Property Management, Public Service & Security, Real Estate, Retail, Sales, Supply Chain & Logistics',
  },
  {
    what: 'evaluation statuses',
    at: [{ endpoint: 'POST /job-candidates/bulk-fetch', part: 'item', field: 'evaluationStatus' }],
    values: ['PENDING', 'APPROVED', 'REJECTED'],
    quote: 'e.g. PENDING, APPROVED, REJECTED',
  },
  {
    what: 'entity types of custom fields',
    at: [
      { endpoint: 'POST /custom-fields', part: 'body', field: 'entityType' },
      { endpoint: 'GET /custom-fields', part: 'item', field: 'entityType' },
    ],
    values: ['candidate', 'job'],
    quote: 'candidate or job; immutable',
  },
  {
    what: 'field types',
    at: [
      { endpoint: 'POST /custom-fields', part: 'body', field: 'fieldType' },
      { endpoint: 'GET /custom-fields', part: 'item', field: 'fieldType' },
    ],
    values: ['text', 'number', 'date', 'select', 'multi-select', 'checkbox', 'textarea'],
    quote: 'text, number, date, select, multi-select, checkbox, textarea; immutable',
  },
  {
    what: 'assessment statuses',
    at: [
      { endpoint: 'GET /assessment', part: 'item', field: 'status' },
      { endpoint: 'POST /assessment/audio-interviews', part: 'body', field: 'status' },
    ],
    values: ['ACTIVE', 'INACTIVE'],
    quote: 'status (ACTIVE or INACTIVE), assessmentType',
  },
  {
    what: 'assessment types',
    at: [{ endpoint: 'GET /assessment', part: 'item', field: 'assessmentType' }],
    values: ['AI_AUDIO_INTERVIEW', 'AI_VIDEO_INTERVIEW'],
    quote: 'assessmentType (AI_AUDIO_INTERVIEW or AI_VIDEO_INTERVIEW)',
  },
  {
    what: 'AI languages',
    at: [{ endpoint: 'POST /assessment/audio-interviews', part: 'body', field: 'aiLanguage' }],
    values: (
      'arabic bengali bulgarian croatian czech danish dutch english french german greek hebrew hindi hungarian ' +
      'indonesian italian japanese korean malay mandarin polish portuguese russian spanish swedish tagalog thai ' +
      'turkish ukrainian vietnamese'
    ).split(' '),
    quote:
      'arabic, bengali, bulgarian, croatian, czech, danish, dutch, english, french, german, greek, hebrew, hindi, hungarian, indonesian, italian, japanese, korean, malay, mandarin, polish, portuguese, russian, spanish, swedish, tagalog, thai, turkish, ukrainian, vietnamese',
  },
  {
    what: 'flow candidate statuses',
    at: [
      { endpoint: 'GET /assessment-flows/:id/candidates', part: 'item', field: 'status' },
      { endpoint: 'GET /assessment-flows/:id/candidates', part: 'query', field: 'status' },
    ],
    values: ['NOT_STARTED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'],
    quote: 'NOT_STARTED, IN_PROGRESS, COMPLETED, FAILED',
  },
  {
    what: 'booking modes',
    at: [
      { endpoint: 'GET /booking-schedules', part: 'query', field: 'bookingMode' },
      { endpoint: 'GET /booking-schedules', part: 'item', field: 'bookingMode' },
    ],
    values: ['ONLINE', 'ONSITE', 'BOTH'],
    quote: 'bookingMode (ONLINE, ONSITE, BOTH), scheduleProfile (INTERVIEW, EVENT)',
  },
  {
    what: 'schedule profiles',
    at: [
      { endpoint: 'GET /booking-schedules', part: 'query', field: 'scheduleProfile' },
      { endpoint: 'GET /booking-schedules', part: 'item', field: 'scheduleProfile' },
    ],
    values: ['INTERVIEW', 'EVENT'],
    quote: 'scheduleProfile (INTERVIEW, EVENT)',
  },
  {
    what: 'booking link statuses',
    at: [{ endpoint: 'POST /booking-schedules/:bookingScheduleId/links', part: 'response', field: 'data.status' }],
    values: ['ACTIVE', 'LOCKED', 'REVOKED', 'REPLACED'],
    quote: 'status (ACTIVE, LOCKED, REVOKED, REPLACED)',
  },
  {
    what: 'booking entity types',
    at: [
      { endpoint: 'POST /booking-schedules/:bookingScheduleId/links', part: 'body', field: 'entityType' },
      { endpoint: 'POST /booking-schedules/:bookingScheduleId/bookings', part: 'body', field: 'entityType' },
    ],
    values: ['JOB_CANDIDATE', 'OUTREACH_CAMPAIGN_CANDIDATE', 'NOVA_CANDIDATE'],
    quote: 'JOB_CANDIDATE (entityId is a jobCandidateId), OUTREACH_CAMPAIGN_CANDIDATE, NOVA_CANDIDATE',
  },
  {
    what: 'location types',
    at: [{ endpoint: 'GET /booking-schedules/:bookingScheduleId/locations', part: 'item', field: 'type' }],
    values: ['video', 'phone', 'in_person', 'custom'],
    quote: 'type (video, phone, in_person, custom)',
  },
  {
    what: 'booking question types',
    at: [{ endpoint: 'GET /booking-schedules/:bookingScheduleId/questions', part: 'item', field: 'type' }],
    values: ['text', 'textarea', 'phone', 'single_choice', 'multi_choice'],
    quote: 'type (text, textarea, phone, single_choice, multi_choice)',
  },
  {
    what: 'onboarding overall statuses',
    at: [{ endpoint: 'GET /onboarding/candidates', part: 'item', field: 'overallStatus' }],
    values: [
      'not_started',
      'in_progress',
      'partial_submission',
      'under_review',
      'final_handoff',
      'completed',
      'rejected',
      'failed',
      'terminated',
    ],
    quote:
      'not_started, in_progress, partial_submission, under_review, final_handoff, completed, rejected, failed, terminated',
  },
  {
    what: 'onboarding step keys',
    at: [{ endpoint: 'GET /onboarding/flows', part: 'item', field: 'steps.stepKey' }],
    values: ['doc_collection', 'pre_employment_medical_test', 'background_verification'],
    quote: 'doc_collection, pre_employment_medical_test, background_verification',
  },
  {
    what: 'onboarding step statuses',
    at: [
      {
        endpoint: 'GET /onboarding/candidates/:onboardingCandidateId',
        part: 'response',
        field: 'data.stepProgress.status',
      },
    ],
    values: ['pending', 'in_progress', 'submitted', 'verified', 'rejected'],
    quote: 'pending, in_progress, submitted, verified, rejected',
  },
  {
    what: 'offer document statuses',
    at: [{ endpoint: 'GET /onboarding/offers', part: 'item', field: 'status' }],
    values: ['draft', 'in_progress', 'completed'],
    quote: 'document status draft, in_progress, completed',
  },
  {
    what: 'signer statuses',
    at: [{ endpoint: 'GET /onboarding/offers/:offerId', part: 'response', field: 'data.signers.status' }],
    values: ['pending', 'sent', 'opened', 'signed'],
    quote: 'signer status pending, sent, opened, signed',
  },
  {
    what: 'campaign purposes',
    at: [{ endpoint: 'POST /campaigns', part: 'body', field: 'purposeType' }],
    values: ['SCHEDULE', 'ONLINE_INTERVIEW', 'INTEREST_CHECK', 'ASSESSMENT_REMINDER'],
    quote: 'e.g. SCHEDULE, ONLINE_INTERVIEW, INTEREST_CHECK, ASSESSMENT_REMINDER',
  },
  {
    what: 'user statuses',
    at: [
      { endpoint: 'GET /users', part: 'item', field: 'status' },
      { endpoint: 'GET /users', part: 'query', field: 'status' },
    ],
    values: ['ACTIVE', 'INVITED', 'EXPIRED'],
    quote: 'status (ACTIVE, INVITED, EXPIRED)',
  },
];
