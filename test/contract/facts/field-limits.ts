/**
 * Section 8 and the rules beside the fields of sections 2 and 4, each as what must be taken and what must be refused.
 */
import type { LimitFact } from './limit-fact.ts';

const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const text = (length: number) => 'x'.repeat(length);
const job = { title: 'Engineer', city: 'Manila', state: '', country: 'Philippines' };
const interview = { title: 'Interview', hiringForRole: 'Engineer', purposeOfInterview: 'To learn about the person' };
const campaign = {
  title: 'Call',
  timezone: 'Asia/Manila',
  companySiteId: 1,
  phoneNumber: '+639170000001',
  openingMessage: 'Hello',
  closingMessage: 'Goodbye',
  purposeType: 'ASSESSMENT_REMINDER',
};
const question = (length: number) => ({ type: 'text', question: text(length) });

export const fieldLimitFacts: readonly LimitFact[] = [
  {
    what: 'job title and places',
    endpoint: 'POST /jobs',
    part: 'body',
    accepts: [
      job,
      { ...job, title: text(3) },
      { ...job, title: text(120), city: text(200), description: text(10_000) },
    ],
    refuses: [
      { ...job, title: text(2) },
      { ...job, title: text(121) },
      { ...job, city: text(201) },
      { ...job, state: text(201) },
      { ...job, country: text(201) },
      { ...job, description: text(10_001) },
      { ...job, city: undefined },
      { ...job, teamId: 'no uuid' },
    ],
    quote: '3 to 120 chars; city, state, country max 200; description max 10,000',
  },
  {
    what: 'screening questions',
    endpoint: 'POST /jobs',
    part: 'body',
    accepts: [{ ...job, screeningQuestion: ids(15).map(() => question(3000)) }],
    refuses: [
      { ...job, screeningQuestion: ids(16).map(() => question(1)) },
      { ...job, screeningQuestion: [question(0)] },
      { ...job, screeningQuestion: [question(3001)] },
      { ...job, screeningQuestion: [{ type: 'video', question: 'Why?' }] },
    ],
    quote: 'Screening questions | 15 per job; each 1 to 3000 chars | jobs',
  },
  {
    what: 'salary',
    endpoint: 'POST /jobs',
    part: 'body',
    accepts: [{ ...job, salaryRangeFrom: 0, salaryRangeTo: 9_999_999_999, salaryCurrency: 'PHP' }],
    refuses: [
      { ...job, salaryRangeFrom: -1, salaryRangeTo: 2, salaryCurrency: 'USD' },
      { ...job, salaryRangeFrom: 1, salaryRangeTo: 10_000_000_000, salaryCurrency: 'USD' },
      { ...job, salaryRangeFrom: 2, salaryRangeTo: 2, salaryCurrency: 'USD' },
      { ...job, salaryRangeFrom: 1, salaryRangeTo: 2 },
      { ...job, salaryCurrency: 'USD' },
    ],
    quote: 'salaryRangeFrom, salaryRangeTo and salaryCurrency must be given together',
  },
  {
    what: 'audio interview',
    endpoint: 'POST /assessment/audio-interviews',
    part: 'body',
    accepts: [
      { ...interview, title: text(1000), hiringForRole: text(500), purposeOfInterview: text(5000), duration: 120 },
      { ...interview, purposeOfInterview: text(10), duration: 1, skills: ids(20).map(String) },
      { ...interview, resumeAllowed: true, maxResumeCount: 5 },
    ],
    refuses: [
      { ...interview, title: '' },
      { ...interview, title: text(1001) },
      { ...interview, hiringForRole: text(501) },
      { ...interview, purposeOfInterview: text(9) },
      { ...interview, purposeOfInterview: text(5001) },
      { ...interview, duration: 0 },
      { ...interview, duration: 121 },
      { ...interview, skills: ids(21).map(String) },
      { ...interview, buckets: ids(6).map((id) => ({ name: `Bucket ${id}`, description: '', status: 'pass' })) },
      { ...interview, resumeAllowed: true },
      { ...interview, resumeAllowed: true, maxResumeCount: 6 },
      { ...interview, resumeAllowed: true, maxResumeCount: 0 },
    ],
    quote:
      'title 1 to 1000; role 1 to 500; purpose 10 to 5000; duration 1 to 120 (20 default; 5 to 60 for auto-generate); skills 20; buckets 5; maxResumeCount 1 to 5',
  },
  {
    what: 'auto-generate',
    endpoint: 'POST /assessment/auto-generate',
    part: 'body',
    accepts: [
      { jobId: 1, duration: 5 },
      { purpose: 'To learn about the person', role: 'Engineer', duration: 60 },
    ],
    refuses: [
      { role: 'Engineer', duration: 20 },
      { jobId: 1, duration: 4 },
      { jobId: 1, duration: 61 },
    ],
    quote: 'jobId and/or purpose (at least one), role, duration (5 to 60)',
  },
  {
    what: 'flow step passThreshold',
    endpoint: 'POST /assessment-flows',
    part: 'body',
    accepts: [
      {
        flowName: 'Flow',
        steps: [
          { assessmentId: 'a', passThreshold: 0 },
          { assessmentId: 'b', passThreshold: 100 },
        ],
      },
    ],
    refuses: [
      { flowName: 'Flow', steps: [] },
      { flowName: 'Flow', steps: [{ assessmentId: 'a', passThreshold: 101 }] },
      { flowName: 'Flow', steps: [{ assessmentId: 'a', passThreshold: -1 }] },
    ],
    quote: 'Flow step passThreshold | 0 to 100 | assessment flows',
  },
  {
    what: 'campaign title and keys',
    endpoint: 'POST /campaigns',
    part: 'body',
    accepts: [campaign, { ...campaign, title: text(500), callType: 'aicall' }],
    refuses: [
      { ...campaign, title: '' },
      { ...campaign, title: text(501) },
      { ...campaign, openingMessage: ' ' },
      { ...campaign, phoneNumber: undefined },
      { ...campaign, timezone: 'Mars/Olympus' },
      { ...campaign, unheard: 1 },
      { ...campaign, purposeType: 'INTEREST_CHECK' },
      { ...campaign, purposeType: 'SCHEDULE', jobDetails: { title: 'Engineer' } },
    ],
    quote: 'Campaign title | 1 to 500 chars | campaigns',
  },
  {
    what: 'pipeline name',
    endpoint: 'POST /pipelines',
    part: 'body',
    accepts: [{ name: 'Hiring' }],
    refuses: [{}, { name: '' }, { name: '   ' }],
    quote: '{ name: string, required, non-empty after trim }',
  },
  {
    what: 'stage types of a new stage',
    endpoint: 'POST /pipelines/stages',
    part: 'body',
    accepts: ['ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'OFFER', 'ONBOARDING'].map((type) => ({
      pipelineId: 1,
      name: 'S',
      type,
    })),
    refuses: [
      ...['SOURCED', 'APPLIED', 'HIRED', 'OTHER', undefined].map((type) => ({ pipelineId: 1, name: 'S', type })),
      { pipelineId: 1, type: 'SCREEN' },
      { name: 'S', type: 'SCREEN' },
      { pipelineId: 1, name: 'S', type: 'SCREEN', order: 0 },
    ],
    quote: 'type: string (required for new; ASSESSMENT, SCREEN, SHORTLISTED, OFFER, ONBOARDING)',
  },
  {
    what: 'both ids of a stage delete',
    endpoint: 'DELETE /pipelines/stages/:stageId',
    part: 'body',
    accepts: [{ pipelineId: 1, newStageId: 2 }],
    refuses: [{}, { pipelineId: 1 }, { newStageId: 2 }],
    quote: 'body { pipelineId: integer, newStageId: integer }, both required',
  },
  {
    what: 'custom field definition',
    endpoint: 'POST /custom-fields',
    part: 'body',
    accepts: [
      { entityType: 'job', fieldLabel: 'Level', fieldType: 'select', options: ['A'], parentSection: 'Location' },
    ],
    refuses: [
      { fieldLabel: 'Level', fieldType: 'text' },
      { entityType: 'job', fieldType: 'text' },
      { entityType: 'job', fieldLabel: 'Level' },
      { entityType: 'user', fieldLabel: 'Level', fieldType: 'text' },
      { entityType: 'job', fieldLabel: 'Level', fieldType: 'colour' },
      { entityType: 'job', fieldLabel: 'Level', fieldType: 'multi-select', options: [] },
    ],
    quote:
      'custom field missing entityType, fieldLabel or fieldType, invalid entityType, invalid fieldType, empty options',
  },
  {
    what: 'fields that parsing would have given',
    endpoint: 'POST /candidates',
    part: 'body',
    accepts: [
      { email: 'ada@example.org' },
      {
        email: 'ada@example.org',
        jobId: 1,
        shouldParseResume: false,
        city: 'M',
        country: 'P',
        educations: [],
        workExperiences: [],
      },
    ],
    refuses: [{ email: 'ada@example.org', jobId: 1, shouldParseResume: false, city: 'Manila' }],
    quote:
      'if shouldParseResume is false and jobId is given, city, country, educations and workExperiences must be provided',
  },
  {
    what: 'partial updates need a field',
    endpoint: 'PATCH /candidates/:candidateId',
    part: 'body',
    accepts: [{ city: 'Manila' }],
    refuses: [{}, { resume: 'https://files.example.org/1.pdf', city: 'Manila' }],
    quote: 'at least one required; resume URL cannot be updated',
  },
  {
    what: 'slots range',
    endpoint: 'GET /booking-schedules/:bookingScheduleId/slots',
    part: 'query',
    accepts: [{ from: '2026-03-01', to: '2026-03-08' }],
    refuses: [{}, { from: '2026-03-01' }, { to: '2026-03-08' }],
    quote: 'from (date, required, inclusive), to (date, required, exclusive',
  },
];
