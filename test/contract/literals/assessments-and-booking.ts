/** Sections 2.6 to 2.8, 4.6 to 4.8. */
import type { Literal } from './literal.ts';

const assessment = {
  assessmentId: 'asm_1',
  testName: 'Nurse interview',
  companyId: 12,
  jobId: '',
  status: 'ACTIVE',
  assessmentType: 'AI_AUDIO_INTERVIEW',
  questionCount: 0,
  hiringForRole: 'Nurse',
  purposeOfInterview: 'To learn how the person works',
  duration: 20,
  aiLanguage: 'english',
  skills: [],
  buckets: [{ name: 'Strong Fit', description: 'Hire', status: 'pass' }],
  resumeAllowed: false,
  maxResumeCount: null,
  isEmailVerificationRequired: true,
  shouldEvaluateCEFR: false,
  assessmentUrl: 'https://interviews.example.org/asm_1',
  createdAt: 1767600000000,
  lastUpdatedOn: 1767600000000,
  createdBy: 'user_1',
  postedBy: { firstName: 'Rae', lastName: 'Tan', email: 'rae@example.org', clientId: 12 },
  submissionCount: 0,
  questions: [],
};

const schedule = {
  id: 'bs_1',
  name: 'First interview',
  description: null,
  durationMinutes: 30,
  timezone: 'Asia/Manila',
  bookingMode: 'BOTH',
  scheduleProfile: 'INTERVIEW',
  companySiteId: null,
  visibleDaysAhead: 14,
  expiresAt: null,
  allowCandidateReschedule: true,
  rescheduleCutoffHours: 24,
  isAllDayEvent: false,
};

export const assessmentAndBookingLiterals: readonly Literal[] = [
  {
    id: 'the first page of assessments',
    operation: 'assessments.list',
    request: { method: 'GET', path: '/assessment', query: { pageNumber: '1', perPage: '10' } },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: { assessments: [assessment], pagination: { page: 1, limit: 10, total: 1, totalPages: 1 } },
      },
    },
  },
  {
    id: 'a new audio interview has no questions',
    operation: 'assessments.createAudioInterview',
    request: {
      method: 'POST',
      path: '/assessment/audio-interviews',
      body: {
        title: 'Nurse interview',
        hiringForRole: 'Nurse',
        purposeOfInterview: 'To learn how the person works',
        duration: 20,
      },
    },
    response: { status: 201, body: { status: 'success', message: 'Assessment created', data: assessment } },
  },
  {
    id: 'resuming allowed without a count',
    operation: 'assessments.createAudioInterview',
    request: {
      method: 'POST',
      path: '/assessment/audio-interviews',
      body: {
        title: 'Nurse interview',
        hiringForRole: 'Nurse',
        purposeOfInterview: 'To learn how the person works',
        resumeAllowed: true,
      },
    },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'maxResumeCount is required' } },
    },
    badRequest: true,
  },
  {
    id: 'an assessment generated in the background',
    operation: 'assessments.autoGenerate',
    request: { method: 'POST', path: '/assessment/auto-generate', body: { jobId: 301, role: 'Nurse', duration: 15 } },
    response: { status: 201, body: { status: 'success', data: { ...assessment, jobId: '301', duration: 15 } } },
  },
  {
    id: 'generation without a job and a purpose',
    operation: 'assessments.autoGenerate',
    request: { method: 'POST', path: '/assessment/auto-generate', body: { role: 'Nurse', duration: 15 } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'jobId or purpose is required' } },
    },
    badRequest: true,
  },
  {
    id: 'a candidate invited twice',
    operation: 'assessments.invite',
    request: { method: 'POST', path: '/assessment/asm_1/invite', body: { jobCandidateId: 9001 } },
    response: {
      status: 400,
      body: { error: { code: 'DUPLICATE_INVITE', type: 'validation_error', message: 'Already invited' } },
    },
  },
  {
    id: 'many candidates invited',
    operation: 'assessments.inviteBulk',
    request: {
      method: 'POST',
      path: '/assessment/asm_1/invite/bulk',
      body: {
        candidates: [
          { jobCandidateId: 9001, externalRef: 'A-1' },
          { firstName: 'Mara', lastName: 'Lim', emailAddress: 'mara.lim@example.org' },
        ],
      },
    },
    response: { status: 202, body: { status: 'success', data: { batchId: 'inv_1', totalCount: 2 } } },
  },
  {
    id: 'a report before scoring',
    operation: 'assessments.getReport',
    request: { method: 'GET', path: '/assessment/asm_1/submissions/sub_1/report' },
    response: {
      status: 409,
      body: { error: { code: 'REPORT_NOT_READY', type: 'conflict_error', message: 'Report is not ready' } },
    },
  },
  {
    id: 'a report',
    operation: 'assessments.getReport',
    request: { method: 'GET', path: '/assessment/asm_1/submissions/sub_2/report' },
    response: {
      status: 200,
      body: { status: 'success', data: { reportUrl: 'https://files.example.org/report.pdf' } },
    },
  },
  {
    id: 'a new flow',
    operation: 'assessmentFlows.create',
    request: {
      method: 'POST',
      path: '/assessment-flows',
      body: { flowName: 'Nurses', steps: [{ assessmentId: 'asm_1', passThreshold: 60 }] },
    },
    response: {
      status: 200,
      body: { status: 'success', data: { id: 5, flowName: 'Nurses', companyId: 12, status: 'ACTIVE' } },
    },
  },
  {
    id: 'candidates of a flow',
    operation: 'assessmentFlows.listCandidates',
    request: { method: 'GET', path: '/assessment-flows/5/candidates', query: { page: '1', perPage: '100' } },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: [{ flowCandidateId: 'fc_1', status: 'NOT_STARTED', email: 'mara.lim@example.org' }],
        pagination: { page: 1, perPage: 100, total: 1 },
      },
    },
  },
  {
    id: 'a candidate assigned to a flow',
    operation: 'assessmentFlows.assign',
    request: { method: 'POST', path: '/assessment-flows/5/assign', body: { email: 'mara.lim@example.org' } },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: { message: 'Assigned', flowCandidateId: 'fc_1', firstStepAssessmentId: 'asm_1' },
      },
    },
  },
  {
    id: 'booking schedules of interviews',
    operation: 'bookingSchedules.list',
    request: { method: 'GET', path: '/booking-schedules', query: { scheduleProfile: 'INTERVIEW' } },
    response: { status: 200, body: { status: 'success', data: [schedule] } },
  },
  {
    id: 'slots of a week',
    operation: 'bookingSchedules.listSlots',
    request: {
      method: 'GET',
      path: '/booking-schedules/bs_1/slots',
      query: { from: '2026-03-02', to: '2026-03-09' },
    },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: [{ startAt: '2026-03-02T01:00:00.000Z', endAt: '2026-03-02T01:30:00.000Z', remainingCapacity: 1 }],
      },
    },
  },
  {
    id: 'locations as a bare list',
    operation: 'bookingSchedules.listLocations',
    request: { method: 'GET', path: '/booking-schedules/bs_2/locations' },
    response: {
      status: 200,
      body: [
        {
          id: 1,
          type: 'in_person',
          label: 'Clinic',
          details: null,
          instructions: null,
          lat: null,
          lng: null,
          photoUrls: [],
        },
      ],
    },
  },
  {
    id: 'a scheduling link',
    operation: 'bookingSchedules.createLink',
    request: {
      method: 'POST',
      path: '/booking-schedules/bs_1/links',
      body: { entityType: 'JOB_CANDIDATE', entityId: '9001', expiresInHours: 48 },
    },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: {
          id: 'bl_1',
          token: 'tok_1',
          url: 'https://book.example.org/tok_1',
          status: 'ACTIVE',
          entityType: 'JOB_CANDIDATE',
          entityId: '9001',
          firstName: 'Mara',
          lastName: 'Lim',
          email: 'mara.lim@example.org',
          phone: null,
          expiresAt: '2026-03-04T00:00:00.000Z',
          createdAt: '2026-03-02T00:00:00.000Z',
        },
      },
    },
  },
  {
    id: 'a link for an entity id as a number',
    operation: 'bookingSchedules.createLink',
    request: {
      method: 'POST',
      path: '/booking-schedules/bs_1/links',
      body: { entityType: 'JOB_CANDIDATE', entityId: 9001 },
    },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'entityId must be a string' } },
    },
    badRequest: true,
  },
];
